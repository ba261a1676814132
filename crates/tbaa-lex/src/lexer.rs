//! The lexer of LLVM assembly, for modules, types and metadata.

use std::borrow::Cow;

use crate::source::{unescaped, unquoted};

/// An error that says why a token cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LexError {
    /// Bytes from the start of the text.
    pub offset: usize,
    /// The kind of mistake.
    pub kind: LexErrorKind,
}

/// The kinds of lexical errors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LexErrorKind {
    /// The text ends inside something, such as `a string` or `a comment`.
    Truncated(String),
    /// Something else is expected here: the field says what.
    Expected(&'static str),
    /// A metadata number does not fit into 32 bits.
    NumberOutOfRange,
}

/// A text and a position in it. To look ahead, copy the lexer.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

impl<'t> Lexer<'t> {
    #[inline]
    pub fn new(text: &'t [u8], at: usize) -> Self {
        Lexer { text, at }
    }

    pub fn expected(&self, wanted: &'static str) -> LexError {
        LexError { offset: self.at, kind: LexErrorKind::Expected(wanted) }
    }

    pub fn truncated(&self, inside: impl Into<String>) -> LexError {
        LexError { offset: self.text.len(), kind: LexErrorKind::Truncated(inside.into()) }
    }

    /// Returns [`Lexer::truncated`] at the end of the text, and [`Lexer::expected`] elsewhere.
    pub fn cut_or(&self, wanted: &'static str, inside: &str) -> LexError {
        match self.peek() {
            None => self.truncated(inside),
            Some(_) => self.expected(wanted),
        }
    }

    #[inline]
    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips these bytes if they are next, and returns whether they were.
    #[inline]
    pub fn eat(&mut self, bytes: &[u8]) -> bool {
        let here = self.rest().starts_with(bytes);
        if here {
            self.at += bytes.len();
        }
        here
    }

    /// Skips this word if it is next as a whole word, and returns whether it was.
    #[inline]
    pub fn eat_word(&mut self, word: &[u8]) -> bool {
        let end = self.at + word.len();
        let here =
            self.rest().starts_with(word) && !self.text.get(end).is_some_and(|&byte| is_word(byte));
        if here {
            self.at = end;
        }
        here
    }

    /// Skips white space, line ends and comments.
    #[inline]
    pub fn skip_space(&mut self) -> Result<(), LexError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b';' | b'/') if self.comment()? => {}
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment, and returns whether one was next. A comment is `;` to the end of the line,
    /// or `/* ... */` (LLVM 22). LLVM: `LLLexer::SkipLineComment`, `LLLexer::SkipCComment`.
    #[inline]
    pub fn comment(&mut self) -> Result<bool, LexError> {
        let rest = self.rest();
        if self.peek() == Some(b';') {
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            return Ok(true);
        }
        let Some(inside) = rest.strip_prefix(b"/*") else { return Ok(false) };
        let end = memchr::memmem::find(inside, b"*/").ok_or_else(|| self.truncated("a comment"))?;
        self.at += 2 + end + 2;
        Ok(true)
    }

    /// Reads a bare word of letters, digits, `_`, `.`, `$` and `-`. It is empty if none is next.
    #[inline]
    pub fn word(&mut self) -> &'t [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Reads the name after the `!` of `!tbaa` or `!DIFile`, and resolves its escapes. The name is
    /// empty if none is next. LLVM: `LLLexer::LexExclaim`.
    #[inline]
    pub fn metadata_name(&mut self) -> Cow<'t, [u8]> {
        let start = self.at;
        let word = self.word();
        if self.peek() != Some(b'\\') {
            return Cow::Borrowed(word);
        }
        while self.peek() == Some(b'\\') {
            self.at += 1;
            self.word();
        }
        unescaped(&self.text[start..self.at])
    }

    /// Reads a decimal metadata number, or fails.
    #[inline]
    pub fn number(&mut self) -> Result<u32, LexError> {
        if let Some((number, len)) = self.rest().first_chunk().and_then(short_number) {
            self.at += len;
            return Ok(number);
        }
        let start = self.at;
        let mut number = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a metadata number"));
        }
        let out_of_range = LexError { offset: start, kind: LexErrorKind::NumberOutOfRange };
        u32::try_from(number).map_err(|_| out_of_range)
    }

    /// Skips a quoted string, and returns the text between the quotes, with escapes unresolved.
    #[inline]
    pub fn quoted(&mut self) -> Result<&'t [u8], LexError> {
        let inside = &self.text[self.at + 1..];
        let end = memchr::memchr(b'"', inside).ok_or_else(|| self.truncated("a string"))?;
        self.at += 1 + end + 1;
        Ok(&inside[..end])
    }

    /// Reads a name, which is a bare word or a quoted string.
    pub fn name(&mut self) -> Result<Vec<u8>, LexError> {
        Ok(unquoted(self.skip_name()?).into_owned())
    }

    /// Skips a name, and returns it as the text has it, with quotes and escapes.
    #[inline]
    pub fn skip_name(&mut self) -> Result<&'t [u8], LexError> {
        let start = self.at;
        if self.peek() == Some(b'"') {
            self.quoted()?;
        } else if self.word().is_empty() {
            return Err(self.expected("a name"));
        }
        Ok(&self.text[start..self.at])
    }

    /// Moves past the next `mark` (`%` or `@`) and the name after it, outside strings and comments.
    /// Returns both as the text has them, or `None` at the end of the text.
    pub fn next_name(&mut self, mark: u8) -> Option<&'t [u8]> {
        loop {
            let start = self.at;
            match self.peek()? {
                b'"' if self.quoted().is_ok() => {}
                b';' | b'/' if self.comment() == Ok(true) => {}
                byte => {
                    self.at += 1;
                    if byte == mark && self.skip_name().is_ok() {
                        return Some(&self.text[start..self.at]);
                    }
                }
            }
        }
    }

    /// Skips white space, `bytes`, and white space again. Returns `None` if this fails.
    #[inline]
    pub fn token(&mut self, bytes: &[u8]) -> Option<()> {
        self.skip_space().ok()?;
        self.eat(bytes).then_some(())?;
        self.skip_space().ok()
    }

    /// Moves to the first byte in `stops` outside strings, comments and brackets, or to a closing
    /// bracket without an opening one. `stops` may contain `@`, `,` and brackets. Returns the
    /// skipped text, trimmed, with its comments.
    #[inline]
    pub fn until(&mut self, stops: &[u8], inside: &str) -> Result<&'t [u8], LexError> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let next = self.rest().iter().position(|&byte| SPECIAL[byte as usize]);
            self.at = next.map_or(self.text.len(), |n| self.at + n);
            let Some(byte) = self.peek() else { return Err(self.truncated(inside)) };
            match byte {
                _ if depth == 0 && stops.contains(&byte) => break,
                b'"' => {
                    self.quoted()?;
                    continue;
                }
                b';' | b'/' if self.comment()? => continue,
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' if depth == 0 => break,
                b')' | b']' | b'}' | b'>' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Ok(self.text[start..self.at].trim_ascii())
    }

    /// Returns whether the next byte may begin a type.
    #[inline]
    pub fn at_type(&self) -> bool {
        match self.peek() {
            Some(b'[' | b'{' | b'<' | b'(') => true,
            Some(b'%') => self.text.get(self.at + 1).is_some_and(|&it| it == b'"' || is_word(it)),
            byte => byte.is_some_and(is_word),
        }
    }

    /// Skips a type, and returns its text.
    #[inline]
    pub fn ty(&mut self) -> Result<&'t [u8], LexError> {
        Ok(self.pointer_ty()?.0)
    }

    /// Skips a type, and returns its text, and the pointee's text if the type ends in `*`.
    ///
    /// A type is a word, a name after `%` or a text in brackets, and then any number of `*`,
    /// `addrspace(N)` and parameter lists.
    #[allow(clippy::type_complexity)]
    #[inline]
    pub fn pointer_ty(&mut self) -> Result<(&'t [u8], Option<&'t [u8]>), LexError> {
        let start = self.at;
        match self.peek() {
            Some(b'[' | b'{' | b'<' | b'(') => self.bracketed("a type")?,
            Some(b'%') => {
                self.at += 1;
                self.skip_name()?;
            }
            _ => {
                if self.word().is_empty() {
                    return Err(self.expected("a type"));
                }
            }
        }
        // The ends of the type, of the type without a last `addrspace(N)`, and of the pointee.
        let (mut end, mut unqualified, mut pointee) = (self.at, None, None);
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b'*') => {
                    self.at += 1;
                    pointee = Some(unqualified.take().unwrap_or(end));
                }
                Some(b'(') => {
                    self.bracketed("a type")?;
                    (unqualified, pointee) = (None, None);
                }
                Some(b'a') if self.rest().starts_with(b"addrspace(") => {
                    self.word();
                    self.bracketed("a type")?;
                    (unqualified, pointee) = (Some(end), None);
                }
                _ => break,
            }
            end = self.at;
        }
        self.at = end;
        Ok((&self.text[start..end], pointee.map(|end| &self.text[start..end])))
    }

    /// Skips a pointer value: a name, a word such as `null`, or a constant expression.
    #[inline]
    pub fn value(&mut self) -> Result<(), LexError> {
        if self.eat(b"%") || self.eat(b"@") {
            return self.skip_name().map(drop);
        }
        match self.word() {
            b"" => return Err(self.expected("a value")),
            b"null" | b"undef" | b"poison" | b"zeroinitializer" => return Ok(()),
            _ => {}
        }
        // An expression: `getelementptr inbounds inrange(0, 8) (...)`, `dso_local_equivalent @f`.
        let mut in_range = false;
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b'(') => {
                    self.bracketed("a constant expression")?;
                    if !std::mem::take(&mut in_range) {
                        return Ok(());
                    }
                }
                Some(b'%' | b'@') => {
                    self.at += 1;
                    return self.skip_name().map(drop);
                }
                _ => match self.word() {
                    b"" => return Err(self.expected("a value")),
                    word => in_range = word == b"inrange",
                },
            }
        }
    }

    /// Skips the opening bracket that is next, and all text through its closing bracket.
    #[inline]
    pub fn bracketed(&mut self, inside: &str) -> Result<(), LexError> {
        self.at += 1;
        // `until` skips inner pairs, so it stops at the closing bracket.
        self.until(&[], inside)?;
        self.at += 1;
        Ok(())
    }
}

/// The bytes of a bare word.
const WORD: [bool; 256] =
    table(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-");
/// The bytes at which [`Lexer::until`] stops to look closer.
const SPECIAL: [bool; 256] = table(b"@,\";/()[]{}<>");

/// Returns a table with `true` for each byte in `bytes`.
pub const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
}

/// Splits a text at its spaces into exactly `N` words, or panics.
pub const fn words<const N: usize>(text: &'static str) -> [&'static [u8]; N] {
    let mut words: [&[u8]; N] = [b""; N];
    let (text, mut nth, mut start, mut at) = (text.as_bytes(), 0, 0, 0);
    while at <= text.len() {
        if at == text.len() || text[at] == b' ' {
            words[nth] = text.split_at(at).0.split_at(start).1;
            (nth, start) = (nth + 1, at + 1);
        }
        at += 1;
    }
    assert!(nth == N);
    words
}

#[inline]
pub fn is_word(byte: u8) -> bool {
    WORD[byte as usize]
}

/// Reads the decimal number of one to seven digits that a text begins with, and returns it and its
/// length. Returns `None` if the text begins with no digit or with eight.
#[inline]
fn short_number(text: &[u8; 8]) -> Option<(u32, usize)> {
    let digits = u64::from_le_bytes(*text) ^ 0x3030_3030_3030_3030;
    // The lowest set bit marks the first byte that is not a digit. Later bits may be wrong.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let len = others.trailing_zeros() / 8;
    if !(1..8).contains(&len) {
        return None;
    }
    // Put zeros before the digits, then combine them to values of two, four and eight digits.
    let eight = digits << (64 - 8 * len);
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let number = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) as u32;
    Some((number, len as usize))
}

/// Replaces each comment in a text from [`Lexer::until`] by a space, and trims the result.
pub fn without_comments(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b';', b'/', text).is_none() {
        return Cow::Borrowed(text.trim_ascii());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut lexer = Lexer::new(text, 0);
    while let Some(byte) = lexer.peek() {
        let start = lexer.at;
        if lexer.comment().unwrap_or(false) {
            bytes.push(b' ');
            continue;
        }
        if byte != b'"' || lexer.quoted().is_err() {
            lexer.at += 1;
        }
        bytes.extend_from_slice(&text[start..lexer.at]);
    }
    Cow::Owned(bytes.trim_ascii().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Lexer, short_number};

    #[test]
    fn short_numbers_are_read_as_others_are() {
        let numbers = [0, 1, 7, 10, 99, 100, 4_321, 65_536, 123_456, 9_999_999];
        for number in numbers {
            for after in [" ", ",", "}", "\n", "/", ":", "a", "\u{ff}", "0 ", "00 "] {
                let text = format!("{number}{after}         ");
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                let first = text.as_bytes().first_chunk().unwrap();
                let known = text[..digits].parse().unwrap();
                let expected = (digits < 8).then_some((known, digits));
                assert_eq!(short_number(first), expected, "{text:?}");
                assert_eq!(Lexer::new(text.as_bytes(), 0).number().unwrap(), known);
            }
        }
        assert_eq!(short_number(b"x1234567"), None);
    }
}
