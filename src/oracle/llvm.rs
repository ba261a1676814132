//! Rule `llvm`: the definition, followed step by step.
//!
//! LLVM: `matchAccessTags` and what it calls, in
//! `lib/Analysis/TypeBasedAliasAnalysis.cpp`.

use std::collections::HashMap;

use super::explain::Clause;
use super::forest::Forest;
use crate::graph::{Format, Graph, NodeId, Operand, Shape, Tag, TagId, TagParts, TypeId};
use crate::verify::Verifier;

/// The tags of a graph, read once; `None` for those that LLVM's verifier
/// rejects.
#[derive(Debug)]
pub(super) struct Tags {
    tags: Vec<Option<Access>>,
    forest: Forest,
}

/// A tag as the walk needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) base: NodeId,
    pub(super) access: NodeId,
    pub(super) offset: u64,
    pub(super) format: Format,
}

impl Access {
    fn is_whole(&self) -> bool {
        self.base == self.access
    }
}

/// LLVM would read an operand that is not there, recurse without end, or stop
/// with a fatal error.
pub(super) struct Crash;

/// How LLVM decides on one order of two tags.
enum Decision {
    Same,
    DifferentRoots,
    /// The least common type covers both, or is reached through a field.
    Common {
        common: NodeId,
        clause: Clause,
    },
    /// One walk meets the other tag's base at its offset, or one of the two
    /// accesses all of that base; LLVM takes the other tag for the generic one.
    Meets(TagId),
}

impl Decision {
    fn clause(&self) -> Clause {
        match self {
            Decision::Same => Clause::SameTag,
            Decision::DifferentRoots => Clause::Roots,
            Decision::Common { clause, .. } => *clause,
            Decision::Meets(_) => Clause::Meets,
        }
    }
}

impl Tags {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut verifier = Verifier::new(graph);
        let read = |tag: TagId| {
            verifier.check(tag).ok()?;
            let parts = TagParts::of(graph, graph.tag_node(tag)).ok()?;
            Some(Access {
                base: parts.base,
                access: parts.access,
                offset: parts.offset.value,
                format: parts.format,
            })
        };
        let tags: Vec<_> = graph.tags().map(read).collect();
        let forest = Forest::new(graph, &tags);
        Tags { tags, forest }
    }

    fn get(&self, tag: TagId) -> Option<Access> {
        self.tags.get(tag.index()).copied().flatten()
    }

    pub(super) fn may_alias(&self, graph: &Graph, a: TagId, b: TagId) -> bool {
        let by_walk = || !self.decide(graph, a, b).is_no_alias();
        let may = self.forest.may_alias(a, b);
        may.inspect(|&may| debug_assert_eq!(may, by_walk())).unwrap_or_else(by_walk)
    }

    pub(super) fn decide(&self, graph: &Graph, a: TagId, b: TagId) -> Clause {
        let one_order = |a, b| match self.decide_in_order(graph, a, b) {
            None => Clause::Malformed,
            Some(Err(Crash)) => Clause::Crash,
            Some(Ok(decision)) => decision.clause(),
        };
        // The two orders differ only on types that contain themselves.
        match one_order(a, b) {
            no if no.is_no_alias() => match one_order(b, a) {
                other if other.is_no_alias() => no,
                may => may,
            },
            may => may,
        }
    }

    /// LLVM: `MDNode::getMostGenericTBAA`.
    pub(super) fn most_generic(&self, graph: &Graph, a: TagId, b: TagId) -> Option<Tag> {
        match self.decide_in_order(graph, a, b)?.ok()? {
            Decision::Same => graph.tag(a).ok(),
            Decision::Meets(tag) => graph.tag(tag).ok(),
            Decision::DifferentRoots => None,
            Decision::Common { common, .. } => {
                let shape = Shape::of(graph, common);
                if shape.is_root() {
                    return None;
                }
                Some(Tag {
                    base: TypeId(common),
                    access: TypeId(common),
                    offset: 0,
                    size: (shape.format == Format::New).then_some(u64::MAX),
                    immutable: false,
                    format: shape.format,
                })
            }
        }
    }

    /// LLVM: `matchAccessTags`. `None` for a rejected tag.
    fn decide_in_order(
        &self,
        graph: &Graph,
        a: TagId,
        b: TagId,
    ) -> Option<Result<Decision, Crash>> {
        if a == b {
            return Some(Ok(Decision::Same));
        }
        let (of_a, of_b) = (self.get(a)?, self.get(b)?);
        let decide = || {
            let Some(common) = least_common_type(graph, of_a.access, of_b.access)? else {
                return Ok(Decision::DifferentRoots);
            };
            if let Some(decision) = subobject(graph, &of_a, (b, &of_b), common)? {
                return Ok(decision);
            }
            if let Some(decision) = subobject(graph, &of_b, (a, &of_a), common)? {
                return Ok(decision);
            }
            Ok(Decision::Common { common, clause: Clause::Unrelated })
        };
        Some(decide())
    }
}

/// LLVM: `mayBeAccessToSubobjectOf`, with `base` the tag that is walked.
fn subobject(
    graph: &Graph,
    base: &Access,
    (other_id, other): (TagId, &Access),
    common: NodeId,
) -> Result<Option<Decision>, Crash> {
    if base.is_whole() && base.access == common {
        return Ok(Some(Decision::Common { common, clause: Clause::Generality }));
    }
    let size_aware = base.format == Format::New;
    let mut offset = base.offset;
    let mut ty = base.base;
    loop {
        if ty == other.base {
            let may = offset == other.offset || ty == base.access || other.is_whole();
            return Ok(Some(if may {
                Decision::Meets(other_id)
            } else {
                Decision::Common { common, clause: Clause::OtherOffset }
            }));
        }
        if size_aware && ty == base.access {
            break;
        }
        match step(graph, ty, &mut offset)? {
            Some(next) => ty = next,
            // In the old format there is no telling fields from parents, so
            // the walk goes up to the root.
            None if size_aware => return Err(Crash),
            None => return Ok(None),
        }
    }
    if has_field(graph, base.access, other.base)? {
        return Ok(Some(Decision::Common { common, clause: Clause::Contains }));
    }
    Ok(None)
}

/// Moves into the last field that does not start after `offset`, and makes
/// `offset` relative to it; `None` past the last type.
///
/// LLVM: `TBAAStructTypeNode::getField`.
pub(super) fn step(graph: &Graph, ty: NodeId, offset: &mut u64) -> Result<Option<NodeId>, Crash> {
    let shape = Shape::of(graph, ty);
    let int = |at| match graph.operand(ty, at) {
        Some(Operand::Int(int)) => Ok(int.value),
        _ => Err(Crash),
    };
    let node = |at| graph.operand(ty, at).and_then(Operand::node);
    match shape.format {
        Format::Old if shape.is_root() => return Ok(None),
        Format::Old if shape.len == 2 => return Ok(node(1)),
        Format::Old => {}
        Format::New if shape.len < 6 => return Ok(None),
        Format::New => {}
    }
    let mut last = None;
    for at in shape.fields() {
        let start = int(at + 1)?;
        if start > *offset {
            break;
        }
        last = Some((at, start));
    }
    // The verifier lets no offset pass that stands before the first field.
    let (at, start) = last.ok_or(Crash)?;
    *offset -= start;
    Ok(node(at))
}

/// Returns the lowest type that is an ancestor of both, or `None` where the
/// roots differ.
///
/// LLVM: `getLeastCommonType`.
fn least_common_type(graph: &Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>, Crash> {
    if a == b {
        return Ok(Some(a));
    }
    let (up_a, up_b) = (ancestors(graph, a)?, ancestors(graph, b)?);
    let shared = up_a.iter().rev().zip(up_b.iter().rev()).take_while(|(a, b)| a == b);
    Ok(shared.last().map(|(&common, _)| common))
}

/// A type and all above it, up to the root.
fn ancestors(graph: &Graph, ty: NodeId) -> Result<Vec<NodeId>, Crash> {
    let mut chain = vec![ty];
    let mut next = ty;
    while let Some(parent) = Shape::of(graph, next).parent(graph, next) {
        chain.push(parent);
        next = parent;
        // A chain longer than the graph has come round.
        if chain.len() > graph.node_count() {
            return Err(Crash);
        }
    }
    Ok(chain)
}

/// Returns whether `wanted` is the type of a field of `ty`, or of a field of a
/// field, and so on.
///
/// LLVM: `hasField`, which visits a type once for every path to it and does
/// not notice a type that contains itself.
fn has_field(graph: &Graph, ty: NodeId, wanted: NodeId) -> Result<bool, Crash> {
    /// A type is open while its fields are looked at.
    #[derive(PartialEq)]
    enum State {
        Open,
        Done,
    }
    let mut states = HashMap::from([(ty, State::Open)]);
    let mut open = vec![(ty, fields(graph, ty)?.into_iter())];
    while let Some((node, rest)) = open.last_mut() {
        let Some(field) = rest.next() else {
            states.insert(*node, State::Done);
            open.pop();
            continue;
        };
        if field == wanted {
            return Ok(true);
        }
        match states.get(&field) {
            Some(State::Done) => {}
            Some(State::Open) => return Err(Crash),
            None => {
                states.insert(field, State::Open);
                open.push((field, fields(graph, field)?.into_iter()));
            }
        }
    }
    Ok(false)
}

/// LLVM: `TBAAStructTypeNode::getNumFields` and `getFieldType`.
fn fields(graph: &Graph, ty: NodeId) -> Result<Vec<NodeId>, Crash> {
    let shape = Shape::of(graph, ty);
    // LLVM subtracts the operands before the first field without looking.
    let operands = shape.len.checked_sub(shape.first_field()).ok_or(Crash)?;
    (0..operands / shape.stride())
        .map(|field| {
            let at = shape.first_field() + field * shape.stride();
            graph.operand(ty, at).and_then(Operand::node).ok_or(Crash)
        })
        .collect()
}
