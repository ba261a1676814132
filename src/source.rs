//! Places in a text, and bytes between quotes: what all readers share.

use std::borrow::Cow;

/// Returns the line and the column in characters, both from 1, of a byte of a
/// text; the place after its end for an offset past it.
///
/// ```
/// assert_eq!(tbaa::text::position(b"one\ntwo", 5), (2, 2));
/// ```
#[must_use]
pub fn position(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// Resolves `\xx` and `\\` as LLVM does; any other backslash stands for
/// itself.
///
/// LLVM: `UnEscapeLexed`.
pub(crate) fn unescape(text: &[u8]) -> Vec<u8> {
    let hex = |byte: Option<&u8>| byte.and_then(|&byte| (byte as char).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        bytes.extend_from_slice(&rest[..backslash]);
        rest = &rest[backslash + 1..];
        if rest.first() == Some(&b'\\') {
            bytes.push(b'\\');
            rest = &rest[1..];
        } else if let (Some(high), Some(low)) = (hex(rest.first()), hex(rest.get(1))) {
            bytes.push((high * 16 + low) as u8);
            rest = &rest[2..];
        } else {
            bytes.push(b'\\');
        }
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// As [`unescape`], of a text that most likely has no backslash.
pub(crate) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr(b'\\', text) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(unescape(text)),
    }
}

/// Writes bytes as LLVM prints them between quotes.
///
/// LLVM: `printEscapedString`.
pub(crate) fn escape(bytes: &[u8], out: &mut String) {
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' if byte != b'"' => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    /// What `llvm-as-22 | llvm-dis-22` makes of the same strings.
    #[test]
    fn strings_are_read_and_written_as_llvm_does() {
        assert_eq!(unescape(br"a\41\zz\\x\22"), b"aA\\zz\\x\"");
        let mut out = String::new();
        escape(b"aA\\zz\"\n\xff", &mut out);
        assert_eq!(out, r"aA\\zz\22\0A\FF");
    }
}
