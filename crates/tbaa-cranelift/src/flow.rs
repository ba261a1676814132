//! Finds accesses without an alias region at which Cranelift misses a store in a region.
//!
//! Cranelift remembers the last store in each region, and the last fence: an instruction at which
//! it forgets all regions. At an access without a region, it uses only the last fence
//! (`LastStores::get_last_store`), so it misses later stores in regions. It may then replace a load
//! by an older value, remove a store of an older value as redundant, or remove a store although a
//! load without a region reads the stored value. A fence before the access prevents all three.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};

use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, Function, Inst};
use tbaa::{Access, Graph, Oracle};

use crate::Tags;
use crate::memory::{Memory, is_fence};

/// For each different [`Access`] of the stores in regions: the position and instruction of a store
/// from which a path without a fence leads to the current point of the function.
type Since = Vec<Option<(usize, Inst)>>;

/// Finds accesses without a region that may alias a store in a region, if some path from the store
/// to the access has no fence. Returns each with one such store, in the order of the code. Leaves
/// out `readonly` loads and atomic instructions that load. Treats each returned access as a fence
/// in its block.
pub(crate) fn exposed<G: Borrow<Graph>>(
    oracle: &Oracle<G>,
    func: &Function,
    tags: &Tags,
) -> Vec<(Memory, Memory)> {
    let mut numbers: HashMap<Access, usize> = HashMap::new();
    let mut steps: HashMap<Block, Vec<Step>> = HashMap::new();
    let mut stores = Vec::new();
    let mut place = 0;
    for block in func.layout.blocks() {
        let list = steps.entry(block).or_default();
        for inst in func.layout.block_insts(block) {
            place += 1;
            let fence = is_fence(func, inst);
            match Memory::of(oracle, func, tags, inst) {
                // Atomic loads are never replaced. Nothing writes the memory of `readonly` loads.
                Some(bare)
                    if bare.region.is_none() && !bare.readonly && !(fence && bare.loads()) =>
                {
                    list.push(Step::Bare(bare));
                }
                Some(store) if store.region.is_some() && store.stores() && !fence => {
                    let number = *numbers.entry(store.access).or_insert(stores.len());
                    if number == stores.len() {
                        stores.push(store);
                    }
                    list.push(Step::Store(number, (place, inst)));
                }
                _ => {}
            }
            if fence {
                list.push(Step::Fence);
            }
        }
    }
    if stores.is_empty() {
        return Vec::new();
    }

    let mut before: HashMap<Block, Since> = HashMap::new();
    let graph = ControlFlowGraph::with_function(func);
    let mut queue: VecDeque<Block> = func.layout.blocks().collect();
    while let Some(block) = queue.pop_front() {
        let mut since = before.entry(block).or_insert_with(|| vec![None; stores.len()]).clone();
        steps[&block].iter().for_each(|step| step.follow(&mut since));
        for next in graph.succ_iter(block) {
            let there = before.entry(next).or_insert_with(|| vec![None; stores.len()]);
            let mut grown = false;
            for (there, here) in there.iter_mut().zip(&since) {
                grown |= there.is_none() && here.is_some();
                *there = there.or(*here);
            }
            if grown && !queue.contains(&next) {
                queue.push_back(next);
            }
        }
    }

    let mut found = Vec::new();
    for block in func.layout.blocks() {
        let mut since = before.remove(&block).unwrap_or_default();
        for step in &steps[&block] {
            if let Step::Bare(bare) = step {
                let may = |access| oracle.may_alias(access, bare.access);
                let reaching = since.iter().zip(&stores).filter_map(|(last, store)| {
                    last.filter(|_| may(store.access)).map(|(place, inst)| (place, inst, store))
                });
                if let Some((_, inst, store)) = reaching.max_by_key(|&(place, ..)| place) {
                    found.push((*bare, Memory { inst, ..*store }));
                    Step::Fence.follow(&mut since);
                }
            }
            step.follow(&mut since);
        }
    }
    found
}

enum Step {
    /// An access without a region.
    Bare(Memory),
    /// A store in a region: the number of its [`Access`], its position and its instruction.
    Store(usize, (usize, Inst)),
    Fence,
}

impl Step {
    fn follow(&self, since: &mut Since) {
        match self {
            Step::Bare(_) => {}
            Step::Store(number, last) => since[*number] = Some(*last),
            Step::Fence => since.fill(None),
        }
    }
}
