//! Analyses a function's pointers: base, offset, and whether other code may know the address.
//!
//! A pointer's base is found by following `getelementptr`, pointer casts and `freeze`. At most
//! [`DEPTH`] steps are followed; then the value that was reached is the base. A *slot* is an
//! `alloca`. Slots that are only loaded and stored as a whole are treated as registers: a load
//! yields the value stored last, or a *join* of several values where control flow merges (like a
//! `phi`).
//!
//! Each value has a number, as in global value numbering: values with the same number are equal
//! wherever both are defined.
//!
//! See LLVM's `BasicAAResult::DecomposeGEPExpression`, `GVNPass::ValueTable`, `PromoteMemToReg`.

use std::{cell::OnceCell, rc::Rc};

use crate::effects::is_volatile;
use crate::{
    Call, Def, Effects, Flow, Function, Inst, MemoryEffects, MemoryLocation, Opcode, Value, Visit,
};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa_types::{Type, TypeKind};

/// The largest number of steps that are followed from a pointer to its base.
const DEPTH: usize = 64;

/// The largest number of values that a pointer may be based on through `phi` and `select`.
const MOST_ORIGINS: usize = 16;

/// Prefixes of intrinsics that write memory, but do not store the addresses that they get.
const KEEPING: [&[u8]; 13] = [
    b"llvm.annotation", b"llvm.assume", b"llvm.experimental.noalias.", b"llvm.invariant.",
    b"llvm.lifetime.", b"llvm.masked.", b"llvm.matrix.", b"llvm.mem", b"llvm.prefetch",
    b"llvm.stack", b"llvm.va_", b"llvm.var.annotation", b"llvm.vp.",
];

/// A limit for the number of joins, which may be the number of slots times that of blocks.
const MOST_JOINS: usize = 1 << 18;

/// The largest number of values derived from an address that are followed (LLVM: 100 uses).
const MOST_DERIVED: usize = 256;

/// The address that a pointer holds: a base, a constant offset, and variable offsets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// The value that the pointer is computed from.
    pub base: Value,
    /// The constant offset, in bytes.
    pub offset: i64,
    /// The variable offsets, sorted by value: each is a value and its factor in bytes.
    pub terms: Vec<(Value, i64)>,
}

/// The kind of object that a base pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// A local variable: an `alloca`.
    Local,
    /// A global variable, a function or an alias.
    Global,
    /// A parameter. It may point to a global variable, or where another pointer points.
    Parameter,
    /// The object of a `noalias` or `byval` parameter: only this parameter points to it.
    Noalias,
    /// Any object: the base is another value, such as a load, a call or a `phi`.
    Unknown,
}

/// An analysis of a function's pointers: their bases, and whether other code may know an address.
///
/// ```
/// use std::rc::Rc;
/// use tbaa_ir::{Effects, Flow, Object, Pointers, Sizes};
///
/// let text = b"define i32 @f(ptr %p) {\n  %q = getelementptr i32, ptr %p, i64 2\n  \
///     %x = load i32, ptr %q\n  ret i32 %x\n}\n";
/// let module = tbaa_ir::read(text)?;
/// let (sizes, effects) = (Sizes::new(&module), Effects::new(&module));
/// let function = Rc::new(module.function(&sizes, 0));
/// let pointers = Pointers::new(&function, Some(&Flow::of(&function)), &effects);
/// let pointer = function.pointer(&function.instructions[1]).unwrap();
/// let address = pointers.address(pointer);
/// assert_eq!((address.base, address.offset), (function.parameters[0], 8));
/// assert_eq!(pointers.object(address.base), Object::Parameter);
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
pub struct Pointers<'t> {
    function: Rc<Function<'t>>,
    effects: &'t Effects<'t>,
    /// For each value, an equal value or itself. Following these entries leads to the number.
    numbers: Vec<Value>,
    /// Maps each slot that is treated as a register, and each cast of the slot, to the slot.
    registers: HashMap<Value, Value>,
    /// The values that merge several stored values of a slot.
    joins: HashMap<Value, Join>,
    captures: OnceCell<HashMap<Value, Captures>>,
    /// The index of each instruction in its block.
    positions: OnceCell<Vec<usize>>,
}

/// A point where several values of a slot meet, at the start of a block.
struct Join {
    block: usize,
    /// The known values of the slot at the ends of the block's predecessors.
    values: Vec<Value>,
}

/// The instructions that may let other code know an address.
struct Captures {
    /// Indices of the instructions.
    at: Vec<usize>,
    /// For each block, true if it may run after a block that contains one of these instructions.
    after: OnceCell<Vec<bool>>,
}

/// A step of the visit of the dominator tree in which values get their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The visit enters a block.
    Enter(usize),
    /// The instruction at an index. Left out are accesses of slots treated as registers, `freeze`,
    /// and most pure instructions.
    Instruction(usize),
    /// The visit leaves the innermost block that it is in.
    Leave,
}

/// The computation that an instruction makes. Equal computations give equal values.
#[derive(PartialEq, Eq, Hash)]
enum Computed<'t> {
    Address(Address),
    Of(Opcode, Option<Type>, &'t [u8], Vec<Value>),
}

impl<'t> Pointers<'t> {
    /// Analyses a function's pointers. Without `flow`, equal values and slot values are not found.
    pub fn new(function: &Rc<Function<'t>>, flow: Option<&Flow>, effects: &'t Effects<'t>) -> Self {
        let mut pointers = Pointers {
            numbers: function.values().collect(),
            registers: registers(function),
            joins: HashMap::default(),
            function: Rc::clone(function),
            effects,
            captures: OnceCell::new(),
            positions: OnceCell::new(),
        };
        if let Some(flow) = flow {
            pointers.number_all(flow, |_, _| None);
        }
        pointers
    }

    /// Returns whether a slot is treated as a register. See LLVM's `isAllocaPromotable`.
    pub fn is_register(&self, slot: Value) -> bool {
        self.registers.contains_key(&slot)
    }

    /// Returns the number of `value`: a value that represents all values known to be equal.
    pub fn number(&self, value: Value) -> Value {
        let mut at = value;
        for _ in 0..DEPTH {
            match self.numbers.get(at.index()) {
                Some(&next) if next != at => at = next,
                _ => break,
            }
        }
        at
    }

    /// Records that a value equals an earlier one.
    pub fn equate(&mut self, value: Value, earlier: Value) {
        let earlier = self.number(earlier);
        let value = self.number(value);
        self.numbers[value.index()] = earlier;
    }

    /// Numbers the values in the order of the dominator tree. Calls `same` for each [`Step`]; for
    /// an instruction, `same` may return an earlier value that equals the result.
    pub fn number_all(&mut self, flow: &Flow, mut same: impl FnMut(&Self, Step) -> Option<Value>) {
        let slots = self.slot_joins(flow);
        let mut current: HashMap<Value, Value> = HashMap::default();
        // For each block that the visit is in, the slots' values to restore when it leaves.
        let mut before: Vec<Vec<(Value, Option<Value>)>> = Vec::new();
        let function = Rc::clone(&self.function);
        let mut computed: HashMap<Computed<'t>, Value> = HashMap::default();
        for visit in flow.walk() {
            let Visit::Enter(block) = visit else {
                same(self, Step::Leave);
                for (slot, value) in before.pop().into_iter().flatten().rev() {
                    match value {
                        Some(value) => drop(current.insert(slot, value)),
                        None => drop(current.remove(&slot)),
                    }
                }
                continue;
            };
            same(self, Step::Enter(block));
            let mut changes = Vec::new();
            for &(slot, joined) in &slots[block] {
                changes.push((slot, current.insert(slot, joined)));
            }
            for &at in &function.blocks[block].instructions {
                let inst = &function.instructions[at];
                let pointer = function.pointer(inst);
                if let Some(&slot) = pointer.and_then(|pointer| self.registers.get(&pointer)) {
                    if let Some(stored) = function.stored(inst) {
                        changes.push((slot, current.insert(slot, self.number(stored))));
                    } else if let Some(result) = inst.result {
                        let value = match current.get(&slot) {
                            Some(&value) => value,
                            // Nothing was stored before: the slot has a single undefined value.
                            None => {
                                let value = self.fresh();
                                changes.push((slot, current.insert(slot, value)));
                                value
                            }
                        };
                        self.equate(result, value);
                    }
                } else if let Some(result) = inst.result
                    && let Some(key) = self.computed(inst)
                {
                    match key {
                        // The result equals the base itself.
                        Computed::Address(Address { base, offset: 0, ref terms })
                            if terms.is_empty() =>
                        {
                            self.equate(result, base);
                        }
                        key => {
                            let first = *computed.entry(key).or_insert(result);
                            self.equate(result, first);
                        }
                    }
                } else if let Some(earlier) = same(self, Step::Instruction(at))
                    && let Some(result) = inst.result
                {
                    self.equate(result, earlier);
                }
            }
            let after = function.blocks[block].successors.iter();
            for (slot, joined) in after.flat_map(|&next| &slots[next]) {
                if let Some((join, &value)) = self.joins.get_mut(joined).zip(current.get(slot)) {
                    join.values.push(value);
                }
            }
            before.push(changes);
        }
    }

    /// Returns a new value that does not occur in the text.
    fn fresh(&mut self) -> Value {
        let value = Value::nth(self.numbers.len());
        self.numbers.push(value);
        value
    }

    /// Returns, for each block, the slots whose values merge there, each with the merged value.
    fn slot_joins(&mut self, flow: &Flow) -> Vec<Vec<(Value, Value)>> {
        self.joins.clear();
        let mut found: Vec<Vec<Value>> = vec![Vec::new(); self.function.blocks.len()];
        let mut stored: HashMap<Value, HashSet<usize>> = HashMap::default();
        let has_slots = !self.registers.is_empty();
        let all = self.function.instructions.iter().enumerate();
        for (at, inst) in all.filter(|(_, inst)| has_slots && inst.opcode == Opcode::Store) {
            if let Some(pointer) = self.function.pointer(inst)
                && let Some(&slot) = self.registers.get(&pointer)
            {
                stored.entry(slot).or_default().insert(self.function.block_of(at));
            }
        }
        let mut count = 0;
        for (slot, blocks) in stored {
            // The entry block counts as a store, of an undefined value.
            let blocks = blocks.into_iter().chain([0]);
            match flow.joins(blocks) {
                Some(joins) if count <= MOST_JOINS => {
                    count += joins.len();
                    joins.into_iter().for_each(|at| found[at].push(slot));
                }
                _ => self.registers.clear(),
            }
        }
        if self.registers.is_empty() {
            found.iter_mut().for_each(Vec::clear);
        }
        found.iter_mut().for_each(|slots| slots.sort_unstable());
        let mut join = |block, slot| {
            let joined = self.fresh();
            self.joins.insert(joined, Join { block, values: Vec::new() });
            (slot, joined)
        };
        let joins = |(block, slots): (usize, Vec<Value>)| {
            slots.into_iter().map(|slot| join(block, slot)).collect()
        };
        found.into_iter().enumerate().map(joins).collect()
    }

    /// Returns an instruction's computation; `None` if it may depend on more than the operands.
    fn computed(&self, inst: &Inst) -> Option<Computed<'t>> {
        let is_pointer = |value: Value| self.function.is_pointer(value);
        let steps = match inst.opcode {
            Opcode::GetElementPtr => true,
            Opcode::BitCast => self.function.operand(inst, 0).is_some_and(is_pointer),
            // A `freeze` is treated as equal to its operand.
            Opcode::Freeze => {
                let base = self.number(self.function.operand(inst, 0)?);
                return Some(Computed::Address(Address { base, offset: 0, terms: Vec::new() }));
            }
            _ => false,
        };
        if let Some(result) = inst.result.filter(|_| steps) {
            let address = self.address(result);
            if address.base != result {
                return Some(Computed::Address(address));
            }
        }
        // Without the type, two different computations might seem equal.
        let is_known = inst.ty.is_some() && inst.opcode.is_pure();
        is_known.then(|| {
            let operands = self.function.operands(inst).iter().map(|&operand| self.number(operand));
            let modifier = self.function.modifier(inst);
            Computed::Of(inst.opcode, inst.ty, modifier, operands.collect())
        })
    }

    /// Returns the base and the offsets of a pointer.
    pub fn address(&self, pointer: Value) -> Address {
        let mut address = Address { base: pointer, offset: 0, terms: Vec::new() };
        for _ in 0..DEPTH {
            address.base = self.number(address.base);
            let Some(inst) = self.function.inst(address.base) else { break };
            let operands = self.function.operands(inst);
            let base = operands.first().filter(|base| self.function.is_pointer(**base));
            let Some(&base) = base else { break };
            match inst.opcode {
                Opcode::AddrSpaceCast if self.index_bits(base) != self.index_bits(address.base) => {
                    break;
                }
                Opcode::BitCast | Opcode::AddrSpaceCast | Opcode::Freeze => address.base = base,
                Opcode::GetElementPtr => {
                    let Some(next) = self.elements(inst, &operands[1..], &address) else { break };
                    address = Address { base, ..next };
                }
                _ => break,
            }
        }
        // LLVM computes addresses modulo 2^n, where n is the width of an index.
        let bits = self.index_bits(address.base);
        address.offset = signed(address.offset, bits);
        address.terms.iter_mut().for_each(|term| term.1 = signed(term.1, bits));
        address.terms.retain(|term| term.1 != 0);
        address.terms.sort_unstable();
        address
    }

    /// Returns the width in bits of the indices of a pointer.
    fn index_bits(&self, pointer: Value) -> u32 {
        self.function.ty(pointer).map_or(64, |ty| self.function.types().index_bits(ty))
    }

    /// Adds the offsets of a `getelementptr`'s indices to an address.
    fn elements(&self, inst: &Inst, indices: &[Value], address: &Address) -> Option<Address> {
        let numbers = indices.iter().map(|index| self.integer(self.number(*index)));
        let numbers: Vec<_> = numbers.collect();
        if numbers.iter().all(|&number| number == Some(0)) {
            return Some(address.clone());
        }
        let steps = self.function.types().steps(inst.ty?, numbers)?;
        let mut next = address.clone();
        next.offset = next.offset.checked_add(steps.bytes)?;
        for (position, bytes) in steps.variables {
            let (value, factor, addend) = self.linear(indices[position]);
            next.offset = next.offset.checked_add(addend.checked_mul(bytes)?)?;
            let bytes = factor.checked_mul(bytes)?;
            match next.terms.iter_mut().find(|term| term.0 == value) {
                Some(term) => term.1 = term.1.checked_add(bytes)?,
                None => next.terms.push((value, bytes)),
            }
        }
        next.terms.retain(|term| term.1 != 0);
        Some(next)
    }

    /// Returns the value of an integer constant as a signed number: -1 for `i1 true`.
    fn integer(&self, value: Value) -> Option<i64> {
        let Def::Integer(number) = self.function.def(value) else { return None };
        let bits = self.function.ty(value).map_or(64, |ty| {
            let bits = |kind: TypeKind<'_>| if let TypeKind::Int(bits) = kind { bits } else { 64 };
            self.function.types().with_kind(ty, bits)
        });
        Some(signed(number, bits))
    }

    /// Splits an index into a value, a factor and an addend, like LLVM's `GetLinearExpression`. A
    /// narrow index is sign-extended, so a computation is split only if `is_exact` holds.
    fn linear(&self, index: Value) -> (Value, i64, i64) {
        let function = &self.function;
        let (mut value, mut factor, mut addend) = (self.number(index), 1_i64, 0_i64);
        for _ in 0..DEPTH {
            let Some(inst) = function.inst(value) else { break };
            let next = match (inst.opcode, function.operands(inst)) {
                (Opcode::SExt, &[narrow]) => Some((narrow, 1, 0)),
                (opcode, &[a, b]) if self.is_exact(inst) => {
                    match (opcode, function.def(a), function.def(b)) {
                        (Opcode::Mul, _, Def::Integer(by)) => Some((a, by, 0)),
                        (Opcode::Mul, Def::Integer(by), _) => Some((b, by, 0)),
                        (Opcode::Shl, _, Def::Integer(by @ 0..63)) => Some((a, 1 << by, 0)),
                        (Opcode::Add, _, Def::Integer(more)) => Some((a, 1, more)),
                        (Opcode::Add, Def::Integer(more), _) => Some((b, 1, more)),
                        _ => None,
                    }
                }
                _ => None,
            };
            let Some((of, by, more)) = next else { break };
            let more = factor.checked_mul(more).and_then(|more| addend.checked_add(more));
            let (Some(by), Some(more)) = (factor.checked_mul(by), more) else { break };
            (value, factor, addend) = (self.number(of), by, more);
        }
        if let Def::Integer(number) = function.def(value)
            && let Some(sum) = factor.checked_mul(number).and_then(|it| it.checked_add(addend))
        {
            (factor, addend) = (0, sum);
        }
        (value, factor, addend)
    }

    /// Returns whether a computation cannot overflow (`nsw`), or is at least 64 bits wide.
    fn is_exact(&self, inst: &Inst) -> bool {
        let is_wide = |kind: TypeKind<'_>| matches!(kind, TypeKind::Int(64..));
        self.function.modifier(inst).split(u8::is_ascii_whitespace).any(|word| word == b"nsw")
            || inst.ty.is_some_and(|ty| self.function.types().with_kind(ty, is_wide))
    }

    /// Returns the pointer that a pointer is computed from by offsets and casts alone. Unlike
    /// [`address`](Self::address), it does not replace a value by an equal one.
    pub fn source(&self, pointer: Value) -> Value {
        let mut at = pointer;
        for _ in 0..DEPTH {
            let next = self.function.inst(at).filter(|inst| {
                inst.opcode == Opcode::GetElementPtr || inst.opcode.is_pointer_cast()
            });
            match next.and_then(|it| self.function.operand(it, 0)) {
                Some(base) => at = base,
                None => break,
            }
        }
        at
    }

    /// Returns whether a value is the same in all iterations of a loop: it is computed outside, or
    /// by pure instructions from such values. `is_in_loop` says which blocks belong to the loop.
    pub fn is_invariant(&self, value: Value, is_in_loop: impl Fn(usize) -> bool) -> bool {
        let mut pending = vec![value];
        for _ in 0..DEPTH {
            let Some(value) = pending.pop() else { return true };
            let Def::Instruction(at) = self.function.def(value) else { continue };
            if !is_in_loop(self.function.block_of(at)) {
                continue;
            }
            let inst = &self.function.instructions[at];
            if !inst.opcode.is_pure() {
                return false;
            }
            pending.extend(self.function.operands(inst));
        }
        pending.is_empty()
    }

    /// Returns the values that a pointer may be based on: parameters, variables, loads, calls.
    /// Follows `phi` and `select`. If there are too many values, or a `phi` chooses a `phi`, gives
    /// up like LLVM (`BasicAAResult::aliasPHI`, `BasicAAResult::aliasSelect`), and returns only the
    /// base of the pointer's address.
    pub fn origins(&self, pointer: Value) -> Vec<Value> {
        let (mut seen, mut found) = (vec![self.address(pointer).base], Vec::new());
        let mut at = 0;
        while let Some(&base) = seen.get(at) {
            at += 1;
            let Some((opcode, choices)) = self.choices(base) else {
                found.push(base);
                continue;
            };
            // Skip `null` and `undef`: an access through them is not valid.
            let leads_nowhere = |value: &Value| match self.function.def(*value) {
                Def::Constant => self.is_invalid_null(*value),
                def => def == Def::Undefined,
            };
            for &value in choices.iter().filter(|choice| !leads_nowhere(choice)) {
                let base = self.address(value).base;
                let is_phi = base == value
                    && self.choices(value).is_some_and(|choice| choice.0 == Opcode::Phi);
                if is_phi && opcode == Opcode::Phi {
                    return vec![seen[0]];
                }
                if !seen.contains(&base) {
                    seen.push(base);
                }
            }
            if seen.len() > MOST_ORIGINS {
                break;
            }
        }
        if found.is_empty() || at < seen.len() { vec![seen[0]] } else { found }
    }

    /// Returns whether a value is a null pointer that no access may use. LLVM:
    /// `NullPointerIsDefined`.
    fn is_invalid_null(&self, value: Value) -> bool {
        let is_default =
            |kind: TypeKind<'_>| matches!(kind, TypeKind::Pointer { address_space: 0, .. });
        let ty = self.function.ty(value);
        self.function.written(value) == b"null"
            && ty.is_some_and(|ty| self.function.types().with_kind(ty, is_default))
            && !self.effects.null_is_valid(&self.function.header.attributes)
    }

    /// Returns the opcode of a `phi` or `select`, and the values that it chooses from.
    pub fn choices(&self, value: Value) -> Option<(Opcode, &[Value])> {
        let inst = self.function.inst(value)?;
        let operands = self.function.operands(inst);
        match inst.opcode {
            Opcode::Phi => Some((Opcode::Phi, operands)),
            Opcode::Select => Some((Opcode::Select, operands.get(1..)?)),
            _ => None,
        }
    }

    /// Returns the values that a `phi`, a `select` or a join of a slot's values chooses from. Empty
    /// for other values, and for a `phi` or join with too many values or at a loop's header.
    pub fn chosen(&self, value: Value, flow: &Flow) -> &[Value] {
        let join = self.joins.get(&value);
        let (block, values) = match (join, self.choices(value), self.function.def(value)) {
            (Some(join), ..) => (join.block, &join.values[..]),
            (_, Some((Opcode::Phi, values)), Def::Instruction(at)) => {
                (self.function.block_of(at), values)
            }
            (_, chosen, _) => return chosen.map_or(&[], |chosen| chosen.1),
        };
        let is_loop = || flow.before(block).any(|before| flow.dominates(block, before));
        if values.len() > MOST_ORIGINS || is_loop() { &[] } else { values }
    }

    /// Returns the blocks of the joins and of the instructions, except pure ones, that a value is
    /// computed from. If a path between two points enters none of these blocks, the value is the
    /// same at both points. `None` if there are too many operands.
    pub fn defined_in(&self, value: Value) -> Option<Vec<usize>> {
        let (mut pending, mut blocks) = (vec![value], Vec::new());
        for _ in 0..DEPTH {
            let Some(value) = pending.pop() else { return Some(blocks) };
            let value = self.number(value);
            match (self.joins.get(&value), self.function.def(value)) {
                (Some(join), _) => blocks.push(join.block),
                (_, Def::Instruction(at)) => {
                    let inst = &self.function.instructions[at];
                    match inst.opcode.is_pure() {
                        true => pending.extend(self.function.operands(inst)),
                        false => blocks.push(self.function.block_of(at)),
                    }
                }
                _ => {}
            }
        }
        pending.is_empty().then_some(blocks)
    }

    /// Returns the only value that a pointer is based on. If there are several, returns the base of
    /// the pointer's address.
    pub fn based_on(&self, pointer: Value) -> Value {
        match self.origins(pointer)[..] {
            [origin] => origin,
            _ => self.address(pointer).base,
        }
    }

    /// Compares two ranges of memory, each a pointer and a size in bytes, without regard to types.
    /// `Some(true)` if they begin at one address or overlap, `Some(false)` if they never overlap,
    /// `None` if this is unknown.
    pub fn meet(&self, a: (Value, Option<u64>), b: (Value, Option<u64>)) -> Option<bool> {
        let [at_a, at_b] = [self.address(a.0), self.address(b.0)];
        if at_a == at_b {
            return Some(true);
        }
        if at_a.base == at_b.base {
            if at_a.terms != at_b.terms {
                return None;
            }
            let unused = 64 - self.index_bits(at_a.base).clamp(1, 64);
            let distance = |from: i64, to: i64| (to.wrapping_sub(from) as u64) << unused >> unused;
            let [to_b, to_a] =
                [distance(at_a.offset, at_b.offset), distance(at_b.offset, at_a.offset)];
            return Some(to_b < a.1? || to_a < b.1?);
        }
        let (of_a, of_b) = (self.origins(a.0), self.origins(b.0));
        let mut pairs = of_a.iter().flat_map(|a| of_b.iter().map(move |b| (*a, *b)));
        pairs.all(|(a, b)| self.are_apart(a, b)).then_some(false)
    }

    /// Returns whether two bases always point to different objects. See LLVM's
    /// `isIdentifiedObject`, `isIdentifiedFunctionLocal` and `isEscapeSource`.
    fn are_apart(&self, a: Value, b: Value) -> bool {
        use Object::{Global, Local, Noalias, Parameter, Unknown};
        let [of_a, of_b] = [a, b].map(|it| self.object(it));
        let is_kept = |object, root, other| {
            matches!(object, Local | Noalias) && self.is_kept_from(root, other)
        };
        let is_open = matches!(
            (of_a, of_b),
            (Unknown, _) | (_, Unknown) | (Parameter, Parameter | Global) | (Global, Parameter)
        );
        a != b && (!is_open || is_kept(of_a, a, b) || is_kept(of_b, b, a))
    }

    /// Returns the kind of object that a base pointer points to.
    pub fn object(&self, base: Value) -> Object {
        match self.function.def(base) {
            Def::Global(name) if !self.effects.is_alias(name) => Object::Global,
            Def::Parameter(at) => {
                let mut words = self.function.header.parameters[at].words();
                let is_noalias = words.any(|word| word == b"noalias" || word == b"byval");
                if is_noalias { Object::Noalias } else { Object::Parameter }
            }
            Def::Instruction(at) if self.function.instructions[at].opcode == Opcode::Alloca => {
                Object::Local
            }
            _ => Object::Unknown,
        }
    }

    /// Returns whether the call at index `at` cannot write (with `to_read`: cannot access) the
    /// memory behind a pointer. With `as_restrict`, parameters are treated as `restrict`. Like
    /// LLVM's `BasicAAResult::getModRefInfo` and `AAResults::getModRefInfo`.
    pub fn is_out_of_reach(
        &self,
        pointer: Value,
        at: usize,
        to_read: bool,
        as_restrict: bool,
    ) -> bool {
        let inst = &self.function.instructions[at];
        let Some(call) = self.function.call(inst) else { return false };
        let root = self.address(pointer).base;
        let elsewhere = self.effects.on_loads(&call).without(MemoryLocation::Argument);
        let object = self.object(root);
        let is_hidden = (matches!(object, Object::Local | Object::Noalias)
            || as_restrict && matches!(object, Object::Parameter))
            && !self.is_captured_before(root, at);
        let touches = if to_read { elsewhere != MemoryEffects::NONE } else { elsewhere.writes() };
        (is_hidden || !touches) && !self.is_given(at, pointer, to_read, as_restrict)
    }

    /// Returns whether a call has an argument that may point to the memory behind `pointer`.
    /// Without `to_read`, ignores arguments through which the call only reads.
    fn is_given(&self, call: usize, pointer: Value, to_read: bool, as_restrict: bool) -> bool {
        let parameter = self.based_on(pointer);
        let may_lead_there = |value: Value| {
            let other = self.based_on(value);
            if as_restrict && other != parameter && self.restrict_separates(parameter, other) {
                return false;
            }
            // LLVM does not look through a `phi` or `select` if an offset was added to it.
            let root = self.address(value).base;
            root != self.number(value) && self.choices(root).is_some()
                || self.meet((value, None), (pointer, None)) != Some(false)
        };
        self.arguments(call, to_read).into_iter().any(may_lead_there)
    }

    /// Returns a call's pointer arguments. Without `to_read`, omits those through which the call
    /// only reads.
    pub fn arguments(&self, call: usize, to_read: bool) -> Vec<Value> {
        let inst = &self.function.instructions[call];
        let Some(call) = self.function.call(inst) else { return Vec::new() };
        if !to_read && !self.effects.of_call(&call).writes() {
            return Vec::new();
        }
        let operands = self.function.operands(inst).iter().take(call.arguments.len());
        let pointers = operands.enumerate().filter(|&(nth, &it)| {
            self.function.is_pointer(it)
                && (to_read || !self.effects.argument_is(&call, nth, &["readonly", "readnone"]))
        });
        pointers.map(|(_, &it)| it).collect()
    }

    /// Returns whether other code may know an object's address at or before an instruction.
    fn is_captured_before(&self, object: Value, at: usize) -> bool {
        let Some(captures) = self.captures().get(&object) else { return true };
        if captures.at.is_empty() {
            return false;
        }
        let function = &self.function;
        let block = function.block_of(at);
        let after = captures.after.get_or_init(|| {
            let mut after = vec![false; function.blocks.len()];
            let mut pending: Vec<usize> =
                captures.at.iter().map(|&at| function.block_of(at)).collect();
            while let Some(block) = pending.pop() {
                for &next in &function.blocks[block].successors {
                    if !std::mem::replace(&mut after[next], true) {
                        pending.push(next);
                    }
                }
            }
            after
        });
        after[block] || {
            let here = captures.at.iter().filter(|&&at| function.block_of(at) == block);
            here.copied().any(|here| self.position(here) <= self.position(at))
        }
    }

    fn position(&self, inst: usize) -> usize {
        self.positions.get_or_init(|| {
            let mut positions = vec![0; self.function.instructions.len()];
            for block in &self.function.blocks {
                block.instructions.iter().enumerate().for_each(|(nth, &it)| positions[it] = nth);
            }
            positions
        })[inst]
    }

    /// Returns whether `pointer` is loaded, or returned by a call, before other code may know an
    /// object's address. Then it cannot point to the object. See LLVM's `isEscapeSource` and
    /// `EarliestEscapeAnalysis`.
    fn is_kept_from(&self, object: Value, pointer: Value) -> bool {
        let Def::Instruction(at) = self.function.def(pointer) else { return false };
        let inst = &self.function.instructions[at];
        let call = self.function.call(inst);
        let is_returned = call.is_some_and(|call| !call.callee.starts_with(b"llvm."));
        (inst.opcode == Opcode::Load || is_returned) && !self.is_captured_before(object, at)
    }

    /// Returns whether `restrict` on a parameter would separate it from another base pointer.
    pub fn restrict_separates(&self, parameter: Value, other: Value) -> bool {
        self.object(other) != Object::Unknown || self.is_kept_from(parameter, other)
    }

    /// Returns whether a pointer is a local variable's address that other code never knows.
    pub fn is_private_variable(&self, pointer: Value) -> bool {
        self.object(pointer) == Object::Local
            && self.captures().get(&pointer).is_some_and(|capture| capture.at.is_empty())
    }

    fn captures(&self) -> &HashMap<Value, Captures> {
        self.captures.get_or_init(|| captures(&self.function, self.effects))
    }
}

/// Sign-extends the lowest `bits` bits of a number.
fn signed(number: i64, bits: u32) -> i64 {
    let unused = 64_u32.saturating_sub(bits).min(63);
    number << unused >> unused
}

/// Maps each slot that is only loaded and stored as a whole, and each cast of it, to the slot. Like
/// LLVM's `isAllocaPromotable` after casts without an effect are removed.
fn registers(function: &Function<'_>) -> HashMap<Value, Value> {
    let mut found = HashMap::default();
    for inst in function.instructions.iter().filter(|inst| inst.opcode == Opcode::Alloca) {
        let (Some(slot), Some(ty)) = (inst.result, inst.ty) else { continue };
        let ty = function.types().opaque(ty);
        let mut names = vec![slot];
        let mut next = 0;
        let mut is_register = function.operands(inst).is_empty();
        while let Some(&name) = names.get(next).filter(|_| is_register) {
            next += 1;
            for user in function.users(name).iter().map(|&user| user as usize) {
                let it = &function.instructions[user];
                is_register &= match it.opcode {
                    Opcode::Load | Opcode::Store => {
                        it.ty.map(|ty| function.types().opaque(ty)) == Some(ty)
                            && function.pointer(it) == Some(name)
                            && function.stored(it) != Some(name)
                            && !it.is_volatile
                    }
                    _ if is_same_address(function, it) => {
                        names.extend(it.result);
                        names.len() <= MOST_DERIVED
                    }
                    _ => function.is_marker(user),
                };
            }
        }
        if is_register {
            found.extend(names.into_iter().map(|name| (name, slot)));
        }
    }
    found
}

/// Returns whether an instruction's result is the address in its first operand.
fn is_same_address(function: &Function<'_>, inst: &Inst) -> bool {
    let is_zero = |value: &Value| function.def(*value) == Def::Integer(0);
    match inst.opcode {
        Opcode::BitCast => true,
        Opcode::GetElementPtr => {
            matches!(function.operands(inst), [_, indices @ ..] if indices.iter().all(is_zero))
        }
        _ => false,
    }
}

/// For each `alloca` and pointer parameter, finds the instructions that may let other code know the
/// address, such as a store of it. In LLVM: `PointerMayBeCaptured`, `FindEarliestCapture`.
fn captures(function: &Function<'_>, effects: &Effects<'_>) -> HashMap<Value, Captures> {
    let pointers = function.parameters.iter().copied().filter(|&value| function.is_pointer(value));
    let locals = function.instructions.iter().filter(|inst| inst.opcode == Opcode::Alloca);
    let kept = ["nocapture", "captures(none)", "byval"];
    let is_intrinsic = |call: &Call<'_>| call.callee.starts_with(b"llvm.");
    let derives = |it: &Inst| match it.opcode {
        Opcode::GetElementPtr | Opcode::Phi | Opcode::Select | Opcode::Freeze => true,
        // Intrinsics such as `llvm.ptrmask` and `llvm.launder.invariant.group` return a pointer.
        Opcode::Call => {
            let is_pointer = it.result.is_some_and(|result| function.is_pointer(result));
            is_pointer && function.call(it).is_some_and(|call| is_intrinsic(&call))
        }
        opcode => opcode.is_pointer_cast(),
    };
    let keeps = |value: Value, it: &Inst| match it.opcode {
        // A volatile access shows its address to the outside.
        Opcode::Load => !it.is_volatile,
        Opcode::Store => {
            !it.is_volatile && function.stored(it).is_some_and(|stored| stored != value)
        }
        Opcode::ICmp => {
            function.operands(it).iter().any(|&operand| function.written(operand) == b"null")
        }
        Opcode::Call => function.call(it).is_some_and(|call| {
            let passed = function.operands(it).iter().enumerate();
            let mut passed = passed.filter(|&(_, &it)| it == value);
            let keeps = || {
                KEEPING.iter().any(|start| call.callee.starts_with(start))
                    || derives(it)
                    || !effects.of_call(&call).writes()
            };
            is_intrinsic(&call) && !is_volatile(&call) && keeps()
                || passed.all(|(nth, _)| {
                    nth < call.arguments.len()
                        && effects.argument_is(&call, nth, &kept)
                        && !effects.argument_is(&call, nth, &["returned"])
                })
        }),
        _ => derives(it),
    };
    let of = |object: Value| {
        let (mut derived, mut at) = (vec![object], Vec::new());
        let mut next = 0;
        while let Some(&value) = derived.get(next) {
            next += 1;
            for user in function.users(value).iter().map(|&user| user as usize) {
                let it = &function.instructions[user];
                if !keeps(value, it) || derived.len() > MOST_DERIVED {
                    at.push(user);
                } else if derives(it)
                    && let Some(result) = it.result.filter(|result| !derived.contains(result))
                {
                    derived.push(result);
                }
            }
        }
        (object, Captures { at, after: OnceCell::new() })
    };
    pointers.chain(locals.filter_map(|local| local.result)).map(of).collect()
}
