//! Instruments a module, so that its tags are checked at run time.

use std::mem::MaybeUninit;

use crate::status::{Error, Status, given, status};
use crate::text::{Str, Text};

/// Puts a call into the library `libtbaa_witness`, which checks tags, before each tagged access of
/// a module, and writes the module's new text. The module is assembly text with opaque pointers
/// (LLVM 15 or later). Free the new text with `tbaa_text_free`. Instrument before optimizing.
///
/// Unless `skipped` is NULL, it becomes a text with a line for each instruction or function that is
/// not checked: its line in `module`, the function, and why. Free it likewise.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_instrument(
    module: Str,
    instrumented: Option<&mut MaybeUninit<Text>>,
    skipped: Option<&mut MaybeUninit<Text>>,
) -> Status {
    status(|| {
        let into = given(instrumented, "the place of the result")?;
        let source = module.text()?.as_bytes();
        let place = |offset| tbaa_ir::position(source, offset);
        let wrong = |error: tbaa_ir::TextError| {
            let (line, column) = place(error.offset);
            Error::argument(format!("module, line {line}, column {column}: {}", error.kind))
        };
        let read = tbaa_ir::read(source).map_err(wrong)?;
        let checked =
            tbaa_instrument::instrument(&read, tbaa_instrument::Form::Calls).map_err(wrong)?;
        if let Some(skipped) = skipped {
            let line = |skipped: &tbaa_instrument::Skipped| {
                format!("{}: @{}: {}\n", place(skipped.offset).0, skipped.function, skipped.reason)
            };
            skipped.write(Text::from(checked.skipped.iter().map(line).collect::<String>()));
        }
        // The module is UTF-8, and so is all inserted text.
        into.write(Text::from(String::from_utf8_lossy(&checked.text).into_owned()));
        Ok(())
    })
}
