//! Reads a function: first where its instructions and blocks begin, and which names they define;
//! then the operands, which may name what is defined later.

use std::cell::OnceCell;
use std::ops::Range;

use super::super::instruction::{self, CONSTANTS};
use super::super::module::Module;
use super::super::opcode::Opcode;
use super::super::sizes::Sizes;
use super::text::{Call, EXPRESSIONS, Header, header, is_aside, pass_line, space};
use super::{Block, Def, Function, Inst, Known, Value};
use crate::Attributes;
use tbaa::parts::table::HashMap;
use tbaa_lex::lexer::{Lexer, is_word};
use tbaa_types::Type;

/// How deep constant expressions nest. What is deeper is a constant like any other.
const DEPTH: usize = 16;

/// The words between an opcode and its first type.
const FLAGS: [&[u8]; 22] = [
    b"afn", b"arcp", b"atomic", b"contract", b"disjoint", b"exact", b"fast", b"inbounds",
    b"inrange", b"nneg", b"ninf", b"nnan", b"nsz", b"nusw", b"nuw", b"nsw", b"reassoc",
    b"samesign", b"to", b"volatile", b"weak", b"within",
];

impl Module<'_> {
    /// Reads the body of a function.
    ///
    /// # Panics
    ///
    /// If `function` is no index into [`functions`](Self::functions).
    #[must_use]
    pub fn function<'t>(&'t self, types: &'t Sizes, function: u32) -> Function<'t> {
        let text = self.text();
        let (head, span) = (self.header_span(function), self.function_span(function));
        let within = |at: usize| at.min(text.len());
        let start = within(head.start);
        let before = &text[..within(span.start)];
        let (_, parameters, attributes) = header(Lexer::new(before, start)).unwrap_or_else(|| {
            (&[], Vec::new(), Attributes::new(Lexer::new(before, before.len())))
        });
        let header = Header { text: &before[start..], end: before.len(), parameters, attributes };
        let accesses = self.accesses_of(function);
        let listed = accesses.map(|at| {
            let it = &self.instructions[at];
            (it.offset as usize, (at, it.volatile))
        });
        let mut reader = Reader::new(text, types, header);
        reader.lines(before.len()..within(span.end), listed);
        reader.operands();
        reader.finish()
    }
}

/// A block as the text writes it.
struct Part<'t> {
    label: &'t [u8],
    instructions: Vec<usize>,
}

struct Reader<'t> {
    function: Function<'t>,
    parts: Vec<Part<'t>>,
    /// The number of the next value or block that has no name.
    number: u64,
    locals: HashMap<&'t [u8], Value>,
    /// Values that have a number and no name in the text.
    numbered: HashMap<u64, Value>,
    globals: HashMap<&'t [u8], Value>,
    constants: HashMap<(Option<Type>, &'t [u8]), Value>,
    labels: HashMap<&'t [u8], u32>,
    numbered_labels: HashMap<u64, u32>,
}

/// The name that a text writes after `%`: without quotes where it needs none.
fn plain(name: &[u8]) -> &[u8] {
    let inner = name.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    match inner {
        Some([first, rest @ ..])
            if is_word(*first) && !first.is_ascii_digit() && rest.iter().all(|it| is_word(*it)) =>
        {
            &name[1..name.len() - 1]
        }
        _ => name,
    }
}

fn number_of(name: &[u8]) -> Option<u64> {
    name.first().filter(|it| it.is_ascii_digit())?;
    str::from_utf8(name).ok()?.parse().ok()
}

impl<'t> Reader<'t> {
    fn new(text: &'t [u8], types: &'t Sizes, header: Header<'t>) -> Self {
        let mut reader = Reader {
            function: Function {
                text,
                types,
                header,
                parameters: Vec::new(),
                blocks: Vec::new(),
                instructions: Vec::new(),
                expressions: Vec::new(),
                values: Vec::new(),
                operands: Vec::new(),
                unread: Vec::new(),
                labels: Vec::new(),
                block_of: Vec::new(),
                parts: Vec::new(),
                users: OnceCell::new(),
            },
            parts: Vec::new(),
            number: 0,
            locals: HashMap::default(),
            numbered: HashMap::default(),
            globals: HashMap::default(),
            constants: HashMap::default(),
            labels: HashMap::default(),
            numbered_labels: HashMap::default(),
        };
        for index in 0..reader.function.header.parameters.len() {
            let parameter = reader.function.header.parameters[index];
            if parameter.ty == b"..." {
                continue;
            }
            let value =
                reader.define(parameter.value, Def::Parameter(index), types.ty(parameter.ty));
            reader.function.parameters.push(value);
        }
        reader
    }

    fn push(&mut self, def: Def<'t>, text: &'t [u8], ty: Option<Type>) -> Value {
        self.function.values.push(Known { def, text, ty });
        Value(self.function.values.len() as u32 - 1)
    }

    /// Gives a parameter or a result its value: by its name with the `%`, or by the next number.
    fn define(&mut self, name: &'t [u8], def: Def<'t>, ty: Option<Type>) -> Value {
        let value = self.push(def, name, ty);
        match name.strip_prefix(b"%") {
            Some(name) => {
                if let Some(number) = number_of(name) {
                    self.number = number.saturating_add(1);
                    self.numbered.insert(number, value);
                } else {
                    self.locals.insert(plain(name), value);
                }
            }
            None => {
                self.numbered.insert(self.number, value);
                self.number = self.number.saturating_add(1);
            }
        }
        value
    }

    fn begin(&mut self, label: &'t [u8]) {
        let index = self.parts.len() as u32;
        match number_of(label) {
            Some(number) => {
                self.number = number.saturating_add(1);
                self.numbered_labels.insert(number, index);
            }
            None if label.is_empty() => {
                self.numbered_labels.insert(self.number, index);
                self.number = self.number.saturating_add(1);
            }
            None => drop(self.labels.insert(plain(label), index)),
        }
        self.parts.push(Part { label, instructions: Vec::new() });
    }

    /// Finds where instructions and blocks begin. Instructions are the ones that the pass over
    /// the module saw. One goes on over the lines that begin neither an instruction nor a block.
    fn lines(&mut self, span: Range<usize>, listed: impl Iterator<Item = (usize, (usize, bool))>) {
        let text = self.function.text;
        let mut listed = listed.peekable();
        let mut lexer = Lexer::new(&text[..span.end], span.start);
        // Whether what begins no instruction belongs to the one before.
        let mut goes_on = false;
        while let Some(label) = space(&mut lexer)
            && lexer.peek().is_some()
        {
            if let Some(label) = label {
                self.begin(label);
                goes_on = false;
                continue;
            }
            let offset = lexer.at;
            let mut access = None;
            while let Some((at, index)) = listed.next_if(|&(at, _)| at <= offset) {
                access = (at == offset).then_some(index);
            }
            let Ok(start) = instruction::start(&mut lexer) else { break };
            if start.is_none() && lexer.text[lexer.at - 1] == b':' {
                self.begin(&lexer.text[offset..lexer.at - 1]);
                goes_on = false;
                continue;
            }
            // The next one may begin on the same line.
            let most = listed.peek().map_or(lexer.text.len(), |&(next, _)| next);
            let mut line =
                Lexer::new(&lexer.text[..most.clamp(lexer.at, lexer.text.len())], lexer.at);
            lexer.at = pass_line(&mut line).map_or(line.text.len(), |()| line.at);
            if let Some(start) = start {
                self.instruction(offset..lexer.at, &start, access);
                goes_on = true;
            } else if goes_on
                && !is_aside(Lexer::new(&text[..lexer.at], offset))
                && let Some(last) = self.function.instructions.last_mut()
            {
                last.span.end = lexer.at;
            }
        }
    }

    fn instruction(
        &mut self,
        span: Range<usize>,
        start: &instruction::Start,
        access: Option<(usize, bool)>,
    ) {
        let text = self.function.text;
        let head = &text[span.start..start.after];
        let mut name = Lexer::new(&text[..span.end], span.start);
        let named = name.eat(b"%") && name.skip_name().is_ok();
        let word = &head[head.iter().rposition(|it| !is_word(*it)).map_or(0, |at| at + 1)..];
        let opcode = match start.opcode {
            Opcode::Other => Opcode::of_other(word).unwrap_or(Opcode::Other),
            known => known,
        };
        let is_terminator = opcode.is_terminator() || opcode == Opcode::Call && word != b"call";
        let index = self.function.instructions.len();
        let after_end = self.parts.last().is_none_or(|part| {
            part.instructions.last().is_some_and(|&at| self.function.instructions[at].is_terminator)
        });
        if after_end {
            self.begin(b"");
        }
        let name = if named { &text[span.start..name.at] } else { &b""[..] };
        let yields = named || yields(opcode, Lexer::new(&text[..span.end], start.after));
        let result = yields.then(|| self.define(name, Def::Instruction(index), None));
        self.function.instructions.push(Inst {
            opcode,
            is_terminator,
            ty: None,
            result,
            after: start.after,
            span,
            access: access.map(|it| it.0),
            is_volatile: access.is_some_and(|it| it.1),
            is_transfer: false,
            modifier: 0..0,
            operands: 0..0,
            labels: 0..0,
        });
        if let Some(part) = self.parts.last_mut() {
            part.instructions.push(index);
        }
    }

    fn operands(&mut self) {
        for at in 0..self.function.instructions.len() {
            let mut inst = self.function.instructions[at].clone();
            let lexer = Lexer::new(&self.function.text[..inst.span.end], inst.after);
            let end = self.operands_of(&mut inst, lexer, 0);
            self.unread(at as u32, &mut inst, end);
            self.function.instructions[at] = inst;
        }
    }

    /// Notes which values an instruction names after the last operand that could be read: it has
    /// an operand that could not, and an incomplete list would say something else than the text.
    fn unread(&mut self, at: u32, inst: &mut Inst, from: usize) {
        let text = &self.function.text[..inst.span.end];
        let unread = self.function.unread.len();
        let mut lexer = Lexer::new(text, from);
        while let Some(next) = lexer.rest().iter().position(|byte| b"%\";/".contains(byte)) {
            lexer.at += next;
            let start = lexer.at + 1;
            match text[lexer.at] {
                b'"' if lexer.quoted().is_ok() => continue,
                b';' | b'/' if lexer.comment() == Ok(true) => continue,
                b'%' => {}
                _ => {
                    lexer.at = start;
                    continue;
                }
            }
            lexer.at = start;
            let name = lexer.skip_name().map_or(&b""[..], |()| &text[start..lexer.at]);
            let known = match number_of(name) {
                Some(number) => self.numbered.get(&number),
                None => self.locals.get(plain(name)),
            };
            self.function.unread.extend(known.map(|&it| (it, at)));
        }
        if self.function.unread.len() > unread {
            let operands = self.function.operands(inst).iter().map(|&it| (it, at));
            let operands: Vec<_> = operands.collect();
            self.function.unread.extend(operands);
            inst.operands = 0..0;
        }
    }

    /// Reads what stands after an opcode, and returns where the last operand ends that could be
    /// read.
    fn operands_of(&mut self, inst: &mut Inst, mut lexer: Lexer<'t>, depth: usize) -> usize {
        let (values, labels) = (Vec::new(), Vec::new());
        let mut found = Operands { values, labels, depth, end: lexer.at };
        let start = lexer;
        let _ = self.list(inst, &mut lexer, &mut found);
        if inst.is_terminator {
            // What is no operand may have been looked at: the list of an `indirectbr`.
            let from = if inst.opcode == Opcode::Call { start.at } else { found.end };
            self.targets(Lexer { at: from, ..start }, &mut found.labels);
        }
        let start = self.function.operands.len() as u32;
        self.function.operands.extend(found.values);
        inst.operands = start..self.function.operands.len() as u32;
        let start = self.function.labels.len() as u32;
        self.function.labels.extend(found.labels);
        inst.labels = start..self.function.labels.len() as u32;
        if let Some(result) = inst.result {
            let ty = self.type_of_result(inst);
            let known = &mut self.function.values[result.index()];
            known.ty = known.ty.or(ty);
        }
        found.end
    }

    /// The type of a result, where an instruction says it.
    fn type_of_result(&self, inst: &Inst) -> Option<Type> {
        match inst.opcode {
            Opcode::GetElementPtr => self.function.ty(*self.function.operands(inst).first()?),
            Opcode::Alloca | Opcode::ICmp | Opcode::FCmp | Opcode::ExtractValue => None,
            Opcode::ExtractElement | Opcode::CmpXchg => None,
            _ => inst.ty,
        }
    }

    fn list(&mut self, inst: &mut Inst, lexer: &mut Lexer<'t>, found: &mut Operands) -> Option<()> {
        let types = self.function.types;
        if inst.opcode == Opcode::Call {
            return self.call(inst, *lexer, found);
        }
        flags(lexer)?;
        let from = lexer.at;
        match inst.opcode {
            Opcode::Br => return self.condition(lexer, found),
            Opcode::GetElementPtr | Opcode::Load => {
                let (ty, pointee) = lexer.pointer_ty().ok()?;
                lexer.skip_space().ok()?;
                if lexer.eat(b",") {
                    inst.ty = types.ty(ty);
                } else {
                    // Before LLVM 3.7 the pointer's type alone says what it points to.
                    inst.ty = types.ty(pointee?);
                    lexer.at = from;
                }
            }
            Opcode::Alloca => {
                while lexer.eat_word(b"inalloca") || lexer.eat_word(b"swifterror") {
                    lexer.skip_space().ok()?;
                }
                inst.ty = types.ty(lexer.ty().ok()?);
                found.end = lexer.at;
                lexer.skip_space().ok()?;
                lexer.eat(b",").then_some(())?;
            }
            Opcode::LandingPad => {
                inst.ty = types.ty(lexer.ty().ok()?);
                found.end = lexer.at;
                return Some(());
            }
            Opcode::Phi => return self.phi(inst, lexer, found),
            Opcode::ICmp | Opcode::FCmp => {
                lexer.word();
                inst.modifier = from..lexer.at;
                lexer.skip_space().ok()?;
                while lexer.eat_word(b"samesign") {
                    lexer.skip_space().ok()?;
                }
            }
            Opcode::AtomicRmw => {
                lexer.word();
                inst.modifier = from..lexer.at;
            }
            _ => {}
        }
        if inst.opcode.is_binary() {
            let ty = self.typed(lexer, found)?;
            inst.ty = ty;
            lexer.skip_space().ok()?;
            lexer.eat(b",").then_some(())?;
            lexer.skip_space().ok()?;
            return self.value(ty, lexer, found);
        }
        loop {
            flags(lexer)?;
            let ends = match lexer.peek()? {
                b'!' | b'0'..=b'9' | b'-' => true,
                _ => !lexer.at_type() || self.is_word_after_operands(*lexer),
            };
            if ends {
                break;
            }
            let ty = self.typed(lexer, found)?;
            let nth = found.values.len();
            match (inst.opcode, nth) {
                (Opcode::Store | Opcode::Freeze | Opcode::FNeg, 1)
                | (Opcode::Select | Opcode::AtomicRmw | Opcode::CmpXchg, 2)
                | (Opcode::InsertElement | Opcode::InsertValue | Opcode::ShuffleVector, 1) => {
                    inst.ty = ty;
                }
                _ => {}
            }
            lexer.skip_space().ok()?;
            if inst.opcode.is_cast() {
                if lexer.eat_word(b"to") {
                    lexer.skip_space().ok()?;
                    inst.ty = types.ty(lexer.ty().ok()?);
                    found.end = lexer.at;
                }
                return Some(());
            }
            if !lexer.eat(b",") {
                return Some(());
            }
        }
        if inst.opcode == Opcode::VaArg && lexer.at_type() {
            inst.ty = types.ty(lexer.ty().ok()?);
            found.end = lexer.at;
        }
        if matches!(inst.opcode, Opcode::ExtractValue | Opcode::InsertValue) {
            let from = lexer.at;
            while lexer.peek().is_some_and(|it| it.is_ascii_digit() || b", ".contains(&it)) {
                lexer.at += 1;
            }
            inst.modifier = from..lexer.at;
        }
        Some(())
    }

    /// Returns whether a word stands here that follows operands and is no type.
    fn is_word_after_operands(&self, mut lexer: Lexer<'t>) -> bool {
        let word = lexer.word();
        matches!(
            word,
            b"align"
                | b"addrspace"
                | b"syncscope"
                | b"label"
                | b"unwind"
                | b"to"
                | b"cleanup"
                | b"catch"
                | b"filter"
                | b"none"
                | b"acquire"
                | b"release"
                | b"acq_rel"
                | b"seq_cst"
                | b"monotonic"
                | b"unordered"
        )
    }

    /// Reads a type and a value.
    fn typed(&mut self, lexer: &mut Lexer<'t>, found: &mut Operands) -> Option<Option<Type>> {
        lexer.skip_space().ok()?;
        let ty = self.function.types.ty(lexer.ty().ok()?);
        lexer.skip_space().ok()?;
        self.value(ty, lexer, found)?;
        Some(ty)
    }

    /// Reads a value.
    fn value(
        &mut self,
        ty: Option<Type>,
        lexer: &mut Lexer<'t>,
        found: &mut Operands,
    ) -> Option<()> {
        let start = lexer.at;
        pass_value(lexer)?;
        let value = self.named(ty, &lexer.text[start..lexer.at], found.depth);
        found.values.push(value);
        found.end = lexer.at;
        Some(())
    }

    /// The value that a text such as `%x`, `@g` or `i64`'s `0` stands for.
    fn named(&mut self, ty: Option<Type>, text: &'t [u8], depth: usize) -> Value {
        let value = match text {
            [b'%', name @ ..] => {
                let known = match number_of(name) {
                    Some(number) => self.numbered.get(&number),
                    None => self.locals.get(plain(name)),
                };
                known.copied().unwrap_or_else(|| {
                    let value = self.push(Def::Unknown, text, ty);
                    match number_of(name) {
                        Some(number) => self.numbered.insert(number, value),
                        None => self.locals.insert(plain(name), value),
                    };
                    value
                })
            }
            [b'@', name @ ..] => match self.globals.get(plain(name)) {
                Some(&value) => value,
                None => {
                    let value = self.push(Def::Global(name), text, ty);
                    self.globals.insert(plain(name), value);
                    value
                }
            },
            _ => match self.constants.get(&(ty, text)) {
                Some(&value) => value,
                None => {
                    let value = self.constant(ty, text, depth);
                    self.constants.insert((ty, text), value);
                    value
                }
            },
        };
        let known = &mut self.function.values[value.index()];
        known.ty = known.ty.or(ty);
        if known.text.is_empty() {
            known.text = text;
        }
        value
    }

    fn constant(&mut self, ty: Option<Type>, text: &'t [u8], depth: usize) -> Value {
        let integer = || str::from_utf8(text).ok()?.parse().ok();
        let def = match text {
            b"true" => Def::Integer(1),
            b"false" => Def::Integer(0),
            b"undef" | b"poison" => Def::Undefined,
            _ => match integer() {
                Some(integer) => Def::Integer(integer),
                None => match self.expression(text, depth) {
                    Some(expression) => Def::Expression(expression),
                    None => Def::Constant,
                },
            },
        };
        let value = self.push(def, text, ty);
        if let Def::Expression(at) = def {
            self.function.expressions[at].result = Some(value);
        }
        value
    }

    /// Reads a constant such as `getelementptr (i8, ptr @g, i64 8)`; `None` of others.
    fn expression(&mut self, text: &'t [u8], depth: usize) -> Option<usize> {
        let mut lexer = Lexer::new(text, 0);
        let word = lexer.word();
        let opcode = Opcode::of_other(word).filter(|it| it.is_pure() && depth < DEPTH)?;
        flags(&mut lexer)?;
        (lexer.peek()? == b'(').then_some(())?;
        let start = lexer.at + 1;
        lexer.bracketed("a constant expression").ok()?;
        let list = Lexer::new(&text[..lexer.at - 1], start);
        let mut inst = Inst {
            opcode,
            is_terminator: false,
            ty: None,
            result: None,
            span: 0..0,
            after: 0,
            access: None,
            is_volatile: false,
            is_transfer: false,
            modifier: 0..0,
            operands: 0..0,
            labels: 0..0,
        };
        self.operands_of(&mut inst, list, depth + 1);
        self.function.expressions.push(inst);
        Some(self.function.expressions.len() - 1)
    }

    /// Reads `i1 %c` of a branch that has a condition.
    fn condition(&mut self, lexer: &mut Lexer<'t>, found: &mut Operands) -> Option<()> {
        let mut ahead = *lexer;
        if ahead.word() != b"label" {
            self.typed(lexer, found)?;
        }
        Some(())
    }

    /// Reads `ptr [ %a, %x ], [ %b, %y ]`.
    fn phi(&mut self, inst: &mut Inst, lexer: &mut Lexer<'t>, found: &mut Operands) -> Option<()> {
        inst.ty = self.function.types.ty(lexer.ty().ok()?);
        loop {
            lexer.skip_space().ok()?;
            lexer.eat(b"[").then_some(())?;
            lexer.skip_space().ok()?;
            self.value(inst.ty, lexer, found)?;
            lexer.skip_space().ok()?;
            lexer.eat(b",").then_some(())?;
            lexer.skip_space().ok()?;
            let block = self.label(lexer);
            found.labels.push(block.unwrap_or(u32::MAX));
            lexer.skip_space().ok()?;
            lexer.eat(b"]").then_some(())?;
            lexer.skip_space().ok()?;
            if !lexer.eat(b",") {
                return Some(());
            }
        }
    }

    fn label(&self, lexer: &mut Lexer<'t>) -> Option<u32> {
        lexer.eat(b"%").then_some(())?;
        let start = lexer.at;
        lexer.skip_name().ok()?;
        let name = &lexer.text[start..lexer.at];
        match number_of(name) {
            Some(number) => self.numbered_labels.get(&number),
            None => self.labels.get(plain(name)),
        }
        .copied()
    }

    /// Reads the `x` of every `label %x`.
    fn targets(&self, mut lexer: Lexer<'t>, found: &mut Vec<u32>) {
        while let Some(byte) = lexer.peek() {
            match byte {
                b'%' | b'@' => {
                    lexer.at += 1;
                    let _ = lexer.skip_name();
                }
                b'"' if lexer.quoted().is_ok() => {}
                b';' | b'/' => match lexer.comment() {
                    Ok(true) => {}
                    Ok(false) => lexer.at += 1,
                    Err(_) => break,
                },
                byte if is_word(byte) => {
                    if lexer.word() == b"label" && lexer.skip_space().is_ok() {
                        found.extend(self.label(&mut lexer));
                    }
                }
                _ => lexer.at += 1,
            }
        }
    }

    /// Reads the arguments of a call, and then what else it uses: bundles, and a callee that is
    /// no global.
    fn call(&mut self, inst: &mut Inst, lexer: Lexer<'t>, found: &mut Operands) -> Option<()> {
        let call = Call::read(lexer)?;
        found.end = lexer.text.len();
        inst.ty = call.result.and_then(|ty| self.function.types.ty(ty));
        let transfers = [&b"llvm.memcpy."[..], b"llvm.memmove.", b"llvm.memset."];
        inst.is_transfer = transfers.iter().any(|it| call.callee.starts_with(it));
        for argument in &call.arguments {
            let ty = match argument.ty {
                b"metadata" => None,
                ty => self.function.types.ty(ty),
            };
            let value = self.named(ty, argument.value, found.depth);
            found.values.push(value);
        }
        let mut bundles = call.bundles;
        while let Some(byte) = bundles.peek() {
            let start = bundles.at;
            match byte {
                b'%' => {
                    bundles.at += 1;
                    bundles.skip_name().ok()?;
                    let value = self.named(None, &bundles.text[start..bundles.at], found.depth);
                    found.values.push(value);
                }
                b'"' => drop(bundles.quoted().ok()?),
                _ => bundles.at += 1,
            }
        }
        if call.target.starts_with(b"%") {
            let value = self.named(None, call.target, found.depth);
            found.values.push(value);
        }
        Some(())
    }

    /// Joins blocks, and numbers them anew.
    fn finish(mut self) -> Function<'t> {
        let function = &mut self.function;
        let successors = |part: &Part<'t>| {
            let last = part.instructions.last().map(|&at| &function.instructions[at]);
            let labels = last.filter(|it| it.is_terminator).map(|it| it.labels.clone());
            let labels = labels.map_or(0..0, |it| it.start as usize..it.end as usize);
            let mut found: Vec<usize> =
                function.labels[labels].iter().map(|&it| it as usize).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let after: Vec<Vec<usize>> = self.parts.iter().map(successors).collect();
        let mut before = vec![0_usize; self.parts.len()];
        after.iter().flatten().for_each(|&next| before[next] += 1);
        let joined = |at: usize| match after[at][..] {
            [next] if next != 0 && before[next] == 1 && next != at => {
                let end = self.parts[at].instructions.last()?;
                let end = &function.instructions[*end];
                (end.opcode == Opcode::Br && end.operands.is_empty()).then_some(next)
            }
            _ => None,
        };
        let mut goes_on = vec![false; self.parts.len()];
        let next: Vec<Option<usize>> = (0..self.parts.len()).map(joined).collect();
        next.iter().flatten().for_each(|&it| goes_on[it] = true);
        // A circle that nothing enters has no first block: it stays as it is.
        let mut number = vec![usize::MAX; self.parts.len()];
        let mut chains: Vec<Vec<usize>> = Vec::new();
        for (start, _) in goes_on.iter().enumerate().filter(|it| !it.1) {
            let mut chain = Vec::new();
            let mut at = Some(start);
            while let Some(part) = at {
                number[part] = chains.len();
                chain.push(part);
                at = next[part];
            }
            chains.push(chain);
        }
        for (part, number) in number.iter_mut().enumerate().filter(|it| *it.1 == usize::MAX) {
            *number = chains.len();
            chains.push(vec![part]);
        }
        let of_label = |label: &u32| number.get(*label as usize).map_or(u32::MAX, |&it| it as u32);
        function.labels = function.labels.iter().map(of_label).collect();
        function.block_of = vec![0; function.instructions.len()];
        for (index, chain) in chains.iter().enumerate() {
            let last = chain[chain.len() - 1];
            let mut successors: Vec<usize> = after[last].iter().map(|&it| number[it]).collect();
            successors.sort_unstable();
            successors.dedup();
            let instructions = chain.iter().flat_map(|&it| self.parts[it].instructions.iter());
            let instructions: Vec<usize> = instructions.copied().collect();
            instructions.iter().for_each(|&at| function.block_of[at] = index as u32);
            let labels = chain.iter().map(|&it| self.parts[it].label).collect();
            function.blocks.push(Block { labels, instructions, successors });
        }
        let first = |part: &Part<'t>| part.instructions.first().copied();
        function.parts = self.parts.iter().filter_map(first).collect();
        self.function
    }
}

/// What is read of an instruction's operands.
struct Operands {
    values: Vec<Value>,
    labels: Vec<u32>,
    /// How deep the constant expression is that they belong to.
    depth: usize,
    /// The place where the last of them ends.
    end: usize,
}

/// Passes white space and the words before a type.
fn flags(lexer: &mut Lexer<'_>) -> Option<()> {
    loop {
        lexer.skip_space().ok()?;
        let mut ahead = *lexer;
        let word = ahead.word();
        if !FLAGS.contains(&word) {
            return Some(());
        }
        if word == b"inrange" && ahead.peek() == Some(b'(') {
            ahead.bracketed("a range").ok()?;
        }
        *lexer = ahead;
    }
}

/// Passes any value.
fn pass_value(lexer: &mut Lexer<'_>) -> Option<()> {
    match lexer.peek()? {
        b'<' => {
            lexer.bracketed("a value").ok()?;
        }
        b'[' | b'{' => lexer.bracketed("a value").ok()?,
        b'-' | b'0'..=b'9' => {
            lexer.word();
            // `1.000000e+00`
            if lexer.eat(b"+") {
                lexer.word();
            }
        }
        b'c' if lexer.rest().starts_with(b"c\"") => {
            lexer.at += 1;
            lexer.quoted().ok()?;
        }
        b'%' | b'@' => {
            lexer.at += 1;
            lexer.skip_name().ok()?;
        }
        _ => {
            let mut word = *lexer;
            let first = word.word();
            if CONSTANTS.contains(&first) || EXPRESSIONS.contains(&first) {
                lexer.value().ok()?;
            } else if first.is_empty() {
                return None;
            } else {
                // `true`, `null`, `none`, `f0x7FF0000000000000`
                *lexer = word;
            }
        }
    }
    Some(())
}

/// Returns whether an instruction whose result the text does not name has one, which then has a number.
fn yields(opcode: Opcode, mut after: Lexer<'_>) -> bool {
    match opcode {
        Opcode::Store | Opcode::Fence | Opcode::Free | Opcode::Other => false,
        Opcode::Call => loop {
            let Ok(()) = after.skip_space() else { return false };
            match after.peek() {
                Some(b'@' | b'%' | b'<' | b'[' | b'{') => return true,
                Some(b'(') => drop(after.bracketed("a call")),
                Some(byte) if is_word(byte) => {
                    if after.word() == b"void" {
                        return false;
                    }
                }
                Some(_) => after.at += 1,
                None => return false,
            }
        },
        _ => !opcode.is_terminator(),
    }
}
