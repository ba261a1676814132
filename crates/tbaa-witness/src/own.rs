//! This library's copies of C library functions. They are hidden from the program.
//!
//! The program may define such a function itself, and instrument it. If this library called the
//! program's function, the function's accesses would be checked inside another check, and the
//! program would see calls that it did not make. The linker prefers these copies, also for Rust's
//! standard library. For `-static`, `tbaa cc` hides the copies in the static library too.
//! Sources: the System V ABI for x86-64, `syscall(2)`, `asm/unistd_64.h`.

use std::arch::global_asm;
use std::ffi::{CStr, c_char};
use std::ptr;

unsafe extern "C" {
    static environ: *const *const c_char;
}

global_asm!(
    include_str!("own.s"),
    variable = sym variable,
);

/// Works like `getenv`.
///
/// # Safety
///
/// The name ends with a zero byte, and nothing changes the environment meanwhile.
pub(crate) unsafe extern "C" fn variable(name: *const c_char) -> *const c_char {
    // SAFETY: the caller guarantees both. The C library's list ends with a null pointer.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes();
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let rest = CStr::from_ptr(*at).to_bytes().strip_prefix(name);
            if let Some([b'=', value @ ..]) = rest {
                return value.as_ptr().cast();
            }
            at = at.add(1);
        }
    }
    ptr::null()
}
