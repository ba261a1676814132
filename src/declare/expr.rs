//! Reads types that are written in C: `unsigned long`, `struct Node *[4]`, `<4 x float>`.

use super::{DeclId, Declarations, DeclareError};

/// A text, and the offset of what is read next.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn error(&self, expected: &'static str) -> DeclareError {
        DeclareError::Syntax { text: self.text.to_owned(), offset: self.at, expected }
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<(), DeclareError> {
        if self.take(token) { Ok(()) } else { Err(self.error(expected)) }
    }

    /// Reads a name, which may contain `::` as in C++.
    fn word(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = &self.text[self.at..];
        let ends = |(at, c): (usize, char)| {
            // `c` may be either colon of `::`. The byte before may be inside a character.
            let colons = [at, at.saturating_sub(1)];
            let colons = colons.iter().any(|&at| rest.as_bytes()[at..].starts_with(b"::"));
            !(c.is_alphanumeric() || matches!(c, '_' | '$') || colons)
        };
        let end = rest.char_indices().find(|&at| ends(at)).map_or(rest.len(), |(at, _)| at);
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    fn number(&mut self) -> Option<u64> {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok()?;
        self.at += end;
        Some(number)
    }

    /// Reads the lengths of an array, outermost dimension first.
    fn lengths(&mut self) -> Result<Vec<Option<u64>>, DeclareError> {
        let mut lengths = Vec::new();
        while self.take("[") {
            lengths.push(self.number());
            self.expect("]", "a number of elements, or `]`")?;
        }
        Ok(lengths)
    }

    fn parameters(&mut self) -> Result<(), DeclareError> {
        let mut depth = 1;
        while depth > 0 {
            let rest = &self.text[self.at..];
            let next = rest.find(['(', ')']).ok_or_else(|| self.error("`)`"))?;
            depth = if rest[next..].starts_with('(') { depth + 1 } else { depth - 1 };
            self.at += next + 1;
        }
        Ok(())
    }
}

const TYPE: &str = "a type";
const QUALIFIERS: [&str; 4] = ["const", "volatile", "restrict", "__restrict"];

impl Declarations {
    /// Returns the type that a text denotes, written like a C type in a cast.
    ///
    /// If no type X exists, `struct X` and `union X` declare X. X must be defined before its size
    /// is needed. Qualifiers such as `const` are ignored.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Syntax`], [`DeclareError::UnknownType`], [`DeclareError::Incomplete`],
    /// [`DeclareError::Invalid`], [`DeclareError::TooLarge`].
    ///
    /// ```
    /// use tbaa::declare::{Declarations, Target};
    ///
    /// let mut types = Declarations::new(Target::x86_64());
    /// let rows = types.ty("unsigned short [3][4]")?;
    /// assert_eq!(types.size_of(rows), Some(24));
    /// let callback = types.ty("int (*)(void *, int)")?;
    /// assert_eq!(types.size_of(callback), Some(8));
    /// # Ok::<(), tbaa::declare::DeclareError>(())
    /// ```
    pub fn ty(&mut self, text: &str) -> Result<DeclId, DeclareError> {
        let mut reader = Reader { text, at: 0 };
        // A declared name may contain spaces.
        let head = text.find(['*', '[', '(', '<', '&']).unwrap_or(text.len());
        let mut ty = match self.names.get(text[..head].trim()) {
            Some(&named) => {
                reader.at = head;
                named
            }
            None => self.base(&mut reader)?,
        };
        ty = self.pointers(&mut reader, ty)?;
        if reader.take("(") {
            // Reads `T (*)(...)`, `T (*)[n]`, and arrays of these.
            let mut depth = 0;
            while reader.take("*") || depth > 0 && reader.take("const") {
                depth += 1;
            }
            if depth == 0 {
                return Err(reader.error("`*`"));
            }
            let stars = reader.text[..reader.at].rsplit('(').next().unwrap_or_default();
            let lengths = reader.lengths()?;
            reader.expect(")", "`)`")?;
            if reader.take("(") {
                reader.parameters()?;
                ty = self.function();
            } else {
                ty = self.arrays(reader.lengths()?, ty)?;
            }
            for _ in stars.bytes().filter(|&byte| byte == b'*') {
                ty = self.pointer_to(ty)?;
            }
            ty = self.arrays(lengths, ty)?;
        }
        ty = self.arrays(reader.lengths()?, ty)?;
        reader.skip();
        if reader.at < text.len() { Err(reader.error("`*`, `[` or the end")) } else { Ok(ty) }
    }

    fn pointers(&mut self, reader: &mut Reader<'_>, ty: DeclId) -> Result<DeclId, DeclareError> {
        let mut ty = ty;
        loop {
            if reader.take("*") || reader.take("&") {
                ty = self.pointer_to(ty)?;
            } else if reader.take("_Atomic") {
                ty = self.atomic(ty)?;
            } else if !QUALIFIERS.iter().any(|word| reader.take(word)) {
                return Ok(ty);
            }
        }
    }

    fn arrays(&mut self, lens: Vec<Option<u64>>, ty: DeclId) -> Result<DeclId, DeclareError> {
        lens.into_iter().rev().try_fold(ty, |ty, len| self.array_of(ty, len))
    }

    fn base(&mut self, reader: &mut Reader<'_>) -> Result<DeclId, DeclareError> {
        if !reader.take("<") {
            return self.base_words(reader);
        }
        let len = reader.number().ok_or_else(|| reader.error("a number of lanes"))?;
        if reader.word() != Some("x") {
            return Err(reader.error("`x`"));
        }
        let element = self.base_words(reader)?;
        let element = self.pointers(reader, element)?;
        reader.expect(">", "`>`")?;
        self.vector_of(element, len)
    }

    fn base_words(&mut self, reader: &mut Reader<'_>) -> Result<DeclId, DeclareError> {
        // The number of `long`s, and the other words that were found.
        let (mut long, mut short, mut signed, mut int) = (0, false, false, false);
        let (mut base, mut complex, mut atomic) = (None, false, false);
        loop {
            let before = reader.at;
            let Some(word) = reader.word() else { break };
            match word {
                _ if QUALIFIERS.contains(&word) => {}
                "_Atomic" => atomic = true,
                "_Complex" | "__complex__" => complex = true,
                "signed" | "unsigned" => signed = true,
                "long" => long += 1,
                "short" => short = true,
                "int" => int = true,
                "struct" | "union" | "class" | "enum" if base.is_none() => {
                    let name = reader.word().ok_or_else(|| reader.error("a name"))?;
                    base = Some(match (self.names.get(name), word) {
                        (Some(&known), _) => known,
                        (None, "enum") => return Err(self.unknown(name)),
                        (None, _) => self.forward(name, word == "union")?,
                    });
                }
                _ if base.is_some() || int => {
                    reader.at = before;
                    break;
                }
                _ => {
                    let known = self.names.get(word).copied();
                    base = Some(known.ok_or_else(|| self.unknown(word))?);
                }
            }
        }
        let any = long > 0 || short || signed || int;
        let name = match (short, long) {
            (true, 0) => "short",
            (false, 0) => "int",
            (false, 1) => "long",
            (false, 2) => "long long",
            _ => return Err(reader.error(TYPE)),
        };
        let mut ty = match base {
            None if any => self.named(name).ok_or_else(|| reader.error(TYPE))?,
            None if complex => self.names["double"],
            None => return Err(reader.error(TYPE)),
            Some(base) if !any => base,
            Some(base) if base == self.char() && signed && name == "int" => base,
            Some(base) if Some(base) == self.named("__int128") && signed => base,
            Some(base) if base == self.names["double"] && long == 1 => {
                self.named("long double").ok_or_else(|| reader.error(TYPE))?
            }
            Some(_) => return Err(reader.error("words that make one type")),
        };
        if complex {
            ty = self.complex(ty)?;
        }
        if atomic { self.atomic(ty) } else { Ok(ty) }
    }
}
