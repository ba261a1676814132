//! Rule `llvm` in constant time, for tags that access a scalar.
//!
//! **Theory.** A *cursor* is a place on a walk. Downwards it is a type and an
//! offset into it, and its successor is the field at that offset; at the scalar
//! that the tag accesses the walk turns upwards, to the scalar's parents. So
//! every cursor has one successor, and cursors form a forest whose roots are
//! the type systems' roots. A tag begins at the cursor (base, offset). In the
//! old format nothing tells fields from parents, and there is one direction.
//!
//! Two tags that the verifier accepts and that access scalars may alias iff
//! their roots differ, or one tag's cursor lies on the other's walk:
//!
//! - *A whole tag covers its descendants.* A tag that ends at a descendant
//!   walks up through the whole tag's scalar, which is its cursor.
//! - *A walk meets the other's base at the other's offset*: at its cursor. Met
//!   at another offset, the answer is no, and no cursor can lie on the other
//!   walk: a walk that came back to the base would visit it twice, which the
//!   verifier rejects. A base that is whole or is what the walk accesses is a
//!   scalar, which the verifier lets be met at offset 0 only.
//!
//! That is an ancestor test, and with the forest numbered in preorder it is
//! whether two intervals meet. Tags that access aggregates, whose walk ends at
//! another scalar than they access (LLVM crashes on those), or with parents
//! that are no scalars are *irregular*: [`super::Tags`] walks.

use super::walk::{Access, step};
use crate::graph::{Format, Graph, NodeId, Shape, TagId, TypeId};
use crate::table::HashMap;

/// What a query reads of a tag.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// First and past-the-last preorder number under the tag's cursor.
    start: u32,
    end: u32,
    /// The cursor at the top of the tag's tree, or [`IRREGULAR`].
    root: u32,
}

const IRREGULAR: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Forest {
    records: Vec<Record>,
}

impl Forest {
    /// Builds the forest of the walks of `tags`, which the verifier accepts
    /// where they are not `None`.
    pub(super) fn new(graph: &Graph, tags: &[Option<Access>]) -> Self {
        let formats = |format| move |tag: &&Access| tag.format == format;
        let accepted = || tags.iter().flatten();
        // Across formats a walk may meet what LLVM's would not.
        let mixed = accepted().find(formats(Format::Old)).is_some()
            && accepted().find(formats(Format::New)).is_some();
        let (next, down, up) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut cursors = Cursors { graph, next, down, up };
        let at: Vec<_> = tags
            .iter()
            .map(|tag| tag.as_ref().filter(|_| !mixed).and_then(|tag| cursors.walk(tag)))
            .collect();
        let intervals = number(&cursors.next);
        let records = at.into_iter().map(|cursor| match cursor {
            Some(cursor) => intervals[cursor as usize],
            None => Record { start: 0, end: 0, root: IRREGULAR },
        });
        Forest { records: records.collect() }
    }

    /// Returns whether the tags may alias, or `None` if one is irregular.
    pub(super) fn may_alias(&self, a: TagId, b: TagId) -> Option<bool> {
        let (a, b) = (self.records.get(a.index())?, self.records.get(b.index())?);
        if a.root == IRREGULAR || b.root == IRREGULAR {
            return None;
        }
        Some(a.root != b.root || a.start < b.end && b.start < a.end)
    }
}

/// The cursors of the walks so far.
struct Cursors<'g> {
    graph: &'g Graph,
    /// Each cursor's successor; a root's is itself.
    next: Vec<u32>,
    /// Cursors on the way down, and in the old format all. The type is the
    /// scalar at which the way down ends.
    down: HashMap<(NodeId, u64), (u32, NodeId)>,
    /// Size-aware scalars and roots on the way up.
    up: HashMap<NodeId, u32>,
}

impl Cursors<'_> {
    /// Adds a tag's walk up to the root. `None` if the tag is irregular.
    fn walk(&mut self, tag: &Access) -> Option<u32> {
        let end = match tag.format {
            // A verified walk goes up to the root.
            Format::Old => None,
            Format::New => Some(self.climb(tag.access)?),
        };
        let mut path = Vec::new();
        let (mut ty, mut offset) = (tag.base, tag.offset);
        // A verified walk comes to no type twice: it has an end.
        let mut next = loop {
            if end.is_some() && ty == tag.access {
                break end;
            }
            if let Some(&(known, scalar)) = self.down.get(&(ty, offset)) {
                if end.is_some() && scalar != tag.access {
                    return None;
                }
                break Some(known);
            }
            path.push((ty, offset));
            if end.is_none() && Shape::of(self.graph, ty).is_root() {
                break None;
            }
            ty = step(self.graph, ty, &mut offset).ok()??;
        };
        for cursor in path.into_iter().rev() {
            let index = self.push(next);
            self.down.insert(cursor, (index, tag.access));
            next = Some(index);
        }
        next
    }

    /// Adds a size-aware scalar and its parents. `None` unless all are scalars
    /// of three operands, under a root: the verifier does not look at them.
    fn climb(&mut self, scalar: NodeId) -> Option<u32> {
        self.graph.root_of(TypeId(scalar))?;
        let mut path = Vec::new();
        let mut ty = scalar;
        let mut next = loop {
            if let Some(&known) = self.up.get(&ty) {
                break Some(known);
            }
            path.push(ty);
            let shape = Shape::of(self.graph, ty);
            match (shape.format, shape.len) {
                (Format::New, 3) => ty = shape.parent(self.graph, ty)?,
                _ if shape.is_root() => break None,
                _ => return None,
            }
        };
        for ty in path.into_iter().rev() {
            let index = self.push(next);
            self.up.insert(ty, index);
            next = Some(index);
        }
        next
    }

    /// Adds a cursor with this successor, or without one.
    fn push(&mut self, next: Option<u32>) -> u32 {
        let index = self.next.len() as u32;
        self.next.push(next.unwrap_or(index));
        index
    }
}

/// Numbers a forest in preorder, given each node's parent (a root's is itself).
fn number(parents: &[u32]) -> Vec<Record> {
    let is_root = |node: u32| parents[node as usize] == node;
    // Subtree sizes: a parent stands before its children, for a walk's end is
    // added first.
    let mut sizes = vec![1_u32; parents.len()];
    for node in (0..parents.len() as u32).rev().filter(|&node| !is_root(node)) {
        sizes[parents[node as usize] as usize] += sizes[node as usize];
    }
    let mut records: Vec<Record> = Vec::with_capacity(parents.len());
    // The first number not yet taken, under each node and among the roots.
    let mut free = vec![0; parents.len()];
    let mut free_root = 0;
    for node in 0..parents.len() as u32 {
        let parent = parents[node as usize];
        let (slot, root) = if is_root(node) {
            (&mut free_root, node)
        } else {
            (&mut free[parent as usize], records[parent as usize].root)
        };
        let start = *slot;
        *slot += sizes[node as usize];
        free[node as usize] = start + 1;
        records.push(Record { start, end: start + sizes[node as usize], root });
    }
    records
}
