//! Searches text for a set of bytes, such as line ends or brackets, 64 bytes at a time.

use crate::Result;
use tbaa_lex::lexer::Lexer;

/// The set of line ends and `!`. Like every set, it also has `"`, `;` and `/`.
pub(super) const LINES: u8 = 1;
/// The set of `(`, `)`, `[`, `]`, `{` and `}`.
pub(super) const BRACKETS: u8 = 2;
/// The set of `<` and `>`.
pub(super) const ANGLES: u8 = 4;
/// The set for function bodies: line ends, `=`, the bytes of `BRACKETS`, and `!` before `t` or `\`.
pub(super) const BODY: u8 = 8;

/// A search for the bytes of `SET`. Each search may start at any offset. It is fastest if it starts
/// in the 64-byte block of the last result.
pub(super) struct Stops<const SET: u8> {
    /// The offset of the 64-byte block that `mask` describes.
    base: usize,
    /// One bit for each byte of the block; a set bit is a byte to stop at.
    mask: u64,
}

impl<const SET: u8> Default for Stops<SET> {
    fn default() -> Self {
        // No offset is in this block, so the first search loads its own.
        Stops { base: usize::MAX, mask: 0 }
    }
}

impl<const SET: u8> Stops<SET> {
    /// Returns the offset of the first byte of the set at or after `at`, or the end of the text.
    /// Stops at `+` and `?`, too.
    #[inline]
    pub(super) fn next(&mut self, text: &[u8], at: usize) -> usize {
        let base = at & !63;
        if base != self.base {
            self.load(text, base);
        }
        let here = self.mask & u64::MAX << (at & 63);
        if here != 0 {
            return base + here.trailing_zeros() as usize;
        }
        let mut base = base;
        while base + 64 < text.len() {
            base += 64;
            self.load(text, base);
            if self.mask != 0 {
                return base + self.mask.trailing_zeros() as usize;
            }
        }
        text.len()
    }

    #[inline]
    fn load(&mut self, text: &[u8], base: usize) {
        self.base = base;
        let rest = text.get(base..).unwrap_or_default();
        self.mask = match rest.first_chunk() {
            Some(block) => mask::<SET>(block),
            None => {
                let mut block = [0; 65];
                let len = rest.len().min(64);
                block[..len].copy_from_slice(&rest[..len]);
                mask::<SET>(&block)
            }
        };
    }
}

/// Returns one bit for each of the first 64 bytes, set if the byte is in `SET`. Vectorises well.
#[inline(always)]
fn mask<const SET: u8>(block: &[u8; 65]) -> u64 {
    let mut stops = [0_u8; 64];
    for ((stop, &byte), &next) in stops.iter_mut().zip(block).zip(&block[1..]) {
        let mut found = is_common(byte);
        if SET & LINES != 0 {
            found |= byte == b'\n' || byte == b'!';
        }
        if SET & BRACKETS != 0 {
            found |= is_bracket(byte);
        }
        if SET & ANGLES != 0 {
            found |= byte | 2 == b'>'; // < >
        }
        if SET & BODY != 0 {
            // An attachment `!tbaa`, whose `t` may be written as an escape.
            let attachment = (byte == b'!') & ((next == b't') | (next == b'\\'));
            found |= is_bracket(byte) | (byte == b'\n') | (byte == b'=') | attachment;
        }
        *stop = u8::from(found);
    }
    gathered(&stops)
}

// One comparison in these functions covers several bytes that differ in one or two bits.

/// Matches `"`, `;` and `/`. Also matches `+` and `?`, which are rare, and which callers skip.
#[inline(always)]
fn is_common(byte: u8) -> bool {
    byte == b'"' || byte & !0x14 == b'+'
}

#[inline(always)]
fn is_bracket(byte: u8) -> bool {
    // ( ) and [ { ] }
    byte | 1 == b')' || byte | 0x20 == b'{' || byte | 0x20 == b'}'
}

/// Packs 64 bytes, each 0 or 1, into one bit each.
#[inline(always)]
fn gathered(bytes: &[u8; 64]) -> u64 {
    let mut mask = 0;
    for (i, eight) in bytes.as_chunks().0.iter().enumerate() {
        // Gathers the lowest bit of each of eight bytes into the highest byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * i);
    }
    mask
}

impl Stops<BODY> {
    /// Like [`next`](Self::next), but does not stop at brackets, except at a `}` if `depth` is 0.
    /// Counts the open brackets in `depth`, and skips line ends, `=` and `!` inside them.
    #[inline]
    pub(super) fn next_in_body(&mut self, text: &[u8], at: usize, depth: &mut usize) -> usize {
        let mut base = at & !63;
        if base != self.base {
            self.load(text, base);
        }
        let mut left = self.mask & u64::MAX << (at & 63);
        loop {
            while left != 0 {
                let at = base + left.trailing_zeros() as usize;
                left &= left - 1;
                let Some(&byte) = text.get(at) else { return text.len() };
                if is_bracket(byte) {
                    if byte == b'}' && *depth == 0 {
                        return at;
                    }
                    *depth = deeper(*depth, byte);
                } else if *depth == 0 || !matches!(byte, b'\n' | b'=' | b'!') {
                    return at;
                }
            }
            if base + 64 >= text.len() {
                return text.len();
            }
            base += 64;
            self.load(text, base);
            left = self.mask;
        }
    }
}

/// Returns the nesting depth after a bracket. A closing bracket without an opening one is ignored.
#[inline]
pub(super) fn deeper(depth: usize, bracket: u8) -> usize {
    let opens = matches!(bracket, b'(' | b'[' | b'{');
    if opens { depth + 1 } else { depth.saturating_sub(1) }
}

impl Stops<{ BRACKETS | ANGLES }> {
    #[inline]
    pub(super) fn bracketed(&mut self, lexer: &mut Lexer<'_>, inside: &str) -> Result<()> {
        lexer.at += 1;
        self.close(lexer, None, inside)?;
        lexer.at += 1;
        Ok(())
    }

    /// Like [`Lexer::until`] with `{` as the byte to stop at.
    pub(super) fn until_brace<'t>(
        &mut self,
        lexer: &mut Lexer<'t>,
        inside: &str,
    ) -> Result<&'t [u8]> {
        let start = lexer.at;
        self.close(lexer, Some(b'{'), inside)?;
        Ok(lexer.text[start..lexer.at].trim_ascii())
    }

    /// Moves to the first `stop` outside brackets, or to a closing bracket without an opening one.
    #[inline]
    fn close(&mut self, lexer: &mut Lexer<'_>, stop: Option<u8>, inside: &str) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            lexer.at = self.next(lexer.text, lexer.at);
            let Some(byte) = lexer.peek() else { return Err(lexer.truncated(inside).into()) };
            match byte {
                b'"' => {
                    lexer.quoted()?;
                    continue;
                }
                b';' | b'/' if lexer.comment()? => continue,
                _ if depth == 0 && Some(byte) == stop => return Ok(()),
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' if depth == 0 => return Ok(()),
                b')' | b']' | b'}' | b'>' => depth -= 1,
                _ => {}
            }
            lexer.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a search for `SET` stops at the bytes `wanted` and at `";/+?`, and at no others.
    fn check<const SET: u8>(wanted: &[u8]) {
        for byte in 0..=u8::MAX {
            let stops = wanted.contains(&byte) || b"\";/+?".contains(&byte);
            for at in 0..150 {
                let mut text = [b' '; 150];
                text[at] = byte;
                let found = Stops::<SET>::default().next(&text, 0);
                assert_eq!(found, if stops { at } else { 150 }, "{byte:#x} at {at}");
                assert_eq!(Stops::<SET>::default().next(&text, at + 1), 150);
            }
        }
    }

    #[test]
    fn all_bytes_of_a_set_are_found_and_no_others() {
        check::<LINES>(b"\n!");
        check::<BODY>(b"\n=()[]{}");
        check::<{ BRACKETS | ANGLES }>(b"()[]{}<>");
    }

    #[test]
    fn a_search_may_jump_to_any_place() {
        let mut text = [b' '; 300];
        let places = [0, 63, 64, 65, 127, 200, 299];
        for at in places {
            text[at] = b'\n';
        }
        let mut stops = Stops::<LINES>::default();
        for from in (0..=300).chain((0..=300).rev()) {
            let expected = places.into_iter().find(|&at| at >= from).unwrap_or(300);
            assert_eq!(stops.next(&text, from), expected, "from {from}");
        }
    }
}
