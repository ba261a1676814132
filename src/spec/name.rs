//! Converts names of nodes between LLVM's bytes and RON's strings. In a string, backslashes and
//! bytes that are not UTF-8 are escaped as in `.ll` text.

use tbaa_lex::source::unescape;

/// Returns the bytes of a written name: `\` and two hexadecimal digits are a byte, `\\` is a
/// backslash, any other `\` is literal.
pub(super) fn bytes(written: &str) -> Vec<u8> {
    unescape(written.as_bytes())
}

/// Returns a string that [`bytes()`] converts back to these bytes. Valid UTF-8 is unchanged, except
/// that `\` is doubled.
pub(super) fn escape(bytes: &[u8]) -> String {
    let mut written = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        written.push_str(&chunk.valid().replace('\\', r"\\"));
        for byte in chunk.invalid() {
            written.push_str(&format!("\\{byte:02X}"));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive() {
        for name in [
            &b"int"[..],
            b"",
            b"\\",
            b"\\\\",
            b"\\41",
            b"\\FF\\",
            b"\xff\xfe",
            b"a\xc3",
            b"\x00\n",
            "\u{e9}\\\u{e9}".as_bytes(),
        ] {
            assert_eq!(bytes(&escape(name)), name, "{}", escape(name));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&escape(&all)), all);
    }

    #[test]
    fn escapes_are_those_of_ll_text() {
        assert_eq!(bytes(r"\41\5c\\41\zz\4"), *br"A\\41\zz\4");
    }
}
