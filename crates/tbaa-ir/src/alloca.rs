//! Stack slots, as a text writes them.

use super::body::Statement;

/// An `alloca` taken apart.
#[doc(hidden)]
pub struct Alloca<'t> {
    pub ty: &'t [u8],
    /// Its type and value.
    pub count: Option<(&'t [u8], &'t [u8])>,
    /// In bytes, as the text has it.
    pub align: Option<&'t [u8]>,
    pub swift_error: bool,
    /// Whether its address space is 0 and it is none of a call's arguments.
    pub plain: bool,
}

impl<'t> Statement<'t> {
    /// Reads an `alloca`; `None` where it cannot be made out.
    #[must_use]
    pub fn alloca(&self) -> Option<Alloca<'t>> {
        let mut lexer = self.operands();
        let (mut swift_error, mut plain) = (false, true);
        loop {
            lexer.skip_space().ok()?;
            if lexer.eat_word(b"swifterror") {
                swift_error = true;
            } else if lexer.eat_word(b"inalloca") {
                plain = false;
            } else {
                break;
            }
        }
        let ty = lexer.ty().ok()?;
        let (mut count, mut align) = (None, None);
        while lexer.skip_space().is_ok() && lexer.eat(b",") {
            lexer.skip_space().ok()?;
            let rest = lexer.rest();
            if rest.starts_with(b"addrspace(") {
                plain = rest.starts_with(b"addrspace(0)");
            } else if rest.starts_with(b"i") {
                let ty = lexer.ty().ok()?;
                lexer.skip_space().ok()?;
                let rest = lexer.rest();
                let end = rest.iter().position(|&byte| byte == b',' || byte.is_ascii_whitespace());
                let value = &rest[..end.unwrap_or(rest.len())];
                count = Some((ty, value));
                lexer.at += value.len();
                continue;
            }
            if let Some(rest) = rest.strip_prefix(b"align ") {
                let end = rest.iter().position(|byte| !byte.is_ascii_digit());
                align = Some(&rest[..end.unwrap_or(rest.len())]);
            }
            // An alignment, an address space or an attachment.
            lexer.at += rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
        }
        Some(Alloca { ty, count, align, swift_error, plain })
    }
}
