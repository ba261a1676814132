//! Reads a function in two passes. The first finds where instructions and blocks begin, and the
//! names that they define. The second reads operands, which may name later definitions.

use std::{borrow::Cow, cell::OnceCell, collections::BTreeSet, ops::Range};

use super::super::instruction;
use super::Known;
use super::text::{Call, Header, header, is_aside, pass_line, pass_value, space};
use crate::{
    Argument, Attribute, Attributes, Block, Def, Function, Inst, Module, Opcode, Sizes, Value,
};
use tbaa::parts::table::HashMap;
use tbaa_lex::{
    lexer::{Lexer, is_word, words},
    source::unquoted,
};
use tbaa_types::Type;

/// The largest nesting depth of constant expressions. Deeper ones become [`Def::Constant`].
const DEPTH: usize = 16;

/// The words that may be between an opcode and its first type.
const FLAGS: [&[u8]; 22] = words(
    "afn arcp atomic contract disjoint exact fast inbounds inrange nneg ninf nnan nsz nusw \
     nuw nsw reassoc samesign to volatile weak within",
);

/// The words that may be after or between operands, and are not types.
const AFTER_OPERANDS: [&[u8]; 16] = words(
    "align addrspace syncscope label unwind to cleanup catch filter none acquire release acq_rel \
     seq_cst monotonic unordered",
);

impl Module<'_> {
    /// Reads the body of a function.
    /// Panics if `function` is not an index into [`functions`](Self::functions).
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
        let listed = self.accesses_of(function).map(|at| {
            let it = &self.instructions[at];
            (it.offset as usize, (at, it.volatile))
        });
        let mut reader = Reader::new(text, types, header);
        reader.lines(before.len()..within(span.end), listed);
        reader.operands();
        reader.finish()
    }
}

/// A block of the text, before blocks are joined.
struct Part<'t> {
    label: &'t [u8],
    instructions: Vec<usize>,
}

struct Reader<'t> {
    function: Function<'t>,
    parts: Vec<Part<'t>>,
    /// The number for the next value or block that has no name.
    number: u64,
    locals: HashMap<Name<'t>, Value>,
    globals: HashMap<Name<'t>, Value>,
    constants: HashMap<(Option<Type>, &'t [u8]), Value>,
    labels: HashMap<Name<'t>, u32>,
}

/// The name of a value, block or function without quotes and escapes, or the number of one that has
/// no name: `%"0"` has a name, and `%0` has none.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) enum Name<'t> {
    Plain(Cow<'t, [u8]>),
    Number(u64),
}

impl<'t> Name<'t> {
    /// Reads the text after `%` or `@`.
    pub(crate) fn of(name: &'t [u8]) -> Self {
        let digits = Some(name).filter(|byte| byte.first().is_some_and(u8::is_ascii_digit));
        let number = digits.and_then(|digit| str::from_utf8(digit).ok()?.parse().ok());
        number.map_or_else(|| Name::Plain(unquoted(name)), Name::Number)
    }
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
            globals: HashMap::default(),
            constants: HashMap::default(),
            labels: HashMap::default(),
        };
        for index in 0..reader.function.header.parameters.len() {
            let Argument { ty, value, .. } = reader.function.header.parameters[index];
            if ty != b"..." {
                let value = reader.define(value, Def::Parameter(index), types.ty(ty));
                reader.function.parameters.push(value);
            }
        }
        reader
    }

    fn push(&mut self, def: Def<'t>, text: &'t [u8], ty: Option<Type>) -> Value {
        self.function.values.push(Known { def, text, ty });
        Value::nth(self.function.values.len() - 1)
    }

    /// Defines a parameter or result by `name`, such as `%x`, or by the next number if it is empty.
    fn define(&mut self, name: &'t [u8], def: Def<'t>, ty: Option<Type>) -> Value {
        let value = self.push(def, name, ty);
        let name = self.name(name.strip_prefix(b"%").unwrap_or_default());
        self.locals.insert(name, value);
        value
    }

    /// Returns the name of a value or block: `name`, or the next number if it is empty.
    fn name(&mut self, name: &'t [u8]) -> Name<'t> {
        let name = if name.is_empty() { Name::Number(self.number) } else { Name::of(name) };
        if let Name::Number(number) = name {
            self.number = number.saturating_add(1);
        }
        name
    }

    fn begin(&mut self, label: &'t [u8]) {
        let name = self.name(label);
        self.labels.insert(name, self.parts.len() as u32);
        self.parts.push(Part { label, instructions: Vec::new() });
    }

    /// Finds where instructions and blocks begin, and marks the instructions that the module lists.
    /// A line that begins neither continues the block's previous instruction, unless [`is_aside`].
    fn lines(&mut self, span: Range<usize>, listed: impl Iterator<Item = (usize, (usize, bool))>) {
        let text = self.function.text;
        let mut listed = listed.peekable();
        let mut lexer = Lexer::new(&text[..span.end], span.start);
        // True if a line that begins no instruction continues the previous one.
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
            // The next listed instruction may begin on the same line.
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
        let word = &head[head.iter().rposition(|head| !is_word(*head)).map_or(0, |at| at + 1)..];
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
            result,
            after: start.after,
            span,
            access: access.map(|access| access.0),
            is_volatile: access.is_some_and(|access| access.1),
            ..Inst::default()
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

    /// Finds the local values that an instruction's text names at or after `from`, the end of its
    /// last readable operand. If there are any, moves the operands of `inst` to `unread` with these
    /// values: an incomplete list of operands would be wrong.
    fn unread(&mut self, at: u32, inst: &mut Inst, from: usize) {
        let text = &self.function.text[..inst.span.end];
        let unread = self.function.unread.len();
        let mut lexer = Lexer::new(text, from);
        while let Some(name) = lexer.next_name(b'%') {
            let local = self.locals.get(&Name::of(&name[1..]));
            self.function.unread.extend(local.map(|&local| (local, at)));
        }
        if self.function.unread.len() > unread {
            let range = inst.operands.start as usize..inst.operands.end as usize;
            let Function { operands, unread, .. } = &mut self.function;
            unread.extend(operands[range].iter().map(|&operand| (operand, at)));
            inst.operands = 0..0;
        }
    }

    /// Reads the operands after an opcode. Returns the end of the last readable operand.
    fn operands_of(&mut self, inst: &mut Inst, mut lexer: Lexer<'t>, depth: usize) -> usize {
        let (values, labels) = (Vec::new(), Vec::new());
        let mut found = Operands { values, labels, depth, end: lexer.at };
        let start = lexer;
        let _ = self.list(inst, &mut lexer, &mut found);
        if inst.is_terminator {
            // The labels may come after text that was skipped because it is not an operand.
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

    /// Returns the type of an instruction's result; `None` if the reader does not compute it.
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
        let before = lexer.at;
        flags(lexer)?;
        let from = lexer.at;
        if inst.opcode.is_binary() {
            inst.modifier = before..from;
        }
        match inst.opcode {
            // The condition of a conditional branch: `i1 %c`.
            Opcode::Br if { *lexer }.word() != b"label" => {
                return self.typed(lexer, found).map(drop);
            }
            Opcode::Br => return Some(()),
            Opcode::GetElementPtr | Opcode::Load => {
                let (ty, pointee) = lexer.pointer_ty().ok()?;
                lexer.skip_space().ok()?;
                if lexer.eat(b",") {
                    inst.ty = types.ty(ty);
                } else {
                    // Before LLVM 3.7, only the pointer's type states the accessed or indexed type.
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
            inst.ty = self.typed(lexer, found)?;
            lexer.token(b",")?;
            return self.value(inst.ty, lexer, found);
        }
        loop {
            flags(lexer)?;
            let ends = match lexer.peek()? {
                b'!' | b'0'..=b'9' | b'-' => true,
                _ => !lexer.at_type() || AFTER_OPERANDS.contains(&{ *lexer }.word()),
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
            while lexer.peek().is_some_and(|byte| byte.is_ascii_digit() || b", ".contains(&byte)) {
                lexer.at += 1;
            }
            inst.modifier = from..lexer.at;
        }
        Some(())
    }

    /// Reads a type and a value of this type.
    fn typed(&mut self, lexer: &mut Lexer<'t>, found: &mut Operands) -> Option<Option<Type>> {
        lexer.skip_space().ok()?;
        let ty = self.function.types.ty(lexer.ty().ok()?);
        lexer.skip_space().ok()?;
        self.value(ty, lexer, found)?;
        Some(ty)
    }

    fn value(&mut self, ty: Option<Type>, from: &mut Lexer<'t>, to: &mut Operands) -> Option<()> {
        let start = from.at;
        pass_value(from)?;
        to.values.push(self.named(ty, &from.text[start..from.at], to.depth));
        to.end = from.at;
        Some(())
    }

    /// Returns the value for a text such as `%x`, `@g` or, with type `i64`, `0`.
    fn named(&mut self, ty: Option<Type>, text: &'t [u8], depth: usize) -> Value {
        let value = match text {
            [b'%', name @ ..] => match self.locals.get(&Name::of(name)) {
                Some(&value) => value,
                None => {
                    let value = self.push(Def::Unknown, text, ty);
                    self.locals.insert(Name::of(name), value);
                    value
                }
            },
            [b'@', name @ ..] => match self.globals.get(&Name::of(name)) {
                Some(&value) => value,
                None => {
                    let value = self.push(Def::Global(name), text, ty);
                    self.globals.insert(Name::of(name), value);
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
        let integer = || Some(Def::Integer(str::from_utf8(text).ok()?.parse().ok()?));
        let def = match text {
            b"true" => Def::Integer(1),
            b"false" => Def::Integer(0),
            b"undef" | b"poison" => Def::Undefined,
            _ => integer().unwrap_or_else(|| {
                self.expression(text, depth).map_or(Def::Constant, Def::Expression)
            }),
        };
        let value = self.push(def, text, ty);
        if let Def::Expression(at) = def {
            self.function.expressions[at].result = Some(value);
        }
        value
    }

    /// Reads a constant expression such as `getelementptr (i8, ptr @g, i64 8)`. Returns its index;
    /// `None` for other constants.
    fn expression(&mut self, text: &'t [u8], depth: usize) -> Option<usize> {
        let mut lexer = Lexer::new(text, 0);
        let word = lexer.word();
        let opcode = Opcode::of_other(word).filter(|other| other.is_pure() && depth < DEPTH)?;
        flags(&mut lexer)?;
        (lexer.peek()? == b'(').then_some(())?;
        let start = lexer.at + 1;
        lexer.bracketed("a constant expression").ok()?;
        let list = Lexer::new(&text[..lexer.at - 1], start);
        let mut inst = Inst { opcode, ..Inst::default() };
        self.operands_of(&mut inst, list, depth + 1);
        self.function.expressions.push(inst);
        Some(self.function.expressions.len() - 1)
    }

    /// Reads the operands of a `phi`: `ptr [ %a, %x ], [ %b, %y ]`.
    fn phi(&mut self, inst: &mut Inst, lexer: &mut Lexer<'t>, found: &mut Operands) -> Option<()> {
        inst.ty = self.function.types.ty(lexer.ty().ok()?);
        loop {
            lexer.token(b"[")?;
            self.value(inst.ty, lexer, found)?;
            lexer.token(b",")?;
            found.labels.push(self.label(lexer).unwrap_or(u32::MAX));
            lexer.token(b"]")?;
            if !lexer.eat(b",") {
                return Some(());
            }
        }
    }

    fn label(&self, lexer: &mut Lexer<'t>) -> Option<u32> {
        lexer.eat(b"%").then_some(())?;
        self.labels.get(&Name::of(lexer.skip_name().ok()?)).copied()
    }

    /// Appends the block named `x` for each `label %x`.
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

    /// Reads a call's arguments, then the local values in its bundles, then a callee such as `%f`.
    fn call(&mut self, inst: &mut Inst, lexer: Lexer<'t>, found: &mut Operands) -> Option<()> {
        let call = Call::read(lexer)?;
        found.end = lexer.text.len();
        inst.ty = call.result.and_then(|ty| self.function.types.ty(ty));
        inst.is_transfer = instruction::TRANSFERS.iter().any(|it| call.callee.starts_with(it));
        for argument in &call.arguments {
            let ty = match argument.ty {
                b"metadata" => None,
                ty => self.function.types.ty(ty),
            };
            found.values.push(self.named(ty, argument.value, found.depth));
        }
        for (span, attribute) in call.attributes.clone() {
            let Attribute::Bundle(_) = attribute else { continue };
            let mut bundle = Lexer::new(&lexer.text[..span.end], span.start);
            while let Some(name) = bundle.next_name(b'%') {
                found.values.push(self.named(None, name, found.depth));
            }
        }
        if call.target.starts_with(b"%") {
            found.values.push(self.named(None, call.target, found.depth));
        }
        Some(())
    }

    /// Joins blocks, and renumbers them.
    fn finish(mut self) -> Function<'t> {
        let function = &mut self.function;
        let successors = |part: &Part<'t>| {
            let last = part.instructions.last().map(|&at| &function.instructions[at]);
            let labels = last.filter(|last| last.is_terminator).map(|last| function.incoming(last));
            sorted(labels.unwrap_or_default().iter().map(|&label| label as usize))
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
        // A cycle of blocks that nothing enters has no first block: its blocks are not joined.
        let mut number = vec![usize::MAX; self.parts.len()];
        let mut chains: Vec<Vec<usize>> = Vec::new();
        for (start, _) in goes_on.iter().enumerate().filter(|goes_on| !goes_on.1) {
            let mut chain = Vec::new();
            let mut at = Some(start);
            while let Some(part) = at {
                number[part] = chains.len();
                chain.push(part);
                at = next[part];
            }
            chains.push(chain);
        }
        for (part, number) in number.iter_mut().enumerate().filter(|number| *number.1 == usize::MAX)
        {
            *number = chains.len();
            chains.push(vec![part]);
        }
        let of_label =
            |label: &u32| number.get(*label as usize).map_or(u32::MAX, |&number| number as u32);
        function.labels = function.labels.iter().map(of_label).collect();
        function.block_of = vec![0; function.instructions.len()];
        for (index, chain) in chains.iter().enumerate() {
            let last = chain[chain.len() - 1];
            let successors = sorted(after[last].iter().map(|&next| number[next]));
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

fn sorted(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    numbers.collect::<BTreeSet<_>>().into_iter().collect()
}

struct Operands {
    values: Vec<Value>,
    labels: Vec<u32>,
    /// The number of nested constant expressions that contain the operands.
    depth: usize,
    /// The offset in the text where the last operand ends.
    end: usize,
}

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

/// Returns whether an instruction without a named result has a numbered result.
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
