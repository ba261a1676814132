//! Instruments a module's text: inserts checks that find accesses that contradict their tags.
//!
//! [`instrument`] works on text, without LLVM. It inserts checks before tagged accesses. A check
//! looks up in shadow memory how the bytes were accessed before. If this combination of accesses is
//! new, the check calls the runtime library, `libtbaa_witness`. An untagged write clears the
//! shadow, or is checked if a tag of the module marks constant memory. The module contains its tags
//! and a table of its accesses; the runtime chooses the alias rule.
//!
//! Some accesses get no check. [`Skipped`] accesses cannot be checked. Others can never be
//! reported: for example, accesses of locals that LLVM would promote to registers, reads of the
//! module's constants, and reads whose tag may alias all memory under its root. A redundant read
//! gets no check either: an equal read is on every path to it with no write in between, so a fault
//! is reported at the equal read.

#![forbid(unsafe_code)]

mod access;
mod assembly;
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

use check::{Check, Direction};
use pass::{Current, Pass};
use tbaa_ir::{Module, TextError};

/// How checks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Calls of functions that are added to the module. For a JIT, which may have no assembler.
    Calls,
    /// Inline assembly. It runs twice as fast as calls, and compiles faster.
    Assembly,
}

/// Adds checks to a module.
///
/// The result must be linked with `libtbaa_witness`. Instrument before optimising: LLVM may load
/// values speculatively that the program never reads.
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
/// [`TextErrorKind::Expected`](tbaa_ir::TextErrorKind::Expected) if the module has typed pointers
/// (which LLVM 14 and before print) or a target that [`is_supported`] rejects, or if checks were
/// added to it before.
pub fn instrument(module: &Module<'_>, form: Form) -> Result<Instrumented, TextError> {
    function::instrument(module, form).map_err(|error| error.located(module.text()))
}
