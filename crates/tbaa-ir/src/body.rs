//! A function's body, read on demand: its header, all its instructions, and its blocks.

use std::ops::Range;

use super::attributes::Attributes;
use super::instruction::{self, CONSTANTS};
use super::module::{Module, Opcode};
use tbaa::parts::table::HashMap;
use tbaa_lex::lexer::{Lexer, is_word, table};

/// A function that has a body, as the text writes it.
///
/// ```
/// let text = b"define i32 @f(ptr %p) {\n  %x = load i32, ptr %p\n  ret i32 %x\n}\n";
/// let module = tbaa_ir::read(text)?;
/// let body = module.body(text, 0);
/// assert_eq!(body.header.parameters[0].value, b"%p");
/// assert_eq!(body.statements[1].text(), b"ret i32 %x");
/// assert_eq!(body.blocks.len(), 1);
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
///
/// LLVM: `Function`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Body<'t> {
    /// What stands before the body.
    pub header: Header<'t>,
    /// All instructions, those that access no memory among them, in the text's order.
    pub statements: Vec<Statement<'t>>,
    /// The blocks in the text's order; the function begins in the first.
    pub blocks: Vec<Block<'t>>,
}

/// What stands before a body.
#[derive(Debug)]
#[non_exhaustive]
pub struct Header<'t> {
    /// From `define` to after the `{` of the body.
    pub text: &'t [u8],
    /// Bytes from the start of the text to there.
    pub end: usize,
    /// The parameters; a value is empty where the text gives no name.
    pub parameters: Vec<Argument<'t>>,
    /// The attributes after the parameters.
    pub attributes: Attributes<'t>,
}

/// A basic block.
///
/// LLVM: `BasicBlock`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Block<'t> {
    /// Its name as it stands after `%`; empty where the text does not name it.
    pub label: &'t [u8],
    /// Indices of its instructions in [`Body::statements`].
    pub statements: Range<usize>,
}

/// An instruction of a body.
///
/// LLVM: `Instruction`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Statement<'t> {
    /// Bytes from the start of the text to its first byte, its result's `%`
    /// included.
    pub offset: usize,
    /// The name of its value: `%x`.
    pub result: Option<&'t [u8]>,
    /// Its opcode as the text writes it: `alloca`.
    pub word: &'t [u8],
    /// Its opcode.
    pub opcode: Opcode,
    /// Whether it is a `musttail call`.
    pub must_tail: bool,
    /// Its index in [`Module::instructions`], if it is listed there.
    pub access: Option<usize>,
    /// After the opcode; the text ends where the instruction does.
    operands: Lexer<'t>,
}

/// A call as the text writes it.
///
/// LLVM: `CallBase`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'t> {
    /// The callee `@f` without its `@`; empty for any other callee.
    pub callee: &'t [u8],
    /// The callee's name, `@f` or `%f`; empty for any other callee.
    pub target: &'t [u8],
    /// What inline assembly's operands are: `=*m,r`.
    pub constraints: Option<&'t [u8]>,
    /// The arguments.
    pub arguments: Vec<Argument<'t>>,
    /// The attributes and operand bundles after the arguments.
    pub attributes: Attributes<'t>,
}

/// A `getelementptr` taken apart.
///
/// LLVM: `GEPOperator`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Element<'t> {
    /// The type that the indices count in; empty before LLVM 3.7, where the pointer's
    /// type says it.
    pub ty: &'t [u8],
    /// The pointer that the indices count from.
    pub base: Argument<'t>,
    /// The indices with their types, as the text writes them.
    pub list: &'t [u8],
}

/// An operand with its type, an argument of a call, or a parameter of a function.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Argument<'t> {
    /// The type.
    pub ty: &'t [u8],
    /// What stands between the type and the value.
    pub attributes: &'t [u8],
    /// The value: `%x`, `@x` or a constant.
    pub value: &'t [u8],
}

impl Module<'_> {
    /// Reads the body of a function.
    ///
    /// Instructions are the ones that the pass over the module saw. One goes on over the
    /// lines that begin neither an instruction nor a block.
    ///
    /// # Panics
    ///
    /// If `function` is no index into [`functions`](Self::functions).
    #[must_use]
    pub fn body(&self, function: u32) -> Body<'_> {
        let text = &*self.text;
        let (head, span) = (self.header_span(function), self.function_span(function));
        let (start, before) = (head.start, &text[..span.start]);
        let (_, parameters, attributes) = header(Lexer::new(before, start)).unwrap_or_else(|| {
            (&[], Vec::new(), Attributes::new(Lexer::new(before, before.len())))
        });
        let header = Header { text: &before[start..], end: before.len(), parameters, attributes };
        let accesses = self.accesses_of(function);
        let mut body = Body { header, statements: Vec::new(), blocks: Vec::new() };
        let mut listed = accesses.map(|at| (self.instructions[at].offset as usize, at)).peekable();
        let mut lexer = Lexer::new(&text[..span.end], before.len());
        // Whether what begins no instruction belongs to the one before.
        let mut goes_on = false;
        while let Some(label) = space(&mut lexer)
            && lexer.peek().is_some()
        {
            if let Some(label) = label {
                body.begin(label);
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
                body.begin(&lexer.text[offset..lexer.at - 1]);
                goes_on = false;
                continue;
            }
            // The next one may begin on the same line.
            let most = listed.peek().map_or(lexer.text.len(), |&(next, _)| next);
            let mut line =
                Lexer::new(&lexer.text[..most.clamp(lexer.at, lexer.text.len())], lexer.at);
            lexer.at = pass_line(&mut line).map_or(line.text.len(), |()| line.at);
            let part = Lexer::new(&text[..lexer.at], offset);
            if let Some(start) = start {
                body.push(Statement::new(part, start, access));
                goes_on = true;
            } else if goes_on
                && !is_aside(part)
                && let Some(last) = body.statements.last_mut()
            {
                last.operands.text = part.text;
            }
        }
        body
    }
}

/// Passes white space and comments. Returns a label that stands in a comment; `None`
/// where a comment has no end.
fn space<'t>(lexer: &mut Lexer<'t>) -> Option<Option<&'t [u8]>> {
    loop {
        match lexer.peek() {
            Some(b' ' | b'\t' | b'\r' | b'\n') => lexer.at += 1,
            Some(b';' | b'/') => {
                // So LLVM wrote the labels of unnamed blocks up to version 8.
                let mut label = *lexer;
                let label = label.eat(b"; <label>:").then(|| label.word());
                if !lexer.comment().ok()? {
                    return Some(None);
                }
                if label.is_some() {
                    return Some(label);
                }
            }
            _ => return Some(None),
        }
    }
}

/// Whether a line that begins no instruction is a debug record or an order of uses.
fn is_aside(mut line: Lexer<'_>) -> bool {
    match line.peek() {
        Some(b'#') => line.rest().get(1).is_some_and(u8::is_ascii_alphabetic),
        _ => line.word().starts_with(b"uselistorder"),
    }
}

/// The bytes at which [`pass_line`] looks closer.
const MINDED: [bool; 256] = table(b"\n\"([{;/");

/// Passes the rest of a line, and the brackets that begin on it.
fn pass_line(lexer: &mut Lexer<'_>) -> Option<()> {
    loop {
        lexer.at += lexer.rest().iter().position(|&byte| MINDED[byte as usize])?;
        match lexer.peek()? {
            b'\n' => return Some(()),
            b'"' => drop(lexer.quoted().ok()?),
            b'(' | b'[' | b'{' => lexer.bracketed("an instruction").ok()?,
            b';' | b'/' if lexer.comment().ok()? => {}
            _ => lexer.at += 1,
        }
    }
}

impl<'t> Body<'t> {
    fn begin(&mut self, label: &'t [u8]) {
        let at = self.statements.len();
        self.blocks.push(Block { label, statements: at..at });
    }

    fn push(&mut self, statement: Statement<'t>) {
        let after_end = self.blocks.last().is_none_or(|block| {
            self.statements[block.statements.clone()].last().is_some_and(Statement::is_terminator)
        });
        if after_end {
            self.begin(b"");
        }
        self.statements.push(statement);
        if let Some(block) = self.blocks.last_mut() {
            block.statements.end = self.statements.len();
        }
    }

    /// Returns the instruction that begins at a place of the text.
    #[must_use]
    pub fn at(&self, offset: usize) -> Option<&Statement<'t>> {
        let at = self.statements.binary_search_by_key(&offset, |it| it.offset).ok()?;
        Some(&self.statements[at])
    }

    /// Returns the statements that use each value, in order, as indices.
    #[doc(hidden)]
    #[must_use]
    pub fn users(&self) -> HashMap<&'t [u8], Vec<usize>> {
        let mut users: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, statement) in self.statements.iter().enumerate() {
            for value in statement.values() {
                let of = users.entry(value).or_default();
                if of.last() != Some(&at) {
                    of.push(at);
                }
            }
        }
        users
    }

    /// Returns, for each block, the indices of the blocks to which it may go on, ascending.
    ///
    /// LLVM: `successors`.
    #[must_use]
    pub fn successors(&self) -> Vec<Vec<usize>> {
        let numbers: HashMap<&[u8], usize> =
            self.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        let of_block = |block: &Block<'t>| {
            let last = self.statements[block.statements.clone()].last();
            let last = last.filter(|it| it.is_terminator());
            let mut found: Vec<usize> = last
                .map_or(Vec::new(), Statement::targets)
                .iter()
                .filter_map(|target| numbers.get(target).copied())
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        self.blocks.iter().map(of_block).collect()
    }
}

impl<'t> Statement<'t> {
    /// `part` stands at its first byte and ends where its line does.
    fn new(part: Lexer<'t>, start: instruction::Start, access: Option<usize>) -> Self {
        let head = &part.text[part.at..start.after];
        let mut result = part;
        let named = result.eat(b"%") && result.skip_name().is_ok();
        let is_word = |word: &[u8]| head.split(|&b| !b.is_ascii_alphanumeric()).any(|w| w == word);
        Statement {
            offset: part.at,
            result: named.then(|| &part.text[part.at..result.at]),
            word: &head[head.iter().rposition(|b| b.is_ascii_whitespace()).map_or(0, |n| n + 1)..],
            opcode: start.opcode,
            must_tail: start.opcode == Opcode::Call && is_word(b"musttail"),
            access,
            operands: Lexer::new(part.text, start.after),
        }
    }

    /// Returns the bytes from the start of the text to the end of its last line, or of the
    /// brackets that pass it.
    #[must_use]
    pub fn end(&self) -> usize {
        self.operands.text.len()
    }

    /// Returns all of it, its result included.
    #[must_use]
    pub fn text(&self) -> &'t [u8] {
        &self.operands.text[self.offset..]
    }

    /// Returns a lexer that stands after the opcode.
    #[doc(hidden)]
    #[must_use]
    pub fn operands(&self) -> Lexer<'t> {
        self.operands
    }

    /// Returns whether it ends its block.
    ///
    /// LLVM: `Instruction::isTerminator`; and `unwind` of LLVM 2.
    #[must_use]
    pub fn is_terminator(&self) -> bool {
        matches!(
            self.word,
            b"br"
                | b"ret"
                | b"switch"
                | b"indirectbr"
                | b"invoke"
                | b"callbr"
                | b"resume"
                | b"unreachable"
                | b"cleanupret"
                | b"catchret"
                | b"catchswitch"
                | b"unwind"
        )
    }

    /// Returns every `%x` and `@x` among its operands, names of types included.
    pub fn values(&self) -> impl Iterator<Item = &'t [u8]> {
        let mut lexer = self.operands;
        std::iter::from_fn(move || {
            loop {
                match lexer.peek()? {
                    b'%' | b'@' => {
                        let start = lexer.at;
                        lexer.at += 1;
                        if lexer.skip_name().is_ok() {
                            return Some(&lexer.text[start..lexer.at]);
                        }
                    }
                    b'"' => drop(lexer.quoted().ok()?),
                    b';' | b'/' if lexer.comment().ok()? => {}
                    _ => lexer.at += 1,
                }
            }
        })
    }

    /// The `x` of every `label %x`.
    fn targets(&self) -> Vec<&'t [u8]> {
        let mut found = Vec::new();
        let mut lexer = self.operands;
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
                    if lexer.word() == b"label" && lexer.skip_space().is_ok() && lexer.eat(b"%") {
                        let start = lexer.at;
                        let _ = lexer.skip_name();
                        found.push(&lexer.text[start..lexer.at]);
                    }
                }
                _ => lexer.at += 1,
            }
        }
        found
    }

    /// Reads what a `bitcast` or another conversion converts.
    #[must_use]
    pub fn converted(&self) -> Option<Argument<'t>> {
        operand(&mut self.operands())
    }

    /// Reads the value that a `store` stores.
    #[must_use]
    pub fn stored(&self) -> Option<Argument<'t>> {
        let mut lexer = self.operands;
        lexer.skip_space().ok()?;
        while lexer.eat_word(b"atomic") || lexer.eat_word(b"volatile") {
            lexer.skip_space().ok()?;
        }
        operand(&mut lexer)
    }

    /// Reads a `getelementptr`; `None` where it cannot be made out.
    #[must_use]
    pub fn element(&self) -> Option<Element<'t>> {
        let mut lexer = self.operands;
        element_flags(&mut lexer)?;
        Element::read(lexer)
    }

    /// Reads a call; `None` where its callee cannot be made out.
    #[must_use]
    pub fn call(&self) -> Option<Call<'t>> {
        let mut lexer = self.operands;
        let mut callee = &b""[..];
        let mut target;
        let (mut constraints, mut assembly) = (None, false);
        loop {
            lexer.skip_space().ok()?;
            match lexer.peek()? {
                mark @ (b'@' | b'%') => {
                    lexer.at += 1;
                    let start = lexer.at;
                    lexer.skip_name().ok()?;
                    let name = &lexer.text[start..lexer.at];
                    target = &lexer.text[start - 1..lexer.at];
                    if mark == b'@' {
                        lexer.skip_space().ok()?;
                        callee = name.trim_ascii();
                    }
                    if lexer.peek()? == b'(' {
                        break;
                    }
                }
                b'"' => {
                    // The second string of `asm "...", "..."(`.
                    let string = lexer.quoted().ok()?;
                    if assembly && lexer.peek()? == b'(' {
                        (constraints, target) = (Some(string), b"");
                        break;
                    }
                }
                b'(' | b'[' | b'{' | b'<' => lexer.bracketed("a call").ok()?,
                _ => match lexer.word() {
                    b"asm" => assembly = true,
                    // A callee that is a constant expression.
                    word if CONSTANTS.contains(&word) => {
                        lexer.skip_space().ok()?;
                        if lexer.peek()? == b'(' {
                            lexer.bracketed("a callee").ok()?;
                        }
                        lexer.skip_space().ok()?;
                        if lexer.peek()? == b'(' {
                            target = b"";
                            break;
                        }
                    }
                    b"" => lexer.at += 1,
                    _ => {}
                },
            }
        }
        let arguments = arguments(&mut lexer)?;
        Some(Call { callee, target, constraints, arguments, attributes: Attributes::new(lexer) })
    }
}

impl<'t> Element<'t> {
    /// Reads a constant: `getelementptr inbounds (%S, ptr @g, i64 0, i32 1)`.
    #[must_use]
    pub fn constant(value: &'t [u8]) -> Option<Self> {
        let mut lexer = Lexer::new(value, 0);
        lexer.eat_word(b"getelementptr").then_some(())?;
        element_flags(&mut lexer)?;
        lexer.eat(b"(").then_some(())?;
        Self::read(lexer)
    }

    /// Reads what follows the flags.
    fn read(mut lexer: Lexer<'t>) -> Option<Self> {
        let mut base = lexer;
        let mut ty = lexer.ty().ok()?;
        lexer.skip_space().ok()?;
        if lexer.eat(b",") {
            base = lexer;
        } else {
            ty = b"";
        }
        let base_value = operand(&mut base)?;
        let mut list = base.at..base.at;
        while base.skip_space().is_ok() && base.eat(b",") {
            base.skip_space().ok()?;
            if base.peek() == Some(b'!') {
                break;
            }
            list.start = if list.is_empty() { base.at } else { list.start };
            index(&mut base)?;
            list.end = base.at;
        }
        Some(Element { ty, base: base_value, list: &base.text[list] })
    }

    /// Returns the indices, in order.
    pub fn indices(&self) -> impl Iterator<Item = Argument<'t>> {
        let mut lexer = Lexer::new(self.list, 0);
        std::iter::from_fn(move || {
            let found = index(&mut lexer);
            let _ = lexer.skip_space();
            lexer.eat(b",");
            found
        })
    }
}

/// Passes the words between `getelementptr` and its types.
fn element_flags(lexer: &mut Lexer<'_>) -> Option<()> {
    lexer.skip_space().ok()?;
    while lexer.eat_word(b"inbounds") || lexer.eat_word(b"nusw") || lexer.eat_word(b"nuw") {
        lexer.skip_space().ok()?;
    }
    Some(())
}

/// Reads an index of a `getelementptr`.
fn index<'t>(lexer: &mut Lexer<'t>) -> Option<Argument<'t>> {
    lexer.skip_space().ok()?;
    lexer.eat_word(b"inrange");
    operand(lexer)
}

/// Reads a type and a value.
fn operand<'t>(lexer: &mut Lexer<'t>) -> Option<Argument<'t>> {
    lexer.skip_space().ok()?;
    let ty = lexer.ty().ok()?;
    lexer.skip_space().ok()?;
    let start = lexer.at;
    match lexer.peek()? {
        b'<' | b'[' | b'{' => lexer.bracketed("a value").ok()?,
        b'-' | b'0'..=b'9' => drop(lexer.word()),
        _ => lexer.value().ok()?,
    }
    Some(Argument { ty, attributes: b"", value: &lexer.text[start..lexer.at] })
}

impl Argument<'_> {
    /// Returns whether its type is `ptr`, and its value is not left out.
    #[must_use]
    pub fn is_pointer(&self) -> bool {
        self.ty == b"ptr" && !self.value.is_empty()
    }
}

/// Reads what stands after `define` or `declare`: the name, the parameters, and the attributes
/// after them.
pub(super) fn header<'t>(
    mut lexer: Lexer<'t>,
) -> Option<(&'t [u8], Vec<Argument<'t>>, Attributes<'t>)> {
    lexer.until(b"@", "a function header").ok()?;
    lexer.eat(b"@").then_some(())?;
    let start = lexer.at;
    lexer.skip_name().ok()?;
    let name = &lexer.text[start..lexer.at];
    lexer.skip_space().ok()?;
    (lexer.peek()? == b'(').then_some(())?;
    Some((name, arguments(&mut lexer)?, Attributes::new(lexer)))
}

/// Reads a list of arguments in parentheses, which must stand here.
fn arguments<'t>(lexer: &mut Lexer<'t>) -> Option<Vec<Argument<'t>>> {
    lexer.at += 1;
    let mut found = Vec::new();
    loop {
        lexer.skip_space().ok()?;
        if lexer.eat(b")") {
            return Some(found);
        }
        if lexer.eat(b",") {
            continue;
        }
        let start = lexer.at;
        let whole = lexer.until(b",", "an argument").ok()?;
        // Another bracket than the one that was opened closes the list.
        matches!(lexer.peek()?, b',' | b')').then_some(())?;
        let mut part = Lexer::new(&lexer.text[..lexer.at], start);
        // `metadata !5`, `...`
        let ty = part.ty().unwrap_or(whole);
        let from = part.at;
        pass_attributes(&mut part);
        let attributes = part.text[from..part.at].trim_ascii();
        found.push(Argument { ty, attributes, value: part.text[part.at..].trim_ascii() });
    }
}

/// Words that begin a constant which is no pointer.
///
/// LLVM: `LLParser::parseValID`.
const EXPRESSIONS: [&[u8]; 9] = [
    b"splat",
    b"ptrtoint",
    b"ptrtoaddr",
    b"trunc",
    b"add",
    b"sub",
    b"mul",
    b"xor",
    b"extractelement",
];

/// Passes what stands between an argument's type and its value, such as
/// `noundef align 4 dereferenceable(8) "key"="value"`.
fn pass_attributes(lexer: &mut Lexer<'_>) {
    loop {
        let _ = lexer.skip_space();
        let mut ahead = *lexer;
        if ahead.peek() == Some(b'"') {
            if ahead.quoted().is_err() {
                return;
            }
            ahead.eat(b"=");
            *lexer = ahead;
            continue;
        }
        match ahead.word() {
            b"" | b"true" | b"false" => return,
            b"align" => {
                let _ = ahead.skip_space();
                ahead.word();
            }
            word if CONSTANTS.contains(&word) || EXPRESSIONS.contains(&word) => return,
            [b'0'..=b'9' | b'-', ..] => return,
            _ => {}
        }
        if ahead.peek() == Some(b'(') && ahead.bracketed("an attribute").is_err() {
            return;
        }
        *lexer = ahead;
    }
}
