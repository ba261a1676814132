//! Reading a module: one pass over the text ([`scan`]) finds functions, the
//! instructions that access memory, and where each metadata node stands; then
//! the nodes that are used are looked up ([`resolve`]).

use super::error::{TextError, TextErrorKind};
use super::module::Module;
use super::resolve::{self, Keep};
use super::scan::Scan;

/// Reads a module's TBAA from its text.
///
/// The text may be LLVM's own output of any version since 3.0, or a metadata
/// listing alone. Ill-formed nodes are kept; `tbaa_check::verify` reports them.
///
/// # Errors
///
/// A [`TextError`] where the text is cut off, defines a number twice, refers to
/// one that it does not define, or has a number out of range.
///
/// LLVM: `parseAssembly`.
pub fn read(text: &[u8]) -> Result<Module, TextError> {
    read_with(text, Keep::Used)
}

/// As [`read`], with a choice of what to keep.
///
/// # Errors
///
/// As [`read`].
pub fn read_with(text: &[u8], keep: Keep) -> Result<Module, TextError> {
    if u32::try_from(text.len()).is_err() {
        return Err(TextError::new(text, 0, TextErrorKind::TooLarge));
    }
    let mut scan = Scan::new(text);
    // Index 0 is the type of an instruction that has none.
    scan.module.types.insert(Box::default());
    let read = scan.top_level().and_then(|()| resolve::resolve(scan, keep));
    read.map_err(|error| error.located(text))
}
