//! Parses types in LLVM assembly. Uses a stack instead of recursion, so nesting has no limit.

use super::lex::{Local, ParseError, ParseErrorKind, Tokens};
use tbaa_types::{Context, ElementCount, Packing, Primitive, Type, TypeError};

pub(super) type Resolved = Result<Option<Type>, TypeError>;

/// Looks up the type names of a text.
pub(super) trait Names<'t> {
    /// Returns the type of a name, or `None` if the name is unknown. `offset` is the name's offset.
    fn resolve(&mut self, context: &mut Context, name: Local<'t>, offset: usize) -> Resolved;
}

/// Looks up names among the context's own structs.
pub(super) struct OwnNames;

impl<'t> Names<'t> for OwnNames {
    fn resolve(&mut self, context: &mut Context, name: Local<'t>, _: usize) -> Resolved {
        Ok(match name {
            Local::Name(name) => context.struct_by_name(&name),
            Local::Number(number) => {
                usize::try_from(number).ok().and_then(|index| context.nth_numbered(index))
            }
        })
    }
}

/// A type whose inner types are being parsed. `first` is the index of the first complete inner type
/// in [`Parser::values`]. The type's text begins at `opened`.
enum Frame {
    Array(u64),
    /// A vector, with its length or minimum length, and true if it is scalable.
    Vector(u64, bool),
    Struct {
        first: usize,
        packing: Packing,
        opened: usize,
    },
    /// A function type. `values[first]` is its result, and the parameters follow.
    Function {
        first: usize,
        opened: usize,
    },
    Target {
        name: Vec<u8>,
        first: usize,
        opened: usize,
    },
}

/// The parser's next action.
enum Next {
    /// Parse the start of a type.
    Type,
    /// Continue after a type. The second field is the offset for errors about the type.
    Have(Type, usize),
}

pub(super) struct Parser<'p, 't, N> {
    lexer: &'p mut Tokens<'t>,
    context: &'p mut Context,
    names: &'p mut N,
    frames: Vec<Frame>,
    values: Vec<Type>,
}

impl<'p, 't, N: Names<'t>> Parser<'p, 't, N> {
    pub(super) fn new(
        lexer: &'p mut Tokens<'t>,
        context: &'p mut Context,
        names: &'p mut N,
    ) -> Self {
        Parser { lexer, context, names, frames: Vec::new(), values: Vec::new() }
    }

    /// Parses a type, and requires that the text ends after it.
    pub(super) fn whole(mut self) -> Result<Type, ParseError> {
        let ty = self.ty()?;
        if self.lexer.is_end() { Ok(ty) } else { Err(self.lexer.wanted("the end of the type")) }
    }

    pub(super) fn ty(&mut self) -> Result<Type, ParseError> {
        let mut next = Next::Type;
        loop {
            next = match next {
                Next::Type => self.begin()?,
                Next::Have(ty, from) => {
                    if let Some(longer) = self.suffix(ty, from)? {
                        Next::Have(longer, from)
                    } else if self.lexer.take("(") {
                        let first = self.values.len();
                        self.frames.push(Frame::Function { first, opened: from });
                        self.values.push(ty);
                        if self.lexer.take(")") {
                            self.function(false)?
                        } else if self.lexer.take("...") {
                            self.lexer.expect(")", "`)` after `...`")?;
                            self.function(true)?
                        } else {
                            Next::Type
                        }
                    } else if let Some(frame) = self.frames.pop() {
                        self.deliver(frame, ty, from)?
                    } else {
                        return Ok(ty);
                    }
                }
            };
        }
    }

    /// Parses the body of a struct, and returns its elements and its packing.
    pub(super) fn body(&mut self) -> Result<(Vec<Type>, Packing), ParseError> {
        let packing = self.lexer.open_struct().ok_or_else(|| self.lexer.wanted("a struct body"))?;
        let mut elements = Vec::new();
        if self.lexer.close_struct(packing) {
            return Ok((elements, packing));
        }
        loop {
            self.lexer.skip();
            let from = self.lexer.at;
            let ty = self.ty()?;
            checked(self.lexer, from, self.context.check_elements(&[ty]))?;
            elements.push(ty);
            if self.lexer.close_struct(packing) {
                return Ok((elements, packing));
            }
            self.lexer.expect(",", "`,` or the end of the struct")?;
        }
    }

    /// Parses a type up to its first inner type, or to its end if it has no inner types.
    fn begin(&mut self) -> Result<Next, ParseError> {
        self.lexer.skip();
        let from = self.lexer.at;
        if self.lexer.text.get(from) == Some(&b'%') {
            let name = self.lexer.local()?;
            let shown = name.to_string();
            let ty = checked(self.lexer, from, self.names.resolve(self.context, name, from))?;
            let undefined = || self.lexer.refuse(from, ParseErrorKind::Undefined(shown));
            return Ok(Next::Have(ty.ok_or_else(undefined)?, from));
        }
        if self.lexer.take("[") {
            let len = self.lexer.expect_integer("the length of the array")?;
            self.lexer.expect_word("x", "`x` after the length of the array")?;
            self.frames.push(Frame::Array(len));
            return Ok(Next::Type);
        }
        if let Some(packing) = self.lexer.open_struct() {
            if self.lexer.close_struct(packing) {
                let ty = self.context.literal_struct(&[], packing);
                return Ok(Next::Have(checked(self.lexer, from, ty)?, from));
            }
            self.frames.push(Frame::Struct { first: self.values.len(), packing, opened: from });
            return Ok(Next::Type);
        }
        if self.lexer.take("<") {
            let scalable = self.lexer.keyword("vscale");
            if scalable {
                self.lexer.expect_word("x", "`x` after `vscale`")?;
            }
            let len = self.lexer.expect_integer("the length of the vector")?;
            self.lexer.expect_word("x", "`x` after the length of the vector")?;
            self.frames.push(Frame::Vector(len, scalable));
            return Ok(Next::Type);
        }
        self.word(from)
    }

    fn word(&mut self, from: usize) -> Result<Next, ParseError> {
        let word = self.lexer.word();
        let ty = match word {
            b"ptr" => {
                let address_space = self.address_space()?.unwrap_or(0);
                let ty = self.context.pointer(address_space);
                if self.lexer.take("*") {
                    return Err(self.expected_at(from, "ptr without a `*`"));
                }
                checked(self.lexer, from, ty)?
            }
            b"target" => {
                self.lexer.expect("(", "`(` after `target`")?;
                let name = self.lexer.string()?;
                let frame = Frame::Target { name, first: self.values.len(), opened: from };
                return self.target(frame);
            }
            b"x86_mmx" => {
                let element = checked(self.lexer, from, self.context.int(64))?;
                checked(self.lexer, from, self.context.vector(element, ElementCount::Fixed(1)))?
            }
            [b'i', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                let bits = super::lex::saturating(digits);
                let narrow = u32::try_from(bits).map_err(|_| TypeError::IntWidth(bits));
                let ty = narrow.and_then(|bits| self.context.int(bits));
                checked(self.lexer, from, ty)?
            }
            _ => {
                let named = Primitive::ALL.iter().find(|ty| ty.name().as_bytes() == word);
                let primitive = *named.ok_or_else(|| self.expected_at(from, "a type"))?;
                self.context.primitive(primitive)
            }
        };
        Ok(Next::Have(ty, from))
    }

    fn expected_at(&self, offset: usize, wanted: &'static str) -> ParseError {
        self.lexer.refuse(offset, ParseErrorKind::Expected(wanted))
    }

    fn address_space(&mut self) -> Result<Option<u32>, ParseError> {
        if !self.lexer.keyword("addrspace") {
            return Ok(None);
        }
        self.lexer.expect("(", "`(` after `addrspace`")?;
        let at = self.lexer.at;
        let number = self.lexer.expect_integer("the number of an address space")?;
        self.lexer.expect(")", "`)` after the address space")?;
        let narrow = u32::try_from(number).map_err(|_| TypeError::AddressSpace(number));
        checked(self.lexer, at, narrow).map(Some)
    }

    /// Parses a `*` or `addrspace(1)*` after a type, and returns the pointer type, if any.
    fn suffix(&mut self, ty: Type, from: usize) -> Result<Option<Type>, ParseError> {
        let address_space = self.address_space()?;
        if self.lexer.take("*") {
            let pointer = self.context.typed_pointer(ty, address_space.unwrap_or(0));
            return checked(self.lexer, from, pointer).map(Some);
        }
        match address_space {
            Some(_) => Err(self.lexer.wanted("`*` after the address space")),
            None => Ok(None),
        }
    }

    /// Adds a complete type to the type that encloses it.
    fn deliver(&mut self, frame: Frame, ty: Type, from: usize) -> Result<Next, ParseError> {
        match frame {
            Frame::Array(len) => {
                let array = checked(self.lexer, from, self.context.array(ty, len))?;
                self.lexer.expect("]", "`]` after the element type")?;
                Ok(Next::Have(array, from))
            }
            Frame::Vector(len, scalable) => {
                let narrow = u32::try_from(len).map_err(|_| TypeError::VectorLength(len));
                let count = if scalable { ElementCount::Scalable } else { ElementCount::Fixed };
                let vector = narrow.and_then(|len| self.context.vector(ty, count(len)));
                let vector = checked(self.lexer, from, vector)?;
                self.lexer.expect(">", "`>` after the element type")?;
                Ok(Next::Have(vector, from))
            }
            Frame::Struct { first, packing, opened } => {
                checked(self.lexer, from, self.context.check_elements(&[ty]))?;
                self.values.push(ty);
                if self.lexer.take(",") {
                    self.frames.push(frame);
                    return Ok(Next::Type);
                }
                if !self.lexer.close_struct(packing) {
                    return Err(self.lexer.wanted("`,` or the end of the struct"));
                }
                let made = self.context.literal_struct(&self.values[first..], packing);
                self.values.truncate(first);
                Ok(Next::Have(checked(self.lexer, opened, made)?, opened))
            }
            Frame::Function { .. } => {
                self.values.push(ty);
                self.frames.push(frame);
                if self.lexer.take(",") {
                    if !self.lexer.take("...") {
                        return Ok(Next::Type);
                    }
                    self.lexer.expect(")", "`)` after `...`")?;
                    return self.function(true);
                }
                self.lexer.expect(")", "`,` or `)`")?;
                self.function(false)
            }
            Frame::Target { .. } => {
                self.values.push(ty);
                self.target(frame)
            }
        }
    }

    /// Makes the function type whose frame is on top of the stack.
    fn function(&mut self, var_arg: bool) -> Result<Next, ParseError> {
        let Some(Frame::Function { first, opened }) = self.frames.pop() else {
            return Err(self.lexer.wanted("a function type"));
        };
        let (result, params) = (self.values[first], &self.values[first + 1..]);
        let made = match var_arg {
            true => self.context.variadic_function(result, params),
            false => self.context.function(result, params),
        };
        self.values.truncate(first);
        Ok(Next::Have(checked(self.lexer, opened, made)?, opened))
    }

    /// Parses the text after the name or a parameter of a target type.
    fn target(&mut self, frame: Frame) -> Result<Next, ParseError> {
        let mut ints = Vec::new();
        while self.lexer.take(",") {
            match self.lexer.integer() {
                Some(number) => {
                    let too_big = |_| self.lexer.wanted("an integer less than 4294967296");
                    ints.push(u32::try_from(number).map_err(too_big)?);
                }
                None if ints.is_empty() => {
                    self.frames.push(frame);
                    return Ok(Next::Type);
                }
                None => return Err(self.lexer.wanted("an integer")),
            }
        }
        self.lexer.expect(")", "`,` or `)`")?;
        let Frame::Target { name, first, opened } = frame else {
            return Err(self.lexer.wanted("a target type"));
        };
        let made = self.context.target(&name, &self.values[first..], &ints);
        self.values.truncate(first);
        Ok(Next::Have(checked(self.lexer, opened, made)?, opened))
    }
}

pub(super) fn checked<T>(
    lexer: &Tokens<'_>,
    offset: usize,
    made: Result<T, TypeError>,
) -> Result<T, ParseError> {
    made.map_err(|error| lexer.refuse(offset, ParseErrorKind::Type(error)))
}
