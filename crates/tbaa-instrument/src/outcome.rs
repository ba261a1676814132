//! What comes of a module, and what cannot be checked.

use std::fmt;

/// What [`instrument`](super::instrument()) makes of a module.
#[derive(Debug)]
#[non_exhaustive]
pub struct Instrumented {
    /// The module's text with checks.
    pub text: Vec<u8>,
    /// How many tagged accesses are checked.
    pub sites: u32,
    /// How many checks and calls of the runtime the text has gained.
    pub calls: u32,
    /// What is not checked, in file order.
    pub skipped: Vec<Skipped>,
}

/// A function or an instruction that is left as it was.
///
/// What it writes is not known to the runtime, which may then take a later
/// read for a contradiction; `tbaa_witness_wrote` says otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Skipped {
    /// Bytes from the start of the text.
    pub offset: usize,
    /// The function's name.
    pub function: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why something is not checked. Its display says it in words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SkipReason {
    /// The whole function: `naked` has no frame to call from.
    Naked,
    /// The whole function: `gc "..."`, whose collector moves what is checked.
    Collected,
    /// The whole function: `disable_sanitizer_instrumentation`.
    Disabled,
    /// The whole function: in funclets each call needs to name its own.
    Funclets,
    /// Memory of another address space than 0.
    AddressSpace,
    /// A `swifterror` value, which is a register.
    SwiftError,
    /// A size that is known only at run time, or a type without one.
    Size,
    /// A call with a tag that is none of the intrinsics known here.
    Call,
    /// A pointer that says what it is to; the module is refused for it.
    TypedPointer,
    /// A pointer or operand that the reader cannot make out.
    Unreadable,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SkipReason::Naked => "a naked function has no frame to call from",
            SkipReason::Collected => "a garbage collector may move what the function accesses",
            SkipReason::Disabled => "the function is marked disable_sanitizer_instrumentation",
            SkipReason::Funclets => "calls in funclets need operand bundles",
            SkipReason::AddressSpace => "the pointer is not to address space 0",
            SkipReason::SwiftError => "a swifterror value is a register",
            SkipReason::Size => "the size of the access is not known",
            SkipReason::Call => "a call with a tag that is no known access",
            SkipReason::TypedPointer => "the pointer is typed",
            SkipReason::Unreadable => "the pointer cannot be made out",
        })
    }
}
