//! The global variables of a module.

use tbaa::parts::table::HashMap;
use tbaa_ir::Sizes;
use tbaa_lex::lexer::Lexer;

/// A global variable.
#[derive(Clone, Copy)]
pub(super) struct Global {
    pub(super) constant: bool,
    /// Whether this module says what is in it.
    pub(super) defined: bool,
    /// In bytes; 0 if it is not known.
    pub(super) size: u64,
}

/// Reads the lines `@x = ... global i32 ...` of a text: by name, as it stands after the `@`.
pub(super) fn globals<'t>(text: &'t [u8], sizes: &Sizes) -> HashMap<&'t [u8], Global> {
    let starts = [0].into_iter().chain(memchr::memchr_iter(b'\n', text).map(|end| end + 1));
    starts.filter_map(|start| global(Lexer::new(text, start), sizes)).collect()
}

fn global<'t>(mut lexer: Lexer<'t>, sizes: &Sizes) -> Option<(&'t [u8], Global)> {
    lexer.eat(b"@").then_some(())?;
    let start = lexer.at;
    lexer.skip_name().ok()?;
    let name = &lexer.text[start..lexer.at];
    lexer.skip_space().ok()?;
    lexer.eat(b"=").then_some(())?;
    let mut defined = true;
    loop {
        lexer.skip_space().ok()?;
        let constant = match lexer.word() {
            b"" => match lexer.peek()? {
                // `thread_local(localdynamic)`
                b'(' => {
                    lexer.bracketed("a global variable").ok()?;
                    continue;
                }
                _ => return None,
            },
            b"global" => false,
            b"constant" => true,
            b"external" | b"extern_weak" => {
                defined = false;
                continue;
            }
            _ => continue,
        };
        lexer.skip_space().ok()?;
        let size = sizes.of(lexer.ty().ok()?).map_or(0, |size| size.alloc);
        return Some((name, Global { constant, defined, size }));
    }
}
