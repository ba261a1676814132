//! Rule `llvm` in constant time.
//!
//! **Scalars.** Two tags that the verifier accepts and that access scalars may
//! alias iff their roots differ, or one tag's cursor lies on the other's walk:
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
//! **Aggregates** (*wide* tags). The walk of such a tag ends at the type
//! accessed. What `mayBeAccessToSubobjectOf` finds out with one of the two
//! tags aggregate is, in terms of cursors, any of these:
//!
//! - the other's base is what this one accesses, or lies inside it;
//! - the other is a scalar above the parent of what this one accesses;
//! - one's cursor lies on the other's walk before that walk ends;
//! - one is whole, and the other's walk passes its type at any offset.
//!
//! LLVM tries one tag's walk first, and a walk that meets the other's base at
//! another offset says no at once; but the definition here takes the better of
//! both orders, so that the four do not hide one another.
//!
//! **The rest** is walked, query by query: tags whose walk ends at another
//! scalar than they access (LLVM crashes on those), with parents that are no
//! scalars, of two formats under one root, or whose types contain more than
//! [`Below`] keeps.

use super::accept::Acceptance;
use super::walk::{fields, step};
use crate::graph::{Format, Graph, NodeId, Shape, TagId, TagParts, TypeId};
use crate::oracle::below::Below;
use crate::oracle::compiled::Compiled;
use crate::table::{HashMap, HashSet};

/// What is known of a graph's tags beside their records.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct Compiler {
    acceptance: Box<Acceptance>,
    /// The format of accepted tags under each root; `None` for both.
    formats: HashMap<u32, Option<Format>>,
    below: Below,
    wide: Vec<Wide>,
    /// Whether some cursor's successor has a type added later than its own.
    unordered: bool,
}

/// An accepted tag that accesses an aggregate.
#[derive(Clone, Copy, Debug)]
struct Wide {
    access: u32,
    whole: bool,
    /// The cursor at the start of what is accessed.
    end: u32,
    /// The cursor of the access type's parent.
    up: u32,
}

/// One of two tags to compare.
struct Walk<'w> {
    base: u32,
    cursor: u32,
    wide: Option<&'w Wide>,
}

impl Compiler {
    /// Adds the graph's next tag.
    pub(in crate::oracle) fn add(&mut self, graph: &Graph, compiled: &mut Compiled, tag: TagId) {
        let Ok(parts) = TagParts::of(graph, graph.tag_node(tag)) else {
            return compiled.push_rejected();
        };
        if !self.acceptance.accepts(graph, compiled, tag) {
            return compiled.push_rejected();
        }
        let Some(root) = graph.root_of(TypeId(parts.access)) else {
            // Size-aware parents in a cycle, which the verifier does not see.
            // No other access type is known to have an ancestor in common.
            return compiled.push_ask(parts.access.index);
        };
        // Across formats a walk may meet what LLVM's would not.
        let root = root.node().index;
        let known = self.formats.entry(root).or_insert(Some(parts.format));
        if known.is_some_and(|known| known != parts.format) {
            *known = None;
            compiled.ask_under(root);
        }
        if known.is_none() {
            return compiled.push_ask(root);
        }
        match self.place(graph, compiled, &parts) {
            None => compiled.push_ask(root),
            Some((cursor, None)) => compiled.push_regular(root, cursor),
            Some((cursor, Some(wide))) => {
                let mut filter = self.below.filter(wide.access);
                let types = compiled.types_from(cursor).chain(compiled.types_from(wide.up));
                types.for_each(|ty| filter.add(ty));
                self.wide.push(wide);
                // A walk may come through the base at the very offset.
                compiled.push_wide(root, cursor, filter, Some(parts.base.index));
            }
        }
    }

    /// Returns an accepted tag's cursor, its walk added, and whether the tag
    /// is wide; `None` if the definition must be asked.
    fn place(
        &mut self,
        graph: &Graph,
        compiled: &mut Compiled,
        parts: &TagParts,
    ) -> Option<(u32, Option<Wide>)> {
        let start = (parts.base, parts.offset.value);
        let access = parts.access;
        if parts.format == Format::Old {
            // The verifier saw that the walk goes up to the root.
            return Some((self.lay(graph, compiled, start, after_old)?, None));
        }
        if is_scalar(graph, access) {
            let end = self.lay(graph, compiled, (access, 0), after_new)?;
            return Some((self.descend(graph, compiled, start, end)?, None));
        }
        let inside = |limit| inside(graph, access, limit);
        if !self.below.add(access.index, graph.node_count(), inside) {
            return None;
        }
        let parent = Shape::of(graph, access).parent(graph, access);
        let parent = parent.filter(|&parent| is_scalar(graph, parent))?;
        let up = self.lay(graph, compiled, (parent, 0), after_new)?;
        // What lies at the start of the access type is of no consequence here.
        let end = self.lay(graph, compiled, (access, 0), after_new);
        let end = end.unwrap_or_else(|| compiled.push(access.index, 0, None));
        let cursor = self.descend(graph, compiled, start, end)?;
        let whole = parts.base == access;
        Some((cursor, Some(Wide { access: access.index, whole, end, up })))
    }

    /// Returns the cursor at the start of a size-aware walk, if it comes to
    /// cursor `end` and to no scalar before that.
    fn descend(
        &mut self,
        graph: &Graph,
        compiled: &mut Compiled,
        start: (NodeId, u64),
        end: u32,
    ) -> Option<u32> {
        let cursor = self.lay(graph, compiled, start, after_new)?;
        comes_to(graph, compiled, cursor, end).then_some(cursor)
    }

    /// Adds the cursors from `start` on until one is known or has none after
    /// it; `None` where `next` does not know how to go on.
    fn lay(
        &mut self,
        graph: &Graph,
        compiled: &mut Compiled,
        start: (NodeId, u64),
        next: fn(&Graph, NodeId, u64) -> Option<Next>,
    ) -> Option<u32> {
        let mut path = Vec::new();
        let mut at = start;
        let mut cursor = loop {
            if let Some(known) = compiled.find(at.0.index, at.1) {
                break Some(known);
            }
            path.push(at);
            match next(graph, at.0, at.1)? {
                Some(next) if path.len() <= graph.node_count() => at = next,
                Some(_) => return None,
                None => break None,
            }
        };
        for (ty, offset) in path.into_iter().rev() {
            self.unordered |= cursor.is_some_and(|next| compiled.ty(next) > ty.index);
            cursor = Some(compiled.push(ty.index, offset, cursor));
        }
        cursor
    }

    /// Decides on two tags of one root, of which one is wide.
    pub(in crate::oracle) fn may_alias(&self, compiled: &Compiled, a: usize, b: usize) -> bool {
        let [x, y] = [a, b].map(|tag| Walk {
            base: compiled.base(tag),
            cursor: compiled.cursor(tag),
            wide: compiled.wide(tag).map(|wide| &self.wide[wide]),
        });
        a == b || self.touches(compiled, &x, &y) || self.touches(compiled, &y, &x)
    }

    /// Returns whether the walk of `x`, if it is wide, gives `MayAlias`.
    fn touches(&self, compiled: &Compiled, x: &Walk<'_>, y: &Walk<'_>) -> bool {
        let Some(wide) = x.wide else { return false };
        let forest = &compiled.forest;
        let (at, other) = (x.cursor, y.cursor);
        forest.is_ancestor(other, wide.up)
            || forest.is_ancestor(other, at) && forest.is_ancestor(wide.end, other)
            || forest.is_ancestor(at, other)
                && y.wide.is_none_or(|wide| forest.is_ancestor(wide.end, at))
            || wide.whole && self.passes(compiled, other, wide.access)
            || self.below.contains(wide.access, y.base)
    }

    /// Returns whether the walk from `cursor` comes to type `ty`.
    fn passes(&self, compiled: &Compiled, cursor: u32, ty: u32) -> bool {
        let forest = &compiled.forest;
        if self.unordered {
            let mut walk = forest.walk(cursor);
            return walk.any(|at| compiled.ty(at) == ty);
        }
        compiled.ty(cursor) >= ty
            && compiled.ty(forest.climb(cursor, |at| compiled.ty(at) >= ty)) == ty
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

/// Whether a size-aware walk comes from a cursor to cursor `end`, and to no scalar
/// before that: past a scalar, the verifier goes another way than the cursors.
pub(super) fn comes_to(graph: &Graph, compiled: &Compiled, cursor: u32, end: u32) -> bool {
    let forest = &compiled.forest;
    let is_scalar = |cursor| is_scalar(graph, graph.node_at(compiled.ty(cursor)));
    let straight = cursor == end
        || !is_scalar(end)
        || !is_scalar(cursor)
            && forest.parent(forest.climb(cursor, |cursor| !is_scalar(cursor))) == Some(end);
    straight && forest.is_ancestor(end, cursor)
}

/// Whether a size-aware type is a scalar or a root.
pub(super) fn is_scalar(graph: &Graph, ty: NodeId) -> bool {
    let shape = Shape::of(graph, ty);
    shape.is_root() || (shape.format, shape.len) == (Format::New, 3)
}

/// Lists a type and all inside it. `None` where LLVM's search might not end or
/// not be defined, and beyond `limit`.
fn inside(graph: &Graph, ty: NodeId, limit: usize) -> Option<Vec<u32>> {
    let mut found = vec![ty.index];
    let mut done = HashSet::new();
    let mut open = HashSet::from([ty]);
    let mut stack = vec![(ty, fields(graph, ty).ok()?.into_iter())];
    while let Some((node, rest)) = stack.last_mut() {
        let Some(field) = rest.next() else {
            open.remove(node);
            done.insert(*node);
            stack.pop();
            continue;
        };
        if done.contains(&field) {
            continue;
        }
        if !open.insert(field) || found.len() >= limit {
            return None;
        }
        found.push(field.index);
        stack.push((field, fields(graph, field).ok()?.into_iter()));
    }
    Some(found)
}
