//! Attributes of functions and calls that checks would make untrue.

use std::ops::Range;

use tbaa_ir::Edits;
use tbaa_types::lexer::{Lexer, is_word};
use tbaa_types::table::HashMap;

/// The attribute groups of a text, `attributes #4 = { ... }`.
pub(super) struct Groups<'t> {
    bodies: HashMap<u32, &'t [u8]>,
}

/// What says that a function does not touch some memory. The runtime's calls do
/// touch some, and LLVM would merge or delete calls of functions that have them.
///
/// LLVM: `MemoryEffects`, and the attributes that it stands for since LLVM 16.
const MEMORY: [&[u8]; 8] = [
    b"memory",
    b"readnone",
    b"readonly",
    b"writeonly",
    b"argmemonly",
    b"inaccessiblememonly",
    b"inaccessiblemem_or_argmemonly",
    b"speculatable",
];

impl<'t> Groups<'t> {
    /// Finds the groups, and takes out of them what checks make untrue.
    pub(super) fn weaken(text: &'t [u8], edits: &mut Edits) -> Self {
        let mut bodies = HashMap::default();
        for at in memchr::memmem::find_iter(text, b"\nattributes #") {
            let start = at + b"\nattributes #".len();
            let Some(group) = number(&text[start..]) else { continue };
            let Some(open) = memchr::memchr(b'{', &text[start..]) else { continue };
            let mut lexer = Lexer::new(text, start + open);
            if lexer.bracketed("an attribute group").is_ok() {
                weaken(text, start + open..lexer.at, edits);
                bodies.insert(group, &text[start + open..lexer.at]);
            }
        }
        Groups { bodies }
    }

    /// Returns whether the attributes that stand in `head`, or a group that
    /// they name, have this word.
    pub(super) fn have(&self, head: &[u8], attribute: &[u8]) -> bool {
        let groups = head.split(|&byte| byte == b'#').skip(1);
        let named = groups.filter_map(|it| self.bodies.get(&number(it)?).copied());
        std::iter::once(head).chain(named).any(|body| has_word(body, attribute))
    }
}

/// Reads the decimal number that a text begins with.
pub(super) fn number(text: &[u8]) -> Option<u32> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..len]).ok()?.parse().ok()
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find_iter(text, word).any(|at| {
        let before = at.checked_sub(1).is_some_and(|at| is_word(text[at]) || text[at] == b'"');
        let after = text.get(at + word.len()).is_some_and(|&byte| is_word(byte) || byte == b'"');
        !before && !after
    })
}

/// Puts a harmless attribute in place of those of [`MEMORY`] in `span`; a group
/// must not become empty.
pub(super) fn weaken(text: &[u8], span: Range<usize>, edits: &mut Edits) {
    let mut lexer = Lexer::new(&text[..span.end], span.start);
    while let Some(byte) = lexer.peek() {
        let start = lexer.at;
        match byte {
            b'"' if lexer.quoted().is_ok() => continue,
            b'!' => return,
            b'%' | b'@' => {
                lexer.at += 1;
                let _ = lexer.skip_name();
                continue;
            }
            _ => {}
        }
        let word = lexer.word();
        if word.is_empty() {
            lexer.at += 1;
        } else if MEMORY.contains(&word) {
            if lexer.peek() == Some(b'(') && lexer.bracketed("an attribute").is_err() {
                return;
            }
            edits.replace(start..lexer.at, "\"tbaa-witness\"");
        }
    }
}
