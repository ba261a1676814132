//! Attributes of functions and calls that checks would make untrue.

use std::ops::Range;

use tbaa_ir::{Attribute, Edits};

/// What says that a function does not touch some memory. The runtime's calls do
/// touch some, and LLVM would merge or delete calls of functions that have them.
///
/// LLVM: `MemoryEffects`, and the attributes that it stands for since LLVM 16.
const MEMORY: [&[u8]; 8] = [
    b"memory", b"readnone", b"readonly", b"writeonly", b"argmemonly", b"inaccessiblememonly",
    b"inaccessiblemem_or_argmemonly", b"speculatable",
];

/// Reads the decimal number that a text begins with.
pub(super) fn number(text: &[u8]) -> Option<u32> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..len]).ok()?.parse().ok()
}

/// Puts a harmless attribute in place of those of [`MEMORY`]; a group must not become
/// empty.
pub(super) fn weaken<'t>(
    attributes: impl Iterator<Item = (Range<usize>, Attribute<'t>)>,
    edits: &mut Edits,
) {
    for (span, attribute) in attributes {
        if matches!(attribute, Attribute::Word(word, _) if MEMORY.contains(&word)) {
            edits.replace(span, "\"tbaa-witness\"");
        }
    }
}
