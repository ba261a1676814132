//! Reading a module's struct types into a context.

use std::borrow::Cow;

use super::lex::{Local, ParseError, ParseErrorKind, Tokens, saturating};
use super::parse::{Names, Parser, checked};
use super::{Context, Type, TypeError};
use crate::table::{HashSet, IndexMap};

/// What the names in one module's text stand for in a context.
///
/// The text's name of a struct and the context's differ where the context had
/// a struct of that name already, or where the text has a number.
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

    /// Returns the numbers with their types, in the order in which the text first
    /// uses them.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = (u64, Type)> {
        self.numbers.iter().map(|(&number, &ty)| (number, ty))
    }

    /// Returns the names with their types, in the order in which the text first
    /// uses them.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&[u8], Type)> {
        self.names.iter().map(|(name, &ty)| (&name[..], ty))
    }
}

/// What is known of a name while its text is read.
#[derive(Default)]
struct Reading<'t> {
    types: IndexMap<Local<'t>, Entry>,
}

struct Entry {
    ty: Type,
    defined: bool,
    /// Where it is first used or defined.
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

impl Context {
    /// Reads definitions such as `%struct.Point = type { i32, i32 }`, as a
    /// module's text has them.
    ///
    /// Each makes a struct of its own, whatever the context holds: a name that
    /// is taken gets a suffix, as when two modules are read into one
    /// `LLVMContext`. `%x = type i32` only names a type.
    ///
    /// # Errors
    ///
    /// [`ParseError`], also for a name that is used and not defined, defined
    /// twice, or that of a struct that contains itself. The types read before
    /// the error stay in the context.
    ///
    /// ```
    /// use tbaa_types::Context;
    ///
    /// let mut context = Context::new();
    /// let text = b"%struct.Point = type { i32, i32 }";
    /// let first = context.read_definitions(text)?;
    /// let second = context.read_definitions(text)?;
    /// let point = second.named(b"struct.Point").unwrap();
    /// assert_ne!(first.named(b"struct.Point"), Some(point));
    /// assert_eq!(context.definition(point).to_string(), "%struct.Point.0 = type { i32, i32 }");
    /// # Ok::<(), tbaa_types::ParseError>(())
    /// ```
    ///
    /// LLVM: `LLParser::parseNamedType`, `parseUnnamedType`.
    pub fn read_definitions(&mut self, text: &[u8]) -> Result<Definitions, ParseError> {
        let mut lexer = Tokens::new(text);
        let mut reading = Reading::default();
        let mut read = Ok(());
        while read.is_ok() && !lexer.is_end() {
            read = self.read_definition(&mut lexer, &mut reading);
        }
        self.finish(read, &lexer, reading)
    }

    /// As [`Context::read_definitions`], where the text holds more than definitions: each is given by its
    /// name without `%` and quotes, and by where its body begins, in bytes from the start of the text.
    ///
    /// # Errors
    ///
    /// As [`Context::read_definitions`]; offsets are those in `text`.
    ///
    /// ```
    /// use tbaa_types::Context;
    ///
    /// let text = b"%struct.Point = type { i32, i32 }\n@g = global i32 0\n";
    /// let mut context = Context::new();
    /// let names = context.read_definitions_at(text, [(&b"struct.Point"[..], 21)])?;
    /// assert_eq!(context.parts(names.named(b"struct.Point").unwrap()).len(), 2);
    /// # Ok::<(), tbaa_types::ParseError>(())
    /// ```
    pub fn read_definitions_at<'t>(
        &mut self,
        text: &'t [u8],
        definitions: impl IntoIterator<Item = (&'t [u8], usize)>,
    ) -> Result<Definitions, ParseError> {
        let mut lexer = Tokens::new(text);
        let mut reading = Reading::default();
        let mut read = Ok(());
        for (name, offset) in definitions {
            lexer.at = offset.min(text.len());
            // The names `%0` and `%"0"` are told apart by their quotes, which are not here.
            let name = match name {
                name if !name.is_empty() && name.iter().all(u8::is_ascii_digit) => {
                    Local::Number(saturating(name))
                }
                name => Local::Name(name.into()),
            };
            read = self.read_body(&mut lexer, &mut reading, name, offset);
            if read.is_err() {
                break;
            }
        }
        self.finish(read, &lexer, reading)
    }

    fn finish(
        &mut self,
        read: Result<(), ParseError>,
        lexer: &Tokens<'_>,
        reading: Reading<'_>,
    ) -> Result<Definitions, ParseError> {
        // First of all: no context holds a struct that contains itself.
        self.refuse_cycles(lexer, &reading)?;
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

    /// Reads a type whose names are those of a module's text.
    ///
    /// # Errors
    ///
    /// As [`Context::parse`].
    pub fn parse_with(
        &mut self,
        definitions: &Definitions,
        text: &[u8],
    ) -> Result<Type, ParseError> {
        let mut names = definitions;
        Parser::new(&mut Tokens::new(text), self, &mut names).whole()
    }

    fn read_definition<'t>(
        &mut self,
        lexer: &mut Tokens<'t>,
        reading: &mut Reading<'t>,
    ) -> Result<(), ParseError> {
        let from = lexer.at;
        let name = lexer.local()?;
        lexer.expect("=", "`=` after the type name")?;
        if !lexer.keyword("type") {
            return Err(lexer.wanted("`type`"));
        }
        self.read_body(lexer, reading, name, from)
    }

    /// Reads what follows `type`.
    fn read_body<'t>(
        &mut self,
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
            let ty = Parser::new(lexer, self, reading).ty()?;
            // LLVM allows a forward reference to a struct only.
            if reading.types.contains_key(&name) {
                return Err(lexer.refuse(from, ParseErrorKind::UsedBefore(name.to_string())));
            }
            reading.types.insert(name, Entry { ty, defined: true, offset: from });
            return Ok(());
        }
        let found = reading.resolve(self, name.clone(), from);
        let ty = checked(lexer, from, found)?.ok_or_else(|| lexer.wanted("a type"))?;
        if !opaque {
            let (elements, packed) = Parser::new(lexer, self, reading).body()?;
            checked(lexer, from, self.complete(ty, &elements, packed))?;
        }
        if let Some(entry) = reading.types.get_mut(&name) {
            entry.defined = true;
        }
        Ok(())
    }

    /// Looks for structs that contain themselves, after a text or a part of it.
    fn refuse_cycles(
        &mut self,
        lexer: &Tokens<'_>,
        reading: &Reading<'_>,
    ) -> Result<(), ParseError> {
        if let Some(ty) = self.find_cycle(reading.types.values().map(|entry| entry.ty)) {
            let entry = reading.types.values().find(|entry| entry.ty == ty);
            let offset = entry.map_or(0, |entry| entry.offset);
            reading.types.values().for_each(|entry| self.forget_body(entry.ty));
            return Err(lexer.refuse(offset, ParseErrorKind::Type(self.recursive(ty))));
        }
        Ok(())
    }

    /// Returns a struct that contains itself, if one of `types` leads to it.
    fn find_cycle(&self, types: impl Iterator<Item = Type>) -> Option<Type> {
        let mut done: HashSet<Type> = HashSet::default();
        let mut path: HashSet<Type> = HashSet::default();
        let mut stack: Vec<(Type, usize)> = Vec::new();
        for start in types {
            if done.contains(&start) {
                continue;
            }
            path.insert(start);
            stack.push((start, 0));
            while let Some((ty, at)) = stack.pop() {
                let parts = if Self::holds_parts(self.symbol(ty)) { self.parts(ty) } else { &[] };
                let Some(&part) = parts.get(at) else {
                    path.remove(&ty);
                    done.insert(ty);
                    continue;
                };
                stack.push((ty, at + 1));
                if path.contains(&part) {
                    // A cycle has a struct in it, and every struct on it will do.
                    let mut cycle = stack.iter().rev().map(|&(ty, _)| ty);
                    return cycle.find(|&ty| self.identified.binary_search(&ty.index).is_ok());
                }
                if !done.contains(&part) && !self.parts(part).is_empty() {
                    path.insert(part);
                    stack.push((part, 0));
                }
            }
        }
        None
    }
}

fn owned(name: Cow<'_, [u8]>) -> Box<[u8]> {
    name.into_owned().into()
}
