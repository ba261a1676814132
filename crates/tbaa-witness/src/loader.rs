//! A table of this library's symbols, for a JIT whose loader does not search the process for them.

use std::ffi::{c_char, c_void};

use crate::{shadow, states};

/// The name and address of a function or variable.
#[repr(C)]
pub struct Symbol {
    name: *const c_char,
    address: *const c_void,
}

// SAFETY: the pointers never change; the text, the functions and the atomics are static.
unsafe impl Sync for Symbol {}

macro_rules! symbols {
    ($($function:ident)*; $($name:literal $variable:expr,)*) => {
        [
            $(Symbol {
                name: concat!(stringify!($function), "\0").as_ptr().cast(),
                address: crate::$function as *const c_void,
            },)*
            $(Symbol { name: $name.as_ptr(), address: (&raw const $variable).cast() },)*
            Symbol { name: std::ptr::null(), address: std::ptr::null() },
        ]
    };
}

/// The symbols that instrumented modules may use. An entry of null pointers ends the table.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static tbaa_witness_symbols: [Symbol; 17] = symbols! {
    __tbaa_witness_check __tbaa_witness_access __tbaa_witness_masked __tbaa_witness_masked_clear
    __tbaa_witness_clear __tbaa_witness_printed __tbaa_witness_unwound __tbaa_witness_out
    __tbaa_witness_barrier __tbaa_witness_allocated __tbaa_witness_released
    tbaa_witness_wrote tbaa_witness_fresh;
    c"__tbaa_witness_changes" states::CHANGES,
    c"__tbaa_witness_changes_shift" states::SHIFT,
    c"__tbaa_witness_threaded" shadow::THREADED,
};
