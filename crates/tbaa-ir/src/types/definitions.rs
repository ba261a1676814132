//! Reads a module's type definitions into a context.

use super::lex::{Local, ParseError, ParseErrorKind, Tokens};
use super::parse::{Names, Parser, Resolved, checked};
use tbaa::parts::table::IndexMap;
use tbaa_types::{Context, Type};

/// Maps the type names in one module's text to types of a context.
///
/// A struct's name in the context differs from its name in the text if the context already had a
/// struct of that name, or if the text numbers the struct, as in `%0`.
#[derive(Clone, Default, Debug)]
pub struct Definitions {
    names: IndexMap<Box<[u8]>, Type>,
    numbers: IndexMap<u64, Type>,
}

impl Definitions {
    /// Returns the type that the text calls `%name`.
    pub fn named(&self, name: &[u8]) -> Option<Type> {
        self.names.get(name).copied()
    }

    /// Returns the type that the text calls `%number`.
    pub fn numbered(&self, number: u64) -> Option<Type> {
        self.numbers.get(&number).copied()
    }

    /// Returns the numbered types. The structs are in the order of their first use or definition.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = (u64, Type)> {
        self.numbers.iter().map(|(&number, &ty)| (number, ty))
    }

    /// Returns the named types. The structs are in the order of their first use or definition.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&[u8], Type)> {
        self.names.iter().map(|(name, &ty)| (&name[..], ty))
    }
}

/// The state of reading a text's type definitions.
pub(super) struct Reading<'t> {
    pub(super) lexer: Tokens<'t>,
    names: Entries<'t>,
}

/// The type of each name, and whether it is defined.
type Entries<'t> = IndexMap<Local<'t>, Entry>;

struct Entry {
    ty: Type,
    defined: bool,
    /// The offset of the first use or the definition, for errors.
    offset: usize,
}

impl<'t> Names<'t> for Entries<'t> {
    fn resolve(&mut self, context: &mut Context, name: Local<'t>, offset: usize) -> Resolved {
        if let Some(entry) = self.get(&name) {
            return Ok(Some(entry.ty));
        }
        let ty = match &name {
            Local::Name(name) => context.named_struct(name)?,
            Local::Number(_) => context.numbered_struct()?,
        };
        self.insert(name, Entry { ty, defined: false, offset });
        Ok(Some(ty))
    }
}

impl<'t> Names<'t> for &Definitions {
    fn resolve(&mut self, _: &mut Context, name: Local<'t>, _: usize) -> Resolved {
        Ok(match name {
            Local::Name(name) => self.named(&name),
            Local::Number(number) => self.numbered(number),
        })
    }
}

impl<'t> Reading<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Reading { lexer: Tokens::new(text), names: IndexMap::default() }
    }

    pub(super) fn definition(&mut self, context: &mut Context) -> Result<(), ParseError> {
        let from = self.lexer.at;
        let name = self.lexer.local()?;
        self.lexer.expect("=", "`=` after the type name")?;
        self.lexer.expect_word("type", "`type`")?;
        self.body(context, name, from)
    }

    /// Reads the text after `type` in the definition of `name`. Errors about `name` are at `from`.
    pub(super) fn body(
        &mut self,
        context: &mut Context,
        name: Local<'t>,
        from: usize,
    ) -> Result<(), ParseError> {
        let Reading { lexer, names } = self;
        if names.get(&name).is_some_and(|entry| entry.defined) {
            return Err(lexer.refuse(from, ParseErrorKind::Redefined(name.to_string())));
        }
        let opaque = lexer.keyword("opaque");
        let body = lexer.at;
        let is_struct = opaque || lexer.open_struct().is_some();
        lexer.at = body;
        if !is_struct {
            let ty = Parser::new(lexer, context, names).ty()?;
            // LLVM allows forward references only to structs.
            if names.contains_key(&name) {
                return Err(lexer.refuse(from, ParseErrorKind::UsedBefore(name.to_string())));
            }
            names.insert(name, Entry { ty, defined: true, offset: from });
            return Ok(());
        }
        let found = names.resolve(context, name.clone(), from);
        let ty = checked(lexer, from, found)?.ok_or_else(|| lexer.wanted("a type"))?;
        if !opaque {
            let (elements, packing) = Parser::new(lexer, context, names).body()?;
            checked(lexer, from, context.complete(ty, &elements, packing))?;
        }
        if let Some(entry) = names.get_mut(&name) {
            entry.defined = true;
        }
        Ok(())
    }

    /// Returns the definitions. Fails if `read` is an error, if a struct contains itself, or if a
    /// name is undefined.
    pub(super) fn finish(
        self,
        context: &mut Context,
        read: Result<(), ParseError>,
    ) -> Result<Definitions, ParseError> {
        // This comes first, because no context may hold a struct that contains itself.
        if let Some(ty) = context.find_cycle(self.names.values().map(|entry| entry.ty)) {
            let entry = self.names.values().find(|entry| entry.ty == ty);
            let offset = entry.map_or(0, |entry| entry.offset);
            self.names.values().for_each(|entry| context.forget_body(entry.ty));
            return Err(self.lexer.refuse(offset, ParseErrorKind::Type(context.recursive(ty))));
        }
        read?;
        if let Some((name, entry)) = self.names.iter().find(|(_, entry)| !entry.defined) {
            let kind = ParseErrorKind::Undefined(name.to_string());
            return Err(self.lexer.refuse(entry.offset, kind));
        }
        let mut definitions = Definitions::default();
        for (name, Entry { ty, .. }) in self.names {
            match name {
                Local::Name(name) => drop(definitions.names.insert(name.into(), ty)),
                Local::Number(number) => drop(definitions.numbers.insert(number, ty)),
            }
        }
        Ok(definitions)
    }
}
