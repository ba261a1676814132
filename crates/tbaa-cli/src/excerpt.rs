//! Bytes of an input, made fit to be printed.
//!
//! An input may be hostile: a line may be megabytes long, hold the control
//! sequences of a terminal, or be no UTF-8. `annotate-snippets` takes text that
//! is UTF-8 and has no bound on what it copies, so the window around the caret
//! would have to be cut and escaped before it; what is left is these lines.

/// Characters shown on either side of the place.
const WINDOW: usize = 60;

/// Where something stands.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
}

impl Position {
    /// Returns the position of a byte.
    pub(crate) fn of(text: &[u8], offset: usize) -> Position {
        let (line, column) = tbaa::text::position(text, offset);
        Position { line, column }
    }

    /// Returns the bytes from the start of the text to a position that was
    /// found in UTF-8 text.
    pub(crate) fn offset(self, text: &str) -> usize {
        let mut start = 0;
        for _ in 1..self.line {
            match text[start..].find('\n') {
                Some(newline) => start += newline + 1,
                None => return text.len(),
            }
        }
        let rest = &text[start..];
        start + rest.char_indices().nth(self.column - 1).map_or(rest.len(), |(at, _)| at)
    }
}

/// Returns the line in which a byte stands, with a caret under the byte.
pub(crate) fn excerpt(text: &[u8], offset: usize, line: usize) -> String {
    let offset = offset.min(text.len());
    let start = text[..offset].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let end = text[offset..].iter().position(|&b| b == b'\n').map_or(text.len(), |at| offset + at);
    let end = if text[start..end].ends_with(b"\r") { end - 1 } else { end };
    let offset = offset.min(end);
    // A character is at most four bytes; a cut one is shown as bytes.
    let mut before = printable_chars(&text[start.max(offset.saturating_sub(4 * WINDOW))..offset]);
    let mut after = printable_chars(&text[offset..end.min(offset + 4 * WINDOW)]);
    let cut_left = before.len() > WINDOW || start + 4 * WINDOW < offset;
    let cut_right = after.len() > WINDOW || offset + 4 * WINDOW < end;
    before.drain(..before.len().saturating_sub(WINDOW));
    after.truncate(WINDOW);
    let before = if cut_left { "...".to_owned() } else { String::new() } + &before.concat();
    let after = after.concat() + if cut_right { "..." } else { "" };
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    let indent = " ".repeat(before.chars().count());
    format!(" {number} | {before}{after}\n {gutter} | {indent}^")
}

/// Returns bytes as text without control characters: `\n` and the like, `\xFF`
/// for a byte that is no UTF-8, `\u{202e}` for what would reorder a line.
pub(crate) fn printable(bytes: &[u8]) -> String {
    printable_chars(bytes).concat()
}

fn printable_chars(bytes: &[u8]) -> Vec<String> {
    let mut chars = Vec::new();
    for chunk in bytes.utf8_chunks() {
        chars.extend(chunk.valid().chars().map(|c| match c {
            '\t' => " ".to_owned(),
            _ if c.is_control() || invisible(c) => c.escape_default().to_string(),
            _ => c.to_string(),
        }));
        chars.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    chars
}

/// Marks of direction, joiners and other characters that show only in what
/// they do to others.
fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a name as LLVM writes it after `@`: bare if it can be, otherwise
/// quoted, `\xx` standing for a byte.
pub(crate) fn llvm_name(name: &[u8]) -> String {
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"-$._".contains(byte);
    if !name.is_empty() && name.iter().all(bare) && !name[0].is_ascii_digit() {
        return String::from_utf8_lossy(name).into_owned();
    }
    let mut out = String::from("\"");
    for &byte in name {
        match byte {
            b' '..=b'~' if !matches!(byte, b'"' | b'\\') => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:02X}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{excerpt, llvm_name, printable};

    #[test]
    fn the_caret_stands_under_the_byte() {
        assert_eq!(excerpt(b"ab\r\ncd ef\r\n", 7, 2), " 2 | cd ef\n   |    ^");
        assert_eq!(excerpt(b"ab\r\ncd", 3, 1), " 1 | ab\n   |   ^", "at the line's end");
        assert_eq!(excerpt(b"", 0, 1), " 1 | \n   | ^");
        assert_eq!(excerpt(b"ab\n", 99, 2), " 2 | \n   | ^", "after the text's end");
        assert_eq!(excerpt("éé!".as_bytes(), 4, 1), " 1 | éé!\n   |   ^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let line = [b'a'; 1 << 20];
        let shown = excerpt(&line, 1 << 19, 1);
        assert_eq!(shown.lines().next().map(str::len), Some(5 + 3 + 60 + 60 + 3));
        let caret = shown.lines().nth(1).and_then(|line| line.find('^'));
        assert_eq!(caret, Some(5 + 3 + 60));
        let mut wide = "é".repeat(500).into_bytes();
        wide[501] = 0xff;
        assert!(excerpt(&wide, 500, 1).len() < 600);
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(printable(b"a\x1b[31m\xff\tz"), "a\\u{1b}[31m\\xFF z");
        assert_eq!(printable("\u{202e}é".as_bytes()), "\\u{202e}é");
        assert_eq!(llvm_name(b"f.1"), "f.1");
        assert_eq!(llvm_name(b"a b\"\n\xff"), r#""a b\22\0A\FF""#);
    }
}
