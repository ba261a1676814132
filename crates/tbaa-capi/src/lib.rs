//! libtbaa: the C interface of [`tbaa`].
//!
//! cbindgen writes `include/tbaa.h` from this crate; the header's opening comment has the rules
//! that all functions share. The guide is `docs/embed-c.md`.
//!
//! A parameter of type `Option<&T>` is a pointer in C. The C caller promises that the pointer is
//! NULL or valid as a Rust reference is.

#![allow(
    clippy::missing_safety_doc,
    reason = "what callers promise is said once, in the header's opening comment"
)]

pub mod context;
pub mod declare;
pub mod describe;
pub mod emit;
pub mod error;
pub mod instrument;
pub mod nodes;
pub mod oracle;
pub mod reader;
pub mod snapshot;
pub mod status;
pub mod tag;
pub mod tagged;
pub mod tags;
pub mod text;

use text::Str;

/// The version of this interface. It grows with each change that a compiled program would notice.
/// The shared library's name ends in it: `libtbaa.so.1`.
pub const TBAA_ABI_VERSION: u32 = 1;

/// Returns the `TBAA_ABI_VERSION` of the library that is loaded. A program that opens the library
/// at run time compares it with its header's.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_abi_version() -> u32 {
    TBAA_ABI_VERSION
}

/// Returns the library's version, such as `0.1.0`. It lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_version() -> Str {
    Str::of(env!("CARGO_PKG_VERSION"))
}
