//! Reading a module: one pass over the text ([`scan`]) finds functions, the instructions that
//! access memory, and the place of each metadata node; then the used nodes are resolved
//! ([`resolve`]).

use std::borrow::Cow;

use super::resolve;
use super::scan::Scan;
use crate::{Keep, Module, Result, TextError, TextErrorKind};

/// Reads a module's TBAA from its text.
///
/// The text may be LLVM's own output of any version since 3.0, or only metadata. Ill-formed nodes
/// are kept; `tbaa_check::verify` reports them. The module keeps the text: it borrows a slice, and
/// owns a `Vec`.
///
/// # Errors
///
/// A [`TextError`] if the text is cut off, defines a number twice, refers to an undefined number,
/// or has a number out of range. LLVM: `parseAssembly`.
pub fn read<'t>(text: impl Into<Cow<'t, [u8]>>) -> Result<Module<'t>, TextError> {
    read_with(text, Keep::Used)
}

/// Like [`read`], with a choice of what to keep. Fails as [`read`] does.
pub fn read_with<'t>(text: impl Into<Cow<'t, [u8]>>, keep: Keep) -> Result<Module<'t>, TextError> {
    read_or_return(text.into(), keep).map_err(|(error, _)| error)
}

/// Like [`read_with`], but also returns the text with an error.
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

/// Reads a module, which has yet to get its text.
fn scanned(text: &[u8], keep: Keep) -> Result<Module<'static>> {
    if u32::try_from(text.len()).is_err() {
        return Err(TextError::new(text, 0, TextErrorKind::TooLarge));
    }
    let mut scan = Scan::new(text);
    // Index 0 is the type of an instruction that has none.
    scan.module.types.insert(Box::default());
    let read = scan.top_level().and_then(|()| resolve::resolve(scan, keep));
    read.map_err(|error| error.located(text))
}
