//! Reads a module. One pass over the text ([`Scan`]) finds functions, instructions that access
//! memory, and the offsets of metadata nodes. [`resolve`] builds the nodes that [`Keep`] selects.

use std::borrow::Cow;

use super::resolve;
use super::scan::Scan;
use crate::{Keep, Module, Result, TextError, TextErrorKind};

/// Reads a module's TBAA metadata from its text.
///
/// The text may be the output of any LLVM since 3.0, or only metadata. Nodes that are not valid
/// TBAA are no error; `tbaa_check::verify` reports them. The module borrows a slice, and owns a
/// `Vec`.
///
/// # Errors
///
/// A [`TextError`] if the reader finds a syntax error, a metadata number that is defined twice or
/// not at all, a number out of range, or inline nodes nested deeper than `MAX_INLINE_DEPTH`. Also
/// if the text has 4 GiB or more, or too many nodes for a graph.
pub fn read<'t>(text: impl Into<Cow<'t, [u8]>>) -> Result<Module<'t>, TextError> {
    read_with(text, Keep::Used)
}

/// Like [`read`], with a choice of the nodes to keep. It has the same errors.
pub fn read_with<'t>(text: impl Into<Cow<'t, [u8]>>, keep: Keep) -> Result<Module<'t>, TextError> {
    read_or_return(text.into(), keep).map_err(|(error, _)| error)
}

/// Does the same as [`read_with`], and returns the text with an error.
#[doc(hidden)]
pub fn read_or_return(
    text: Cow<'_, [u8]>,
    keep: Keep,
) -> Result<Module<'_>, (TextError, Cow<'_, [u8]>)> {
    match scanned(&text, keep) {
        Ok(module) => Ok(Module { text, ..module }),
        Err(error) => Err((error, text)),
    }
}

/// Reads a module, without storing the text in it.
fn scanned(text: &[u8], keep: Keep) -> Result<Module<'static>> {
    if u32::try_from(text.len()).is_err() {
        return Err(TextError::new(text, 0, TextErrorKind::TooLarge));
    }
    let mut scan = Scan::new(text);
    // Entry 0 of `types` is empty: the type of an instruction that states none.
    scan.module.types.insert(Box::default());
    let read = scan.top_level().and_then(|()| resolve::resolve(scan, keep));
    read.map_err(|error| error.located(text))
}
