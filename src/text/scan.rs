//! The pass over a module's text, outside function bodies.

use super::cursor::{Cursor, unescape, without_comments};
use super::error::{TextError, TextErrorKind, position};
use super::module::{Module, TypeDefinition};
use super::node::{Key, reference};
use super::{COPIES, TAGS, TYPES};
use crate::table::HashMap;

/// Where a numbered node stands.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    /// Bytes from the start of the text to the number.
    pub(super) offset: usize,
    /// To the node's `{`, or to the `!` of a node of another kind.
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

/// What the pass over the text finds.
pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    pub(super) module: Module,
    pub(super) definitions: HashMap<u32, Definition>,
    /// Numbers in file order.
    pub(super) order: Vec<u32>,
    /// What `!tbaa` and `!tbaa.struct` attach, to which instruction.
    pub(super) attachments: Vec<Attachment>,
    pub(super) errno: Vec<(Key, usize)>,
    pub(super) tags: Vec<(Key, usize)>,
    pub(super) copies: Vec<(Key, usize)>,
    pub(super) types: Vec<(Key, usize)>,
}

pub(super) struct Attachment {
    pub(super) instruction: usize,
    pub(super) key: Key,
    /// Bytes from the start of the text to the reference.
    pub(super) offset: usize,
    /// Whether it is `!tbaa.struct`.
    pub(super) copy: bool,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Scan {
            text,
            module: Module::default(),
            definitions: HashMap::new(),
            order: Vec::new(),
            attachments: Vec::new(),
            errno: Vec::new(),
            tags: Vec::new(),
            copies: Vec::new(),
            types: Vec::new(),
        }
    }

    pub(super) fn top_level(&mut self) -> Result<(), TextError> {
        let mut cursor = Cursor::new(self.text, 0);
        loop {
            cursor.skip_space()?;
            match cursor.peek() {
                None => return Ok(()),
                Some(b'!') => self.metadata(&mut cursor)?,
                Some(b'%') => self.type_definition(&mut cursor)?,
                _ if cursor.eat_word(b"define") => self.function(&mut cursor)?,
                _ if cursor.eat_word(b"target") => self.target(&mut cursor)?,
                _ => pass_line(&mut cursor)?,
            }
        }
    }

    /// `%struct.S = type { i32, ptr }`; another line that starts so is passed.
    fn type_definition(&mut self, cursor: &mut Cursor<'t>) -> Result<(), TextError> {
        let mut ahead = *cursor;
        ahead.at += 1;
        let Some(name) = optional(ahead.name())? else { return pass_line(cursor) };
        ahead.skip_space()?;
        if !ahead.eat(b"=") {
            return pass_line(cursor);
        }
        ahead.skip_space()?;
        if !ahead.eat_word(b"type") {
            return pass_line(cursor);
        }
        ahead.skip_space()?;
        let offset = ahead.at;
        let Some(body) = optional(ahead.ty())? else { return pass_line(cursor) };
        self.module.type_definitions.push(TypeDefinition {
            name: name.into(),
            body: body.into(),
            offset: offset as u32,
        });
        *cursor = ahead;
        pass_line(cursor)
    }

    /// `target datalayout = "..."`, from after `target`.
    fn target(&mut self, cursor: &mut Cursor<'t>) -> Result<(), TextError> {
        cursor.skip_space()?;
        let into = if cursor.eat_word(b"datalayout") {
            &mut self.module.data_layout
        } else if cursor.eat_word(b"triple") {
            &mut self.module.triple
        } else {
            return pass_line(cursor);
        };
        cursor.skip_space()?;
        if cursor.eat(b"=") {
            cursor.skip_space()?;
            if cursor.peek() == Some(b'"') {
                let offset = cursor.at + 1;
                *into = Some((unescape(cursor.quoted()?).into(), offset));
            }
        }
        pass_line(cursor)
    }

    /// `!4 = distinct !{...}` or `!llvm.ident = !{!4}`.
    fn metadata(&mut self, cursor: &mut Cursor<'t>) -> Result<(), TextError> {
        let start = *cursor;
        let offset = cursor.at;
        cursor.at += 1;
        let mut number = *cursor;
        number.skip_space()?;
        if number.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            *cursor = number;
        } else {
            let name = cursor.metadata_name();
            cursor.skip_space()?;
            if cursor.peek().is_some_and(|byte| byte != b'=') {
                // An attachment of the global variable on the line before.
                *cursor = start;
                return pass_line(cursor);
            }
            equals(cursor)?;
            return self.named_metadata(cursor, &name);
        }
        let number = cursor.number()?;
        let mut form = if before_body(cursor)? { Form::Distinct } else { Form::Uniqued };
        let mut body = cursor.at;
        if !cursor.eat(b"!") {
            return Err(cursor.cut_or("a metadata node, `!{`", "a metadata definition"));
        }
        let mut brace = *cursor;
        brace.skip_space()?;
        if brace.peek() == Some(b'{') {
            *cursor = brace;
            body = cursor.at;
        } else {
            form = Form::Specialized;
            cursor.word();
            if cursor.peek() != Some(b'(') {
                return Err(cursor.cut_or("`{` or `(` of a metadata node", "a metadata node"));
            }
        }
        cursor.bracketed("a metadata node")?;
        if let Some(first) = self.definitions.get(&number) {
            let (first_line, _) = position(self.text, first.offset);
            let kind = TextErrorKind::DefinedTwice { number, first_line };
            return Err(TextError::new(self.text, offset, kind));
        }
        self.definitions.insert(number, Definition { offset, body, form });
        self.order.push(number);
        Ok(())
    }

    fn named_metadata(&mut self, cursor: &mut Cursor<'t>, name: &[u8]) -> Result<(), TextError> {
        let marked = cursor.eat(b"!");
        cursor.skip_space()?;
        if !marked || cursor.peek() != Some(b'{') {
            return Err(cursor.cut_or("a list of nodes, `!{`", "named metadata"));
        }
        let mut list = *cursor;
        cursor.bracketed("a metadata node")?;
        let into = match name {
            b"llvm.errno.tbaa" => &mut self.errno,
            _ if name == TAGS.as_bytes() => &mut self.tags,
            _ if name == COPIES.as_bytes() => &mut self.copies,
            _ if name == TYPES.as_bytes() => &mut self.types,
            _ => return Ok(()),
        };
        list.at += 1;
        list.skip_space()?;
        while list.peek() == Some(b'!') {
            let at = list.at;
            match reference(&mut list)? {
                Some(key) => into.push((key, at)),
                None => break,
            }
            list.skip_space()?;
            list.eat(b",");
            list.skip_space()?;
        }
        if list.peek() != Some(b'}') {
            return Err(list.expected("a metadata number in the list"));
        }
        Ok(())
    }

    /// The text of a node of another kind, `!DIFile(...)`.
    pub(super) fn specialized(&self, definition: &Definition) -> String {
        let mut cursor = Cursor::new(self.text, definition.body + 1);
        cursor.word();
        // The scan has passed the same brackets.
        let _ = cursor.bracketed("a metadata node");
        let text = without_comments(&self.text[definition.body..cursor.at]);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Passes what stands between a node's number and its `!`, and returns whether
/// the node is distinct.
pub(super) fn before_body(cursor: &mut Cursor<'_>) -> Result<bool, TextError> {
    equals(cursor)?;
    let distinct = cursor.eat_word(b"distinct");
    cursor.skip_space()?;
    if cursor.eat_word(b"metadata") {
        cursor.skip_space()?;
    }
    Ok(distinct)
}

fn equals(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    cursor.skip_space()?;
    if !cursor.eat(b"=") {
        return Err(cursor.cut_or("`=`", "a metadata definition"));
    }
    cursor.skip_space()?;
    Ok(())
}

/// Something that may stand here; what is cut off is no matter of may.
fn optional<T>(parsed: Result<T, TextError>) -> Result<Option<T>, TextError> {
    match parsed {
        Err(error) if !matches!(error.kind, TextErrorKind::Truncated { .. }) => Ok(None),
        parsed => parsed.map(Some),
    }
}

/// Passes the rest of a line, and of strings, comments and attachments that
/// begin on it.
fn pass_line(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\n' => return Ok(()),
            b'"' => {
                cursor.quoted()?;
            }
            b';' | b'/' if cursor.comment()? => {}
            b'!' => {
                cursor.at += 1;
                cursor.metadata_name();
                let mut node = *cursor;
                node.skip_space()?;
                if node.peek() == Some(b'!') && reference(&mut node)?.is_some() {
                    *cursor = node;
                }
            }
            _ => cursor.at += 1,
        }
    }
    Ok(())
}
