//! Adds run-time checks of tags to a module.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use tbaa_instrument::{Form, Skipped, instrument as instrument_text};
use tbaa_ir::TextError;

/// The reason why a module cannot be instrumented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstrumentError {
    /// The module's text cannot be read or instrumented.
    #[error(transparent)]
    Text(TextError),
    /// LLVM rejects the instrumented module, with this message.
    #[error("LLVM refuses the instrumented module: {0}")]
    Llvm(String),
}

/// Returns a copy of a module with checks before its tagged accesses. The checks call the library
/// `libtbaa_witness`. Also returns the functions and instructions that get no checks.
///
/// Call it when the module is complete, before it is optimised, and compile the copy. The JIT must
/// find the library's functions and variables: link the library into the program with `-rdynamic`,
/// load it, or map every name that the copy uses. Look up global values by name in the copy.
///
/// # Errors
///
/// [`InstrumentError`].
pub fn instrument<'ctx>(
    context: &'ctx Context,
    module: &Module<'_>,
) -> Result<(Module<'ctx>, Vec<Skipped>), InstrumentError> {
    let printed = module.print_to_string();
    let source = printed.to_bytes();
    let read = tbaa_ir::read(source).map_err(InstrumentError::Text)?;
    let mut checked = instrument_text(&read, Form::Calls).map_err(InstrumentError::Text)?;
    checked.text.push(b'\n');
    let name = module.get_name().to_string_lossy().into_owned();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&checked.text, &name);
    let made = context.create_module_from_ir(buffer);
    let made = made.map_err(|error| InstrumentError::Llvm(error.to_string()))?;
    Ok((made, checked.skipped))
}
