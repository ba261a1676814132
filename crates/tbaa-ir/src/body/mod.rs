//! Reads a function's body on demand: blocks, instructions, and values that have ids.
//!
//! Users of this reader need not know how opcodes, types and values are spelled. Spellings of the
//! same function are read alike, except for names and offsets:
//!
//! - A value has an id, whether the text gives its name, its number, or neither.
//! - Two blocks are read as one if the first ends with an unconditional `br` to the second, and no
//!   other branch leads to the second.
//! - A constant expression is read as an instruction that belongs to no block.
//!
//! The reader never fails. If unreadable text in an instruction names a local value, the
//! instruction gets no operands, but it is still a user of every local value that it names.

mod read;
mod text;

use std::{cell::OnceCell, ops::Range};

use crate::{Opcode, Sizes};
use tbaa_lex::lexer::Lexer;
use tbaa_types::Type;

pub(crate) use read::Name;
pub use text::{Alloca, Argument, Call, Header};
pub(super) use text::{header, pass_attributes};

/// A value in a function: a parameter, an instruction's result, a global or a constant. Constants
/// of equal type and spelling are one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(u32);

/// The definition of a [`Value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def<'t> {
    /// A parameter, by its index in [`Function::parameters`].
    Parameter(usize),
    /// The result of an instruction, by its index in [`Function::instructions`].
    Instruction(usize),
    /// A constant expression, by its index among those of the function: see [`Function::inst`].
    Expression(usize),
    /// A global, by its name without the `@`, as the text writes it.
    Global(&'t [u8]),
    /// A constant integer that fits into an `i64`. `true` is 1, and `false` is 0.
    Integer(i64),
    /// `undef` or `poison`.
    Undefined,
    /// Any other constant (such as `null`), or metadata.
    Constant,
    /// A name that nothing in the function defines.
    Unknown,
}

/// A basic block, together with the blocks that unconditional `br`s join to it.
#[derive(Debug)]
pub struct Block<'t> {
    /// The labels of this block and of those joined to it, without the `%`. A label is empty if the
    /// text gives neither a name nor a number.
    pub labels: Vec<&'t [u8]>,
    /// The indices of its instructions, in the order in which they run.
    pub instructions: Vec<usize>,
    /// The indices of the blocks that may run next, sorted, without repetitions.
    pub successors: Vec<usize>,
}

/// An instruction.
#[derive(Clone, Default, Debug)]
pub struct Inst {
    /// The opcode.
    pub opcode: Opcode,
    /// True if it ends a block.
    pub is_terminator: bool,
    /// The type that it accesses, allocates, converts to, compares, or (`getelementptr`) indexes.
    /// For `shufflevector`, the type of the first operand. For other instructions, the type of the
    /// result. `None` if the text does not state the type, or the type cannot be read.
    pub ty: Option<Type>,
    /// The result; `None` if it has none.
    pub result: Option<Value>,
    /// The range of its text, including the result's `%`.
    pub span: Range<usize>,
    /// The offset in the text where the opcode ends.
    after: usize,
    /// Its index in [`Module::instructions`](crate::Module::instructions), if it is listed there.
    pub access: Option<usize>,
    /// True if [`Module::instructions`](crate::Module::instructions) lists it as volatile.
    pub is_volatile: bool,
    /// True if it is a call of `llvm.memcpy`, `llvm.memmove`, `llvm.memset` or a variant of one.
    /// The class in LLVM: `AnyMemIntrinsic`.
    pub is_transfer: bool,
    /// The range of the text that distinguishes it from others of its opcode: a comparison's
    /// predicate, flags such as `nsw`, or the indices of `extractvalue`.
    modifier: Range<usize>,
    operands: Range<u32>,
    labels: Range<u32>,
}

/// A function that has a body.
///
/// ```
/// use tbaa_ir::{Opcode, Sizes};
///
/// let text = b"define void @f(ptr %p) {\n  %q = getelementptr i32, ptr %p, i64 2\n  \
///     store i32 0, ptr %q\n  ret void\n}\n";
/// let module = tbaa_ir::read(text)?;
/// let sizes = Sizes::new(&module);
/// let function = module.function(&sizes, 0);
/// let store = &function.instructions[1];
/// assert_eq!((store.opcode, function.bytes(store)), (Opcode::Store, Some(4)));
/// let pointer = function.pointer(store).unwrap();
/// assert_eq!(function.inst(pointer).unwrap().opcode, Opcode::GetElementPtr);
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
pub struct Function<'t> {
    text: &'t [u8],
    types: &'t Sizes,
    /// The header, which is the text before the body.
    pub header: Header<'t>,
    /// The values of the parameters.
    pub parameters: Vec<Value>,
    /// The blocks; the first is the entry.
    pub blocks: Vec<Block<'t>>,
    /// The instructions, in the text's order.
    pub instructions: Vec<Inst>,
    expressions: Vec<Inst>,
    values: Vec<Known<'t>>,
    operands: Vec<Value>,
    /// Pairs of a local value and the index of an instruction with unreadable text that names it.
    unread: Vec<(Value, u32)>,
    /// The targets of branches, and the incoming blocks of `phi`s, as block indices.
    labels: Vec<u32>,
    block_of: Vec<u32>,
    /// The first instruction of each block of the text, before blocks are joined.
    pub parts: Vec<usize>,
    users: OnceCell<Users>,
}

/// The definition, spelling and type of a value.
#[derive(Clone, Copy)]
struct Known<'t> {
    def: Def<'t>,
    /// The spelling in the text; empty if the text gives no name.
    text: &'t [u8],
    /// The type, as stated at a use or at the definition.
    ty: Option<Type>,
}

/// The instructions that use each value, in the text's order.
struct Users {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Value {
    pub(super) fn nth(index: usize) -> Self {
        Value(index as u32)
    }

    /// Returns the value's index among the values of its function.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'t> Function<'t> {
    /// Returns a value's definition.
    pub fn def(&self, value: Value) -> Def<'t> {
        self.values.get(value.index()).map_or(Def::Unknown, |value| value.def)
    }

    /// Returns all values of the function, in the order of their ids.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value> + use<> {
        (0..self.values.len() as u32).map(Value)
    }

    /// Returns a value's spelling in the text, for messages; empty if the text gives no name.
    pub fn written(&self, value: Value) -> &'t [u8] {
        self.values.get(value.index()).map_or(b"", |value| value.text)
    }

    /// Returns a value's type, if the text states it at the definition or at a use.
    pub fn ty(&self, value: Value) -> Option<Type> {
        self.values.get(value.index())?.ty
    }

    /// Returns the sizes of the module's types.
    pub fn types(&self) -> &'t Sizes {
        self.types
    }

    /// Returns whether a value is a pointer of any address space.
    pub fn is_pointer(&self, value: Value) -> bool {
        self.ty(value).is_some_and(|ty| self.types.is_pointer(ty))
    }

    /// Returns the instruction or constant expression that produces a value.
    pub fn inst(&self, value: Value) -> Option<&Inst> {
        match self.def(value) {
            Def::Instruction(at) => Some(&self.instructions[at]),
            Def::Expression(at) => Some(&self.expressions[at]),
            _ => None,
        }
    }

    /// Returns an instruction's operands that are values. For a call: first the arguments, then the
    /// local values in its bundles, and last the callee if it is a local value.
    pub fn operands(&self, inst: &Inst) -> &[Value] {
        &self.operands[inst.operands.start as usize..inst.operands.end as usize]
    }

    /// Returns the operand that has the index `at` among [`operands`](Self::operands).
    pub fn operand(&self, inst: &Inst, at: usize) -> Option<Value> {
        self.operands(inst).get(at).copied()
    }

    /// Returns the pointer through which an instruction accesses memory. For a call such as
    /// `llvm.memcpy` it is the destination.
    pub fn pointer(&self, inst: &Inst) -> Option<Value> {
        match inst.opcode {
            Opcode::Store => self.operand(inst, 1),
            Opcode::Load | Opcode::AtomicRmw | Opcode::CmpXchg | Opcode::VaArg => {
                self.operand(inst, 0)
            }
            Opcode::Call if inst.is_transfer => self.operand(inst, 0),
            _ => None,
        }
    }

    /// Returns the value that a `store` stores.
    pub fn stored(&self, inst: &Inst) -> Option<Value> {
        (inst.opcode == Opcode::Store).then(|| self.operand(inst, 0))?
    }

    /// Returns the incoming block of a `phi` for each value: its index, or `u32::MAX` if unknown.
    pub fn incoming(&self, phi: &Inst) -> &[u32] {
        &self.labels[phi.labels.start as usize..phi.labels.end as usize]
    }

    /// Returns the text that distinguishes an instruction from others of its opcode, such as a
    /// comparison's predicate.
    pub fn modifier(&self, inst: &Inst) -> &'t [u8] {
        &self.text[inst.modifier.clone()]
    }

    /// Returns the text of an instruction, including its result.
    pub fn text_of(&self, inst: &Inst) -> &'t [u8] {
        &self.text[inst.span.clone()]
    }

    /// Returns the offset where an instruction can get metadata, if no comment follows it.
    pub fn end_of(&self, inst: &Inst) -> usize {
        inst.span.start + self.text_of(inst).trim_ascii_end().len()
    }

    /// Returns the index of the instruction that begins at an offset in the text.
    pub fn at(&self, offset: usize) -> Option<usize> {
        self.instructions.binary_search_by_key(&offset, |instruction| instruction.span.start).ok()
    }

    /// Returns the index of the block that contains an instruction.
    pub fn block_of(&self, inst: usize) -> usize {
        self.block_of[inst] as usize
    }

    /// Returns the indices of the instructions that use a value, in the text's order. These
    /// instructions may use it inside a constant expression.
    pub fn users(&self, value: Value) -> &[u32] {
        let users = self.users.get_or_init(|| Users::of(self));
        let [start, end] = [0, 1].map(|next| users.starts[value.index() + next] as usize);
        &users.list[start..end]
    }

    /// Returns the number of bytes that a load or store accesses, if it is known.
    pub fn bytes(&self, inst: &Inst) -> Option<u64> {
        Some(self.types.fixed_size(inst.ty?)?.store)
    }

    /// Returns whether an instruction is a call that refers to a stack slot without accessing it,
    /// such as `llvm.lifetime.start`.
    pub fn is_marker(&self, inst: usize) -> bool {
        let of = [&b"llvm.lifetime."[..], b"llvm.dbg.", b"llvm.invariant.start."];
        let call = self.call(&self.instructions[inst]);
        call.is_some_and(|call| of.iter().any(|name| call.callee.starts_with(name)))
    }

    /// Reads the callee, arguments and attributes of a call. `None` for other instructions, or if
    /// the call cannot be read. The arguments come first in [`operands`](Self::operands).
    pub fn call(&self, inst: &Inst) -> Option<Call<'t>> {
        (inst.opcode == Opcode::Call).then(|| Call::read(self.lexer(inst)))?
    }

    /// Returns whether a call must be a tail call, like LLVM's `CallInst::isMustTailCall`.
    pub fn is_must_tail(&self, inst: &Inst) -> bool {
        let mut words = self.text[inst.span.start..inst.after].split(u8::is_ascii_whitespace);
        inst.opcode == Opcode::Call && words.any(|word| word == b"musttail")
    }

    /// Reads an `alloca`; `None` for other instructions, or if it cannot be read.
    pub fn alloca(&self, inst: &Inst) -> Option<Alloca> {
        (inst.opcode == Opcode::Alloca).then(|| Alloca::read(self.lexer(inst)))?
    }

    /// Returns a lexer that starts after an instruction's opcode and ends with the instruction.
    fn lexer(&self, inst: &Inst) -> Lexer<'t> {
        Lexer::new(&self.text[..inst.span.end], inst.after)
    }
}

impl Users {
    fn of(function: &Function<'_>) -> Self {
        let mut pairs = Vec::with_capacity(function.operands.len() + function.unread.len());
        pairs.extend_from_slice(&function.unread);
        let mut pending = Vec::new();
        for (at, inst) in (0..).zip(&function.instructions) {
            let own = pairs.len();
            pending.extend_from_slice(function.operands(inst));
            while let Some(value) = pending.pop() {
                pairs.push((value, at));
                if let Def::Expression(inner) = function.def(value) {
                    pending.extend_from_slice(function.operands(&function.expressions[inner]));
                }
            }
            pairs[own..].sort_unstable();
        }
        pairs.sort();
        pairs.dedup();
        let mut starts = vec![0; function.values.len() + 1];
        pairs.iter().for_each(|(value, _)| starts[value.index() + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        Users { starts, list: pairs.into_iter().map(|(_, at)| at).collect() }
    }
}
