//! Rule `llvm`: the definition, followed step by step.
//!
//! LLVM: `matchAccessTags` and what it calls, in
//! `lib/Analysis/TypeBasedAliasAnalysis.cpp`.

mod accept;
mod compile;
mod walk;

use super::compiled::Compiled;
use super::explain::Clause;
use crate::graph::{Format, Graph, NodeId, Shape, Tag, TagId, TagParts, TypeId};
pub(in crate::oracle) use compile::Compiler;
use walk::{Access, Crash, has_field, least_common_type, step};

/// The definition, on the tags that LLVM's verifier accepts.
#[derive(Clone, Copy)]
pub(super) struct Definition<'d> {
    pub(super) graph: &'d Graph,
    pub(super) compiled: &'d Compiled,
}

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

impl Definition<'_> {
    /// Reads a tag; `None` if the verifier rejects it.
    fn get(self, tag: TagId) -> Option<Access> {
        if self.compiled.is_rejected(tag.index()) {
            return None;
        }
        let parts = TagParts::of(self.graph, self.graph.tag_node(tag)).ok()?;
        Some(Access {
            base: parts.base,
            access: parts.access,
            offset: parts.offset.value,
            format: parts.format,
        })
    }

    pub(super) fn decide(self, a: TagId, b: TagId) -> Clause {
        let one_order = |a, b| match self.decide_in_order(a, b) {
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
    pub(super) fn most_generic(self, a: TagId, b: TagId) -> Option<Tag> {
        let graph = self.graph;
        match self.decide_in_order(a, b)?.ok()? {
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
    fn decide_in_order(self, a: TagId, b: TagId) -> Option<Result<Decision, Crash>> {
        let graph = self.graph;
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
