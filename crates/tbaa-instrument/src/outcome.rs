//! The result of instrumenting a module, and the list of accesses that are not checked.

use std::fmt;

/// The result of [`instrument`](super::instrument()).
#[derive(Debug)]
#[non_exhaustive]
pub struct Instrumented {
    /// The module's text, with checks.
    pub text: Vec<u8>,
    /// The number of checked reads and writes. An atomic read-modify-write counts as two.
    pub sites: u32,
    /// The number of checks and calls of the runtime in the text.
    pub calls: u32,
    /// The functions and instructions that are not checked, in file order.
    pub skipped: Vec<Skipped>,
}

/// A function or an instruction that gets no checks.
///
/// The runtime does not see its writes, and may report a later read wrongly. To prevent this, call
/// `tbaa_witness_wrote` after the write.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Skipped {
    /// The offset in bytes from the start of the module's text.
    pub offset: usize,
    /// The function's name.
    pub function: String,
    /// The reason why it gets no checks.
    pub reason: SkipReason,
}

/// The reason why a function or instruction gets no checks. `Display` explains it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SkipReason {
    /// The whole function: it is `naked` and has no frame to call from.
    Naked,
    /// The whole function: it has `gc "..."`, and the collector moves objects.
    Collected,
    /// The whole function: it has `disable_sanitizer_instrumentation`.
    Disabled,
    /// The whole function: it has funclets, and each call in a funclet must name the funclet.
    Funclets,
    /// Memory in another address space than 0.
    AddressSpace,
    /// A `swifterror` value, which is a register.
    SwiftError,
    /// An access whose size is known only at run time, or whose type has no size.
    Size,
    /// A `va_arg`, an unknown instruction, or a call of an unknown intrinsic.
    Call,
    /// A typed pointer: then the whole module is rejected.
    TypedPointer,
    /// A pointer or operand that cannot be read.
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
