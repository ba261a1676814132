//! A metadata definition such as `!4 = distinct !{...}`.

use super::cursor::{Cursor, without_comments};
use super::error::TextError;

/// A numbered node, its operands not yet read.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    /// Bytes from the start of the text to the node's `{`, or to the `!` of a
    /// node of another kind.
    pub(super) body: usize,
    pub(super) form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Uniqued,
    Distinct,
    /// `!DIFile(...)` and the like.
    Specialized,
}

impl Definition {
    /// Reads from after the node's number up to its `{` or `(`.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, TextError> {
        equals(cursor)?;
        let distinct = cursor.eat_word(b"distinct");
        cursor.skip_space()?;
        if cursor.eat_word(b"metadata") {
            cursor.skip_space()?;
        }
        let body = cursor.at;
        if !cursor.eat(b"!") {
            return Err(cursor.cut_or("a metadata node, `!{`", "a metadata definition"));
        }
        let mut brace = *cursor;
        brace.skip_space()?;
        if brace.peek() == Some(b'{') {
            *cursor = brace;
            let form = if distinct { Form::Distinct } else { Form::Uniqued };
            return Ok(Definition { body: brace.at, form });
        }
        cursor.word();
        if cursor.peek() != Some(b'(') {
            return Err(cursor.cut_or("`{` or `(` of a metadata node", "a metadata node"));
        }
        Ok(Definition { body, form: Form::Specialized })
    }

    /// Reads the definition whose `!` stands at `offset`, which the scan has
    /// passed before.
    pub(super) fn at(text: &[u8], offset: usize) -> Result<Self, TextError> {
        let mut cursor = Cursor::new(text, offset + 1);
        cursor.skip_space()?;
        cursor.number()?;
        Definition::read(&mut cursor)
    }
}

/// Returns the text of a node of another kind from its `!` on.
pub(super) fn specialized(text: &[u8], body: usize) -> String {
    let mut cursor = Cursor::new(text, body + 1);
    cursor.word();
    // The scan has passed the same brackets.
    let _ = cursor.bracketed("a metadata node");
    let text = without_comments(&text[body..cursor.at]);
    String::from_utf8_lossy(&text).into_owned()
}

pub(super) fn equals(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    cursor.skip_space()?;
    if !cursor.eat(b"=") {
        return Err(cursor.cut_or("`=`", "a metadata definition"));
    }
    cursor.skip_space()
}
