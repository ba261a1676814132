//! Parses LLVM types from text.

mod definitions;
mod lex;
mod parse;

use tbaa_types::{Context, Type};

pub use definitions::Definitions;
pub use lex::{ParseError, ParseErrorKind};

use definitions::Reading;
use lex::{Local, Tokens, saturating};
use parse::{OwnNames, Parser};

/// Parses types into a [`Context`]. To print a type, use [`Context::display`].
pub trait ReadTypes {
    /// Reads a type, such as `[4 x { i32, %struct.Point* }]`.
    ///
    /// Struct names are looked up in `self`. The output of [`Context::display`] parses to the
    /// same type. The syntax of every LLVM since 3.0 is accepted; `x86_mmx` becomes `<1 x i64>`, as
    /// in LLVM 20.
    ///
    /// # Errors
    ///
    /// Returns a [`ParseError`]; the types read before the error stay in the context.
    ///
    /// ```
    /// # use tbaa_ir::types::ReadTypes;
    /// # use tbaa_types::Context;
    /// let mut context = Context::new();
    /// let ty = context.parse(b"<{ i8, [4 x <2 x float>] addrspace(3)*, i32 (ptr, ...)* }>")?;
    /// assert_eq!(context.parts(ty).len(), 3);
    /// let error = context.parse(b"{ i32, void (i32) }").unwrap_err();
    /// assert_eq!(error.to_string(), "1:8: void (i32) cannot be an element of a struct");
    /// # Ok::<(), tbaa_ir::types::ParseError>(())
    /// ```
    ///
    /// LLVM: `parseType`.
    fn parse(&mut self, text: &[u8]) -> Result<Type, ParseError>;

    /// Like [`ReadTypes::parse`], but looks up struct names in `definitions`.
    fn parse_with(&mut self, definitions: &Definitions, text: &[u8]) -> Result<Type, ParseError>;

    /// Reads a text that consists of definitions such as `%struct.Point = type { i32, i32 }`.
    ///
    /// Each struct definition makes a new struct. If the context already has a struct of that name,
    /// the new one gets a suffix, as when an `LLVMContext` reads two modules. `%x = type i32` makes
    /// `%x` a name of `i32`.
    ///
    /// # Errors
    ///
    /// Returns a [`ParseError`] for a syntax error, an invalid type, a name that is undefined or
    /// defined twice, a type other than a struct that is used before its definition, or a struct
    /// that contains itself. The types read before the error stay in the context.
    ///
    /// ```
    /// use tbaa_ir::types::ReadTypes;
    /// use tbaa_types::Context;
    ///
    /// let mut context = Context::new();
    /// let text = b"%struct.Point = type { i32, i32 }";
    /// let first = context.read_definitions(text)?;
    /// let second = context.read_definitions(text)?;
    /// let point = second.named(b"struct.Point").unwrap();
    /// assert_ne!(first.named(b"struct.Point"), Some(point));
    /// assert_eq!(context.definition(point).to_string(), "%struct.Point.0 = type { i32, i32 }");
    /// # Ok::<(), tbaa_ir::types::ParseError>(())
    /// ```
    ///
    /// LLVM: `LLParser::parseNamedType`, `parseUnnamedType`.
    fn read_definitions(&mut self, text: &[u8]) -> Result<Definitions, ParseError>;

    /// Like [`ReadTypes::read_definitions`], for definitions inside another text, such as a module.
    /// `definitions` has each name without `%` and quotes, and the offset after `type`.
    ///
    /// # Errors
    ///
    /// As [`ReadTypes::read_definitions`]; offsets are those in `text`.
    fn read_definitions_at<'t>(
        &mut self,
        text: &'t [u8],
        definitions: impl IntoIterator<Item = (&'t [u8], usize)>,
    ) -> Result<Definitions, ParseError>;
}

impl ReadTypes for Context {
    fn parse(&mut self, text: &[u8]) -> Result<Type, ParseError> {
        Parser::new(&mut Tokens::new(text), self, &mut OwnNames).whole()
    }

    fn parse_with(&mut self, definitions: &Definitions, text: &[u8]) -> Result<Type, ParseError> {
        let mut names = definitions;
        Parser::new(&mut Tokens::new(text), self, &mut names).whole()
    }

    fn read_definitions(&mut self, text: &[u8]) -> Result<Definitions, ParseError> {
        let mut reading = Reading::new(text);
        let mut read = Ok(());
        while read.is_ok() && !reading.lexer.is_end() {
            read = reading.definition(self);
        }
        reading.finish(self, read)
    }

    fn read_definitions_at<'t>(
        &mut self,
        text: &'t [u8],
        definitions: impl IntoIterator<Item = (&'t [u8], usize)>,
    ) -> Result<Definitions, ParseError> {
        let mut reading = Reading::new(text);
        let read = definitions.into_iter().try_for_each(|(name, offset)| {
            reading.lexer.at = offset.min(text.len());
            // The names have no quotes, so `%"0"` and `%0` look equal: both are read as numbers.
            let is_number = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
            let number = is_number.then(|| Local::Number(saturating(name)));
            reading.body(self, number.unwrap_or_else(|| Local::Name(name.into())), offset)
        });
        reading.finish(self, read)
    }
}
