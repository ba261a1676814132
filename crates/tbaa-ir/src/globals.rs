//! Reads the global variables of a module.

use crate::{Module, Sizes};
use tbaa::parts::table::HashMap;
use tbaa_lex::lexer::Lexer;

/// A global variable.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Global<'t> {
    pub constant: bool,
    /// True if this module defines its contents.
    pub defined: bool,
    /// True if other modules cannot name it.
    pub local: bool,
    /// True if the program may have no such variable: then its address is null.
    pub weak: bool,
    pub ty: &'t [u8],
    /// The size in bytes; 0 if unknown.
    pub size: u64,
}

impl Module<'_> {
    /// Returns the global variables that start a line, by the text of the name after the `@`.
    #[doc(hidden)]
    pub fn globals(&self, sizes: &Sizes) -> HashMap<&[u8], Global<'_>> {
        let text = &*self.text;
        let starts = [0].into_iter().chain(memchr::memchr_iter(b'\n', text).map(|end| end + 1));
        starts.filter_map(|start| global(Lexer::new(text, start), sizes)).collect()
    }
}

/// Returns the names of the aliases of globals, as the text has them after the `@`.
pub(super) fn aliases(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let name = move |at: usize| {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let mut lexer = Lexer::new(&text[..at], start);
        lexer.eat(b"@").then(|| lexer.skip_name().ok()).flatten()
    };
    memchr::memmem::find_iter(text, b" alias ").filter_map(name)
}

fn global<'t>(mut lexer: Lexer<'t>, sizes: &Sizes) -> Option<(&'t [u8], Global<'t>)> {
    lexer.eat(b"@").then_some(())?;
    let name = lexer.skip_name().ok()?;
    lexer.token(b"=")?;
    let (mut defined, mut local, mut weak) = (true, false, false);
    loop {
        lexer.skip_space().ok()?;
        let constant = match lexer.word() {
            b"" => match lexer.peek()? {
                // Parentheses, as in `thread_local(localdynamic)`.
                b'(' => {
                    lexer.bracketed("a global variable").ok()?;
                    continue;
                }
                _ => return None,
            },
            b"global" => false,
            b"constant" => true,
            word @ (b"external" | b"extern_weak") => {
                (defined, weak) = (false, word == b"extern_weak");
                continue;
            }
            b"internal" | b"private" => {
                local = true;
                continue;
            }
            _ => continue,
        };
        lexer.skip_space().ok()?;
        let ty = lexer.ty().ok()?;
        let size = sizes.of(ty).map_or(0, |size| size.alloc);
        return Some((name, Global { constant, defined, local, weak, ty, size }));
    }
}
