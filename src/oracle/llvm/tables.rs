//! Rule `llvm` in constant time.
//!
//! **Scalars.** Two tags that the verifier accepts and that access scalars are
//! regular: they may alias iff their roots differ, or one tag's cursor lies on
//! the other's walk:
//!
//! - *A whole tag covers its descendants.* A tag that ends at a descendant
//!   walks up through the whole tag's scalar, which is its cursor.
//! - *A walk meets the other's base at the other's offset*: at its cursor. Met
//!   at another offset, the answer is no, and no cursor can lie on the other
//!   walk: a walk that came back to the base would visit it twice, which the
//!   verifier rejects. A base that is whole or is what the walk accesses is a
//!   scalar, which the verifier lets be met at offset 0 only.
//!
//! In the old format nothing tells fields from parents, and the walk goes on
//! from the scalar by itself.
//!
//! **Aggregates** are irregular. The walk of such a tag ends at the type
//! accessed. What `mayBeAccessToSubobjectOf` finds out with one of the two tags
//! irregular is, in terms of cursors, any of these:
//!
//! - the other's base is what this one accesses, or lies inside it;
//! - the other is a scalar above the parent of what this one accesses;
//! - one's cursor lies on the other's walk before that walk ends;
//! - one is whole, and the other's walk comes to its type at any offset.
//!
//! LLVM tries one tag's walk first, and a walk that meets the other's base at
//! another offset says no at once; but the definition here takes the better of
//! both orders, so that the four do not hide one another.
//!
//! **Unindexed** are tags whose walk ends at another scalar than they access
//! (LLVM crashes on those), with parents that are no scalars, whose types contain
//! more than [`Inside`] lists, or that were added once both formats are under
//! their root.

use super::accept::Acceptance;
use super::steps::{Crash, fields, step};
use crate::graph::{Format, Graph, NodeId, Shape, TagId, TagParts, TypeId};
use crate::oracle::index::{Index, Role};
use crate::oracle::inside::{self, Inside};
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::rule::Candidates;
use crate::table::{HashMap, HashSet};
use crate::type_set::TypeSet;
use crate::wellformed::{comes_to, is_scalar};

/// What is known of a graph's tags beside the index.
#[derive(Clone, Debug, Default)]
pub(super) struct LlvmTables {
    acceptance: Acceptance,
    /// The format of accepted tags under each root; `None` for both.
    formats: HashMap<u32, Option<Format>>,
    /// The types inside each type that a tag accesses, and it itself.
    inside: Inside<u32, ()>,
    /// What is known of each irregular tag.
    aggregates: Vec<Aggregate>,
    /// Whether some cursor's successor has a type added later than its own.
    unordered: bool,
}

/// An accepted tag that accesses an aggregate.
#[derive(Clone, Copy, Debug)]
struct Aggregate {
    /// The list of what is inside the type accessed.
    inside: u32,
    whole: bool,
    /// The cursor at the start of what is accessed.
    end: u32,
    /// The cursor of the access type's parent.
    up: u32,
    /// The types on the way to `end`, and from `up` on.
    around: TypeSet,
}

/// One of two tags to compare.
struct LlvmTag<'t> {
    cursor: u32,
    aggregate: Option<&'t Aggregate>,
}

impl LlvmTables {
    /// Adds the graph's next tag to the index.
    pub(super) fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) {
        let Ok(parts) = TagParts::of(graph, graph.tag_node(tag)) else {
            return index.push_rejected();
        };
        if !self.acceptance.accepts(graph, index, tag) {
            return index.push_rejected();
        }
        let Some(root) = graph.root_of(TypeId(parts.access)) else {
            // Size-aware parents in a cycle, which the verifier does not see.
            // No other access type is known to have an ancestor in common.
            return index.push_unindexed(parts.access.index, None);
        };
        // Across formats a walk may meet what LLVM's would not. Tags added before the
        // other format came are of one.
        let root = root.node().index;
        let known = self.formats.entry(root).or_insert(Some(parts.format));
        *known = known.filter(|&known| known == parts.format);
        if known.is_none() {
            return index.push_unindexed(root, None);
        }
        match self.place(graph, index, &parts) {
            None => index.push_unindexed(root, None),
            Some((cursor, None)) => index.push_regular(root, cursor),
            Some((cursor, Some(aggregate))) => {
                let mut bases = self.inside.types(aggregate.inside);
                bases.extend(
                    index.walks.types_from(cursor).chain(index.walks.types_from(aggregate.up)),
                );
                self.aggregates.push(aggregate);
                index.push_irregular(root, cursor, bases, true);
            }
        }
    }

    /// Returns an accepted tag's cursor, its walk added, and what is to be known
    /// of an irregular tag; `None` if the definition must decide.
    fn place(
        &mut self,
        graph: &Graph,
        index: &mut Index,
        parts: &TagParts,
    ) -> Option<(u32, Option<Aggregate>)> {
        let start = (parts.base.index, parts.offset.value);
        let access = parts.access;
        if parts.format == Format::Old {
            // The verifier saw that the walk goes up to the root.
            return Some((self.add_walk(graph, index, start, after_old)?, None));
        }
        if is_scalar(graph, access) {
            let end = self.add_walk(graph, index, (access.index, 0), after_new)?;
            return Some((self.descend(graph, index, start, end)?, None));
        }
        let search = |budget: &mut Budget| inside(graph, access, budget);
        let inside = self.inside.add(access.index, graph.node_count(), search)?;
        let parent = Shape::of(graph, access).parent(graph, access);
        let parent = parent.filter(|&parent| is_scalar(graph, parent))?;
        let up = self.add_walk(graph, index, (parent.index, 0), after_new)?;
        // What lies at the start of the access type is of no consequence here.
        let end = self.add_walk(graph, index, (access.index, 0), after_new);
        let end = end.unwrap_or_else(|| index.walks.push(access.index, 0, None));
        let cursor = self.descend(graph, index, start, end)?;
        let whole = parts.base == access;
        let around = index.walks.types_on_walk(cursor).union(index.walks.types_on_walk(up));
        Some((cursor, Some(Aggregate { inside, whole, end, up, around })))
    }

    /// Returns the cursor at the start of a size-aware walk, if it comes to
    /// cursor `end` and to no scalar before that.
    fn descend(
        &mut self,
        graph: &Graph,
        index: &mut Index,
        start: (u32, u64),
        end: u32,
    ) -> Option<u32> {
        let cursor = self.add_walk(graph, index, start, after_new)?;
        comes_to(graph, &index.walks, cursor, end).then_some(cursor)
    }

    /// Adds the cursors from `start` on until one is known or has none after
    /// it; `None` where `next` does not know how to go on.
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

    /// Decides on two tags of one root, of which one is irregular; `None` if
    /// one is not indexed.
    pub(super) fn decide(&self, index: &Index, a: TagId, b: TagId) -> Option<bool> {
        let side = |tag: TagId| match index.role(tag.index()) {
            Role::Regular(_, cursor) => Some(LlvmTag { cursor, aggregate: None }),
            Role::Irregular(_, cursor, number) => {
                Some(LlvmTag { cursor, aggregate: Some(&self.aggregates[number as usize]) })
            }
            Role::Rejected | Role::Unindexed(_) => None,
        };
        let (x, y) = (side(a)?, side(b)?);
        Some(a == b || self.touches(index, &x, &y) || self.touches(index, &y, &x))
    }

    /// Returns whether the walk of `x`, if it is irregular, gives `MayAlias`.
    fn touches(&self, index: &Index, x: &LlvmTag<'_>, y: &LlvmTag<'_>) -> bool {
        let Some(aggregate) = x.aggregate else { return false };
        let (forest, from, other) = (&index.walks.forest, x.cursor, y.cursor);
        let (base, other_base) = (index.walks.ty(from), index.walks.ty(other));
        if !self.inside.of_type(aggregate.inside, other_base).is_empty() {
            return true;
        }
        if aggregate.around.may_have(other_base)
            && (forest.is_ancestor(other, aggregate.up)
                || forest.is_ancestor(other, from) && forest.is_ancestor(aggregate.end, other))
        {
            return true;
        }
        let met = self.find_on_walk(index, other, base);
        met.is_some_and(|at| {
            aggregate.whole
                || at == from && y.aggregate.is_none_or(|y| forest.is_ancestor(y.end, at))
        })
    }

    /// Returns the place at which the walk from `cursor` comes to type `ty`.
    fn find_on_walk(&self, index: &Index, cursor: u32, ty: u32) -> Option<u32> {
        index.walks.find_on_walk(cursor, ty, (!self.unordered).then_some(|ty| ty))
    }

    /// As [`Rule::was_short`](crate::oracle::rule::Rule::was_short).
    pub(super) fn was_short(&self) -> bool {
        self.inside.was_short()
    }

    /// Whether on all walks each type is older than the one before it.
    pub(super) fn is_ordered(&self) -> bool {
        !self.unordered
    }

    /// Returns a regular tag's cursor, and `true`; or the cursor of the parent of
    /// what an irregular tag accesses.
    pub(super) fn up(&self, role: Role) -> Option<(u32, bool)> {
        match role {
            Role::Regular(_, cursor) => Some((cursor, true)),
            Role::Irregular(.., number) => Some((self.aggregates[number as usize].up, false)),
            Role::Rejected | Role::Unindexed(_) => None,
        }
    }

    /// Says which tags an irregular one may alias at most.
    pub(super) fn candidates(&self, index: &Index, tag: TagId) -> Option<Candidates> {
        let Role::Irregular(_, cursor, number) = index.role(tag.index()) else { return None };
        let aggregate = &self.aggregates[number as usize];
        let mut bases: Vec<u32> = inside::types(self.inside.list(aggregate.inside)).collect();
        bases.extend(index.walks.types_from(cursor).chain(index.walks.types_from(aggregate.up)));
        Some(Candidates { bases, base: index.walks.ty(cursor) })
    }
}

/// The place after one, if it is not the last.
type Next = Option<(NodeId, u64)>;

/// The cursor after one of an accepted old-format walk.
fn after_old(graph: &Graph, ty: NodeId, mut offset: u64) -> Option<Next> {
    if Shape::of(graph, ty).is_root() {
        return Some(None);
    }
    let next = step(graph, ty, &mut offset).ok()??;
    Some(Some((next, offset)))
}

/// The cursor after a size-aware one: down to a scalar, then up.
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

/// Lists a type and all inside it. `None` where LLVM's search might not end or
/// not be defined.
fn inside(graph: &Graph, ty: NodeId, budget: &mut Budget) -> Result<Vec<(u32, ())>, Exhausted> {
    let fields = |ty| fields(graph, ty).map(Vec::into_iter).map_err(|Crash| Exhausted);
    let mut found = vec![(ty.index, ())];
    let mut done = HashSet::new();
    let mut open = HashSet::from([ty]);
    let mut stack = vec![(ty, fields(ty)?)];
    while let Some((node, rest)) = stack.last_mut() {
        budget.spend()?;
        let Some(field) = rest.next() else {
            open.remove(node);
            done.insert(*node);
            stack.pop();
            continue;
        };
        if done.contains(&field) {
            continue;
        }
        if !open.insert(field) {
            return Err(Exhausted);
        }
        found.push((field.index, ()));
        stack.push((field, fields(field)?));
    }
    Ok(found)
}
