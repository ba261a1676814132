//! Rule `llvm`. Its *definition* is LLVM's algorithm, which the function `clause` follows.
//!
//! In LLVM: `matchAccessTags` and the functions that it calls, in
//! `lib/Analysis/TypeBasedAliasAnalysis.cpp`.

mod accept;
mod generic;
mod sound;
mod steps;
mod tables;

use super::clause::Clause;
use super::index::{Index, Role};
use super::rule::{Candidates, Decision, Indexed, Rule};
use crate::access::Access;
use crate::graph::{Format, Graph, NodeId, Tag, TagId, TagParts};
use crate::wellformed::Verifier;
use steps::{Crash, has_field, least_common_type, step};
pub(super) use tables::Llvm;

impl Rule for Llvm {
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) {
        self.add_tag(graph, index, tag);
    }

    fn candidates(&self, index: &Index, tag: TagId, _: &mut u64) -> Candidates {
        match index.role(tag.index) {
            Role::Rejected => Candidates::Everything,
            _ => index.base(tag.index).map_or(Candidates::Unknown, Candidates::Base),
        }
    }

    /// LLVM uses only the tags, and not the sizes of accesses.
    fn by_cursor(&self, index: &Index, (a, b): (Access, Access)) -> Option<bool> {
        index.decide(a.tag?.index, b.tag?.index)
    }

    /// Returns `None`: [`Index::decide`] has already compared all base types that are known.
    fn by_base(&self, _: &Index, _: (Access, Access), _: &mut u64) -> Option<bool> {
        None
    }

    fn decide(&self, of: Indexed<'_>, pair: (Access, Access), why: bool) -> Decision {
        let clause = match (pair.0.tag, pair.1.tag) {
            (Some(a), Some(b)) if of.graph.owns_tag(a) && of.graph.owns_tag(b) => {
                let quick = if why { None } else { sound::clause(self, of.index, (a, b)) };
                quick.unwrap_or_else(|| clause(of, a, b))
            }
            (Some(_), Some(_)) => Clause::ForeignTag,
            _ => Clause::NoTag,
        };
        clause.into()
    }

    fn most_generic(&self, of: Indexed<'_>, a: TagId, b: TagId) -> Option<Tag> {
        let Indexed { graph, index } = of;
        let by_definition = || most_generic(of, a, b);
        let roles = (index.role(a.index), index.role(b.index));
        let found = match (index.decide(a.index, b.index), roles) {
            _ if a == b || self.unordered => by_definition(),
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

    fn is_well_formed(&self, of: Indexed<'_>, tag: TagId, _: &mut u64) -> Option<bool> {
        let known = of.index.role(tag.index) != Role::Rejected;
        Some(known || Verifier::new(of.graph).check(tag).is_ok())
    }
}

/// The result of LLVM's algorithm for two tags in one order.
enum Match {
    Same,
    DifferentRoots,
    /// All other cases; `clause` says which. `common` is the access types' least common ancestor.
    Common {
        common: NodeId,
        clause: Clause,
    },
    /// The fields from the other tag's base type lead to this tag's base type. The offset there is
    /// this tag's offset, or one of the tags accesses the whole of that type. LLVM treats this tag
    /// as the more generic one.
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

fn clause(of: Indexed<'_>, a: TagId, b: TagId) -> Clause {
    let one_order = |a, b| match match_in_order(of, a, b) {
        None => Clause::Malformed,
        Some(Err(Crash)) => Clause::Crash,
        Some(Ok(found)) => found.clause(),
    };
    // The order matters only for types that contain themselves.
    match one_order(a, b) {
        no if no.is_no_alias() => match one_order(b, a) {
            other if other.is_no_alias() => no,
            may => may,
        },
        may => may,
    }
}

/// Returns the more generic tag. LLVM: `MDNode::getMostGenericTBAA`.
fn most_generic(of: Indexed<'_>, a: TagId, b: TagId) -> Option<Tag> {
    match match_in_order(of, a, b)?.ok()? {
        Match::Same => of.graph.tag(a).ok(),
        Match::Meets(tag) => of.graph.tag(tag).ok(),
        Match::DifferentRoots => None,
        Match::Common { common, .. } => generic::whole(of.graph, common),
    }
}

/// Runs LLVM's `matchAccessTags`. Returns `None` if the verifier rejects one of two different tags.
fn match_in_order(of: Indexed<'_>, a: TagId, b: TagId) -> Option<Result<Match, Crash>> {
    let Indexed { graph, index } = of;
    if a == b {
        return Some(Ok(Match::Same));
    }
    let read = |tag: TagId| {
        let parts = TagParts::of(graph, graph.tag_node(tag)).ok();
        parts.filter(|_| index.role(tag.index) != Role::Rejected)
    };
    let (of_a, of_b) = (read(a)?, read(b)?);
    let decide = || {
        let Some(common) = least_common_type(graph, of_a.access, of_b.access)? else {
            return Ok(Match::DifferentRoots);
        };
        if let Some(found) = subobject(graph, &of_a, (b, &of_b), common)? {
            return Ok(found);
        }
        let found = subobject(graph, &of_b, (a, &of_a), common)?;
        Ok(found.unwrap_or(Match::Common { common, clause: Clause::Unrelated }))
    };
    Some(decide())
}

/// Runs LLVM's `mayBeAccessToSubobjectOf`, which follows the fields from the base type of `base`.
fn subobject(
    graph: &Graph,
    base: &TagParts,
    (other_id, other): (TagId, &TagParts),
    common: NodeId,
) -> Result<Option<Match>, Crash> {
    let is_whole = |tag: &TagParts| tag.base == tag.access;
    if is_whole(base) && base.access == common {
        return Ok(Some(Match::Common { common, clause: Clause::Generality }));
    }
    let size_aware = base.format == Format::New;
    let (mut ty, mut offset) = (base.base, base.offset.value);
    loop {
        if ty == other.base {
            let may = offset == other.offset.value || ty == base.access || is_whole(other);
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
            // The old format does not distinguish fields from parents, so the loop continues up to
            // the root and ends there.
            None if size_aware => return Err(Crash),
            None => return Ok(None),
        }
    }
    let contains = has_field(graph, base.access, other.base)?;
    Ok(contains.then_some(Match::Common { common, clause: Clause::Contains }))
}
