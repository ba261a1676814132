//! Rule `llvm`: the definition, followed step by step.
//!
//! LLVM: `matchAccessTags` and what it calls, in
//! `lib/Analysis/TypeBasedAliasAnalysis.cpp`.

mod accept;
mod generic;
mod sound;
mod steps;
mod tables;

use super::clause::Clause;
use super::index::{Index, Role};
use super::rule::{Decision, Reach, Rule};
use crate::access::Access;
use crate::graph::{Format, Graph, NodeId, Tag, TagId, TagParts};
use crate::wellformed::Verifier;
use steps::{Crash, Path, has_field, least_common_type, step};

/// Rule `llvm`.
#[derive(Clone, Debug, Default)]
pub(super) struct Llvm(tables::LlvmTables);

impl Rule for Llvm {
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) {
        self.0.add(graph, index, tag);
    }

    fn reach(&self, index: &Index, tag: TagId, _: &mut u64) -> Reach {
        match index.role(tag.index) {
            Role::Rejected => Reach::Everything,
            _ => index.base(tag.index).map_or(Reach::Unknown, Reach::Base),
        }
    }

    /// LLVM reads the tags alone.
    fn by_cursor(&self, index: &Index, (a, b): (Access, Access)) -> Option<bool> {
        index.decide(a.tag?.index, b.tag?.index)
    }

    /// The index knows the base type of every tag that has one.
    fn by_base(&self, _: &Index, _: (Access, Access), _: &mut u64) -> Option<bool> {
        None
    }

    fn define(&self, graph: &Graph, index: &Index, pair: (Access, Access), why: bool) -> Decision {
        let clause = match (pair.0.tag, pair.1.tag) {
            (Some(a), Some(b)) if graph.owns_tag(a) && graph.owns_tag(b) => {
                let quick = if why { None } else { sound::clause(&self.0, index, (a, b)) };
                quick.unwrap_or_else(|| LlvmDefinition { graph, index }.clause(a, b))
            }
            (Some(_), Some(_)) => Clause::ForeignTag,
            _ => Clause::NoTag,
        };
        clause.into()
    }

    fn most_generic(&self, graph: &Graph, index: &Index, a: TagId, b: TagId) -> Option<Tag> {
        let by_definition = || LlvmDefinition { graph, index }.most_generic(a, b);
        let roles = (index.role(a.index), index.role(b.index));
        let found = match (index.decide(a.index, b.index), roles) {
            _ if a == b || !self.0.is_ordered() => by_definition(),
            (Some(false), (Role::Regular(_, x), Role::Regular(_, y))) => {
                generic::of_apart(graph, index, [(a, x), (b, y)])
            }
            (Some(false), _) => generic::above(graph, [a, b]),
            (_, (Role::Regular(root, x), Role::Regular(other, y))) => {
                let same = root == other;
                same.then(|| generic::most_generic(graph, index, [(a, x), (b, y)])).flatten()
            }
            _ => by_definition(),
        };
        if cfg!(tbaa_self_check) {
            let plain = |tag: Option<Tag>| tag.map(|tag| Tag { immutable: false, ..tag });
            assert_eq!(plain(found), plain(by_definition()), "{a:?}, {b:?}");
        }
        found
    }

    fn is_well_formed(
        &self,
        graph: &Graph,
        index: &Index,
        tag: TagId,
        _: &mut u64,
    ) -> Option<bool> {
        let known = index.role(tag.index) != Role::Rejected;
        Some(known || Verifier::new(graph).check(tag).is_ok())
    }
}

/// The definition, on the tags that LLVM's verifier accepts.
#[derive(Clone, Copy)]
struct LlvmDefinition<'d> {
    graph: &'d Graph,
    index: &'d Index,
}

/// LLVM's decision on one order of two tags.
enum Match {
    Same,
    DifferentRoots,
    /// The least common type covers both, or a field leads to it.
    Common {
        common: NodeId,
        clause: Clause,
    },
    /// One walk meets the other tag's base at its offset, or one of the two accesses all of that
    /// base: the other tag is the generic one for LLVM.
    Meets(TagId),
}

impl Match {
    fn clause(&self) -> Clause {
        match self {
            Match::Same => Clause::SameTag,
            Match::DifferentRoots => Clause::Roots,
            Match::Common { clause, .. } => *clause,
            Match::Meets(_) => Clause::Meets,
        }
    }
}

impl LlvmDefinition<'_> {
    /// Reads a tag; `None` if the verifier rejects it.
    fn get(self, tag: TagId) -> Option<Path> {
        if self.index.role(tag.index) == Role::Rejected {
            return None;
        }
        let parts = TagParts::of(self.graph, self.graph.tag_node(tag)).ok()?;
        Some(Path {
            base: parts.base,
            access: parts.access,
            offset: parts.offset.value,
            format: parts.format,
        })
    }

    fn clause(self, a: TagId, b: TagId) -> Clause {
        let one_order = |a, b| match self.match_in_order(a, b) {
            None => Clause::Malformed,
            Some(Err(Crash)) => Clause::Crash,
            Some(Ok(found)) => found.clause(),
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
    fn most_generic(self, a: TagId, b: TagId) -> Option<Tag> {
        let graph = self.graph;
        match self.match_in_order(a, b)?.ok()? {
            Match::Same => graph.tag(a).ok(),
            Match::Meets(tag) => graph.tag(tag).ok(),
            Match::DifferentRoots => None,
            Match::Common { common, .. } => generic::whole(graph, common),
        }
    }

    /// LLVM: `matchAccessTags`. `None` for a rejected tag.
    fn match_in_order(self, a: TagId, b: TagId) -> Option<Result<Match, Crash>> {
        let graph = self.graph;
        if a == b {
            return Some(Ok(Match::Same));
        }
        let (of_a, of_b) = (self.get(a)?, self.get(b)?);
        let decide = || {
            let Some(common) = least_common_type(graph, of_a.access, of_b.access)? else {
                return Ok(Match::DifferentRoots);
            };
            if let Some(found) = subobject(graph, &of_a, (b, &of_b), common)? {
                return Ok(found);
            }
            if let Some(found) = subobject(graph, &of_b, (a, &of_a), common)? {
                return Ok(found);
            }
            Ok(Match::Common { common, clause: Clause::Unrelated })
        };
        Some(decide())
    }
}

/// LLVM: `mayBeAccessToSubobjectOf`, with `base` the tag that is walked.
fn subobject(
    graph: &Graph,
    base: &Path,
    (other_id, other): (TagId, &Path),
    common: NodeId,
) -> Result<Option<Match>, Crash> {
    if base.is_whole() && base.access == common {
        return Ok(Some(Match::Common { common, clause: Clause::Generality }));
    }
    let size_aware = base.format == Format::New;
    let mut offset = base.offset;
    let mut ty = base.base;
    loop {
        if ty == other.base {
            let may = offset == other.offset || ty == base.access || other.is_whole();
            return Ok(Some(if may {
                Match::Meets(other_id)
            } else {
                Match::Common { common, clause: Clause::OtherOffset }
            }));
        }
        if size_aware && ty == base.access {
            break;
        }
        match step(graph, ty, &mut offset)? {
            Some(next) => ty = next,
            // The old format does not distinguish fields from parents, so the walk continues up to
            // the root.
            None if size_aware => return Err(Crash),
            None => return Ok(None),
        }
    }
    if has_field(graph, base.access, other.base)? {
        return Ok(Some(Match::Common { common, clause: Clause::Contains }));
    }
    Ok(None)
}
