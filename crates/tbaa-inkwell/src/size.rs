//! How many bytes instructions access.

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMCountStructElementTypes, LLVMGetArrayLength2,
    LLVMGetBasicBlockParent, LLVMGetElementType, LLVMGetGlobalParent, LLVMGetInstructionParent,
    LLVMGetOperand, LLVMGetTypeKind, LLVMIsAConstantInt, LLVMIsAMemIntrinsic,
    LLVMStructGetTypeAtIndex, LLVMTypeIsSized, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::LLVMTypeRef;
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};

/// Returns the bytes that a load, store or atomic accesses; `u64::MAX` for as many
/// as the processor's vectors have. `None` for an instruction that is in no module.
pub(crate) fn size_of(instruction: InstructionValue<'_>) -> Option<u64> {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is alive, each operand is one that its opcode has,
    // and the size of a type is asked for only if it has one.
    unsafe {
        let accessed = match instruction.get_opcode() {
            InstructionOpcode::Load | InstructionOpcode::VAArg => value,
            InstructionOpcode::Store => LLVMGetOperand(value, 0),
            InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg => {
                LLVMGetOperand(value, 1)
            }
            _ => return None,
        };
        let ty = LLVMTypeOf(accessed);
        if LLVMTypeIsSized(ty) == 0 || is_scalable(ty) {
            return Some(u64::MAX);
        }
        let block = LLVMGetInstructionParent(value);
        let function = (!block.is_null()).then(|| LLVMGetBasicBlockParent(block))?;
        let module = (!function.is_null()).then(|| LLVMGetGlobalParent(function))?;
        let layout = (!module.is_null()).then(|| LLVMGetModuleDataLayout(module))?;
        Some(LLVMStoreSizeOfType(layout, ty))
    }
}

/// Whether a type's size depends on the processor: LLVM has no number for it.
///
/// # Safety
///
/// The type must be alive.
unsafe fn is_scalable(ty: LLVMTypeRef) -> bool {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        // SAFETY: said above, and each kind has what is asked of it.
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMScalableVectorTypeKind | LLVMTypeKind::LLVMTargetExtTypeKind => {
                    return true;
                }
                LLVMTypeKind::LLVMArrayTypeKind if LLVMGetArrayLength2(ty) > 0 => {
                    work.push(LLVMGetElementType(ty));
                }
                LLVMTypeKind::LLVMStructTypeKind => {
                    let count = LLVMCountStructElementTypes(ty);
                    work.extend((0..count).map(|at| LLVMStructGetTypeAtIndex(ty, at)));
                }
                _ => {}
            }
        }
    }
    false
}

/// Whether a call is one of LLVM's own that copies or fills memory.
pub(crate) fn is_copy(call: InstructionValue<'_>) -> bool {
    // SAFETY: the call is alive.
    unsafe { !LLVMIsAMemIntrinsic(call.as_value_ref()).is_null() }
}

/// Returns the bytes that such a call copies, if the code says so.
pub(crate) fn copied(call: InstructionValue<'_>) -> Option<u64> {
    // SAFETY: the call is alive, and its third operand is the number of bytes.
    unsafe {
        let bytes = LLVMIsAConstantInt(LLVMGetOperand(call.as_value_ref(), 2));
        (!bytes.is_null()).then(|| LLVMConstIntGetZExtValue(bytes))
    }
}
