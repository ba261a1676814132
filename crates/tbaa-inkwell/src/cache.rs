//! Stores a JIT and its bitcode together, and loads them again.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use tbaa::parts::fnv;
use tbaa_lower::emit::{Jit, SaveError, SavedJit};

/// The first bytes of a stored JIT. The last of them is the version of the format.
const MAGIC: &[u8; 8] = b"TBAAJIT\x02";

/// The reason why a JIT and its bitcode cannot be stored, or loaded again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The JIT cannot be saved or loaded.
    #[error(transparent)]
    Jit(#[from] SaveError),
    /// The stored bytes cannot be read: they were changed or cut, or [`save`] did not write them.
    /// Also the error of [`save`] if the JIT cannot be written as text.
    #[error("a stored JIT that cannot be read ({0}): compile again")]
    Damaged(String),
    /// LLVM rejects a module; the text is LLVM's message.
    #[error("LLVM refuses stored bitcode: {0}")]
    Llvm(String),
}

/// Returns bytes that contain a JIT and modules with its code. [`load`] reads these bytes, also in
/// another process.
///
/// NB: if two processes load the same bytes and each compiles more code, never link the modules of
/// one with those of the other: see [`Jit::save`].
///
/// # Errors
///
/// [`CacheError::Jit`], or [`CacheError::Damaged`] if the JIT cannot be written as text.
pub fn save(jit: &Jit, modules: &[&Module<'_>]) -> Result<Vec<u8>, CacheError> {
    let text = ron::to_string(&jit.save()?);
    let text = text.map_err(|error| CacheError::Damaged(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut part = |part: &[u8]| {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    };
    part(text.as_bytes());
    modules.iter().for_each(|module| part(module.write_bitcode_to_memory().as_slice()));
    Ok([MAGIC, &fnv(&bytes).to_le_bytes()[..], &bytes].concat())
}

/// Returns the JIT and the modules that [`save`] stored.
///
/// # Errors
///
/// [`CacheError`]. A checksum does not detect malicious bitcode: load only bytes that you stored.
pub fn load<'ctx>(
    context: &'ctx Context,
    bytes: &[u8],
) -> Result<(Jit, Vec<Module<'ctx>>), CacheError> {
    let damaged = |what: &str| CacheError::Damaged(what.to_owned());
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("it begins otherwise"))?;
    let (sum, mut rest) = rest.split_first_chunk().ok_or_else(|| damaged("it is cut"))?;
    if u64::from_le_bytes(*sum) != fnv(rest) {
        return Err(damaged("its checksum differs: it was changed or cut"));
    }
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (len, after) = rest.split_first_chunk::<8>().ok_or_else(|| damaged("it is cut"))?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| damaged("a length"))?;
        let (part, after) = after.split_at_checked(len).ok_or_else(|| damaged("it is cut"))?;
        parts.push(part);
        rest = after;
    }
    let (text, modules) = parts.split_first().ok_or_else(|| damaged("it is empty"))?;
    let saved: SavedJit<'_> =
        ron::de::from_bytes(text).map_err(|error| CacheError::Damaged(error.to_string()))?;
    let jit = Jit::load(saved)?;
    let read = |bitcode: &&[u8]| {
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "cached");
        let module = Module::parse_bitcode_from_buffer(&buffer, context);
        module.map_err(|error| CacheError::Llvm(error.to_string()))
    };
    Ok((jit, modules.iter().map(read).collect::<Result<_, _>>()?))
}
