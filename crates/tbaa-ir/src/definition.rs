//! A metadata definition such as `!4 = distinct !{...}`.

use crate::{LexerErrors, Result};
use tbaa_lex::lexer::{Lexer, without_comments};

/// A numbered node, its operands not yet read.
#[derive(Clone, Copy)]
pub(super) struct NodeDefinition {
    /// Bytes from the start of the text to the node's `{`, or to the `!` of a node of another kind.
    pub(super) body: usize,
    pub(super) form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Uniqued,
    Distinct,
    /// A specialised node: `!DIFile(...)` and similar.
    Specialized,
}

impl NodeDefinition {
    /// Reads from after the node's number up to its `{` or `(`.
    pub(super) fn read(lexer: &mut Lexer<'_>) -> Result<Self> {
        equals(lexer)?;
        let distinct = lexer.eat_word(b"distinct");
        lexer.skip_space()?;
        if lexer.eat_word(b"metadata") {
            lexer.skip_space()?;
        }
        let body = lexer.at;
        if !lexer.eat(b"!") {
            return Err(lexer.cut_or("a metadata node, `!{`", "a metadata definition"));
        }
        let mut brace = *lexer;
        brace.skip_space()?;
        if brace.peek() == Some(b'{') {
            *lexer = brace;
            let form = if distinct { Form::Distinct } else { Form::Uniqued };
            return Ok(NodeDefinition { body: brace.at, form });
        }
        lexer.word();
        if lexer.peek() != Some(b'(') {
            return Err(lexer.cut_or("`{` or `(` of a metadata node", "a metadata node"));
        }
        Ok(NodeDefinition { body, form: Form::Specialized })
    }

    /// Reads the definition whose `!` is at `offset`, which the scan has accepted before.
    pub(super) fn at(text: &[u8], offset: usize) -> Result<Self> {
        let mut lexer = Lexer::new(text, offset + 1);
        lexer.skip_space()?;
        lexer.number()?;
        NodeDefinition::read(&mut lexer)
    }
}

/// Returns the text of a node of another kind from its `!` on.
pub(super) fn specialized(text: &[u8], body: usize) -> String {
    let mut lexer = Lexer::new(text, body + 1);
    lexer.word();
    // The scan has passed the same brackets.
    let _ = lexer.bracketed("a metadata node");
    let text = without_comments(&text[body..lexer.at]);
    String::from_utf8_lossy(&text).into_owned()
}

pub(super) fn equals(lexer: &mut Lexer<'_>) -> Result<()> {
    lexer.skip_space()?;
    if !lexer.eat(b"=") {
        return Err(lexer.cut_or("`=`", "a metadata definition"));
    }
    Ok(lexer.skip_space()?)
}
