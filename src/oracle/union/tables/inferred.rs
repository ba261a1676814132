//! Old-format tags whose walk passes overlapping aggregates.
//!
//! Without sizes, the members of an overlapping aggregate may share bytes, all
//! of them, and nothing else does. So two such accesses may alias in three
//! ways only:
//!
//! - they are on one way: one's cursor lies on the other's walk;
//! - both come to one overlapping aggregate by one way, and leave it by
//!   different members. That way is a chain of cursors, too, from the base to
//!   the aggregate's start: the access's *crossing* of it;
//! - one comes to an overlapping aggregate, and the other's base lies inside a
//!   member that it does not take. Rule `union-strict` does not count this.

use std::collections::BTreeMap;

use super::super::access::Resolved;
use super::super::inferred::SearchedAccess;
use super::super::types::{TypeIndex, Types};
use super::clear::{Aside, add_walk, next, walk};
use crate::graph::Graph;
use crate::oracle::index::Index;
use crate::oracle::inside::{self, Inside};
use crate::oracle::limits::{Budget, Exhausted};
use crate::table::HashMap;
use crate::type_set::LargeTypeSet;

/// In place of a member: more than one.
const MANY: u32 = u32::MAX;

/// Types on one way to an access; longer ones are left to the definition.
const WAY: usize = 1 << 10;

/// Types on all ways to the overlapping aggregates that one access crosses.
const CROSSED: usize = 1 << 12;

#[derive(Clone, Default, Debug)]
pub(super) struct InferredTables {
    /// The types inside an overlapping aggregate, and the member that contains
    /// each.
    members: Inside<TypeIndex, u32>,
}

/// What is known of a tag.
#[derive(Clone, Debug)]
pub(super) struct Crossings {
    /// The cursor of the access type: whole scalars on its walk cover the access.
    up: u32,
    /// The overlapping aggregates that the access crosses, from its base on.
    crossings: Vec<Crossing>,
}

/// An overlapping aggregate on the way to an access.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    aggregate: TypeIndex,
    /// The list of what is inside it; `None` under `union-strict`.
    inside: Option<u32>,
    /// The member by which the way goes on.
    member: u32,
    /// The way from the base to the aggregate's start.
    cursor: u32,
}

/// The cursor of one of two tags to compare, and what is known of an irregular
/// one.
type Compared<'t> = (u32, Option<&'t Crossings>);

/// A type passed and the offset into it, with the member of an overlapping one.
type Passed = (TypeIndex, u64, Option<u32>);

/// Follows an access to where its walk is clear, or to the aggregate that it
/// leaves by members of which each leads elsewhere. Returns what it passed, and
/// the cursor that it came to.
fn way(
    types: &Types,
    index: &mut Index,
    side: &mut SearchedAccess,
    budget: &mut Budget,
) -> Result<(Vec<Passed>, Option<u32>), Aside> {
    let access = side.access;
    let mut way = Vec::new();
    let mut at = (access.base, access.offset);
    let mut crossed = 0;
    loop {
        if let Some(tail) = walk(types, index, at, &access).flatten() {
            return Ok((way, Some(tail)));
        }
        if way.len() >= WAY {
            return Err(Aside::Unindexed);
        }
        let (ty, rest) = at;
        if !types.get(ty).overlapping {
            way.push((ty, rest, None));
            at = next(types, ty, rest).flatten().ok_or(Aside::Unindexed)?;
            continue;
        }
        crossed += way.len();
        if crossed > CROSSED {
            return Err(Aside::Unindexed);
        }
        let members = side.fields(types, ty, rest, budget)?;
        let mut places = members.iter().map(|&(_, field, rest)| (field.ty, rest));
        let (first, one) = (places.next(), members.len() == 1);
        let Some(first) = first else { return Err(Aside::Unindexed) };
        way.push((ty, rest, Some(if one { members[0].0 as u32 } else { MANY })));
        if !places.all(|place| place == first) {
            return Ok((way, None));
        }
        at = first;
    }
}

impl InferredTables {
    /// Returns the cursor of an irregular tag, and what else is to be known.
    pub(super) fn add(
        &mut self,
        types: &Types,
        index: &mut Index,
        graph: &Graph,
        (access, strict): (&Resolved, bool),
        budget: &mut Budget,
    ) -> Result<(u32, Crossings), Aside> {
        let mut side = SearchedAccess::new(*access);
        if !side.denotes(types, budget)? {
            return Err(Aside::Rejected);
        }
        if !types.get(access.access).scalar {
            return Err(Aside::Unindexed);
        }
        let (way, tail) = way(types, index, &mut side, budget)?;
        // Strictly, it counts by which member each of them goes.
        if strict && tail.is_none() {
            return Err(Aside::Unindexed);
        }
        let mut crossings = Vec::new();
        for (i, &(aggregate, rest, member)) in way.iter().enumerate() {
            let Some(member) = member else { continue };
            let search = |budget: &mut Budget| members(types, aggregate, budget);
            let inside = match strict {
                true => None,
                false => Some(
                    self.members
                        .add(aggregate, graph.node_count(), search)
                        .ok_or(Aside::Unindexed)?,
                ),
            };
            let start = index.walks.routed(aggregate, 0, None);
            let before = way[..i].iter().rev();
            let cursor = before.fold(start, |next, &(ty, offset, _)| {
                index.walks.routed(ty, offset - rest, Some(next))
            });
            crossings.push(Crossing { aggregate, inside, member, cursor });
        }
        let last = crossings.last().ok_or(Aside::Unindexed)?.cursor;
        let cursor = tail.map_or(last, |tail| {
            let before = way.iter().rev();
            before.fold(tail, |next, &(ty, offset, _)| index.walks.routed(ty, offset, Some(next)))
        });
        let up = add_walk(types, index, (access.access, 0)).ok_or(Aside::Unindexed)?;
        Ok((cursor, Crossings { up, crossings }))
    }

    pub(super) fn was_short(&self) -> bool {
        self.members.was_short()
    }

    /// Decides on two tags, of which one is irregular.
    pub(super) fn may_alias(
        &self,
        types: &Types,
        index: &Index,
        (a, b): (Compared<'_>, Compared<'_>),
    ) -> bool {
        let [of_a, of_b] = [a.1, b.1].map(|found| found.map_or(&[][..], |found| &found.crossings));
        // Most pairs that come here are decided by this.
        let beside = |crossings: &[Crossing], base: u32| {
            crossings.iter().filter_map(|crossing| Some((crossing, crossing.inside?))).any(
                |(crossing, inside)| {
                    let found = self.members.of_type(inside, base).first();
                    found.is_some_and(|&(_, m)| m != crossing.member || m == MANY)
                },
            )
        };
        if beside(of_a, index.walks.ty(b.0)) || beside(of_b, index.walks.ty(a.0)) {
            return true;
        }
        let forest = &index.walks.forest;
        let covers = |(upper, _): Compared<'_>, (lower, crossings): Compared<'_>| {
            let up = crossings.map_or(lower, |crossings| crossings.up);
            types.get(index.walks.ty(upper)).scalar && forest.is_ancestor(upper, up)
        };
        if forest.related(a.0, b.0) || covers(a, b) || covers(b, a) {
            return true;
        }
        let parted = |x: &Crossing, y: &Crossing| {
            x.aggregate == y.aggregate
                && (x.member != y.member || x.member == MANY)
                && forest.related(x.cursor, y.cursor)
        };
        of_a.iter().any(|x| of_b.iter().any(|y| parted(x, y)))
    }

    /// Returns the types inside the members of an aggregate.
    fn members(&self, crossing: &Crossing) -> &[(TypeIndex, u32)] {
        crossing.inside.map_or(&[], |inside| self.members.list(inside))
    }

    /// Returns a set of the base types of tags that an irregular tag may alias.
    pub(super) fn bases(&self, index: &Index, cursor: u32, crossings: &Crossings) -> LargeTypeSet {
        let lists = crossings.crossings.iter().filter_map(|crossing| crossing.inside);
        let empty = LargeTypeSet::default();
        let mut bases = lists.fold(empty, |bases, list| bases.union(self.members.types(list)));
        bases.extend(index.walks.types_from(cursor).chain(index.walks.types_from(crossings.up)));
        let crossed = crossings.crossings.iter();
        bases.extend(crossed.flat_map(|crossing| index.walks.types_from(crossing.cursor)));
        bases
    }

    /// Returns the base types of tags that an irregular tag may alias.
    pub(super) fn candidates(
        &self,
        index: &Index,
        cursor: u32,
        crossings: &Crossings,
    ) -> Vec<TypeIndex> {
        let mut bases: Vec<_> =
            index.walks.types_from(cursor).chain(index.walks.types_from(crossings.up)).collect();
        for crossing in &crossings.crossings {
            bases.extend(index.walks.types_from(crossing.cursor));
            bases.extend(inside::types(self.members(crossing)));
        }
        bases
    }
}

/// Lists the types inside an aggregate, each with the member that contains it.
fn members(
    types: &Types,
    aggregate: TypeIndex,
    budget: &mut Budget,
) -> Result<Vec<(TypeIndex, u32)>, Exhausted> {
    let mut members = HashMap::new();
    // By rank, so that all that contains a type comes before it.
    let mut pending = BTreeMap::new();
    let mut note = |pending: &mut BTreeMap<u32, (TypeIndex, u32)>, ty: TypeIndex, member: u32| {
        let known = members.entry(ty).or_insert(member);
        if *known != member {
            *known = MANY;
        }
        pending.insert(types.get(ty).rank, (ty, *known));
    };
    for (member, field) in types.fields(aggregate).iter().enumerate() {
        budget.spend()?;
        note(&mut pending, field.ty, member as u32);
    }
    while let Some((_, (ty, member))) = pending.pop_last() {
        budget.spend()?;
        for field in types.fields(ty) {
            budget.spend()?;
            note(&mut pending, field.ty, member);
        }
    }
    Ok(members.into_iter().collect())
}
