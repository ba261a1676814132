//! Finds what LLVM cannot read in the metadata nodes of a module.
//!
//! This crate skips unused nodes, and keeps an unknown operand as text. LLVM reads every node, and
//! rejects the whole module for one bad operand. Specialised nodes such as `!DIFile(...)` are not
//! examined. In constants that [`is_constant`] does not decide, only global names are examined.

use std::{cell::OnceCell, ops::Range};

use super::node::{Key, Overflow, Reference, ends_after_operand, is_untyped, operand};
use super::span::{body, last_token};
use crate::{Module, Result, TextErrorKind, WarningKind};
use tbaa::{parts::import::Part, parts::table::HashSet};
use tbaa_lex::{constant::is_constant, lexer::Lexer, source::unquoted};

/// A part of a node that LLVM cannot read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub struct Unreadable {
    /// The bytes of the operand in the text. For a syntax error, one byte.
    pub span: Range<usize>,
    pub why: WhyUnreadable,
}

/// The reason why LLVM cannot read an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub enum WhyUnreadable {
    /// An integer without a type.
    Untyped,
    /// Text that is not a string, a node, `null` or a valid typed constant.
    NoOperand,
    /// A reference to a node or a global that the text does not define or declare.
    Undefined,
    /// A syntax error in the node.
    Node(TextErrorKind),
}

impl Module<'_> {
    /// Finds operands in the text's nodes that LLVM cannot read, and passes each to `found`.
    #[doc(hidden)]
    pub fn unreadable(&self, mut found: impl FnMut(Unreadable)) {
        let text = &*self.text;
        let numbered = self.definitions_in_order().into_iter().map(|(offset, _)| offset);
        let inline = self.graph.nodes().filter(|&node| self.number_of(node).is_none());
        let mut offsets: Vec<usize> =
            numbered.chain(inline.filter_map(|node| self.offset_of(node))).collect();
        offsets.sort_unstable();
        let names = OnceCell::new();
        // Inner nodes are examined together with the node that contains them.
        let mut spans: Vec<Range<usize>> = Vec::new();
        for offset in offsets {
            let reach = spans.last().map_or(0, |span| span.end);
            let span = self.node_span(offset).filter(|span| span.start >= reach);
            let (Some(span), Some(mut lexer)) = (span, body(text, offset)) else { continue };
            spans.push(span.clone());
            if lexer.peek() != Some(b'{') {
                continue;
            }
            if let Err(error) = self.look_into(&mut lexer, &names, &mut found) {
                let end = (error.offset + 1).min(span.end);
                found(Unreadable { span: end - 1..end, why: WhyUnreadable::Node(error.kind) });
            }
        }
        // Of equal inline nodes, the module knows the offset of one, and only this was examined.
        // In the others, the reader's warnings list the integers without a type.
        let untyped = self.warnings.iter().filter(|warning| warning.kind == WarningKind::Untyped);
        for at in untyped.map(|warning| warning.offset) {
            let after = spans.partition_point(|span| span.start <= at);
            if !spans[..after].last().is_some_and(|span| span.contains(&at)) {
                let end = text[at..].iter().position(|byte| b",} \t\r\n".contains(byte));
                let span = at..end.map_or(text.len(), |end| at + end);
                found(Unreadable { span, why: WhyUnreadable::Untyped });
            }
        }
    }

    /// Examines the operands of the node at the lexer's `{`, and of the nodes inside it.
    fn look_into(
        &self,
        lexer: &mut Lexer<'_>,
        names: &OnceCell<HashSet<Vec<u8>>>,
        found: &mut impl FnMut(Unreadable),
    ) -> Result<()> {
        let (mut depth, mut enters) = (0_usize, true);
        loop {
            let mut ends = if enters {
                depth += 1;
                lexer.at += 1;
                lexer.skip_space()?;
                lexer.eat(b"}")
            } else {
                let start = lexer.at;
                let part = operand(lexer, 0, Overflow::Keep)?;
                let names = || names.get_or_init(|| self.global_names());
                if let Some(why) = self.why(&part, &lexer.text[start..], names) {
                    let span = start..last_token(lexer.text, start, lexer.at).unwrap_or(lexer.at);
                    found(Unreadable { span, why });
                }
                ends_after_operand(lexer)?
            };
            while ends {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
                ends = ends_after_operand(lexer)?;
            }
            enters = enter(lexer)?;
        }
    }

    /// Returns the reason why LLVM cannot read an operand, or `None` if none is known.
    fn why<'n>(
        &self,
        part: &Part<'_, Reference>,
        text: &[u8],
        names: impl Fn() -> &'n HashSet<Vec<u8>>,
    ) -> Option<WhyUnreadable> {
        let is_unknown = |text: &str| {
            let mut rest = Lexer::new(text.as_bytes(), 0);
            std::iter::from_fn(|| next_global(&mut rest)).any(|name| !names().contains(&name))
        };
        match part {
            Part::Int(_) if is_untyped(text) => Some(WhyUnreadable::Untyped),
            Part::Key(Reference { key: Key::Number(number), .. }) => {
                self.definition(*number).is_none().then_some(WhyUnreadable::Undefined)
            }
            Part::Raw(text) => match is_constant(text) {
                Some(is_constant) => (!is_constant).then_some(WhyUnreadable::NoOperand),
                None if text.starts_with('!') => None,
                None => is_unknown(text).then_some(WhyUnreadable::Undefined),
            },
            _ => None,
        }
    }

    fn global_names(&self) -> HashSet<Vec<u8>> {
        let text = &*self.text;
        let lines = [0].into_iter().chain(memchr::memchr_iter(b'\n', text).map(|end| end + 1));
        let variables = lines.filter(|&start| text[start..].starts_with(b"@"));
        let declared = self.declarations.iter().map(|&at| at as usize).chain(variables);
        let declared = declared.filter_map(|at| next_global(&mut Lexer::new(text, at)));
        declared.chain(self.functions().map(<[u8]>::to_owned)).collect()
    }
}

/// Moves to the `{` of an inline node. Returns false, without moving, if no inline node is next.
fn enter(lexer: &mut Lexer<'_>) -> Result<bool> {
    let mut ahead = *lexer;
    // LLVM before 3.6 writes `metadata` before a node.
    if ahead.eat_word(b"metadata") {
        ahead.skip_space()?;
    }
    if ahead.eat(b"!") {
        ahead.skip_space()?;
        if ahead.peek() == Some(b'{') {
            *lexer = ahead;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves past the next global name outside strings and comments, and returns it without `@`.
fn next_global(lexer: &mut Lexer<'_>) -> Option<Vec<u8>> {
    Some(unquoted(&lexer.next_name(b'@')?[1..]).into_owned())
}
