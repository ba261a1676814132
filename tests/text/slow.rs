//! A plain reader of one function's instructions. It first masks strings and comments, and then
//! examines one byte after another.

use std::ops::Range;

use tbaa_ir::Opcode;

/// The facts about an instruction that are compared.
#[derive(PartialEq, Debug)]
pub(super) struct Row {
    pub(super) index: u32,
    pub(super) opcode: Opcode,
    pub(super) offset: usize,
    pub(super) volatile: bool,
    pub(super) atomic: bool,
    pub(super) ty: Vec<u8>,
    pub(super) tag: Option<Vec<u8>>,
    pub(super) copy: bool,
}

/// Reads the first function's instructions; `None` if its body cannot be read to the end.
pub(super) fn instructions(text: &[u8]) -> Option<Vec<Row>> {
    let masked = masked(text)?;
    let at = masked.iter().position(|&byte| byte == b'{')? + 1;
    Slow { text, masked, at }.body()
}

/// Replaces comments by blanks, and bytes in quotes by `x`; `None` if a quote or `/*` has no end.
fn masked(text: &[u8]) -> Option<Vec<u8>> {
    let mut masked = text.to_owned();
    let find =
        |from: usize, what: &[u8]| (from..text.len()).find(|&at| text[at..].starts_with(what));
    let mut at = 0;
    while at < text.len() {
        let (inside, with) = match text[at] {
            b'"' => (at + 1..find(at + 1, b"\"")?, b'x'),
            b';' => (at..find(at, b"\n").unwrap_or(text.len()), b' '),
            b'/' if text[at..].starts_with(b"/*") => (at..find(at + 2, b"*/")? + 2, b' '),
            _ => (at..at, b' '),
        };
        at = inside.end + usize::from(inside.is_empty() || with == b'x');
        masked[inside].fill(with);
    }
    Some(masked)
}

struct Slow<'t> {
    text: &'t [u8],
    masked: Vec<u8>,
    at: usize,
}

/// LLVM's opcodes that are [`Opcode::Other`], with `unwind`, `free` and `malloc` of LLVM 2 and 3.
const OPCODES: &str = "add addrspacecast alloca and ashr bitcast br catchpad catchret catchswitch \
    cleanuppad cleanupret extractelement extractvalue fadd fcmp fdiv fence fmul fneg fpext fptosi \
    fptoui fptrunc free freeze frem fsub getelementptr icmp indirectbr insertelement insertvalue \
    inttoptr landingpad lshr malloc mul or phi ptrtoaddr ptrtoint resume ret sdiv select sext shl \
    shufflevector sitofp srem sub switch trunc udiv uitofp unreachable unwind urem xor zext";

impl Slow<'_> {
    fn body(&mut self) -> Option<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        let (mut depth, mut fresh, mut count) = (0_u32, true, 0);
        // The current instruction, and whether it is in `rows` already.
        let mut current = (row(0, Opcode::Other, 0), false);
        loop {
            match self.peek()? {
                b'\n' => {
                    self.at += 1;
                    fresh = depth == 0;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'}' if depth == 0 => return Some(rows),
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    (depth, fresh) = (depth + 1, false);
                }
                b')' | b']' | b'}' => {
                    self.at += 1;
                    depth = depth.saturating_sub(1);
                }
                b'!' if depth == 0 => {
                    self.at += 1;
                    let kind = self.take(|byte| is_word(byte) || byte == b'\\');
                    let kind = self.text[kind].to_owned();
                    fresh = kind == b"tbaa" || kind == b"\\74baa" || kind == b"tbaa.struct";
                    if fresh {
                        self.space();
                        let start = self.at;
                        self.reference()?;
                        if !current.1 {
                            rows.push(current.0);
                            current = (row(0, Opcode::Other, 0), true);
                        }
                        let last = rows.last_mut()?;
                        match kind == b"tbaa.struct" {
                            true => last.copy = true,
                            false => last.tag = Some(self.text[start..self.at].to_owned()),
                        }
                    }
                }
                b'%' if !fresh && depth == 0 && self.at_result() => fresh = true,
                _ if fresh => {
                    let start = self.at;
                    match self.opcode()? {
                        Some((opcode, after)) => {
                            fresh = false;
                            current = (row(count, opcode, start), false);
                            count += 1;
                            let end = std::mem::replace(&mut self.at, after);
                            if self.access(&mut current.0) {
                                rows.push(current.0);
                                current = (row(0, Opcode::Other, 0), true);
                            }
                            self.at = end;
                        }
                        None => fresh = self.text[self.at - 1] == b':',
                    }
                }
                b'"' => self.quoted()?,
                _ => self.at += 1,
            }
        }
    }

    /// Returns whether `%x =` is next, on one line.
    fn at_result(&self) -> bool {
        let rest = &self.text[self.at + 1..];
        let name = rest.iter().take_while(|&&byte| is_word(byte)).count();
        let mut rest = rest[name..].iter().filter(|&&byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        name > 0 && rest.next() == Some(&b'=')
    }

    /// Skips the result and the opcode, and an `atomicrmw`'s operation. Returns the opcode and its
    /// end. The inner `None` means that no instruction begins here.
    #[allow(clippy::option_option)]
    fn opcode(&mut self) -> Option<Option<(Opcode, usize)>> {
        let mut named = false;
        if self.peek()? == b'%' {
            self.at += 1;
            self.name()?;
            let end = self.at;
            self.space();
            if self.peek()? != b'=' {
                self.at = end;
                return Some(None);
            }
            self.at += 1;
            self.space();
            named = true;
        } else if self.peek()? == b'"' {
            self.quoted()?;
            self.at += usize::from(self.peek()? == b':');
            return Some(None);
        }
        let mut word = self.word();
        if !named && (word.is_empty() || self.peek()? == b':') {
            self.at += 1;
            return Some(None);
        }
        if ["tail", "musttail", "notail"].contains(&&*word) {
            self.space();
            word = self.word();
        }
        let after = self.at;
        let opcode = match &*word {
            "load" => Opcode::Load,
            "store" => Opcode::Store,
            "call" | "invoke" | "callbr" => Opcode::Call,
            "atomicrmw" => Opcode::AtomicRmw,
            "cmpxchg" => Opcode::CmpXchg,
            "va_arg" => Opcode::VaArg,
            _ if named || OPCODES.split_whitespace().any(|opcode| opcode == word) => Opcode::Other,
            _ => return Some(None),
        };
        if opcode == Opcode::AtomicRmw {
            self.space();
            let volatile = self.at;
            if self.word() == "volatile" {
                self.space();
            } else {
                self.at = volatile;
            }
            self.word();
        }
        Some(Some((opcode, after)))
    }

    /// Reads an instruction's access. Returns whether the instruction is listed even without a tag.
    fn access(&mut self, row: &mut Row) -> bool {
        match row.opcode {
            Opcode::Call => return self.transfer(row).is_some(),
            Opcode::Other => return false,
            _ => row.atomic = matches!(row.opcode, Opcode::AtomicRmw | Opcode::CmpXchg),
        }
        loop {
            self.space();
            let before = self.at;
            match &*self.word() {
                "volatile" => row.volatile = true,
                "atomic" => row.atomic = true,
                "weak" => {}
                _ => {
                    self.at = before;
                    break;
                }
            }
        }
        if let Some(ty) = self.access_type(row.opcode) {
            row.ty = self.text[ty].to_owned();
        }
        true
    }

    fn access_type(&mut self, opcode: Opcode) -> Option<Range<usize>> {
        if !matches!(opcode, Opcode::Load | Opcode::Store) {
            self.up_to_comma()?;
            self.at += usize::from(self.peek()? == b',');
            self.space();
        }
        let (ty, stars) = self.ty()?;
        self.space();
        if opcode != Opcode::Load || self.peek()? == b',' {
            return Some(ty);
        }
        // An old `load` has the pointer's type only: the access type is the pointee.
        Some(ty.start..stars?)
    }

    fn transfer(&mut self, row: &mut Row) -> Option<()> {
        self.space();
        (self.word() == "void").then_some(())?;
        self.space();
        (self.peek()? == b'@').then_some(())?;
        self.at += 1;
        let name = self.word();
        let known = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."];
        known.iter().any(|known| name.starts_with(known)).then_some(())?;
        self.space();
        let open = self.at;
        (self.peek()? == b'(').then_some(())?;
        row.atomic = name.contains(".atomic.");
        if self.bracketed().is_some() {
            let arguments = self.masked[open + 1..self.at - 1].trim_ascii_end();
            row.volatile = arguments
                .strip_suffix(b"true")
                .is_some_and(|rest| rest.last().is_some_and(u8::is_ascii_whitespace));
        }
        Some(())
    }

    /// Skips a type. Returns its range, and for a typed pointer the end of its pointee.
    #[allow(clippy::type_complexity)]
    fn ty(&mut self) -> Option<(Range<usize>, Option<usize>)> {
        let start = self.at;
        match self.peek()? {
            b'(' | b'[' | b'{' | b'<' => self.bracketed()?,
            b'%' => {
                self.at += 1;
                self.name()?;
            }
            _ => (!self.word().is_empty()).then_some(())?,
        }
        // The ends of the type, of the type before an address space, and of the pointee.
        let (mut end, mut before_space, mut pointee) = (self.at, None, None);
        loop {
            self.space();
            match self.peek()? {
                b'*' => {
                    self.at += 1;
                    pointee = Some(before_space.unwrap_or(end));
                    before_space = None;
                }
                b'(' => {
                    self.bracketed()?;
                    (before_space, pointee) = (None, None);
                }
                b'a' if self.text[self.at..].starts_with(b"addrspace(") => {
                    self.word();
                    self.bracketed()?;
                    (before_space, pointee) = (Some(end), None);
                }
                _ => break,
            }
            end = self.at;
        }
        self.at = end;
        Some((start..end, pointee))
    }

    fn reference(&mut self) -> Option<()> {
        (self.peek()? == b'!').then_some(())?;
        self.at += 1;
        self.space();
        match self.peek()? {
            b'{' => self.bracketed(),
            b'0'..=b'9' => {
                self.take(|byte| byte.is_ascii_digit());
                Some(())
            }
            _ => None,
        }
    }

    /// Skips a bracket, its contents and its closing bracket, which may be of any kind.
    fn bracketed(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.peek()? {
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn up_to_comma(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                b',' | b')' | b']' | b'}' | b'>' => return Some(()),
                b'(' | b'[' | b'{' | b'<' => self.bracketed()?,
                _ => self.at += 1,
            }
        }
    }

    fn name(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.quoted(),
            _ => (!self.word().is_empty()).then_some(()),
        }
    }

    fn quoted(&mut self) -> Option<()> {
        let rest = &self.masked[self.at + 1..];
        self.at += rest.iter().position(|&byte| byte == b'"')? + 2;
        Some(())
    }

    fn word(&mut self) -> String {
        let word = self.take(is_word);
        String::from_utf8_lossy(&self.text[word]).into_owned()
    }

    fn space(&mut self) {
        self.take(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.at;
        while self.masked.get(self.at).is_some_and(|&byte| wanted(byte)) {
            self.at += 1;
        }
        start..self.at
    }

    fn peek(&self) -> Option<u8> {
        self.masked.get(self.at).copied()
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.$-".contains(&byte)
}

fn row(index: u32, opcode: Opcode, offset: usize) -> Row {
    let (volatile, atomic, copy) = (false, false, false);
    Row { index, opcode, offset, volatile, atomic, ty: Vec::new(), tag: None, copy }
}
