//! Rules `union` and `union-strict`: every member of a union is followed, and
//! bytes decide.
//!
//! # Theory
//!
//! Two accesses may alias iff one of these holds: their roots differ; one is
//! whole and its access type an ancestor of the other's; one denotes no path;
//! or they *overlap*: a path q leads from one base type to an object of the
//! other access, and the bytes of some denoted path p of the one meet those of
//! some denoted path r of the other, moved by q. The first three are look-ups.
//! The rest of this module decides overlap without listing paths, elements or
//! bytes.
//!
//! **A path in brief.** All denoted paths have one collapsed offset, so a path
//! matters only by the arrays it crosses: the bytes are an interval at a fixed
//! start, repeated at the strides of the arrays, with the innermost array
//! cutting its last elements short. The cut leaves at most two such patterns:
//! the uncut elements, and the first cut one, which covers those after it. The
//! order of the strides does not matter, and equal ones add up.
//!
//! **Merging.** The traversals (`denoted`, `objects`) visit types in topological order, so all
//! ways to a type have arrived before any goes on. Ways to one place (a type
//! and an offset) merge: a way whose strides are among another's is dropped,
//! for the other's bytes include its own. Diamonds therefore cost what their
//! types cost. Objects (q) are sought only where their bytes may lie near p's.
//!
//! **Meeting.** Whether two patterns share a byte is an equation in integers,
//! decided in `stride` by division, Euclid's algorithm, and trials where more
//! than two strides remain.
//!
//! **Strict.** p and q choose the same field wherever both choose. So q ends at
//! a place on p's way, and the search for p carries along where that was; or q
//! goes on where p ends.
//!
//! **Old format.** Without sizes only the place where two paths part says
//! anything; see `inferred`.
//!
//! # Limits
//!
//! All loops are charged to a budget per query (`limits`), nothing recurses
//! with the depth of the types, and beyond a limit the answer is `MayAlias`.
//! Under `union-strict` that answer is checked against `union`, so that the
//! stricter rule never answers `MayAlias` where the other proves more.

mod access;
mod arena;
mod definition;
mod denoted;
mod generic;
mod inferred;
mod objects;
mod stride;
mod tables;
mod traversal;
mod types;

use std::cell::Cell;

use access::Resolved;
use definition::UnionDefinition;
use tables::UnionTables;
use types::Types;

use super::access::Access;
use super::clause::Clause;
use super::index::Index;
use super::limits::STEPS;
use super::rule::{Candidates, Decision, Rule};
use crate::graph::{Graph, Tag, TagId};

/// Rules `union` and `union-strict`.
#[derive(Clone, Debug)]
pub(super) struct Union {
    strict: bool,
    types: Types,
    tables: UnionTables,
}

impl Union {
    pub(super) fn new(strict: bool) -> Self {
        Union { strict, types: Types::default(), tables: UnionTables::new(strict) }
    }

    fn definition(&self, steps: u32) -> UnionDefinition<'_> {
        UnionDefinition { types: &self.types, steps, spent: Cell::new(0) }
    }
}

impl Rule for Union {
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) -> bool {
        self.types.extend(graph);
        self.tables.add(&self.types, graph, index, tag)
    }

    fn was_short(&self) -> bool {
        self.tables.was_short()
    }

    fn decide(&self, graph: &Graph, index: &Index, a: TagId, b: TagId) -> Option<bool> {
        self.tables.decide(&self.types, graph, index, (a, b))
    }

    fn decide_sized(&self, graph: &Graph, index: &Index, pair: (Access, Access)) -> Option<bool> {
        self.tables.decide_sized(&self.types, graph, index, pair)
    }

    fn define(&self, graph: &Graph, _: &Index, pair: (Access, Access), steps: u32) -> Decision {
        self.definition(steps).decide(graph, pair, self.strict)
    }

    /// Where rule `union-strict` proves more than `union`, shows what it does not
    /// count.
    fn explain(
        &self,
        graph: &Graph,
        index: &Index,
        pair: (Access, Access),
        steps: u32,
    ) -> Decision {
        let decision = self.define(graph, index, pair, steps);
        if self.strict && decision.clause.is_no_alias() {
            let union = self.definition(steps).decide(graph, pair, false);
            if !union.clause.is_no_alias() {
                return Decision { clause: Clause::Parted, ..union };
            }
        }
        decision
    }

    fn candidates(&self, index: &Index, tag: TagId) -> Option<Candidates> {
        self.tables.candidates(index, tag)
    }

    fn most_generic(&self, graph: &Graph, _: &Index, a: TagId, b: TagId) -> Option<Tag> {
        generic::most_generic(&self.definition(STEPS), graph, (a, b))
    }

    fn is_well_formed(&self, graph: &Graph, tag: TagId) -> Option<bool> {
        match Resolved::new(&self.types, graph, tag.into()) {
            Ok(access) => Some(self.definition(STEPS).denotes(&access).ok()?.is_some()),
            Err(_) => Some(false),
        }
    }
}
