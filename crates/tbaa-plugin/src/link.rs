//! Runs LLVM's passes with the analyses of this crate's LLVM plugin, linked into the program.

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

/// Runs passes, such as `default<O2>`, on a module. If the module's metadata lists the classes of
/// accesses that may alias, LLVM uses this list after its own analyses. `machine` is the target
/// machine for the cost model, if there is one.
///
/// # Errors
///
/// Returns a message if LLVM cannot parse the pipeline, or `passes` contains a zero byte.
///
/// # Safety
///
/// `module` must be an `LLVMModuleRef` of LLVM 22, and `machine` an `LLVMTargetMachineRef`. Both
/// must be alive, and no other thread may use the module's context meanwhile.
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
    // SAFETY: the caller guarantees both pointers, and the string ends with zero.
    let message = unsafe { tbaa_run_passes(module, passes.as_ptr(), machine) };
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: LLVM allocated the message, and it is freed once.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        Err(text)
    }
}
