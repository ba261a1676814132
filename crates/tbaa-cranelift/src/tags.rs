//! Records the tags of a function's accesses.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{DataFlowGraph, Inst, Value};
use tbaa::TagId;

/// The tags of the loads, stores and atomic instructions of one function, as a front end sets them.
///
/// An instruction without a tag may touch any memory. Inlined instructions have no tags here.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    of: SecondaryMap<Inst, Option<TagId>>,
}

impl Tags {
    /// Creates a record without tags.
    pub fn new() -> Tags {
        Tags::default()
    }

    /// Sets the tag of an instruction; `None` removes it.
    pub fn set(&mut self, inst: Inst, tag: impl Into<Option<TagId>>) {
        self.of[inst] = tag.into();
    }

    /// Sets the tag of the instruction that computes `value`, and returns `value`. Use it for loads
    /// and atomic operations: [`InstBuilder`] returns their results, not the instructions.
    ///
    /// # Panics
    ///
    /// If the value is a block's parameter, which no instruction computes.
    ///
    /// [`InstBuilder`]: cranelift_codegen::ir::InstBuilder
    #[track_caller]
    pub fn set_result(
        &mut self,
        dfg: &DataFlowGraph,
        value: Value,
        tag: impl Into<Option<TagId>>,
    ) -> Value {
        match dfg.value_def(value).inst() {
            Some(inst) => self.set(inst, tag),
            None => panic!("{value} is a block's parameter: give the result of a load"),
        }
        value
    }

    /// Returns the tag of an instruction.
    pub fn get(&self, inst: Inst) -> Option<TagId> {
        self.of[inst]
    }

    /// Removes all tags, so that the tags of another function can be recorded.
    pub fn clear(&mut self) {
        self.of.clear();
    }
}
