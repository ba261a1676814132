//! The analyses linked into the program.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

unsafe extern "C" {
    fn tbaa_run_passes(
        module: *mut c_void,
        passes: *const c_char,
        machine: *mut c_void,
    ) -> *mut c_char;
    fn LLVMDisposeMessage(message: *mut c_char);
}

/// Runs passes, such as `default<O2>`, on a module. Its relation is used after LLVM's own alias
/// analyses. `machine` is the target machine for the passes' cost model, or null.
///
/// # Errors
///
/// LLVM's message, if it cannot parse the pipeline.
///
/// # Safety
///
/// `module` is an `LLVMModuleRef` of LLVM 22 and `machine` an `LLVMTargetMachineRef` or
/// null, both alive, and no other thread uses the module's context meanwhile.
///
/// LLVM: `LLVMRunPasses`.
pub unsafe fn run_passes(
    module: *mut c_void,
    passes: &str,
    machine: Option<ptr::NonNull<c_void>>,
) -> Result<(), String> {
    let passes =
        CString::new(passes).map_err(|_| "the pipeline contains a zero byte".to_owned())?;
    let machine = machine.map_or(ptr::null_mut(), ptr::NonNull::as_ptr);
    // SAFETY: both are as the caller promises; the string ends with zero.
    let message = unsafe { tbaa_run_passes(module, passes.as_ptr(), machine) };
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: LLVM made the message, and it is disposed of once.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        Err(text)
    }
}
