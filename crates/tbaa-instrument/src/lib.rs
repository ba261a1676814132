//! A module's text with checks: each access tells a runtime what it is about to
//! do, and the runtime says which tags contradict what the program does.
//!
//! [`instrument`] works on text, without LLVM. Before each tagged access a check looks
//! at what is known of its bytes, and calls the runtime, `libtbaa_witness`, where that is
//! new; what writes memory without a tag clears what is known of it. The
//! module carries its tags and a table of its accesses, and the runtime decides
//! by which rule they are judged.
//!
//! Six things are left out. Five of them can be in no report: locals that LLVM
//! would keep in registers, locals whose address stays in the function and of which no two
//! accesses contradict, reads of the module's constants, reads without a tag,
//! and reads by a tag that may alias all memory under its root. The sixth would be
//! in a report with another place: a read that repeats one on every way to it,
//! with nothing written in between.

#![forbid(unsafe_code)]

mod access;
mod assembly;
mod attributes;
mod calls;
mod check;
mod function;
mod inline;
mod known;
pub mod layout;
mod outcome;
mod pass;
mod repeats;
mod rewrites;
mod slots;
mod table;

pub use function::is_supported;
pub use known::{interposed, is_harmless, known_names, parts};
pub use outcome::{Instrumented, SkipReason, Skipped};

use tbaa_ir::{Module, TextError};

/// How checks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// As calls of functions that the module gets: for a JIT, which may have no assembler.
    Calls,
    /// As inline assembly, which runs in half the time and compiles faster.
    Assembly,
}

/// Puts checks into a module.
///
/// The result needs `libtbaa_witness` to link. Do it before optimizing: what
/// LLVM loads ahead of time, the program may never have asked for.
///
/// ```
/// use tbaa_instrument::{Form, instrument};
///
/// let source = br#"
/// define void @f(ptr %p) {
///   store i32 0, ptr %p, align 4, !tbaa !0
///   ret void
/// }
/// !0 = !{!1, !1, i64 0}
/// !1 = !{!"int", !2, i64 0}
/// !2 = !{!"char", !3, i64 0}
/// !3 = !{!"Simple C/C++ TBAA"}
/// "#;
/// let checked = instrument(&tbaa_ir::read(source)?, Form::Calls)?;
/// let call = "  call preserve_mostcc void @__tbaa_witness.write4.shared(ptr %p, ";
/// assert!(String::from_utf8(checked.text).unwrap().contains(call));
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
///
/// # Errors
///
/// [`TextErrorKind::Expected`](tbaa_ir::TextErrorKind::Expected) where the
/// module has typed pointers, which LLVM 14 and before print, or has checks
/// already.
pub fn instrument(module: &Module<'_>, form: Form) -> Result<Instrumented, TextError> {
    function::instrument(module, form).map_err(|error| error.located(module.text()))
}
