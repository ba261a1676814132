//! Reading types from LLVM assembly, without recursion.

use super::lex::{Local, ParseError, ParseErrorKind, Tokens};
use super::{Context, Primitive, Type, TypeError};

/// What a name in a text stands for.
pub(super) trait Names<'t> {
    /// Returns the type of a name, or `None` if there is none.
    fn resolve(
        &mut self,
        context: &mut Context,
        name: Local<'t>,
        offset: usize,
    ) -> Result<Option<Type>, TypeError>;
}

/// The names that the context itself gives its structs.
struct OwnNames;

impl<'t> Names<'t> for OwnNames {
    fn resolve(
        &mut self,
        context: &mut Context,
        name: Local<'t>,
        _: usize,
    ) -> Result<Option<Type>, TypeError> {
        Ok(match name {
            Local::Name(name) => context.struct_by_name(&name),
            Local::Number(number) => {
                let index = usize::try_from(number).ok();
                index.and_then(|index| context.numbered.get(index)).map(|&ty| context.id(ty))
            }
        })
    }
}

impl Context {
    /// Reads a type, such as `[4 x { i32, %struct.Point* }]`.
    ///
    /// Names are those of this context's structs. What [`Context::display`]
    /// prints reads back as the same type. Types of every LLVM since 3.0 are
    /// read; `x86_mmx` becomes `<1 x i64>`, as in LLVM 20.
    ///
    /// # Errors
    ///
    /// [`ParseError`]; the types read before the error stay in the context.
    ///
    /// ```
    /// # use tbaa_types::Context;
    /// let mut context = Context::new();
    /// let ty = context.parse(b"<{ i8, [4 x <2 x float>] addrspace(3)*, i32 (ptr, ...)* }>")?;
    /// assert_eq!(context.parts(ty).len(), 3);
    /// let error = context.parse(b"{ i32, void (i32) }").unwrap_err();
    /// assert_eq!(error.to_string(), "1:8: void (i32) cannot be an element of a struct");
    /// # Ok::<(), tbaa_types::ParseError>(())
    /// ```
    ///
    /// LLVM: `parseType`.
    pub fn parse(&mut self, text: &[u8]) -> Result<Type, ParseError> {
        let mut lexer = Tokens::new(text);
        let ty = Parser { context: self, names: &mut OwnNames }.ty(&mut lexer)?;
        if lexer.is_end() { Ok(ty) } else { Err(lexer.wanted("the end of the type")) }
    }
}

/// What a type stands in, while it is read.
enum Frame {
    Array {
        len: u64,
    },
    Vector {
        len: u64,
        scalable: bool,
    },
    /// The elements are the values from `first` on.
    Struct {
        first: usize,
        packed: bool,
        opened: usize,
    },
    /// The result is the value at `first`, the parameters follow.
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

/// What comes after a step.
enum Next {
    /// A type begins here.
    Type,
    /// A type is complete; it began at the offset.
    Have(Type, usize),
}

pub(super) struct Parser<'p, N> {
    pub(super) context: &'p mut Context,
    pub(super) names: &'p mut N,
}

impl<N> Parser<'_, N> {
    pub(super) fn ty<'t>(&mut self, lexer: &mut Tokens<'t>) -> Result<Type, ParseError>
    where
        N: Names<'t>,
    {
        let mut frames: Vec<Frame> = Vec::new();
        let mut values: Vec<Type> = Vec::new();
        let mut next = Next::Type;
        loop {
            next = match next {
                Next::Type => self.begin(lexer, &mut frames, &mut values)?,
                Next::Have(ty, from) => {
                    if let Some(longer) = self.suffix(lexer, ty, from)? {
                        Next::Have(longer, from)
                    } else if lexer.take("(") {
                        frames.push(Frame::Function { first: values.len(), opened: from });
                        values.push(ty);
                        if lexer.take(")") {
                            self.function(lexer, &mut frames, &mut values, false)?
                        } else if lexer.take("...") {
                            lexer.expect(")", "`)` after `...`")?;
                            self.function(lexer, &mut frames, &mut values, true)?
                        } else {
                            Next::Type
                        }
                    } else if let Some(frame) = frames.pop() {
                        self.deliver(lexer, frame, ty, from, &mut frames, &mut values)?
                    } else {
                        return Ok(ty);
                    }
                }
            };
        }
    }

    /// Reads the body of a struct: its elements, and whether it is packed.
    pub(super) fn body<'t>(
        &mut self,
        lexer: &mut Tokens<'t>,
    ) -> Result<(Vec<Type>, bool), ParseError>
    where
        N: Names<'t>,
    {
        let packed = lexer.open_struct().ok_or_else(|| lexer.wanted("a struct body"))?;
        let mut elements = Vec::new();
        if lexer.close_struct(packed) {
            return Ok((elements, packed));
        }
        loop {
            lexer.skip();
            let from = lexer.at;
            let ty = self.ty(lexer)?;
            checked(lexer, from, self.context.check_elements(&[ty]))?;
            elements.push(ty);
            if lexer.close_struct(packed) {
                return Ok((elements, packed));
            }
            lexer.expect(",", "`,` or the end of the struct")?;
        }
    }

    /// Reads the first token of a type.
    fn begin<'t>(
        &mut self,
        lexer: &mut Tokens<'t>,
        frames: &mut Vec<Frame>,
        values: &mut Vec<Type>,
    ) -> Result<Next, ParseError>
    where
        N: Names<'t>,
    {
        lexer.skip();
        let from = lexer.at;
        if lexer.text.get(from) == Some(&b'%') {
            let name = lexer.local()?;
            let shown = name.to_string();
            let found = self.names.resolve(self.context, name, from);
            let ty = found.map_err(|error| lexer.refuse(from, ParseErrorKind::Type(error)))?;
            let undefined = || lexer.refuse(from, ParseErrorKind::Undefined(shown));
            return Ok(Next::Have(ty.ok_or_else(undefined)?, from));
        }
        if lexer.take("[") {
            let len = lexer.integer().ok_or_else(|| lexer.wanted("the length of the array"))?;
            if !lexer.keyword("x") {
                return Err(lexer.wanted("`x` after the length of the array"));
            }
            frames.push(Frame::Array { len });
            return Ok(Next::Type);
        }
        if let Some(packed) = lexer.open_struct() {
            if lexer.close_struct(packed) {
                let ty = self.context.literal_struct(&[], packed);
                return Ok(Next::Have(checked(lexer, from, ty)?, from));
            }
            frames.push(Frame::Struct { first: values.len(), packed, opened: from });
            return Ok(Next::Type);
        }
        if lexer.take("<") {
            let scalable = lexer.keyword("vscale");
            if scalable && !lexer.keyword("x") {
                return Err(lexer.wanted("`x` after `vscale`"));
            }
            let len = lexer.integer().ok_or_else(|| lexer.wanted("the length of the vector"))?;
            if !lexer.keyword("x") {
                return Err(lexer.wanted("`x` after the length of the vector"));
            }
            frames.push(Frame::Vector { len, scalable });
            return Ok(Next::Type);
        }
        self.word(lexer, from, frames, values)
    }

    /// Reads a type that begins with a word.
    fn word(
        &mut self,
        lexer: &mut Tokens<'_>,
        from: usize,
        frames: &mut Vec<Frame>,
        values: &mut Vec<Type>,
    ) -> Result<Next, ParseError> {
        const WANTED: &str = "a type";
        let word = lexer.word();
        let ty = match word {
            b"ptr" => {
                let address_space = self.address_space(lexer)?.unwrap_or(0);
                let ty = self.context.pointer(address_space);
                if lexer.take("*") {
                    return Err(lexer.refuse(from, ParseErrorKind::Expected("ptr without a `*`")));
                }
                checked(lexer, from, ty)?
            }
            b"target" => {
                lexer.expect("(", "`(` after `target`")?;
                let name = lexer.string()?;
                let frame = Frame::Target { name, first: values.len(), opened: from };
                return self.target(lexer, frame, frames, values);
            }
            b"x86_mmx" => {
                let element = checked(lexer, from, self.context.int(64))?;
                checked(lexer, from, self.context.vector(element, 1, false))?
            }
            [b'i', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                let bits = super::lex::saturating(digits);
                let narrow = u32::try_from(bits).map_err(|_| TypeError::IntWidth(bits));
                let ty = narrow.and_then(|bits| self.context.int(bits));
                checked(lexer, from, ty)?
            }
            _ => {
                let named = Primitive::ALL.iter().find(|ty| ty.name().as_bytes() == word);
                let Some(&primitive) = named else {
                    return Err(lexer.refuse(from, ParseErrorKind::Expected(WANTED)));
                };
                self.context.primitive(primitive)
            }
        };
        Ok(Next::Have(ty, from))
    }

    fn address_space(&mut self, lexer: &mut Tokens<'_>) -> Result<Option<u32>, ParseError> {
        if !lexer.keyword("addrspace") {
            return Ok(None);
        }
        lexer.expect("(", "`(` after `addrspace`")?;
        let at = lexer.at;
        let number =
            lexer.integer().ok_or_else(|| lexer.wanted("the number of an address space"))?;
        lexer.expect(")", "`)` after the address space")?;
        let error = |_| lexer.refuse(at, ParseErrorKind::Type(TypeError::AddressSpace(number)));
        u32::try_from(number).map_err(error).map(Some)
    }

    /// Reads `*` or `addrspace(1)*` behind a type.
    fn suffix(
        &mut self,
        lexer: &mut Tokens<'_>,
        ty: Type,
        from: usize,
    ) -> Result<Option<Type>, ParseError> {
        let address_space = self.address_space(lexer)?;
        if lexer.take("*") {
            let pointer = self.context.typed_pointer(ty, address_space.unwrap_or(0));
            return checked(lexer, from, pointer).map(Some);
        }
        match address_space {
            Some(_) => Err(lexer.wanted("`*` after the address space")),
            None => Ok(None),
        }
    }

    /// Puts a complete type into what it stands in.
    fn deliver(
        &mut self,
        lexer: &mut Tokens<'_>,
        frame: Frame,
        ty: Type,
        from: usize,
        frames: &mut Vec<Frame>,
        values: &mut Vec<Type>,
    ) -> Result<Next, ParseError> {
        match frame {
            Frame::Array { len } => {
                let array = checked(lexer, from, self.context.array(ty, len))?;
                lexer.expect("]", "`]` after the element type")?;
                Ok(Next::Have(array, from))
            }
            Frame::Vector { len, scalable } => {
                let narrow = u32::try_from(len).map_err(|_| TypeError::VectorLength(len));
                let vector = narrow.and_then(|len| self.context.vector(ty, len, scalable));
                let vector = checked(lexer, from, vector)?;
                lexer.expect(">", "`>` after the element type")?;
                Ok(Next::Have(vector, from))
            }
            Frame::Struct { first, packed, opened } => {
                checked(lexer, from, self.context.check_elements(&[ty]))?;
                values.push(ty);
                if lexer.take(",") {
                    frames.push(frame);
                    return Ok(Next::Type);
                }
                if !lexer.close_struct(packed) {
                    return Err(lexer.wanted("`,` or the end of the struct"));
                }
                let made = self.context.literal_struct(&values[first..], packed);
                values.truncate(first);
                Ok(Next::Have(checked(lexer, opened, made)?, opened))
            }
            Frame::Function { .. } => {
                values.push(ty);
                frames.push(frame);
                if lexer.take(",") {
                    if !lexer.take("...") {
                        return Ok(Next::Type);
                    }
                    lexer.expect(")", "`)` after `...`")?;
                    return self.function(lexer, frames, values, true);
                }
                lexer.expect(")", "`,` or `)`")?;
                self.function(lexer, frames, values, false)
            }
            Frame::Target { .. } => {
                values.push(ty);
                self.target(lexer, frame, frames, values)
            }
        }
    }

    /// Makes the function type on top of the stacks.
    fn function(
        &mut self,
        lexer: &Tokens<'_>,
        frames: &mut Vec<Frame>,
        values: &mut Vec<Type>,
        var_arg: bool,
    ) -> Result<Next, ParseError> {
        let Some(Frame::Function { first, opened }) = frames.pop() else {
            return Err(lexer.wanted("a function type"));
        };
        let made = self.context.function(values[first], &values[first + 1..], var_arg);
        values.truncate(first);
        Ok(Next::Have(checked(lexer, opened, made)?, opened))
    }

    /// Reads what follows the name or a parameter of a target type.
    fn target(
        &mut self,
        lexer: &mut Tokens<'_>,
        frame: Frame,
        frames: &mut Vec<Frame>,
        values: &mut Vec<Type>,
    ) -> Result<Next, ParseError> {
        let mut ints = Vec::new();
        while lexer.take(",") {
            match lexer.integer() {
                Some(number) => ints.push(
                    u32::try_from(number)
                        .map_err(|_| lexer.wanted("an integer less than 4294967296"))?,
                ),
                None if ints.is_empty() => {
                    frames.push(frame);
                    return Ok(Next::Type);
                }
                None => return Err(lexer.wanted("an integer")),
            }
        }
        lexer.expect(")", "`,` or `)`")?;
        let Frame::Target { name, first, opened } = frame else {
            return Err(lexer.wanted("a target type"));
        };
        let made = self.context.target(&name, &values[first..], &ints);
        values.truncate(first);
        Ok(Next::Have(checked(lexer, opened, made)?, opened))
    }
}

pub(super) fn checked<T>(
    lexer: &Tokens<'_>,
    offset: usize,
    made: Result<T, TypeError>,
) -> Result<T, ParseError> {
    made.map_err(|error| lexer.refuse(offset, ParseErrorKind::Type(error)))
}
