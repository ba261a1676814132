//! Paths to entries of a spec, such as `types[3]`, and their line and column in its text.
//!
//! The parsed data has no positions, so an error in the data has a path. [`SpecPath::locate`] scans
//! the text for a path. It assumes that RON's parser has accepted the text.

use std::collections::HashMap;
use std::fmt;

/// The path of a place in a spec: field names and list indices, as in `types[3].fields[1]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpecPath(Vec<Step<'static>>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step<'t> {
    Field(&'t str),
    Item(usize),
}

impl SpecPath {
    pub(super) fn list(name: &'static str) -> SpecPath {
        SpecPath(vec![Step::Field(name)])
    }

    pub(super) fn field(mut self, name: &'static str) -> SpecPath {
        self.0.push(Step::Field(name));
        self
    }

    pub(super) fn item(mut self, index: usize) -> SpecPath {
        self.0.push(Step::Item(index));
        self
    }

    /// Appends the steps of `rest`, a path that is relative to this one.
    pub(super) fn join(mut self, rest: &SpecPath) -> SpecPath {
        self.0.extend_from_slice(&rest.0);
        self
    }

    /// Returns the line and the column where the place begins in the text of its spec. Both count
    /// from 1, and the column counts characters. If the text lacks the place, returns the position
    /// of the innermost enclosing place.
    pub fn locate(&self, text: &str) -> (usize, usize) {
        SpecPath::locate_all([self], text)[0]
    }

    /// Like [`SpecPath::locate`], for many places. The results are in the order of `places`.
    pub fn locate_all<'p>(
        places: impl IntoIterator<Item = &'p SpecPath>,
        text: &str,
    ) -> Vec<(usize, usize)> {
        let values = values(text);
        let offset = |place: &SpecPath| {
            let mut at = values.get(&(0, Step::Item(0))).copied();
            let mut offset = at.map_or(text.len(), |(_, start)| start);
            // Follows the path up to the first step that is missing from the text.
            for &step in &place.0 {
                at = at.and_then(|(value, _)| values.get(&(value, step)).copied());
                offset = at.map_or(offset, |(_, start)| start);
            }
            offset
        };
        let offsets: Vec<usize> = places.into_iter().map(offset).collect();
        positions(text, &offsets)
    }
}

fn positions(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
    let mut found = vec![(1, 1); offsets.len()];
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|&index| offsets[index]);
    let (mut at, mut line, mut column) = (0, 1, 1);
    for index in order {
        for c in text[at..offsets[index]].chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = offsets[index];
        found[index] = (line, column);
    }
    found
}

impl fmt::Display for SpecPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if position == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Item(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the byte offset of a line and column, or the end of a text that is too short.
pub(super) fn offset(text: &str, (line, column): (usize, usize)) -> usize {
    let mut start = 0;
    for _ in 1..line {
        start += text[start..].find('\n').map_or(text.len() - start, |newline| newline + 1);
    }
    text[start..].char_indices().nth(column - 1).map_or(text.len(), |(at, _)| start + at)
}

/// Returns the start of the innermost entry whose bracket is still open at `end`: the start of its
/// name if it has one, or else of its bracket.
pub(super) fn enclosing(text: &str, end: usize) -> Option<usize> {
    let mut open = Vec::new();
    let mut name = None;
    for (kind, start, _) in (Tokens { text, at: 0 }).take_while(|&(_, start, _)| start < end) {
        match kind {
            TokenKind::Open => open.push(name.unwrap_or(start)),
            TokenKind::Close => drop(open.pop()),
            _ => {}
        }
        name = (kind == TokenKind::Word).then_some(start);
    }
    open.pop()
}

/// The kind of a token, and the byte offsets of its start and end.
type Token = (TokenKind, usize, usize);

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Word,
    String,
    Open,
    Close,
    Colon,
    Comma,
    Other,
}

/// An iterator over the tokens of RON text, without comments and white space.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl Tokens<'_> {
    /// Returns the end of the string whose opening quote is at `quote`.
    fn string_end(&self, quote: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = quote + 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.boundary(at + 1)
    }

    /// Returns the end of a raw string at `start`, if one starts there.
    fn raw_string_end(&self, start: usize) -> Option<usize> {
        let rest = self.text[start..].strip_prefix('r')?;
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let body = rest[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", &rest[..hashes]);
        let length = body.find(&close).map_or(body.len(), |at| at + close.len());
        Some(self.text.len() - body.len() + length)
    }

    /// Returns the end of a comment at `start`, if one starts there. Block comments nest.
    fn comment_end(&self, start: usize) -> Option<usize> {
        let rest = &self.text[start..];
        if rest.starts_with("//") {
            return Some(start + rest.find('\n').unwrap_or(rest.len()));
        }
        if !rest.starts_with("/*") {
            return None;
        }
        let bytes = rest.as_bytes();
        let (mut at, mut depth) = (2, 1_usize);
        while at < bytes.len() && depth > 0 {
            match (bytes[at], bytes.get(at + 1)) {
                (b'/', Some(b'*')) => (at, depth) = (at + 2, depth + 1),
                (b'*', Some(b'/')) => (at, depth) = (at + 2, depth - 1),
                _ => at += 1,
            }
        }
        Some(start + at)
    }

    /// Returns the first character boundary at or after `at`, or the end of the text.
    fn boundary(&self, at: usize) -> usize {
        (at..self.text.len()).find(|&at| self.text.is_char_boundary(at)).unwrap_or(self.text.len())
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-');
        loop {
            let start = self.at;
            let first = self.text[start..].chars().next()?;
            if let Some(end) = self.comment_end(start) {
                self.at = end;
                continue;
            }
            let (kind, end) = match first {
                '"' => (TokenKind::String, self.string_end(start)),
                '(' | '[' | '{' => (TokenKind::Open, start + 1),
                ')' | ']' | '}' => (TokenKind::Close, start + 1),
                ':' => (TokenKind::Colon, start + 1),
                ',' => (TokenKind::Comma, start + 1),
                'r' if self.raw_string_end(start).is_some() => {
                    (TokenKind::String, self.raw_string_end(start)?)
                }
                _ if is_word(first) => {
                    // In RON, `r#types` is another way to write `types`.
                    let raw = if self.text[start..].starts_with("r#") { 2 } else { 0 };
                    let rest = &self.text[start + raw..];
                    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                    (TokenKind::Word, start + raw + length)
                }
                _ => (TokenKind::Other, start + first.len_utf8()),
            };
            self.at = end;
            // RON treats these two marks of text direction as white space, unlike `is_whitespace`.
            if !first.is_whitespace() && !matches!(first, '\u{200e}' | '\u{200f}') {
                return Some((kind, start, end));
            }
        }
    }
}

/// Numbers the values in a text from 1, and returns a map of them. A value's key is the number of
/// the enclosing value and the step from that value; the outermost value's key is `(0, Item(0))`.
/// Each key is mapped to the value's number and byte offset.
fn values(text: &str) -> HashMap<(usize, Step<'_>), (usize, usize)> {
    let mut values = HashMap::new();
    // For each open bracket: the number of its value, and the index of the current entry.
    let mut open: Vec<(usize, usize)> = Vec::new();
    // The step to the value that begins next; `None` after a value has begun.
    let mut step = Some(Step::Item(0));
    let (mut last, mut word) = (0, "");
    for (kind, start, end) in (Tokens { text, at: 0 }) {
        match (kind, open.last_mut()) {
            (TokenKind::Close, _) => {
                open.pop();
                // If this ends an attribute, such as `#![enable(...)]`, the spec comes next.
                step = open.is_empty().then_some(Step::Item(0));
                continue;
            }
            (TokenKind::Comma, Some((_, entries))) => {
                *entries += 1;
                step = Some(Step::Item(*entries));
                continue;
            }
            (TokenKind::Colon, _) => {
                step = Some(Step::Field(word));
                continue;
            }
            _ => {}
        }
        if let Some(step) = step.take() {
            last += 1;
            values.insert((open.last().map_or(0, |&(value, _)| value), step), (last, start));
        }
        word = "";
        match kind {
            TokenKind::Open => {
                open.push((last, 0));
                step = Some(Step::Item(0));
            }
            TokenKind::Word => word = text[start..end].trim_start_matches("r#"),
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use tbaa_lex::source::position;

    #[track_caller]
    fn found(text: &str, place: SpecPath) -> &str {
        let at = place.locate(text);
        let rest = &text[offset(text, at)..];
        assert_eq!(position(text.as_bytes(), offset(text, at)), at);
        &rest[..rest.len().min(3)]
    }

    #[test]
    fn places_are_found_through_everything_ron_allows() {
        let text = r###"// types: [(1)]
            #![enable(implicit_some)]
            /* name: /* "nested" */ " */ Spec(
                name: "types: [\"(", about: r#"types: ["("#, r#source: "",
                types: [Root(name: "é,\\"), /* ( */ T(fields: [("a", 10, 4), ("b", 20)],)],
                tags: [],
            )"###;
        let types = || SpecPath::list("types");
        assert_eq!(found(text, types()), "[Ro");
        assert_eq!(found(text, types().item(0)), "Roo");
        assert_eq!(found(text, types().item(1)), "T(f");
        let fields = || types().item(1).field("fields");
        assert_eq!(found(text, fields().item(0).item(1)), "10,");
        assert_eq!(found(text, fields().item(1).item(1)), "20)");
        assert_eq!(found(text, SpecPath::list("source")), "\"\",");
        assert_eq!(found(text, SpecPath::list("tags")), "[],");
        // The position of a missing place is that of the enclosing one.
        assert_eq!(found(text, SpecPath::list("tags").item(2)), "[],");
        assert_eq!(found(text, types().item(0).field("key").item(3)), "Roo");
        assert_eq!(found(text, SpecPath::list("expect")), "Spe");
        assert_eq!(found("", types()), "");
    }

    #[test]
    fn many_places_are_found_in_the_order_asked_for() {
        let text = "Spec(\n  name: \"é\", types: [a, é,\n b],\n expect: [(a: 1), (a: 2)])";
        let expect = |index| SpecPath::list("expect").item(index);
        let types = |index| SpecPath::list("types").item(index);
        let places = [expect(1), types(0), types(2), expect(1).field("a"), types(1), expect(2)];
        let each: Vec<_> = places.iter().map(|place| place.locate(text)).collect();
        assert_eq!(each, [(4, 19), (2, 22), (3, 2), (4, 23), (2, 25), (4, 10)]);
        assert_eq!(SpecPath::locate_all(&places, text), each);
        assert_eq!(SpecPath::locate_all([], text), []);
    }

    #[test]
    fn the_entry_around_an_offset_is_found() {
        let text = r#"Spec(types: [Root(name: "(("), (1, [2"#;
        let around = |needle| enclosing(text, text.find(needle).unwrap()).map(|at| &text[at..]);
        assert_eq!(around("Root"), Some("[Root(name: \"((\"), (1, [2"));
        assert_eq!(around("name"), Some("Root(name: \"((\"), (1, [2"));
        assert_eq!(around("1"), Some("(1, [2"));
        assert_eq!(around("2"), Some("[2"));
        assert_eq!(around("Spec"), None);
    }

    #[test]
    fn places_print_as_paths() {
        let place = SpecPath::list("types").item(3).field("fields").item(1);
        assert_eq!(place.to_string(), "types[3].fields[1]");
    }
}
