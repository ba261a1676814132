//! Attributes that checks would make false.

use std::ops::Range;

use tbaa_ir::{Attribute, Edits};
use tbaa_lex::lexer::words;

/// Attributes that say that a function does not access some memory. The runtime's calls do access
/// memory, and LLVM would merge or delete calls of such functions.
/// LLVM: `MemoryEffects`, and the attributes that it replaced in LLVM 16.
const MEMORY: [&[u8]; 8] = words(
    "memory readnone readonly writeonly argmemonly inaccessiblememonly \
     inaccessiblemem_or_argmemonly speculatable",
);

/// Reads the decimal number that a text begins with.
pub(super) fn number(text: &[u8]) -> Option<u32> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..len]).ok()?.parse().ok()
}

/// Replaces the attributes in [`MEMORY`] by a harmless one, because a group must not become empty.
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
