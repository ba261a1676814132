//! Makes bytes of an input printable: they may hold terminal control sequences or invalid UTF-8.

use std::path::Path;

use tbaa::types::demangle::{demangled_function, folded};

/// Returns bytes as printable text. A tab becomes a space, other hidden characters become escapes
/// such as `\n` or `\u{202e}`, and a byte that is not UTF-8 becomes an escape such as `\xFF`.
pub(crate) fn printable(bytes: impl AsRef<[u8]>) -> String {
    let mut text = String::new();
    for chunk in bytes.as_ref().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\t' => text.push(' '),
                _ if is_hidden(c) => text.extend(c.escape_default()),
                _ => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02X}");
        }
    }
    text
}

pub(crate) fn printable_path(path: &Path) -> String {
    printable(path.as_os_str().as_encoded_bytes())
}

/// Returns bytes as text for columns: a tab becomes a space, any other hidden character U+FFFD.
pub(crate) fn printable_in_columns(bytes: &[u8]) -> String {
    let hide = |c| match c {
        '\t' => ' ',
        _ if is_hidden(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    String::from_utf8_lossy(bytes).chars().map(hide).collect()
}

/// Returns whether a character is a control, a direction mark, a joiner or otherwise invisible.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a function's printed name: for C++ the source name, shortened if long, otherwise LLVM's.
pub(crate) fn function_name(name: &[u8]) -> String {
    demangled_function(name).map_or_else(|| llvm_name(name), |source| printable(folded(source)))
}

/// Returns a name as LLVM writes it after `@`: plain if possible, or quoted with escapes `\xx`.
pub(crate) fn llvm_name(name: &[u8]) -> String {
    let mut out = String::new();
    tbaa_lex::source::name(name, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::{llvm_name, printable, printable_in_columns};

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(printable(b"a\x1b[31m\xff\tz"), "a\\u{1b}[31m\\xFF z");
        assert_eq!(printable("\u{202e}é"), "\\u{202e}é");
        let columns = printable_in_columns("a\x1b\t\u{202e}é".as_bytes());
        assert_eq!(columns, "a\u{fffd} \u{fffd}é");
        assert_eq!(llvm_name(b"f.1"), "f.1");
        assert_eq!(llvm_name(b"a b\"\n\xff"), r#""a b\22\0A\FF""#);
    }
}
