//! Finds the number of bytes that an instruction accesses.

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

/// Returns the bytes that a load, store or atomic accesses; unknown for a vector of scalable
/// length. `None` for an instruction in no module.
pub(crate) fn size_of(instruction: InstructionValue<'_>) -> Option<Size> {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is alive, its opcode has each operand that is read, and only sized
    // types are measured.
    unsafe {
        let accessed = match instruction.get_opcode() {
            InstructionOpcode::Load | InstructionOpcode::VAArg => value,
            InstructionOpcode::Store => LLVMGetOperand(value, 0),
            InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg => {
                LLVMGetOperand(value, 1)
            }
            _ => return None,
        };
        store_size(value, LLVMTypeOf(accessed))
    }
}

/// The bytes of a type in the module of an instruction, as [`size_of`] has them.
///
/// # Safety
///
/// Both must be alive.
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

/// Returns whether a load or store is of a pointer, whose size depends on the module's data layout.
pub(crate) fn is_of_pointer(instruction: InstructionValue<'_>) -> bool {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is alive, and a store has an operand.
    unsafe {
        let accessed = match instruction.get_opcode() {
            InstructionOpcode::Load => value,
            InstructionOpcode::Store => LLVMGetOperand(value, 0),
            _ => return false,
        };
        LLVMGetTypeKind(LLVMTypeOf(accessed)) == LLVMTypeKind::LLVMPointerTypeKind
    }
}

/// Returns whether a type's size depends on the processor: LLVM has no number for it.
///
/// # Safety
///
/// The type must be alive.
unsafe fn is_scalable(ty: LLVMTypeRef) -> bool {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        // SAFETY: as above, and each kind has the property that is read.
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMScalableVectorTypeKind => return true,
                #[cfg(not(any(feature = "llvm14-0", feature = "llvm15-0")))]
                LLVMTypeKind::LLVMTargetExtTypeKind => return true,
                LLVMTypeKind::LLVMArrayTypeKind => work.push(LLVMGetElementType(ty)),
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

/// The effect of a call on the memory that its arguments point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callee {
    /// One of LLVM's own that copies or fills memory, of this size.
    Copies(Size),
    /// Another LLVM intrinsic, such as a masked store. It accesses as much as it returns, or else
    /// the vectors in its arguments. `None` as in [`size_of`].
    Intrinsic(Option<Size>),
    /// A function that is not LLVM's.
    Other,
}

/// Intrinsics whose types do not determine the end of the accessed bytes.
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
            let size = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMVectorTypeKind | LLVMTypeKind::LLVMScalableVectorTypeKind => {
                    let lane = LLVMGetElementType(ty);
                    let kind = LLVMGetTypeKind(lane);
                    let mask =
                        kind == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(lane) == 1;
                    // The first argument is the value to store; later pointers are addresses.
                    let addresses = at > 0 && kind == LLVMTypeKind::LLVMPointerTypeKind;
                    if mask || addresses { Some(Size::Bytes(0)) } else { store_size(value, ty) }
                }
                _ => Some(Size::Bytes(0)),
            };
            let Some(size) = size else { return Callee::Intrinsic(None) };
            sum = sum.zip(size.bytes()).and_then(|(sum, size)| sum.checked_add(size));
        }
        Callee::Intrinsic(Some(sum.map_or(Size::Unknown, Size::from)))
    }
}

/// Attributes of arguments that are memory which the call copies or fills by itself.
const OWN_MEMORY: [&str; 4] = ["byval", "sret", "inalloca", "preallocated"];

/// Returns the attribute of an argument whose memory the call itself accesses, besides the callee.
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
