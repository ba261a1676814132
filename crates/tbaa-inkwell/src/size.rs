//! Finds the number of bytes that an instruction accesses.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMCountStructElementTypes, LLVMGetBasicBlockParent,
    LLVMGetCallSiteEnumAttribute, LLVMGetCalledValue, LLVMGetElementType,
    LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName, LLVMGetGlobalParent,
    LLVMGetInstructionParent, LLVMGetIntTypeWidth, LLVMGetIntrinsicID, LLVMGetNumArgOperands,
    LLVMGetOperand, LLVMGetTypeKind, LLVMGetValueName2, LLVMIsAConstantInt, LLVMIsAFunction,
    LLVMStructGetTypeAtIndex, LLVMTypeIsSized, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};
use tbaa::Size;

/// Returns the number of bytes that a load, store, `va_arg`, `atomicrmw` or `cmpxchg` accesses:
/// [`Size::Unknown`] for a type without a constant size, `None` for other instructions. For a type
/// with a constant size, also `None` if the instruction is in no module.
pub(crate) fn size_of(instruction: InstructionValue<'_>) -> Option<Size> {
    // SAFETY: the instruction is alive, and so is its type.
    unsafe { store_size(instruction.as_value_ref(), accessed(instruction)?) }
}

/// Returns the type that a load, store, `va_arg`, `atomicrmw` or `cmpxchg` accesses, else `None`.
fn accessed(instruction: InstructionValue<'_>) -> Option<LLVMTypeRef> {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is alive, and each operand is one that its opcode has.
    unsafe {
        let accessed = match instruction.get_opcode() {
            InstructionOpcode::Load | InstructionOpcode::VAArg => value,
            InstructionOpcode::Store => LLVMGetOperand(value, 0),
            InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg => {
                LLVMGetOperand(value, 1)
            }
            _ => return None,
        };
        Some(LLVMTypeOf(accessed))
    }
}

/// Returns the number of bytes of the largest scalar in the accessed type. In an array or vector,
/// each element counts by itself. 0 if no size is known.
pub(crate) fn element_of(instruction: InstructionValue<'_>) -> u64 {
    let mut most = 0;
    // SAFETY: the instruction is alive, and so are its type and the types inside.
    unsafe {
        parts(accessed(instruction), |ty| {
            let size = store_size(instruction.as_value_ref(), ty).and_then(Size::bytes);
            most = most.max(size.unwrap_or(0));
            true
        });
    }
    most
}

/// Returns the size of a type by the data layout of an instruction's module, as [`size_of`] does.
///
/// # Safety
///
/// The instruction and the type must be alive.
unsafe fn store_size(instruction: LLVMValueRef, ty: LLVMTypeRef) -> Option<Size> {
    // SAFETY: as above, and only sized types are measured.
    unsafe {
        if LLVMTypeIsSized(ty) == 0 || is_scalable(ty) {
            return Some(Size::Unknown);
        }
        let block = LLVMGetInstructionParent(instruction);
        let function = (!block.is_null()).then(|| LLVMGetBasicBlockParent(block))?;
        let module = (!function.is_null()).then(|| LLVMGetGlobalParent(function))?;
        let layout = (!module.is_null()).then(|| LLVMGetModuleDataLayout(module))?;
        Some(Size::Bytes(LLVMStoreSizeOfType(layout, ty)))
    }
}

/// Returns the number of bytes of an accessed pointer; `None` for other types or without a module.
pub(crate) fn pointer_size(instruction: InstructionValue<'_>) -> Option<u64> {
    // SAFETY: the type is alive.
    let kind = unsafe { LLVMGetTypeKind(accessed(instruction)?) };
    size_of(instruction)?.bytes().filter(|_| kind == LLVMTypeKind::LLVMPointerTypeKind)
}

/// Returns whether a type's size may depend on the processor, so that LLVM has no constant for it.
///
/// # Safety
///
/// The type must be alive.
unsafe fn is_scalable(ty: LLVMTypeRef) -> bool {
    // SAFETY: the type is alive, and so are the types inside.
    !unsafe {
        parts(Some(ty), |ty| match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMScalableVectorTypeKind => false,
            #[cfg(not(any(feature = "llvm14-0", feature = "llvm15-0")))]
            LLVMTypeKind::LLVMTargetExtTypeKind => false,
            _ => true,
        })
    }
}

/// Calls `each` with every type in `ty` (perhaps `ty` itself) that is not a struct, array or
/// fixed-length vector, until a call returns `false`. Returns whether all calls returned `true`.
///
/// # Safety
///
/// The type must be alive.
unsafe fn parts(ty: Option<LLVMTypeRef>, mut each: impl FnMut(LLVMTypeRef) -> bool) -> bool {
    let mut work: Vec<LLVMTypeRef> = ty.into_iter().collect();
    // Visit each struct type once: nested structs may contain one type exponentially often.
    let mut seen = HashSet::new();
    while let Some(ty) = work.pop() {
        // SAFETY: as above, and the kind of the type allows each call.
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                    work.push(LLVMGetElementType(ty));
                }
                LLVMTypeKind::LLVMStructTypeKind if seen.insert(ty) => {
                    let count = LLVMCountStructElementTypes(ty);
                    work.extend((0..count).map(|at| LLVMStructGetTypeAtIndex(ty, at)));
                }
                LLVMTypeKind::LLVMStructTypeKind => {}
                _ if !each(ty) => return false,
                _ => {}
            }
        }
    }
    true
}

/// The kind of function that a call calls, and the number of bytes that an intrinsic accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callee {
    /// An LLVM intrinsic that copies or fills memory, and the number of bytes.
    Copies(Size),
    /// Another LLVM intrinsic, such as a masked store, and the size of its result or, if it returns
    /// nothing, of the vectors that it stores. The size is unknown for the intrinsics that
    /// [`WITHOUT_WIDTH`] names, and `None` if the call is in no module.
    Intrinsic(Option<Size>),
    Other,
}

/// Prefixes of intrinsics whose types do not determine how many bytes they access.
const WITHOUT_WIDTH: [&[u8]; 3] =
    [b"llvm.matrix.", b"llvm.experimental.vp.strided.", b"llvm.experimental.memset."];

pub(crate) fn callee(call: InstructionValue<'_>) -> Callee {
    let value = call.as_value_ref();
    // SAFETY: the call is alive, and has the operands that are counted; the third of an
    // intrinsic that copies is the number of bytes.
    unsafe {
        let function = LLVMIsAFunction(LLVMGetCalledValue(value));
        if function.is_null() || LLVMGetIntrinsicID(function) == 0 {
            return Callee::Other;
        }
        let mut len = 0;
        let name = LLVMGetValueName2(function, &raw mut len).cast::<u8>();
        let name = std::slice::from_raw_parts(name, len);
        if name.starts_with(b"llvm.mem") {
            let bytes = LLVMIsAConstantInt(LLVMGetOperand(value, 2));
            let bytes = (!bytes.is_null()).then(|| LLVMConstIntGetZExtValue(bytes));
            return Callee::Copies(bytes.map_or(Size::Unknown, Size::Bytes));
        }
        let returned = LLVMTypeOf(value);
        if WITHOUT_WIDTH.iter().any(|of| name.starts_with(of)) {
            return Callee::Intrinsic(Some(Size::Unknown));
        }
        if LLVMGetTypeKind(returned) != LLVMTypeKind::LLVMVoidTypeKind {
            return Callee::Intrinsic(store_size(value, returned));
        }
        let mut sum = Some(0_u64);
        for at in 0..LLVMGetNumArgOperands(value) {
            let ty = LLVMTypeOf(LLVMGetOperand(value, at));
            let (LLVMTypeKind::LLVMVectorTypeKind | LLVMTypeKind::LLVMScalableVectorTypeKind) =
                LLVMGetTypeKind(ty)
            else {
                continue;
            };
            let lane = LLVMGetElementType(ty);
            let kind = LLVMGetTypeKind(lane);
            let mask = kind == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(lane) == 1;
            // The first argument is the value to store; later vectors of pointers are addresses.
            if mask || at > 0 && kind == LLVMTypeKind::LLVMPointerTypeKind {
                continue;
            }
            let Some(size) = store_size(value, ty) else { return Callee::Intrinsic(None) };
            sum = sum.zip(size.bytes()).and_then(|(sum, size)| sum.checked_add(size));
        }
        Callee::Intrinsic(Some(sum.map_or(Size::Unknown, Size::from)))
    }
}

/// Attributes of pointer arguments that make the call itself access memory: the memory is the
/// callee's copy of an argument, or holds the result.
const OWN_MEMORY: [&str; 4] = ["byval", "sret", "inalloca", "preallocated"];

/// Returns the first attribute in [`OWN_MEMORY`] that an argument of the call has.
pub(crate) fn own_memory(call: InstructionValue<'_>) -> Option<&'static str> {
    let value = call.as_value_ref();
    OWN_MEMORY.into_iter().find(|name| {
        // SAFETY: the call is alive, the name has this length, and arguments count from 1.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let function = LLVMIsAFunction(LLVMGetCalledValue(value));
            (1..=LLVMGetNumArgOperands(value)).any(|at| {
                !LLVMGetCallSiteEnumAttribute(value, at, kind).is_null()
                    || !function.is_null()
                        && !LLVMGetEnumAttributeAtIndex(function, at, kind).is_null()
            })
        }
    })
}
