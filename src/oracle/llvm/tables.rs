//! The index of tags under rule `llvm`.
//!
//! **Scalars.** Two tags that the verifier accepts and that access scalars are regular: they may
//! alias iff their roots differ, or one tag's cursor lies on the other's walk:
//!
//! - *A whole tag covers its descendants.* A tag that ends at a descendant walks up through the
//!   whole tag's scalar, which is its cursor.
//! - *A walk meets the other's base at the other's offset*: at its cursor. If it meets the base at
//!   another offset, the answer is no, and no cursor can lie on the other walk: a walk that came
//!   back to the base would visit it twice, which the verifier rejects. A base that is accessed
//!   whole, or is what the walk accesses, is a scalar, which the verifier only allows to be met at
//!   offset 0.
//!
//! The old format does not distinguish fields from parents: the walk continues from the scalar.
//!
//! **Aggregates.** The definition decides on tags that access aggregates. It answers
//! `MayAlias` only if one base type lies in the other, or in what that one's ancestors
//! hold: the walk from one base meets the other's, the other's lies in what is accessed,
//! or a whole access covers a descendant.
//!
//! **The rest**, for which a base type alone decides nothing: tags whose walk ends at another
//! scalar than they access (LLVM crashes on those), with parents that are not scalars, with types
//! that are not sound, or that were added once both formats are under their root.

use super::accept::Acceptance;
use super::steps::step;
use crate::graph::{Format, Graph, NodeId, Shape, TagId, TagParts, TypeId};
use crate::oracle::index::Index;
use crate::oracle::types::TypeIndex;
use crate::table::HashMap;
use crate::wellformed::{comes_to, is_scalar};

/// Rule `llvm`: the facts about a graph's tags that the index does not have.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct Llvm {
    acceptance: Acceptance,
    /// The format of accepted tags under each root; `None` for both.
    formats: HashMap<u32, Option<Format>>,
    /// For each tag that is not regular, the type and offset that it accesses, if its base type
    /// determines them.
    pub(super) aggregates: Vec<Option<(TypeIndex, u64)>>,
    /// True if some cursor's successor has a type added later than its own.
    pub(super) unordered: bool,
}

impl Llvm {
    /// Adds the graph's next tag to the index.
    pub(super) fn add_tag(&mut self, graph: &Graph, index: &mut Index, tag: TagId) {
        let Ok(parts) = TagParts::of(graph, graph.tag_node(tag)) else {
            return index.push_rejected();
        };
        if !self.acceptance.accepts(graph, index, tag) {
            return index.push_rejected();
        }
        let Some(root) = graph.root_of(TypeId(parts.access)) else {
            // Size-aware parents form a cycle, which the verifier does not see. No other access
            // type is known to share an ancestor with it.
            return self.push_other(index, parts.access.index, None);
        };
        // With both formats under one root, a walk may meet what LLVM's would not. Tags that were
        // added before the second format have only one.
        let root = root.node().index;
        let known = self.formats.entry(root).or_insert(Some(parts.format));
        *known = known.filter(|&known| known == parts.format);
        if known.is_none() {
            return self.push_other(index, root, None);
        }
        // All accepted old-format tags are regular, except those on which LLVM crashes.
        let mut base = None;
        if parts.format == Format::New {
            index.types.extend(graph);
            base = index.types.index(TypeId(parts.base));
            base = base.filter(|&base| index.types.get(base).sound);
        }
        if let Some(cursor) = self.regular(graph, index, &parts) {
            return index.push_regular(root, cursor, base);
        }
        let base = base.filter(|_| self.arrives(graph, index, &parts));
        let access = index.types.index(TypeId(parts.access));
        let aggregate = base.and(access).map(|access| (access, parts.offset.value));
        self.push_other(index, root, aggregate);
        if let Some(base) = base {
            index.set_base(tag.index, base);
        }
    }

    fn push_other(&mut self, index: &mut Index, root: u32, aggregate: Option<(TypeIndex, u64)>) {
        index.push_other(root);
        self.aggregates.push(aggregate);
    }

    /// Returns whether the base type of an accepted tag determines where it may access an
    /// aggregate: its walk reaches the place, and its parents are scalars.
    fn arrives(&mut self, graph: &Graph, index: &mut Index, parts: &TagParts) -> bool {
        let access = parts.access;
        let parent = Shape::of(graph, access).parent(graph, access);
        if parts.format == Format::Old
            || is_scalar(graph, access)
            || !parent.is_some_and(|parent| is_scalar(graph, parent))
        {
            return false;
        }
        // The fields at the start of the access type do not matter here.
        let end = self.add_walk(graph, index, (access.index, 0), after_new);
        let end = end.unwrap_or_else(|| index.walks.push(access.index, 0, None));
        let start = (parts.base.index, parts.offset.value);
        let cursor = self.add_walk(graph, index, start, after_new);
        cursor.is_some_and(|cursor| comes_to(graph, &index.walks, cursor, end))
    }

    /// Adds the walk of an accepted tag that accesses a scalar, and returns its cursor; `None` if
    /// the definition must decide.
    fn regular(&mut self, graph: &Graph, index: &mut Index, parts: &TagParts) -> Option<u32> {
        let start = (parts.base.index, parts.offset.value);
        if parts.format == Format::Old {
            // The verifier saw that the walk goes up to the root.
            return self.add_walk(graph, index, start, after_old);
        }
        if !is_scalar(graph, parts.access) {
            return None;
        }
        let end = self.add_walk(graph, index, (parts.access.index, 0), after_new)?;
        let cursor = self.add_walk(graph, index, start, after_new)?;
        comes_to(graph, &index.walks, cursor, end).then_some(cursor)
    }

    /// Adds the cursors from `start` on until one is known or is the last; `None` if `next` cannot
    /// continue.
    fn add_walk(
        &mut self,
        graph: &Graph,
        index: &mut Index,
        start: (u32, u64),
        next: fn(&Graph, NodeId, u64) -> Option<Next>,
    ) -> Option<u32> {
        let mut unordered = false;
        let cursor = index.walks.add_walk(start, graph.node_count(), |ty, offset| {
            let after = next(graph, graph.node_at(ty), offset)?;
            unordered |= after.is_some_and(|(next, _)| next.index > ty);
            Some(after.map(|(next, offset)| (next.index, offset)))
        });
        self.unordered |= unordered;
        cursor
    }
}

/// The next place on a walk; `None` at the end.
type Next = Option<(NodeId, u64)>;

/// Returns the cursor after one on an accepted old-format walk.
fn after_old(graph: &Graph, ty: NodeId, mut offset: u64) -> Option<Next> {
    if Shape::of(graph, ty).is_root() {
        return Some(None);
    }
    let next = step(graph, ty, &mut offset).ok()??;
    Some(Some((next, offset)))
}

/// Returns the cursor after a size-aware one: down to a scalar, then up.
fn after_new(graph: &Graph, ty: NodeId, mut offset: u64) -> Option<Next> {
    let shape = Shape::of(graph, ty);
    let next = match (shape.format, shape.len) {
        _ if shape.is_root() => return Some(None),
        (Format::Old, _) => return None,
        (Format::New, 3) if offset != 0 => return None,
        (Format::New, 3) => shape.parent(graph, ty).filter(|&up| is_scalar(graph, up))?,
        (Format::New, _) => step(graph, ty, &mut offset).ok()??,
    };
    Some(Some((next, offset)))
}
