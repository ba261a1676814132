//! Reads that repeat one before them: of the same bytes, by the same tag, with nothing between
//! them that may write. The runtime would learn nothing from them.
//!
//! The one before stands in the same block, or in a block that dominates it; then nothing in
//! the blocks between the two may write. Code that is not optimised loads a pointer again for
//! each use. So values are compared by how they are made: by which value a slot has that only
//! whole loads and stores use, by what was read before from the same bytes, and by the text of
//! instructions that compute something from these.
//!
//! Reads of constants are left out as well: nothing ever writes them.

use std::rc::Rc;

use super::flow::dominated;
use super::pass::Current;
use tbaa::TagId;
use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::{Body, Flow, Instruction, Opcode, Statement};

/// What a value is.
#[derive(PartialEq, Eq, Hash)]
enum Value<'t> {
    /// Nothing more is known than its name.
    Named(&'t [u8]),
    /// What a slot has after a store, or where ways meet, by the number of that.
    Loaded(&'t [u8], u32),
    /// What an instruction makes: its text, with the numbers of values for their names.
    Computed(Vec<u8>),
}

/// Instructions whose result depends on their operands alone.
const COMPUTE: [&[u8]; 14] = [
    b"getelementptr",
    b"sext",
    b"zext",
    b"trunc",
    b"bitcast",
    b"ptrtoint",
    b"inttoptr",
    b"add",
    b"sub",
    b"mul",
    b"and",
    b"or",
    b"shl",
    b"lshr",
];

/// What is known at a place.
#[derive(Clone, Default)]
struct Known<'t> {
    /// What slots have, by the number of a store or of a place where ways meet.
    slots: HashMap<&'t [u8], u32>,
    /// Reads since anything may have been written: pointer, bytes and tag, and the number of
    /// what was read.
    reads: HashMap<(u32, u64, TagId), u32>,
}

/// What a block does.
#[derive(Default)]
struct Summary<'t> {
    /// Whether it may write memory.
    writes: bool,
    /// The slots that it stores to.
    stored: HashSet<&'t [u8]>,
}

/// The values of a function.
#[derive(Default)]
struct Values<'t> {
    numbers: HashMap<Value<'t>, u32>,
    /// Of results of instructions.
    known: HashMap<&'t [u8], u32>,
    /// Pointers to constants of the module.
    constants: HashSet<&'t [u8]>,
    stores: u32,
}

/// Blocks that are looked at between a block and its dominator, in a function. Beyond that
/// all of them are taken to write everything.
const BETWEEN: usize = 1 << 22;

impl<'t> Values<'t> {
    fn number(&mut self, value: Value<'t>) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(value).or_insert(next)
    }

    fn number_of(&mut self, name: &'t [u8]) -> u32 {
        match self.known.get(name) {
            Some(&number) => number,
            None => self.number(Value::Named(name)),
        }
    }

    /// A number that no store and no place where ways meet has had.
    fn fresh(&mut self) -> u32 {
        self.stores += 1;
        self.stores
    }

    /// Notes what an instruction computes.
    fn compute(&mut self, statement: &Statement<'t>) {
        let Some(result) = statement.result.filter(|_| COMPUTE.contains(&statement.word)) else {
            return;
        };
        let text = statement.text();
        let start = statement.word.as_ptr().addr() - text.as_ptr().addr();
        // Without its attachments.
        let end = memchr::memmem::find(text, b", !").unwrap_or(text.len());
        let mut key = Vec::new();
        let mut from = start;
        for value in statement.values() {
            let at = value.as_ptr().addr() - text.as_ptr().addr();
            if value.starts_with(b"%") && at < end {
                key.extend_from_slice(&text[from..at]);
                key.push(b'%');
                key.extend_from_slice(&self.number_of(value).to_le_bytes());
                from = at + value.len();
            }
        }
        key.extend_from_slice(&text[from.min(end)..end]);
        let number = self.number(Value::Computed(key));
        self.known.insert(result, number);
    }
}

impl<'t> Current<'_, 't> {
    /// Returns which statements are reads that repeat one before them.
    pub(super) fn repeats(&self, body: &Body<'t>, flow: Option<&Flow>) -> HashSet<usize> {
        let mut repeated = HashSet::default();
        let mut values = Values::default();
        let Some(flow) = flow else {
            // Each block by itself.
            for block in &body.blocks {
                let mut known = Known::default();
                let mut own = Values::default();
                self.block(body, block.statements.clone(), &mut known, &mut own, &mut repeated);
            }
            return repeated;
        };
        let summaries: Vec<Summary<'t>> = body
            .blocks
            .iter()
            .map(|it| self.summary(&body.statements[it.statements.clone()]))
            .collect();
        let children = dominated(flow, body.blocks.len());
        let mut between = Between::new(body.blocks.len());
        // Of what many blocks begin with, one copy; the block below which most lie comes last.
        let mut next = vec![(0, Rc::new(Known::default()))];
        while let Some((block, known)) = next.pop() {
            let mut known = Rc::unwrap_or_clone(known);
            match between.of(flow, block) {
                Some(blocks) => {
                    for &other in blocks {
                        if summaries[other].writes {
                            known.reads.clear();
                        }
                        for slot in &summaries[other].stored {
                            known.slots.insert(slot, values.fresh());
                        }
                    }
                }
                None => {
                    known.reads.clear();
                    for slot in &self.registers {
                        known.slots.insert(slot, values.fresh());
                    }
                }
            }
            let statements = body.blocks[block].statements.clone();
            self.block(body, statements, &mut known, &mut values, &mut repeated);
            let known = Rc::new(known);
            next.extend(children[block].iter().map(|&child| (child, Rc::clone(&known))));
        }
        repeated
    }

    fn summary(&self, statements: &[Statement<'t>]) -> Summary<'t> {
        let mut summary = Summary::default();
        for statement in statements {
            let access = statement.access.map(|it| &self.pass.module.instructions()[it]);
            match self.slot(access) {
                Some(slot) if statement.opcode != Opcode::Load => drop(summary.stored.insert(slot)),
                Some(_) => {}
                None => summary.writes |= self.may_write(statement, access),
            }
        }
        summary
    }

    /// The slot that an access is of, if LLVM keeps it in a register.
    fn slot(&self, access: Option<&Instruction>) -> Option<&'t [u8]> {
        let module = self.pass.module;
        let pointer = module.pointer_span(access?).map(|span| &module.text()[span])?;
        self.registers.contains(pointer).then_some(pointer)
    }

    fn block(
        &self,
        body: &Body<'t>,
        statements: std::ops::Range<usize>,
        known: &mut Known<'t>,
        values: &mut Values<'t>,
        repeated: &mut HashSet<usize>,
    ) {
        for at in statements {
            let statement = &body.statements[at];
            let access = statement.access.map(|it| &self.pass.module.instructions()[it]);
            if let Some(slot) = self.slot(access) {
                match statement.result.filter(|_| statement.opcode == Opcode::Load) {
                    Some(result) => {
                        let version = known.slots.get(slot).copied().unwrap_or_default();
                        let number = values.number(Value::Loaded(slot, version));
                        values.known.insert(result, number);
                    }
                    None => drop(known.slots.insert(slot, values.fresh())),
                }
                continue;
            }
            if let Some((pointer, size, tag)) = self.plain_read(access) {
                if self.is_constant(pointer, values) {
                    repeated.insert(at);
                    continue;
                }
                let own = statement.result.map(|it| values.number_of(it)).unwrap_or_default();
                let read = (values.number_of(pointer), size, tag);
                match known.reads.get(&read) {
                    Some(&before) => {
                        repeated.insert(at);
                        statement.result.map(|it| values.known.insert(it, before));
                    }
                    None => drop(known.reads.insert(read, own)),
                }
            } else if self.may_write(statement, access) {
                known.reads.clear();
            } else {
                values.compute(statement);
                if let (b"getelementptr", Some(result)) = (statement.word, statement.result)
                    && let Some(element) = statement.element()
                    && self.is_constant(element.base.value, values)
                {
                    values.constants.insert(result);
                }
            }
        }
    }

    fn is_constant(&self, pointer: &[u8], values: &Values<'_>) -> bool {
        let global = pointer.strip_prefix(b"@").and_then(|name| self.pass.globals.get(name));
        global.is_some_and(|it| it.constant && it.defined) || values.constants.contains(pointer)
    }

    /// The pointer, the size and the tag of a load that gets a check.
    fn plain_read(&self, access: Option<&Instruction>) -> Option<(&'t [u8], u64, TagId)> {
        let module = self.pass.module;
        let access = access.filter(|it| it.opcode == Opcode::Load && !it.volatile && !it.atomic)?;
        let tag = self.pass.telling(access.tag)?;
        let size = self.pass.sizes.of(self.pass.module.access_type(access))?;
        Some((&module.text()[module.pointer_span(access)?], size.store, tag))
    }

    /// Whether an instruction may write memory that others see.
    fn may_write(&self, statement: &Statement<'t>, access: Option<&Instruction>) -> bool {
        match (statement.opcode, access) {
            (Opcode::Call, _) => statement.call().is_none_or(|call| {
                call.callee.starts_with(b"llvm.lifetime.")
                    || self.pass.effects.on_loads(&call).writes()
            }),
            (Opcode::Load, Some(access)) => access.volatile || access.atomic,
            (_, Some(_)) => true,
            (_, None) => statement.word == b"fence",
        }
    }
}

/// Looks for the blocks between a block and its immediate dominator.
struct Between {
    /// For which block another was seen last.
    seen: Vec<usize>,
    pending: Vec<usize>,
    left: usize,
}

impl Between {
    fn new(blocks: usize) -> Self {
        Between { seen: vec![usize::MAX; blocks], pending: Vec::new(), left: BETWEEN }
    }

    /// The blocks on all ways from the dominator to the block, which may be one of them;
    /// `None` where that is too far.
    fn of(&mut self, flow: &Flow, block: usize) -> Option<&[usize]> {
        self.pending.clear();
        let Some(above) = flow.dominator(block) else { return Some(&[]) };
        let mut next = 0;
        let mut at = block;
        loop {
            for before in flow.before(at) {
                self.left = self.left.checked_sub(1)?;
                if before != above && std::mem::replace(&mut self.seen[before], block) != block {
                    self.pending.push(before);
                }
            }
            at = match self.pending.get(next) {
                Some(&at) => at,
                None => return Some(&self.pending),
            };
            next += 1;
        }
    }
}
