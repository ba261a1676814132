//! Reads the attributes of functions and calls, and attribute groups such as `#0`.

use std::ops::Range;

use crate::Module;
use tbaa::parts::table::HashMap;
use tbaa_lex::lexer::{Lexer, is_word, words};

/// An attribute, or another item in a list of attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Attribute<'t> {
    /// A word such as `readnone`, and the text in parentheses after it: `none` in `memory(none)`.
    Word(&'t [u8], Option<&'t [u8]>),
    /// The number of a group: 0 in `#0`.
    Group(u32),
    /// The name of an operand bundle: `deopt` in `[ "deopt"(i32 1) ]`.
    Bundle(&'t [u8]),
}

/// Iterates over the attributes of a function, call or group, and their ranges in the text.
///
/// Skips string attributes (`"key"="value"`). Ends at the first text that cannot be an attribute.
#[derive(Clone, Debug)]
pub struct Attributes<'t> {
    lexer: Lexer<'t>,
    in_bundles: bool,
}

/// The words that may follow a function's or call's attributes, or begin a top-level entity.
const ENDS: [&[u8]; 12] = words(
    "attributes declare define module personality prefix prologue source_filename target to \
     uselistorder uselistorder_bb",
);

impl<'t> Attributes<'t> {
    /// Reads from `lexer`, which is after a function's parameters, a call's arguments, or a `{`.
    pub(crate) fn new(lexer: Lexer<'t>) -> Self {
        Attributes { lexer, in_bundles: false }
    }
}

impl<'t> Iterator for Attributes<'t> {
    type Item = (Range<usize>, Attribute<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.lexer.skip_space().ok()?;
            let start = self.lexer.at;
            let found = match self.lexer.peek()? {
                byte if byte == b'[' && !self.in_bundles
                    || matches!(byte, b']' | b',') && self.in_bundles =>
                {
                    self.in_bundles = byte != b']';
                    self.lexer.at += 1;
                    continue;
                }
                b'"' if self.in_bundles => {
                    let name = self.lexer.quoted().ok()?;
                    self.lexer.skip_space().ok()?;
                    (self.lexer.peek()? == b'(').then_some(())?;
                    self.lexer.bracketed("a bundle").ok()?;
                    Attribute::Bundle(name)
                }
                b'"' => {
                    // A string attribute: `"key"="value"`.
                    self.lexer.quoted().ok()?;
                    if self.lexer.token(b"=").is_some() {
                        self.lexer.quoted().ok()?;
                    }
                    continue;
                }
                b'#' => {
                    self.lexer.at += 1;
                    Attribute::Group(self.lexer.number().ok()?)
                }
                byte if is_word(byte) => {
                    let word = self.lexer.word();
                    if ENDS.contains(&word) {
                        self.lexer.at = start;
                        return None;
                    }
                    let mut ahead = self.lexer;
                    ahead.skip_space().ok()?;
                    let mut inside = None;
                    if ahead.peek() == Some(b'(') {
                        let open = ahead.at + 1;
                        ahead.bracketed("an attribute").ok()?;
                        inside = Some(&ahead.text[open..ahead.at - 1]);
                        self.lexer = ahead;
                    } else if ahead.eat(b"=") {
                        // `align=4` occurs in groups. The `4` becomes the next attribute.
                        self.lexer = ahead;
                    }
                    Attribute::Word(word, inside)
                }
                _ => return None,
            };
            return Some((start..self.lexer.at, found));
        }
    }
}

/// The attribute groups of a text: `attributes #4 = { ... }`.
#[derive(Debug)]
pub struct Groups<'t> {
    bodies: HashMap<u32, Vec<Attributes<'t>>>,
}

impl<'t> Groups<'t> {
    /// Finds the groups of a module.
    pub fn new(module: &'t Module<'_>) -> Self {
        let mut bodies: HashMap<u32, Vec<_>> = HashMap::default();
        for &start in &module.groups {
            let mut lexer = Lexer::new(module.text(), start as usize);
            let number = (|| {
                lexer.token(b"#")?;
                let number = lexer.number().ok()?;
                lexer.token(b"=")?;
                lexer.eat(b"{").then_some(number)
            })();
            if let Some(number) = number {
                bodies.entry(number).or_default().push(Attributes::new(lexer));
            }
        }
        Groups { bodies }
    }

    /// Returns the attributes of a group, which several lines of the text may define.
    pub fn of(&self, group: u32) -> impl Iterator<Item = (Range<usize>, Attribute<'t>)> {
        self.bodies.get(&group).into_iter().flatten().cloned().flatten()
    }

    /// Returns the numbers of all groups, in any order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.bodies.keys().copied()
    }

    /// Returns whether a word is among the attributes, or in a group that they refer to.
    pub fn have(&self, mut attributes: Attributes<'_>, word: &[u8]) -> bool {
        let is = |attribute| matches!(attribute, Attribute::Word(it, _) if it == word);
        attributes.any(|(_, attribute)| match attribute {
            Attribute::Group(group) => self.of(group).any(|(_, it)| is(it)),
            _ => is(attribute),
        })
    }
}
