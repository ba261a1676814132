//! Functions of the C library that this library has copies of, hidden from everybody else.
//!
//! A program may define such a function itself, and that one may have checks. If this library called it, the
//! program would run while it is watched: a check would wait for itself, and the program would count calls
//! that it has not made. The linker finds these copies first, also for Rust's standard library. `tbaa cc` hides
//! them in the archive for `-static` too.
//!
//! Source: the System V ABI for x86-64, `syscall(2)`, `asm/unistd_64.h`.

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
    // SAFETY: as the contract says. The list of the C library ends with a null pointer.
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
