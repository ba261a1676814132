//! The pass over a function: its instructions that access memory, and what is
//! attached to them.

use super::cursor::{Cursor, without_comments};
use super::error::TextError;
use super::module::{Instruction, Opcode};
use super::node::reference;
use super::scan::{Attachment, Scan};

impl<'t> Scan<'t> {
    /// A function from after `define` to the end of its body.
    pub(super) fn function(&mut self, cursor: &mut Cursor<'t>) -> Result<(), TextError> {
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
                b'\n' => {
                    cursor.at += 1;
                    at_start = depth == 0;
                }
                b';' | b'/' if cursor.comment()? => {}
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
    /// it does: then an instruction may start after it.
    fn attachment(
        &mut self,
        cursor: &mut Cursor<'t>,
        current: &mut Current,
    ) -> Result<bool, TextError> {
        cursor.at += 1;
        let kind = cursor.metadata_name();
        let copy = match &*kind {
            b"tbaa" => false,
            b"tbaa.struct" => true,
            _ => return Ok(false),
        };
        cursor.skip_space()?;
        let offset = cursor.at;
        if cursor.peek() != Some(b'!') {
            return Err(cursor.cut_or("a metadata node after `!tbaa`", "an attachment"));
        }
        let Some(key) = reference(cursor)? else {
            return Err(cursor.cut_or("a metadata number or `!{` after `!tbaa`", "an attachment"));
        };
        let instruction = self.instruction(current, b"");
        self.attachments.push(Attachment { instruction, key, offset, copy });
        Ok(true)
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
    let bytes = b"\n;/\"!{}()[]";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

/// Passes a function header from its name to after the `{` of its body, over
/// the braces of struct constants in `prefix`, `prologue` and `personality`,
/// and of metadata nodes.
fn to_body(cursor: &mut Cursor<'_>) -> Result<(), TextError> {
    let mut in_constant = false;
    loop {
        let passed = without_comments(cursor.until(b"{", "a function header")?);
        if cursor.peek() != Some(b'{') {
            return Err(cursor.expected("`{` and the function's body"));
        }
        let opens = [&b"prefix"[..], b"prologue", b"personality"]
            .iter()
            .any(|clause| passed.ends_with(clause));
        if opens || in_constant && passed.is_empty() || passed.ends_with(b"!") {
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
    let mut named = false;
    if cursor.eat(b"%") {
        cursor.skip_name()?;
        let mut ahead = *cursor;
        ahead.skip_space()?;
        if !ahead.eat(b"=") {
            return Ok(None);
        }
        ahead.skip_space()?;
        *cursor = ahead;
        named = true;
    } else if cursor.peek() == Some(b'"') {
        cursor.quoted()?;
        cursor.eat(b":");
        return Ok(None);
    }
    let before = cursor.at;
    let mut word = cursor.word();
    if named {
        // Whatever follows `%name =` is an instruction, if an unknown one.
    } else if cursor.eat(b":") {
        return Ok(None);
    } else if word.is_empty() {
        // Nothing that starts an instruction: pass it, whatever it is.
        cursor.at = cursor.text.len().min(before + 1);
        return Ok(None);
    }
    if matches!(word, b"tail" | b"musttail" | b"notail") {
        cursor.skip_space()?;
        word = cursor.word();
    } else if word == b"atomicrmw" {
        // The operation may stand on the next line, and is often an opcode too.
        cursor.skip_space()?;
        if cursor.eat_word(b"volatile") {
            cursor.skip_space()?;
        }
        cursor.word();
    }
    Ok(match word {
        b"load" => Some(Opcode::Load),
        b"store" => Some(Opcode::Store),
        b"call" | b"invoke" | b"callbr" => Some(Opcode::Call),
        b"atomicrmw" => Some(Opcode::AtomicRmw),
        b"cmpxchg" => Some(Opcode::CmpXchg),
        b"va_arg" => Some(Opcode::VaArg),
        _ if named || OTHER_OPCODES.binary_search(&word).is_ok() => Some(Opcode::Other),
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

/// How far after its opcode an instruction's type is looked for, in bytes.
///
/// A constant expression may stand before the type; one longer than this is
/// unheard of. Without a bound, ill-formed instructions without a comma would
/// each search the rest of the text.
const TYPE_SEARCH: usize = 4096;

/// Returns the type that an instruction accesses, from after its opcode on;
/// empty where it cannot be made out.
fn access_type<'t>(opcode: Opcode, instruction: Cursor<'t>) -> &'t [u8] {
    let rest = instruction.rest();
    // A text of its own: the place of an error is counted from its start.
    let mut cursor = Cursor::new(&rest[..rest.len().min(TYPE_SEARCH)], 0);
    let mut ty = || {
        cursor.skip_space().ok()?;
        while cursor.eat_word(b"atomic") || cursor.eat_word(b"volatile") || cursor.eat_word(b"weak")
        {
            cursor.skip_space().ok()?;
        }
        match opcode {
            Opcode::Load => {
                let ty = cursor.ty().ok()?;
                cursor.skip_space().ok()?;
                if cursor.peek() == Some(b',') {
                    return Some(ty);
                }
                // Before LLVM 3.7 a load names the pointer's type alone.
                Some(without_address_space(ty.strip_suffix(b"*")?.trim_ascii_end()))
            }
            Opcode::Store => cursor.ty().ok(),
            _ => {
                cursor.until(b",", "an instruction").ok()?;
                cursor.eat(b",");
                cursor.skip_space().ok()?;
                cursor.ty().ok()
            }
        }
    };
    // A type at the end of what was searched has been cut off.
    ty().filter(|_| cursor.peek().is_some()).unwrap_or_default()
}

/// Takes off the `addrspace(N)` of a pointer type without its `*`.
fn without_address_space(pointer: &[u8]) -> &[u8] {
    let strip = || {
        let number = pointer.strip_suffix(b")")?.trim_ascii_end();
        let digits = number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let before = number[..number.len() - digits].trim_ascii_end();
        Some(before.strip_suffix(b"addrspace(")?.trim_ascii_end())
    };
    strip().unwrap_or(pointer)
}

#[cfg(test)]
mod tests {
    use super::without_address_space;

    #[test]
    fn the_last_address_space_goes() {
        for (pointer, pointee) in [
            ("i32", "i32"),
            ("i32 addrspace(1)", "i32"),
            ("i8 addrspace(2)* addrspace( 11 )", "i8 addrspace(2)*"),
            ("void (i32 addrspace(1)*)", "void (i32 addrspace(1)*)"),
            ("i32 addrspace(1)*", "i32 addrspace(1)*"),
        ] {
            assert_eq!(without_address_space(pointer.as_bytes()), pointee.as_bytes());
        }
    }

    #[test]
    fn opcodes_are_sorted() {
        assert!(super::OTHER_OPCODES.is_sorted());
    }
}
