//! Adds tags to the index for rule `llvm`.
//!
//! A tag's *walk* visits types: from its base type down to a scalar, and then up through the
//! scalar's ancestors. A *cursor* is a type and an offset on a walk. A tag's cursor is the first on
//! its walk. Most accepted tags that access **scalars** are *regular*: two regular tags may alias
//! iff their roots differ or the cursor of one is on the walk of the other. The reasons:
//!
//! - If a tag accesses a whole scalar, tags that access descendants of the scalar may alias it.
//!   Their walks continue up to the scalar.
//! - If a walk reaches the other tag's base type at the other tag's offset, it is at the other
//!   tag's cursor. If it reaches this type at another offset, LLVM answers `NoAlias`.
//!
//! All other accepted tags have the role *other*: the *definition* (LLVM's algorithm, `mod.rs`)
//! decides. If such a tag accesses an **aggregate**, its base type can exclude an alias.
//!
//! For **the rest**, base types decide nothing: tags whose walk ends at a scalar that they do not
//! access (LLVM crashes on them), tags with unsound types (see `sound.rs`), tags with a type whose
//! parent is an aggregate, and tags that were added when the tags of their root had both formats.

use super::accept::Acceptance;
use super::steps::step;
use crate::graph::{Format, Graph, NodeId, Shape, TagId, TagParts, TypeId};
use crate::oracle::index::Index;
use crate::oracle::types::TypeIndex;
use crate::table::HashMap;
use crate::wellformed::{comes_to, is_scalar};

/// Data of rule `llvm` about the tags of a graph, in addition to the index.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct Llvm {
    acceptance: Acceptance,
    /// For each root, the format of its accepted tags, or `None` if they have both formats.
    formats: HashMap<u32, Option<Format>>,
    /// For each tag of the role *other*, the type and offset that it accesses. `None` if base types
    /// decide nothing about the tag.
    pub(super) aggregates: Vec<Option<(TypeIndex, u64)>>,
    /// True if some cursor leads to a type that was added later than the cursor's own type.
    pub(super) unordered: bool,
}

impl Llvm {
    /// Adds the next tag of the graph to the index.
    pub(super) fn add_tag(&mut self, graph: &Graph, index: &mut Index, tag: TagId) {
        let Ok(parts) = TagParts::of(graph, graph.tag_node(tag)) else {
            return index.push_rejected();
        };
        if !self.acceptance.accepts(graph, index, tag) {
            return index.push_rejected();
        }
        let Some(root) = graph.root_of(TypeId(parts.access)) else {
            // The parents of the access type form a cycle, which the verifier does not detect. So
            // this type counts as its own root, and the tag may alias tags of all other roots.
            return self.push_other(index, parts.access.index, None);
        };
        // If the tags of a root have both formats, a walk in the index may reach types that LLVM
        // does not reach. Tags that were added before the second format are not affected.
        let root = root.node().index;
        let known = self.formats.entry(root).or_insert(Some(parts.format));
        *known = known.filter(|&known| known == parts.format);
        if known.is_none() {
            return self.push_other(index, root, None);
        }
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

    /// Returns whether an accepted size-aware tag accesses an aggregate whose parent is a scalar or
    /// root, and the tag's walk reaches the start of this aggregate.
    fn arrives(&mut self, graph: &Graph, index: &mut Index, parts: &TagParts) -> bool {
        let access = parts.access;
        let parent = Shape::of(graph, access).parent(graph, access);
        if parts.format == Format::Old
            || is_scalar(graph, access)
            || !parent.is_some_and(|parent| is_scalar(graph, parent))
        {
            return false;
        }
        // `end` is the start of the access type, even if no walk leads on from there.
        let end = self.add_walk(graph, index, (access.index, 0), after_new);
        let end = end.unwrap_or_else(|| index.walks.push(access.index, 0, None));
        let start = (parts.base.index, parts.offset.value);
        let cursor = self.add_walk(graph, index, start, after_new);
        cursor.is_some_and(|cursor| comes_to(graph, &index.walks, cursor, end))
    }

    /// Adds an accepted tag's walk. Returns the tag's cursor, or `None` if the tag is not regular.
    fn regular(&mut self, graph: &Graph, index: &mut Index, parts: &TagParts) -> Option<u32> {
        let start = (parts.base.index, parts.offset.value);
        if parts.format == Format::Old {
            // The verifier has checked that the walk leads up to the root.
            return self.add_walk(graph, index, start, after_old);
        }
        if !is_scalar(graph, parts.access) {
            return None;
        }
        let end = self.add_walk(graph, index, (parts.access.index, 0), after_new)?;
        let cursor = self.add_walk(graph, index, start, after_new)?;
        comes_to(graph, &index.walks, cursor, end).then_some(cursor)
    }

    /// Adds the walk from `start`, and returns its first cursor. Returns `None` if `next` does, or
    /// if the walk is too long or the index has no room for it.
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

/// The next type and offset on a walk, or `None` at its end.
type Next = Option<(NodeId, u64)>;

/// Returns the type and offset that follow on the walk of an accepted old-format tag.
fn after_old(graph: &Graph, ty: NodeId, mut offset: u64) -> Option<Next> {
    if Shape::of(graph, ty).is_root() {
        return Some(None);
    }
    let next = step(graph, ty, &mut offset).ok()??;
    Some(Some((next, offset)))
}

/// Returns the type and offset that follow on the walk of an accepted new-format tag.
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
