//! Scans a module's text once, and skips most of each function's body.

use std::num::NonZeroU32;

use super::node::{Key, NodeDefinition, ends_after_operand, equals, reference};
use super::numbers::Numbers;
use super::stops::{ANGLES, BRACKETS, LINES, Stops};
use crate::{Module, Result, TextError, TextErrorKind, TypeDefinition};
use tbaa::parts::{COPIES, TAGS, TYPES};
use tbaa_lex::lexer::{Lexer, words};
use tbaa_lex::source::{position, unescape};

/// The number of entries of [`Scan::recent_types`], a cache of indices into `Module::types`.
pub(super) const RECENT: usize = 16;

#[derive(Default)]
pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    /// The module that is being built, without its text.
    pub(super) module: Module<'static>,
    /// The indices of recently used types. A hash of a type's text selects its entry.
    pub(super) recent_types: [u32; RECENT],
    lines: Stops<LINES>,
    /// Finds the ends of metadata nodes and function headers.
    pub(super) nodes: Stops<{ BRACKETS | ANGLES }>,
    /// The nodes attached as `!tbaa` and `!tbaa.struct`. A number that is attached as `!tbaa`
    /// several times is listed once, at its first use.
    pub(super) attachments: Vec<Attachment>,
    /// For each metadata number that is attached as `!tbaa`: its index in `attachments`, plus 1.
    pub(super) attached: Numbers<NonZeroU32>,
    /// Pairs of an instruction's index and an index into `attachments`.
    pub(super) uses: Vec<(u32, u32)>,
    pub(super) errno: Vec<(Key, usize)>,
    pub(super) tags: Vec<(Key, usize)>,
    pub(super) copies: Vec<(Key, usize)>,
    pub(super) types: Vec<(Key, usize)>,
    /// The nodes in all other named metadata, such as `!llvm.ident`.
    pub(super) listed: Vec<(Key, usize)>,
}

pub(super) struct Attachment {
    pub(super) key: Key,
    /// The reference's offset in the text.
    pub(super) offset: usize,
    /// True for `!tbaa.struct`.
    pub(super) copy: bool,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let definitions = Numbers::new(text.len());
        let mut module = Module { definitions, ..Module::default() };
        // Text compiled from C++ has about one load or store in 256 bytes, and text from C has two.
        // If the reservation fails, the list grows later.
        let _ = module.instructions.try_reserve(text.len() / 256);
        Scan { text, module, attached: Numbers::new(text.len()), ..Scan::default() }
    }

    pub(super) fn top_level(&mut self) -> Result<()> {
        let mut lexer = Lexer::new(self.text, 0);
        // False after an entity that may continue on the next line, such as a global variable.
        // Functions and metadata definitions are read to their ends.
        let mut has_ended = true;
        loop {
            lexer.skip_space()?;
            if has_ended && lexer.peek().is_some() && !starts_entity(lexer.rest()) {
                return Err(lexer.expected("`define`, `target`, `@`, `%`, `!` or the like").into());
            }
            match lexer.peek() {
                None => return Ok(()),
                Some(b'!') => has_ended = self.metadata(&mut lexer, has_ended)?,
                Some(b'd') if lexer.eat_word(b"define") => {
                    has_ended = true;
                    self.function(&mut lexer)?;
                }
                Some(first) => {
                    has_ended = false;
                    match first {
                        b'%' => self.type_definition(&mut lexer)?,
                        b't' if lexer.eat_word(b"target") => self.target(&mut lexer)?,
                        b'd' if lexer.eat_word(b"declare") => {
                            self.module.declarations.push(lexer.at as u32);
                        }
                        b'a' if lexer.eat_word(b"attributes") => {
                            self.module.groups.push(lexer.at as u32);
                        }
                        _ => {}
                    }
                    pass_line(&mut self.lines, &mut lexer)?;
                }
            }
        }
    }

    /// Reads `!4 = distinct !{...}` or `!llvm.ident = !{!4}`, and returns true. If the line
    /// continues a global variable with an attachment, skips the line and returns false.
    fn metadata(&mut self, lexer: &mut Lexer<'t>, has_ended: bool) -> Result<bool> {
        let start = *lexer;
        let offset = lexer.at;
        lexer.at += 1;
        let mut number = *lexer;
        number.skip_space()?;
        if number.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            *lexer = number;
        } else {
            let name = lexer.metadata_name();
            if name.is_empty() && lexer.peek().is_some() {
                return Err(lexer.expected("a number or a name after `!`").into());
            }
            lexer.skip_space()?;
            if !has_ended && lexer.peek().is_some_and(|byte| byte != b'=') {
                *lexer = start;
                pass_line(&mut self.lines, lexer)?;
                return Ok(false);
            }
            equals(lexer)?;
            self.module.named.push(offset as u32);
            if self.named_metadata(lexer, &name)? && *name == *b"llvm.errno.tbaa" {
                self.module.empty_errno.get_or_insert(offset..lexer.at);
            }
            return Ok(true);
        }
        let number = lexer.number()?;
        let next_number = &mut self.module.next_number;
        *next_number = (*next_number).max(u64::from(number) + 1);
        NodeDefinition::read(lexer)?;
        self.nodes.bracketed(lexer, "a metadata node")?;
        // Store the offset plus 1, so that it is not 0. A text is shorter than 4 GiB.
        let place = NonZeroU32::MIN.saturating_add(offset as u32);
        if let Some(first) = self.module.definitions.insert(number, place) {
            let (first_line, _) = position(self.text, first.get() as usize - 1);
            let kind = TextErrorKind::DefinedTwice { number, first_line };
            return Err(TextError::new(self.text, offset, kind));
        }
        Ok(true)
    }

    /// Reads the list of named metadata, from its `!`, and returns whether it is empty.
    fn named_metadata(&mut self, lexer: &mut Lexer<'t>, name: &[u8]) -> Result<bool> {
        let marked = lexer.eat(b"!");
        lexer.skip_space()?;
        if !marked || lexer.peek() != Some(b'{') {
            return Err(lexer.cut_or("a list of nodes, `!{`", "named metadata").into());
        }
        let mut list = *lexer;
        lexer.bracketed("a metadata node")?;
        list.at += 1;
        list.skip_space()?;
        let into = match name {
            b"llvm.errno.tbaa" => &mut self.errno,
            _ if name == TAGS.as_bytes() => &mut self.tags,
            _ if name == COPIES.as_bytes() => &mut self.copies,
            _ if name == TYPES.as_bytes() => &mut self.types,
            _ => &mut self.listed,
        };
        let is_empty = list.eat(b"}");
        let mut ends = is_empty;
        while !ends {
            let item = list;
            if list.eat(b"!DIExpression") {
                list.until(b",", "a metadata node")?;
            } else {
                let key = if list.peek() == Some(b'!') { reference(&mut list)? } else { None };
                let number = key.filter(|key| matches!(key, Key::Number(_)));
                let expected = || item.expected("a metadata number in the list");
                into.push((number.ok_or_else(expected)?, item.at));
            }
            ends = ends_after_operand(&mut list)?;
        }
        Ok(is_empty)
    }

    /// Stores the string of `target datalayout = "..."` or `target triple = "..."`. The lexer is
    /// after `target`. Ignores any other text.
    fn target(&mut self, lexer: &mut Lexer<'t>) -> Result<()> {
        lexer.skip_space()?;
        let into = if lexer.eat_word(b"datalayout") {
            &mut self.module.data_layout
        } else if lexer.eat_word(b"triple") {
            &mut self.module.triple
        } else {
            return Ok(());
        };
        if lexer.token(b"=").is_some() && lexer.peek() == Some(b'"') {
            let offset = lexer.at + 1;
            *into = Some((unescape(lexer.quoted()?).into(), offset));
        }
        Ok(())
    }

    /// Stores and skips `%struct.S = type { i32, ptr }`. Does not move if other text is next.
    fn type_definition(&mut self, lexer: &mut Lexer<'t>) -> Result<()> {
        let mut ahead = *lexer;
        ahead.at += 1;
        let Ok(name) = ahead.name() else { return Ok(()) };
        if ahead.token(b"=").is_none() || !ahead.eat_word(b"type") {
            return Ok(());
        }
        ahead.skip_space()?;
        if ahead.at_type() {
            let offset = ahead.at as u32;
            let body = ahead.ty()?.into();
            self.module.type_definitions.push(TypeDefinition { name: name.into(), body, offset });
            *lexer = ahead;
        }
        Ok(())
    }
}

/// The words, besides `module`, that begin a top-level entity: see LLVM's
/// `LLParser::parseTopLevelEntities`. `deplibs` is from LLVM 3.
const ENTITIES: [&[u8]; 8] =
    words("attributes declare define deplibs source_filename target uselistorder uselistorder_bb");

fn starts_entity(text: &[u8]) -> bool {
    let mut lexer = Lexer::new(text, 0);
    match lexer.peek() {
        Some(b'@' | b'%' | b'!' | b'$' | b'^') => true,
        // Only `module asm` is LLVM assembly. `module {` begins an MLIR file.
        _ if lexer.eat_word(b"module") => lexer.skip_space().is_ok() && lexer.eat_word(b"asm"),
        _ => ENTITIES.iter().any(|word| lexer.eat_word(word)),
    }
}

/// Moves to the end of the line. Skips each string, comment and attachment as a whole, even if it
/// contains line ends.
fn pass_line(lines: &mut Stops<LINES>, lexer: &mut Lexer<'_>) -> Result<()> {
    loop {
        lexer.at = lines.next(lexer.text, lexer.at);
        match lexer.peek() {
            None | Some(b'\n') => return Ok(()),
            Some(b'"') => drop(lexer.quoted()?),
            Some(b';' | b'/') if lexer.comment()? => {}
            Some(b'!') => {
                lexer.at += 1;
                lexer.metadata_name();
                let mut node = *lexer;
                node.skip_space()?;
                if node.peek() == Some(b'!') && reference(&mut node)?.is_some() {
                    *lexer = node;
                }
            }
            Some(_) => lexer.at += 1,
        }
    }
}
