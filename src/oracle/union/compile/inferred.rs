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

use super::super::flood::Resolved;
use super::super::inferred::Side;
use super::super::limits::{Budget, STEPS};
use super::super::types::{TypeIndex, Types};
use super::{Aside, next, walk};
use crate::graph::Graph;
use crate::oracle::compiled::Compiled;
use crate::oracle::filter::Filter;
use crate::table::HashMap;

/// In place of a member: more than one.
const MANY: u32 = u32::MAX;

/// Types on one way to an access; longer ones are left to the search.
const WAY: usize = 1 << 10;

/// Types on all ways to the overlapping aggregates that one access crosses.
const CROSSED: usize = 1 << 12;

/// Types inside one overlapping aggregate.
const INSIDE: usize = 1 << 14;

/// Entries in [`Tables::inside`] for each node of the graph, on average.
const SHARE: usize = 16;

#[derive(Clone, Default, Debug)]
pub(super) struct Tables {
    /// The member by which an overlapping aggregate contains a type.
    inside: HashMap<(TypeIndex, TypeIndex), u32>,
    /// The types inside an aggregate; `None` where they are too many.
    searched: HashMap<TypeIndex, Option<Filter>>,
}

/// An overlapping aggregate on the way to an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    aggregate: TypeIndex,
    member: u32,
    /// The way from the base to the aggregate's start.
    cursor: u32,
}

impl Tables {
    pub(super) fn add(
        &mut self,
        types: &Types,
        compiled: &mut Compiled,
        graph: &Graph,
        access: &Resolved,
        strict: bool,
    ) -> Result<(u32, Vec<Crossing>, Filter), Aside> {
        let mut budget = Budget::new(STEPS);
        let mut side = Side::new(*access);
        if !side.denotes(types, &mut budget)? {
            return Err(Aside::Rejected);
        }
        let of_access = types.get(access.access);
        if !of_access.scalar || !of_access.plain {
            return Err(Aside::Ask);
        }
        // Types passed and offsets into them, with the member of each
        // overlapping one.
        let mut way: Vec<(TypeIndex, u64, Option<u32>)> = Vec::new();
        let mut at = (access.base, access.offset);
        let mut crossed = 0;
        let tail = loop {
            if let Some(tail) = walk(types, compiled, at, access) {
                break Some(tail);
            }
            if way.len() >= WAY {
                return Err(Aside::Ask);
            }
            let (ty, rest) = at;
            if !types.get(ty).overlapping {
                way.push((ty, rest, None));
                at = next(types, at).flatten().ok_or(Aside::Ask)?;
                continue;
            }
            crossed += way.len();
            if crossed > CROSSED {
                return Err(Aside::Ask);
            }
            let members = side.fields(types, ty, rest, &mut budget)?;
            let mut places = members.iter().map(|&(_, field, rest)| (field.ty, rest));
            let (first, one) = (places.next(), members.len() == 1);
            let Some(first) = first else { return Err(Aside::Ask) };
            way.push((ty, rest, Some(if one { members[0].0 as u32 } else { MANY })));
            if !places.all(|place| place == first) {
                if strict {
                    return Err(Aside::Ask);
                }
                break None;
            }
            at = first;
        };
        let (mut crossings, mut filter) = (Vec::new(), Filter::default());
        for (i, &(aggregate, rest, member)) in way.iter().enumerate() {
            let Some(member) = member else { continue };
            if !strict {
                filter.add_all(&self.search(types, graph, aggregate).ok_or(Aside::Ask)?);
            }
            let start = compiled.routed(aggregate, 0, None);
            let before = way[..i].iter().rev();
            let cursor = before.fold(start, |next, &(ty, offset, _)| {
                compiled.routed(ty, offset - rest, Some(next))
            });
            crossings.push(Crossing { aggregate, member, cursor });
        }
        let last = crossings.last().ok_or(Aside::Ask)?.cursor;
        let cursor = tail.map_or(last, |tail| {
            let before = way.iter().rev();
            before.fold(tail, |next, &(ty, offset, _)| compiled.routed(ty, offset, Some(next)))
        });
        Ok((cursor, crossings, filter))
    }

    /// Finds out what lies inside an overlapping aggregate. `None` if that is
    /// too much.
    fn search(&mut self, types: &Types, graph: &Graph, aggregate: TypeIndex) -> Option<Filter> {
        if let Some(&known) = self.searched.get(&aggregate) {
            return known;
        }
        let room = (INSIDE + SHARE * graph.node_count()).saturating_sub(self.inside.len());
        let found = inside(types, aggregate, room.min(INSIDE)).map(|found| {
            let mut filter = Filter::default();
            found.keys().for_each(|&ty| filter.add(ty));
            self.inside.extend(found.into_iter().map(|(ty, member)| ((aggregate, ty), member)));
            filter
        });
        self.searched.insert(aggregate, found);
        found
    }

    pub(super) fn may_alias(
        &self,
        compiled: &Compiled,
        (a, of_a): (usize, &[Crossing]),
        (b, of_b): (usize, &[Crossing]),
        strict: bool,
    ) -> bool {
        let forest = &compiled.forest;
        if forest.related(compiled.cursor(a), compiled.cursor(b)) {
            return true;
        }
        let parted = |x: &Crossing, y: &Crossing| {
            x.aggregate == y.aggregate
                && (x.member != y.member || x.member == MANY)
                && forest.related(x.cursor, y.cursor)
        };
        if of_a.iter().any(|x| of_b.iter().any(|y| parted(x, y))) {
            return true;
        }
        let beside = |crossings: &[Crossing], other: usize| {
            let base = compiled.base(other);
            crossings.iter().any(|crossing| {
                let member = self.inside.get(&(crossing.aggregate, base));
                member.is_some_and(|&m| m != crossing.member || m == MANY)
            })
        };
        !strict && (beside(of_a, b) || beside(of_b, a))
    }
}

/// Lists the types inside an aggregate, each with the member that contains it.
fn inside(types: &Types, aggregate: TypeIndex, limit: usize) -> Option<HashMap<TypeIndex, u32>> {
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
        note(&mut pending, field.ty, member as u32);
    }
    let mut steps = 0;
    while let Some((_, (ty, member))) = pending.pop_last() {
        steps += 1 + types.fields(ty).len();
        if steps > limit {
            return None;
        }
        for field in types.fields(ty) {
            note(&mut pending, field.ty, member);
        }
    }
    Some(members)
}
