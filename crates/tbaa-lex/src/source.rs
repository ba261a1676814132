//! Line numbers, names in messages, and escapes in quoted strings.

use std::borrow::Cow;

/// Returns the line and the column (in characters) of the byte at `offset`, both counted from 1. An
/// offset past the end counts as the end.
///
/// ```
/// assert_eq!(tbaa_lex::source::position(b"one\ntwo", 5), (2, 2));
/// ```
pub fn position(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// The number of bytes of a name that a message may show.
const SHOWN: usize = 256;

/// Returns a name for use in a message. A long name becomes its beginning and its length in bytes.
pub fn shortened(name: &[u8]) -> Cow<'_, str> {
    if name.len() <= SHOWN {
        return String::from_utf8_lossy(name);
    }
    // Do not cut in the middle of a UTF-8 character.
    let end = (SHOWN - 3..=SHOWN).rfind(|&end| name[end] & 0xC0 != 0x80).unwrap_or(SHOWN);
    let start = String::from_utf8_lossy(&name[..end]);
    Cow::Owned(format!("{start}... ({} bytes)", name.len()))
}

/// Shortens a message that may contain names of any length. A long message becomes its beginning,
/// the number of bytes left out, and its end.
pub fn brief(message: String) -> String {
    const HALF: usize = 2 * SHOWN;
    if message.len() <= 4 * HALF {
        return message;
    }
    let boundary = |at| (0..=at).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0);
    let (start, end) = (boundary(HALF), boundary(message.len() - HALF));
    let left_out = end - start;
    format!("{} ... ({left_out} bytes) ... {}", &message[..start], &message[end..])
}

/// Resolves `\xx` and `\\` as LLVM does; any other backslash is literal. LLVM: `UnEscapeLexed`.
pub fn unescape(text: &[u8]) -> Vec<u8> {
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

/// Like [`unescape`], but does not copy a text that has no backslash.
pub fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr(b'\\', text) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(unescape(text)),
    }
}

/// Removes the quotes of a name and resolves its escapes. A bare name is returned as is.
pub fn unquoted(name: &[u8]) -> Cow<'_, [u8]> {
    match name.strip_prefix(b"\"") {
        Some(quoted) => Cow::Owned(unescape(quoted.strip_suffix(b"\"").unwrap_or(quoted))),
        None => Cow::Borrowed(name),
    }
}

/// Appends bytes to `out`, escaped as LLVM prints them between quotes. LLVM: `printEscapedString`.
pub fn escape(bytes: &[u8], out: &mut String) {
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' if byte != b'"' => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:02X}")),
        }
    }
}

/// Appends a name as LLVM prints it after `@` or `%`, quoted if needed. LLVM: `printLLVMName`.
pub fn name(bytes: &[u8], out: &mut String) {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"-$._".contains(byte);
    if bytes.first().is_some_and(|byte| !byte.is_ascii_digit()) && bytes.iter().all(is_bare) {
        out.extend(bytes.iter().map(|&byte| byte as char));
    } else {
        quoted(bytes, out);
    }
}

/// Appends bytes to `out` as LLVM prints a string: in quotes, with the escapes of [`escape`].
pub fn quoted(bytes: &[u8], out: &mut String) {
    out.push('"');
    escape(bytes, out);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{escape, shortened, unescape};

    #[test]
    fn long_names_are_shortened_between_characters() {
        assert_eq!(shortened(b"int"), "int");
        let long = "é".repeat(1000);
        assert_eq!(shortened(long.as_bytes()), format!("{}... (2000 bytes)", "é".repeat(128)));
        let odd = format!("a{long}");
        assert_eq!(shortened(odd.as_bytes()), format!("a{}... (2001 bytes)", "é".repeat(127)));
    }

    /// The expected results are those of `llvm-as-22 | llvm-dis-22` on the same strings.
    #[test]
    fn strings_are_read_and_written_as_llvm_does() {
        assert_eq!(unescape(br"a\41\zz\\x\22"), b"aA\\zz\\x\"");
        let mut out = String::new();
        escape(b"aA\\zz\"\n\xff", &mut out);
        assert_eq!(out, r"aA\\zz\22\0A\FF");
    }
}
