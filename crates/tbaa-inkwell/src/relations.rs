//! Writes a module's alias table, `!tbaa.relations`. Its operands are nodes that say which classes
//! each class may alias. A *class* is a set of accesses that alias the same accesses.

use std::collections::HashSet;

use inkwell::llvm_sys::core::{
    LLVMAddNamedMetadataOperand, LLVMGetGlobalParent, LLVMGetNamedMetadataNumOperands,
    LLVMGetNamedMetadataOperands,
};
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use inkwell::values::{AsValueRef, InstructionValue};

use crate::Metadata;

/// The named metadata that the crate `tbaa_plugin` reads.
const NAME: &std::ffi::CStr = c"tbaa.relations";

/// The table of the module for which [`Relations::add`] was last called: `there` has its operands.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    of: Option<(LLVMValueRef, LLVMModuleRef)>,
    count: usize,
    there: HashSet<LLVMValueRef>,
}

impl Relations {
    /// Adds a node to the table of an instruction's module, unless the table has this node. Does
    /// nothing if the instruction is in no module.
    pub(crate) fn add(&mut self, rows: Metadata<'_>, to: InstructionValue<'_>) {
        let function = to.get_parent().and_then(|block| block.get_parent());
        let Some(function) = function else { return };
        // SAFETY: the function is alive, and so is its module.
        let module = unsafe { LLVMGetGlobalParent(function.as_value_ref()) };
        if module.is_null() {
            return;
        }
        let node = rows.as_value().as_value_ref();
        // SAFETY: module and node are alive and of one context.
        unsafe {
            let count = LLVMGetNamedMetadataNumOperands(module, NAME.as_ptr()) as usize;
            let of = Some((function.as_value_ref(), module));
            // A new function and module may have the addresses of freed ones. The table of a new
            // module is empty, so its number of operands differs from `count`.
            if self.of != of || self.count != count {
                let mut list = vec![std::ptr::null_mut(); count];
                LLVMGetNamedMetadataOperands(module, NAME.as_ptr(), list.as_mut_ptr());
                *self = Relations { of, count, there: list.into_iter().collect() };
            }
            if self.there.insert(node) {
                LLVMAddNamedMetadataOperand(module, NAME.as_ptr(), node);
                self.count += 1;
            }
        }
    }
}
