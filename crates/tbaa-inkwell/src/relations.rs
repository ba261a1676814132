//! The relation of a module's classes.

use std::collections::HashSet;

use inkwell::llvm_sys::core::{
    LLVMAddNamedMetadataOperand, LLVMGetGlobalParent, LLVMGetNamedMetadataNumOperands,
    LLVMGetNamedMetadataOperands,
};
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use inkwell::values::{AsValueRef, InstructionValue};

use crate::Metadata;

/// The named metadata that the plugin reads.
const NAME: &std::ffi::CStr = c"tbaa.relations";

/// The relations in the module of the last function.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    of: Option<(LLVMValueRef, LLVMModuleRef)>,
    /// The number of the module's rows,
    count: usize,
    /// and the rows.
    there: HashSet<LLVMValueRef>,
}

impl Relations {
    /// Adds rows to the module of an instruction, unless it has them. An instruction without a
    /// module is ignored: its classes may then alias everything.
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
            // A function and its module may be at the address of old ones. The module then
            // has another number of rows.
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
