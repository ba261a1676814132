//! Reading a module's struct types into a context.

use std::borrow::Cow;

use super::lex::{Local, ParseError, ParseErrorKind, Tokens};
use super::parse::{Names, Parser, checked};
use tbaa::parts::table::IndexMap;
use tbaa_types::{Context, Type, TypeError};

/// The types of the names in one module's text, in a context.
///
/// A struct's name in the text and in the context differ if the context already had a struct of
/// that name, or if the text has a number.
#[derive(Clone, Default, Debug)]
pub struct Definitions {
    names: IndexMap<Box<[u8]>, Type>,
    numbers: IndexMap<u64, Type>,
}

impl Definitions {
    /// Returns the type that the text calls `%name`.
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Option<Type> {
        self.names.get(name).copied()
    }

    /// Returns the type that the text calls `%number`.
    #[must_use]
    pub fn numbered(&self, number: u64) -> Option<Type> {
        self.numbers.get(&number).copied()
    }

    /// Returns the numbers with their types, in the order in which the text first uses them.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = (u64, Type)> {
        self.numbers.iter().map(|(&number, &ty)| (number, ty))
    }

    /// Returns the names with their types, in the order in which the text first uses them.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&[u8], Type)> {
        self.names.iter().map(|(name, &ty)| (&name[..], ty))
    }
}

/// The facts about a name while its text is read.
#[derive(Default)]
pub(super) struct Reading<'t> {
    types: IndexMap<Local<'t>, Entry>,
}

struct Entry {
    ty: Type,
    defined: bool,
    /// The offset of its first use or definition.
    offset: usize,
}

impl<'t> Names<'t> for Reading<'t> {
    fn resolve(
        &mut self,
        context: &mut Context,
        name: Local<'t>,
        offset: usize,
    ) -> Result<Option<Type>, TypeError> {
        if let Some(entry) = self.types.get(&name) {
            return Ok(Some(entry.ty));
        }
        let ty = match &name {
            Local::Name(name) => context.named_struct(name)?,
            Local::Number(_) => context.numbered_struct()?,
        };
        self.types.insert(name, Entry { ty, defined: false, offset });
        Ok(Some(ty))
    }
}

impl<'t> Names<'t> for &Definitions {
    fn resolve(
        &mut self,
        _: &mut Context,
        name: Local<'t>,
        _: usize,
    ) -> Result<Option<Type>, TypeError> {
        Ok(match name {
            Local::Name(name) => self.named(&name),
            Local::Number(number) => self.numbered(number),
        })
    }
}

pub(super) fn finish(
    context: &mut Context,
    read: Result<(), ParseError>,
    lexer: &Tokens<'_>,
    reading: Reading<'_>,
) -> Result<Definitions, ParseError> {
    // First of all: no context holds a struct that contains itcontext.
    refuse_cycles(context, lexer, &reading)?;
    read?;
    let undefined = reading.types.iter().find(|(_, entry)| !entry.defined);
    if let Some((name, entry)) = undefined {
        let kind = ParseErrorKind::Undefined(name.to_string());
        return Err(lexer.refuse(entry.offset, kind));
    }
    let mut definitions = Definitions::default();
    for (name, entry) in reading.types {
        match name {
            Local::Name(name) => drop(definitions.names.insert(owned(name), entry.ty)),
            Local::Number(number) => drop(definitions.numbers.insert(number, entry.ty)),
        }
    }
    Ok(definitions)
}

pub(super) fn read_definition<'t>(
    context: &mut Context,
    lexer: &mut Tokens<'t>,
    reading: &mut Reading<'t>,
) -> Result<(), ParseError> {
    let from = lexer.at;
    let name = lexer.local()?;
    lexer.expect("=", "`=` after the type name")?;
    if !lexer.keyword("type") {
        return Err(lexer.wanted("`type`"));
    }
    read_body(context, lexer, reading, name, from)
}

/// Reads the text after `type`.
pub(super) fn read_body<'t>(
    context: &mut Context,
    lexer: &mut Tokens<'t>,
    reading: &mut Reading<'t>,
    name: Local<'t>,
    from: usize,
) -> Result<(), ParseError> {
    if reading.types.get(&name).is_some_and(|entry| entry.defined) {
        return Err(lexer.refuse(from, ParseErrorKind::Redefined(name.to_string())));
    }
    let opaque = lexer.keyword("opaque");
    let body = lexer.at;
    let is_struct = opaque || lexer.open_struct().is_some();
    lexer.at = body;
    if !is_struct {
        let ty = Parser::new(lexer, context, reading).ty()?;
        // LLVM allows a forward reference to a struct only.
        if reading.types.contains_key(&name) {
            return Err(lexer.refuse(from, ParseErrorKind::UsedBefore(name.to_string())));
        }
        reading.types.insert(name, Entry { ty, defined: true, offset: from });
        return Ok(());
    }
    let found = reading.resolve(context, name.clone(), from);
    let ty = checked(lexer, from, found)?.ok_or_else(|| lexer.wanted("a type"))?;
    if !opaque {
        let (elements, packing) = Parser::new(lexer, context, reading).body()?;
        checked(lexer, from, context.complete(ty, &elements, packing))?;
    }
    if let Some(entry) = reading.types.get_mut(&name) {
        entry.defined = true;
    }
    Ok(())
}

/// Rejects structs that contain themselves, after a text or a part of it.
fn refuse_cycles(
    context: &mut Context,
    lexer: &Tokens<'_>,
    reading: &Reading<'_>,
) -> Result<(), ParseError> {
    if let Some(ty) = context.find_cycle(reading.types.values().map(|entry| entry.ty)) {
        let entry = reading.types.values().find(|entry| entry.ty == ty);
        let offset = entry.map_or(0, |entry| entry.offset);
        reading.types.values().for_each(|entry| context.forget_body(entry.ty));
        return Err(lexer.refuse(offset, ParseErrorKind::Type(context.recursive(ty))));
    }
    Ok(())
}

fn owned(name: Cow<'_, [u8]>) -> Box<[u8]> {
    name.into_owned().into()
}
