//! Reading a module: one pass over the text finds functions, the instructions
//! that access memory, and where each metadata node stands; then the nodes
//! that are used are looked up.

use std::collections::HashMap;

use super::cursor::Cursor;
use super::error::{TextError, TextErrorKind, position};
use super::module::{Instruction, Module, Opcode};
use super::node::{Key, reference};
use super::{COPIES, TAGS, TYPES, resolve};

/// Which metadata nodes the reader keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keep {
    /// Those that `!tbaa`, `!tbaa.struct` and `!llvm.errno.tbaa` reach; in a
    /// text where nothing is attached, all plain nodes.
    #[default]
    Used,
    /// All plain nodes, debug information's lists among them.
    All,
}

/// Reads a module's TBAA from its text.
///
/// The text may be LLVM's own output of any version since 3.0, or a metadata
/// listing alone. Ill-formed nodes are kept; see [`crate::verify`].
///
/// # Errors
///
/// A [`TextError`] where the text is cut off, defines a number twice, refers to
/// one that it does not define, or has a number out of range.
///
/// LLVM: `parseAssembly`.
pub fn read(text: &[u8]) -> Result<Module, TextError> {
    read_with(text, Keep::Used)
}

/// As [`read`], with a choice of what to keep.
///
/// # Errors
///
/// As [`read`].
pub fn read_with(text: &[u8], keep: Keep) -> Result<Module, TextError> {
    if u32::try_from(text.len()).is_err() {
        return Err(TextError::new(text, 0, TextErrorKind::TooLarge));
    }
    let mut scan = Scan::new(text);
    // Index 0 is the type of an instruction that has none.
    scan.module.types.insert(Box::default());
    scan.top_level()?;
    resolve::resolve(scan, keep)
}

/// Where a numbered node stands.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    /// Bytes from the start of the text to the number.
    pub(super) offset: usize,
    /// To the node's `{`, or to the `!` of a node of another kind.
    pub(super) body: usize,
    pub(super) form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Uniqued,
    Distinct,
    /// `!DIFile(...)` and the like.
    Specialized,
}

/// What the pass over the text finds.
pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    pub(super) module: Module,
    pub(super) definitions: HashMap<u32, Definition>,
    /// Numbers in file order.
    pub(super) order: Vec<u32>,
    /// What `!tbaa` and `!tbaa.struct` attach, to which instruction.
    pub(super) attachments: Vec<Attachment>,
    pub(super) errno: Vec<(Key, usize)>,
    pub(super) tags: Vec<(Key, usize)>,
    pub(super) copies: Vec<(Key, usize)>,
    pub(super) types: Vec<(Key, usize)>,
}

pub(super) struct Attachment {
    pub(super) instruction: usize,
    pub(super) key: Key,
    /// Bytes from the start of the text to the reference.
    pub(super) offset: usize,
    /// Whether it is `!tbaa.struct`.
    pub(super) copy: bool,
}

impl<'t> Scan<'t> {
    fn new(text: &'t [u8]) -> Self {
        Scan {
            text,
            module: Module::default(),
            definitions: HashMap::new(),
            order: Vec::new(),
            attachments: Vec::new(),
            errno: Vec::new(),
            tags: Vec::new(),
            copies: Vec::new(),
            types: Vec::new(),
        }
    }

    fn top_level(&mut self) -> Result<(), TextError> {
        let mut cursor = Cursor::new(self.text, 0);
        loop {
            cursor.skip_space();
            match cursor.peek() {
                None => return Ok(()),
                Some(b'!') => self.metadata(&mut cursor)?,
                _ if cursor.eat_word(b"define") => self.function(&mut cursor)?,
                _ => pass_line(&mut cursor)?,
            }
        }
    }

    /// `!4 = distinct !{...}` or `!llvm.ident = !{!4}`.
    fn metadata(&mut self, cursor: &mut Cursor<'t>) -> Result<(), TextError> {
        let offset = cursor.at;
        cursor.at += 1;
        let name = *cursor;
        if !cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            // Names may hold `\xx`; none that is looked for does.
            while cursor.peek().is_some_and(|byte| !matches!(byte, b'=' | b'\n' | b' ')) {
                cursor.at += 1;
            }
            let name = &self.text[name.at..cursor.at];
            equals(cursor)?;
            return self.named_metadata(cursor, name);
        }
        let number = cursor.number()?;
        equals(cursor)?;
        let mut form = Form::Uniqued;
        if cursor.eat_word(b"distinct") {
            form = Form::Distinct;
            cursor.skip_space();
        }
        if cursor.eat_word(b"metadata") {
            cursor.skip_space();
        }
        let mut body = cursor.at;
        if !cursor.eat(b"!") {
            return Err(cursor.cut_or("a metadata node, `!{`", "a metadata definition"));
        }
        if cursor.peek() == Some(b'{') {
            body = cursor.at;
        } else {
            form = Form::Specialized;
            cursor.word();
            if cursor.peek() != Some(b'(') {
                return Err(cursor.cut_or("`{` or `(` of a metadata node", "a metadata node"));
            }
        }
        cursor.bracketed("a metadata node")?;
        if let Some(first) = self.definitions.get(&number) {
            let (first_line, _) = position(self.text, first.offset);
            let kind = TextErrorKind::DefinedTwice { number, first_line };
            return Err(TextError::new(self.text, offset, kind));
        }
        self.definitions.insert(number, Definition { offset, body, form });
        self.order.push(number);
        Ok(())
    }

    fn named_metadata(&mut self, cursor: &mut Cursor<'t>, name: &[u8]) -> Result<(), TextError> {
        if !cursor.eat(b"!") || cursor.peek() != Some(b'{') {
            return Err(cursor.cut_or("a list of nodes, `!{`", "named metadata"));
        }
        let mut list = *cursor;
        cursor.bracketed("a metadata node")?;
        let into = match name {
            b"llvm.errno.tbaa" => &mut self.errno,
            _ if name == TAGS.as_bytes() => &mut self.tags,
            _ if name == COPIES.as_bytes() => &mut self.copies,
            _ if name == TYPES.as_bytes() => &mut self.types,
            _ => return Ok(()),
        };
        list.at += 1;
        list.skip_space();
        while list.peek() == Some(b'!') {
            let at = list.at;
            match reference(&mut list)? {
                Some(key) => into.push((key, at)),
                None => break,
            }
            list.skip_space();
            list.eat(b",");
            list.skip_space();
        }
        if list.peek() != Some(b'}') {
            return Err(list.expected("a metadata number in the list"));
        }
        Ok(())
    }

    /// A function from after `define` to the end of its body.
    fn function(&mut self, cursor: &mut Cursor<'t>) -> Result<(), TextError> {
        cursor.until(b"@", "a function header")?;
        if !cursor.eat(b"@") {
            return Err(cursor.expected("`@` and the function's name"));
        }
        let name = cursor.name()?;
        to_body(cursor)?;
        let function = self.module.functions.len() as u32;
        self.module.functions.push(name.into());
        self.body(cursor, function)
    }

    /// A function body, from after its `{` to after its `}`.
    ///
    /// Instructions start on a line of their own, and so do labels. That is how
    /// LLVM prints; within brackets, line ends mean nothing.
    fn body(&mut self, cursor: &mut Cursor<'t>, function: u32) -> Result<(), TextError> {
        let mut depth = 0_usize;
        let mut at_start = true;
        let mut current =
            Current { function, index: 0, opcode: Opcode::Other, offset: 0, at: None };
        let mut count = 0;
        loop {
            let Some(byte) = cursor.peek() else {
                let name = String::from_utf8_lossy(&self.module.functions[function as usize]);
                return Err(cursor.truncated(format!("the body of function @{name}")));
            };
            match byte {
                b'\n' | b';' => {
                    cursor.skip_line();
                    at_start = depth == 0;
                }
                b' ' | b'\t' | b'\r' => cursor.at += 1,
                b'}' if depth == 0 => {
                    cursor.at += 1;
                    return Ok(());
                }
                b'{' | b'(' | b'[' => {
                    cursor.at += 1;
                    depth += 1;
                    at_start = false;
                }
                b'}' | b')' | b']' => {
                    cursor.at += 1;
                    depth = depth.saturating_sub(1);
                }
                b'!' if depth == 0 => at_start = self.attachment(cursor, &mut current)?,
                _ if at_start => {
                    let start = cursor.at;
                    at_start = false;
                    if let Some(opcode) = instruction_start(cursor)? {
                        current =
                            Current { function, index: count, opcode, offset: start, at: None };
                        count += 1;
                        if opcode.accesses_memory() {
                            let ty = access_type(opcode, *cursor);
                            self.instruction(&mut current, ty);
                        }
                    } else if cursor.text[cursor.at - 1] == b':' {
                        // After a label the instruction may follow directly.
                        at_start = true;
                    }
                }
                b'"' => {
                    cursor.quoted()?;
                }
                _ => {
                    let boring = cursor.rest().iter().position(|&byte| INTERESTING[byte as usize]);
                    cursor.at = boring.map_or(self.text.len(), |n| cursor.at + n.max(1));
                }
            }
        }
    }

    /// Lists the instruction, unless that is done.
    fn instruction(&mut self, current: &mut Current, ty: &[u8]) -> usize {
        if let Some(at) = current.at {
            return at;
        }
        let ty = match self.module.types.get_index_of(ty) {
            Some(index) => index,
            None => self.module.types.insert_full(ty.into()).0,
        };
        let at = self.module.instructions.len();
        self.module.instructions.push(Instruction {
            function: current.function,
            index: current.index,
            opcode: current.opcode,
            tag: None,
            copy: None,
            offset: current.offset as u32,
            ty: ty as u32,
        });
        current.at = Some(at);
        at
    }

    /// A `!`, which may begin an attachment such as `!tbaa !4`. Returns whether
    /// an instruction may start after it.
    fn attachment(
        &mut self,
        cursor: &mut Cursor<'t>,
        current: &mut Current,
    ) -> Result<bool, TextError> {
        cursor.at += 1;
        let kind = cursor.word();
        let copy = match kind {
            b"tbaa" => false,
            b"tbaa.struct" => true,
            _ => return Ok(false),
        };
        cursor.skip_blanks();
        let offset = cursor.at;
        if cursor.peek() != Some(b'!') {
            return Err(cursor.cut_or("a metadata node after `!tbaa`", "an attachment"));
        }
        let Some(key) = reference(cursor)? else {
            return Err(cursor.cut_or("a metadata number or `!{` after `!tbaa`", "an attachment"));
        };
        let instruction = self.instruction(current, b"");
        self.attachments.push(Attachment { instruction, key, offset, copy });
        cursor.skip_blanks();
        Ok(cursor.peek().is_some_and(|byte| byte == b'%' || byte.is_ascii_alphabetic()))
    }
}

/// The instruction that the scan is in.
struct Current {
    function: u32,
    index: u32,
    opcode: Opcode,
    offset: usize,
    /// Its index in the module's list, once there.
    at: Option<usize>,
}

/// Bytes at which the scan of a function body looks closer.
const INTERESTING: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\n;\"!{}()[]";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

impl Cursor<'_> {
    /// The error for something else than `wanted` standing here, which is the
    /// end of a text that was cut off.
    fn cut_or(&self, wanted: &'static str, inside: &str) -> TextError {
        match self.peek() {
            None => self.truncated(inside),
            Some(_) => self.expected(wanted),
        }
    }
}

fn equals(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    cursor.skip_space();
    if !cursor.eat(b"=") {
        return Err(cursor.cut_or("`=`", "a metadata definition"));
    }
    cursor.skip_space();
    Ok(())
}

/// Passes the rest of a line, and of strings that begin on it.
fn pass_line(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    loop {
        match memchr::memchr2(b'\n', b'"', cursor.rest()) {
            None => {
                cursor.at = cursor.text.len();
                return Ok(());
            }
            Some(next) => {
                cursor.at += next;
                if cursor.peek() == Some(b'\n') {
                    cursor.at += 1;
                    return Ok(());
                }
                cursor.quoted()?;
            }
        }
    }
}

/// Passes a function header from its name to after the `{` of its body, over
/// the braces of struct constants in `prefix`, `prologue` and `personality`.
fn to_body(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    let mut in_constant = false;
    loop {
        let passed = cursor.until(b"{", "a function header")?;
        if cursor.peek() != Some(b'{') {
            return Err(cursor.expected("`{` and the function's body"));
        }
        let opens = [&b"prefix"[..], b"prologue", b"personality"]
            .iter()
            .any(|clause| passed.ends_with(clause));
        if opens || in_constant && passed.is_empty() {
            cursor.bracketed("a function header")?;
            // The type's braces may be followed by those of the value.
            in_constant = opens;
        } else {
            cursor.at += 1;
            return Ok(());
        }
    }
}

/// Passes what stands before an instruction's operands. `None` if what stands
/// here is a label (passed, with its colon), or the continuation of something.
fn instruction_start(cursor: &mut Cursor<'_>) -> Result<Option<Opcode>, TextError> {
    if cursor.eat(b"%") {
        cursor.name()?;
        cursor.skip_blanks();
        if !cursor.eat(b"=") {
            return Ok(None);
        }
        cursor.skip_blanks();
    } else if cursor.peek() == Some(b'"') {
        cursor.quoted()?;
        cursor.eat(b":");
        return Ok(None);
    }
    let before = cursor.at;
    let mut word = cursor.word();
    if cursor.eat(b":") {
        return Ok(None);
    }
    if word.is_empty() {
        // Nothing that starts an instruction: pass it, whatever it is.
        cursor.at = before + 1;
        return Ok(None);
    }
    if matches!(word, b"tail" | b"musttail" | b"notail") {
        cursor.skip_blanks();
        word = cursor.word();
    }
    Ok(match word {
        b"load" => Some(Opcode::Load),
        b"store" => Some(Opcode::Store),
        b"call" | b"invoke" | b"callbr" => Some(Opcode::Call),
        b"atomicrmw" => Some(Opcode::AtomicRmw),
        b"cmpxchg" => Some(Opcode::CmpXchg),
        b"va_arg" => Some(Opcode::VaArg),
        _ if OTHER_OPCODES.binary_search(&word).is_ok() => Some(Opcode::Other),
        _ => None,
    })
}

/// The instructions that do not access memory through a typed pointer, sorted.
/// Source: LLVM's `Instruction.def`, and `unwind`, `free` and `malloc` of
/// LLVM 2 and 3.
const OTHER_OPCODES: &[&[u8]] = &[
    b"add",
    b"addrspacecast",
    b"alloca",
    b"and",
    b"ashr",
    b"bitcast",
    b"br",
    b"catchpad",
    b"catchret",
    b"catchswitch",
    b"cleanuppad",
    b"cleanupret",
    b"extractelement",
    b"extractvalue",
    b"fadd",
    b"fcmp",
    b"fdiv",
    b"fence",
    b"fmul",
    b"fneg",
    b"fpext",
    b"fptosi",
    b"fptoui",
    b"fptrunc",
    b"free",
    b"freeze",
    b"frem",
    b"fsub",
    b"getelementptr",
    b"icmp",
    b"indirectbr",
    b"insertelement",
    b"insertvalue",
    b"inttoptr",
    b"landingpad",
    b"lshr",
    b"malloc",
    b"mul",
    b"or",
    b"phi",
    b"ptrtoaddr",
    b"ptrtoint",
    b"resume",
    b"ret",
    b"sdiv",
    b"select",
    b"sext",
    b"shl",
    b"shufflevector",
    b"sitofp",
    b"srem",
    b"sub",
    b"switch",
    b"trunc",
    b"udiv",
    b"uitofp",
    b"unreachable",
    b"unwind",
    b"urem",
    b"xor",
    b"zext",
];

/// Returns the type that an instruction accesses, from after its opcode on;
/// empty where it cannot be made out.
fn access_type<'t>(opcode: Opcode, mut cursor: Cursor<'t>) -> &'t [u8] {
    // The line bounds the search, however ill-formed the instruction is.
    let line = memchr::memchr(b'\n', cursor.rest()).map_or(cursor.text.len(), |n| cursor.at + n);
    cursor.text = &cursor.text[..line];
    let mut ty = || {
        cursor.skip_blanks();
        while cursor.eat_word(b"atomic") || cursor.eat_word(b"volatile") || cursor.eat_word(b"weak")
        {
            cursor.skip_blanks();
        }
        match opcode {
            Opcode::Load => {
                let ty = cursor.ty().ok()?;
                cursor.skip_blanks();
                if cursor.peek() == Some(b',') {
                    return Some(ty);
                }
                // Before LLVM 3.7 a load names the pointer's type alone.
                Some(ty.strip_suffix(b"*")?.trim_ascii_end())
            }
            Opcode::Store => cursor.ty().ok(),
            _ => {
                cursor.until(b",", "an instruction").ok()?;
                cursor.eat(b",");
                cursor.skip_blanks();
                cursor.ty().ok()
            }
        }
    };
    ty().unwrap_or_default()
}

impl Scan<'_> {
    /// The text of a node of another kind, `!DIFile(...)`.
    pub(super) fn specialized(&self, definition: &Definition) -> String {
        let mut cursor = Cursor::new(self.text, definition.body + 1);
        cursor.word();
        // The scan has passed the same brackets.
        let _ = cursor.bracketed("a metadata node");
        String::from_utf8_lossy(&self.text[definition.body..cursor.at]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn opcodes_are_sorted() {
        assert!(super::OTHER_OPCODES.is_sorted());
    }
}
