//! Finds redundant reads, which tell the runtime nothing new. A read is redundant if a read of the
//! same bytes with the same tag dominates it, and nothing in between may write.
//!
//! Memory is treated as one variable in SSA form, like `MemorySSA`: each instruction that may write
//! starts a new version, and so does each block where several versions meet. Between two reads of
//! one version, no path has a write. The bytes are the same if [`Pointers`] gives the addresses the
//! same value number. A redundant read of the same type gets the first read's value number.
//!
//! Reads of constant globals are found as well, because nothing ever writes these globals.

use super::Pass;
use super::function::is_sanitizers;
use tbaa::TagId;
use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::{Address, Def, Flow, Function, Inst, Opcode, Pointers, Step, Value};

/// The key of a read: its address, size, tag, and the version of memory.
type Read = (Address, u64, TagId, u32);

/// Assigns value numbers to a function's values. Returns the instruction indices of redundant reads
/// and of reads of constant globals. The set is empty if [`Flow::joins`] takes too many steps.
pub(super) fn repeats<'t>(
    pass: &Pass<'t>,
    function: &Function<'t>,
    flow: &Flow,
    pointers: &mut Pointers<'t>,
) -> HashSet<usize> {
    let mut repeated = HashSet::default();
    let may_write = |inst: &Inst| {
        let pointer = function.pointer(inst);
        !pointer.is_some_and(|slot| pointers.is_register(slot)) && pass.may_write(function, inst)
    };
    let writes: Vec<bool> = function.instructions.iter().map(may_write).collect();
    let blocks = function.blocks.iter().enumerate();
    let writing = blocks.filter(|(_, it)| it.instructions.iter().any(|&at| writes[at]));
    let Some(joins) = flow.joins(writing.map(|writing| writing.0)) else {
        pointers.number_all(flow, |_, _| None);
        return repeated;
    };
    let joins: HashSet<usize> = joins.into_iter().collect();
    let (mut version, mut versions) = (0, 0);
    // `reads` are the reads that dominate the instruction. `before` has, for each dominating block,
    // the version before the block and the block's reads.
    let mut reads: HashMap<Read, usize> = HashMap::default();
    let mut before: Vec<(u32, Vec<Read>)> = Vec::new();
    pointers.number_all(flow, |pointers, step| {
        let changes = match step {
            Step::Enter(block) => {
                before.push((version, Vec::new()));
                joins.contains(&block)
            }
            Step::Leave => {
                let (at_start, own) = before.pop()?;
                version = at_start;
                own.iter().for_each(|read| _ = reads.remove(read));
                false
            }
            Step::Instruction(at) => writes[at],
        };
        if changes {
            versions += 1;
            version = versions;
        }
        let Step::Instruction(at) = step else { return None };
        let inst = &function.instructions[at];
        let (pointer, size, tag) = pass.plain_read(function, inst)?;
        let address = pointers.address(pointer);
        if pass.is_constant(function, address.base) {
            repeated.insert(at);
            return None;
        }
        let read = (address, size, tag, version);
        if let Some(&first) = reads.get(&read) {
            repeated.insert(at);
            let first = &function.instructions[first];
            return first.result.filter(|_| first.ty == inst.ty);
        }
        before.last_mut()?.1.push(read.clone());
        reads.insert(read, at);
        None
    });
    repeated
}

impl<'t> Pass<'t> {
    fn is_constant(&self, function: &Function<'t>, base: Value) -> bool {
        let Def::Global(name) = function.def(base) else { return false };
        self.globals.get(name).is_some_and(|global| global.constant && global.defined)
    }

    /// Returns the pointer, size and tag of a checked load that is neither volatile nor atomic.
    fn plain_read(&self, function: &Function<'t>, inst: &Inst) -> Option<(Value, u64, TagId)> {
        let access = &self.module.instructions()[inst.access?];
        (inst.opcode == Opcode::Load && !access.volatile && !access.atomic).then_some(())?;
        let tag = self.telling(access.tag)?;
        let (pointer, size) = (function.pointer(inst)?, self.size(inst.ty)?.store);
        let is_checked = self.is_plain(function.ty(pointer)) && !is_sanitizers(function, inst);
        is_checked.then_some((pointer, size, tag))
    }

    /// Returns whether an instruction counts as a write. Fences, volatile and atomic loads do.
    fn may_write(&self, function: &Function<'t>, inst: &Inst) -> bool {
        match inst.opcode {
            Opcode::Call => function.call(inst).is_none_or(|call| {
                call.callee.starts_with(b"llvm.lifetime.") || self.effects.on_loads(&call).writes()
            }),
            Opcode::Load => {
                let access = inst.access.map(|access| &self.module.instructions()[access]);
                access.is_none_or(|access| access.volatile || access.atomic)
            }
            Opcode::Fence | Opcode::Free | Opcode::Other => true,
            _ => inst.access.is_some(),
        }
    }
}
