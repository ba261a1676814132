//! Proofs: a reason for each comparison that the definition's search makes.

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::definition::{Definition, byte_range};
use super::denoted::{Prefix, Untracked, denoted};
use super::inferred::{Found, Search, Side};
use super::objects::Objects;
use super::stride::{Pattern, UNBOUNDED};
use crate::graph::{Format, Graph};
use crate::oracle::access::Access;
use crate::oracle::gap;
use crate::oracle::limits::{Budget, CASES_IN_ALL};
use crate::oracle::proof::{Apart, Direction, Gap, Parting, Proof};
use tbaa_types::table::{HashSet, IndexSet};

/// Proves of two accesses that they do not meet, by all ways or, if `strict`, by
/// those that rule `union-strict` follows; `None` if they do, or if that takes
/// too long.
pub(super) fn prove(
    definition: &Definition<'_>,
    graph: &Graph,
    (a, b): (Access, Access),
    strict: bool,
) -> Option<Proof> {
    let resolve = |access| Resolved::new(definition.types, graph, access).ok();
    let accesses = [resolve(a)?, resolve(b)?];
    let directions = match accesses[0].format(definition.types) {
        Format::New => sized(definition, accesses, strict)?,
        Format::Old => inferred(definition, accesses, strict)?,
    };
    Some(Proof { strict, directions: directions.try_into().ok()? })
}

fn sized(
    definition: &Definition<'_>,
    accesses: [Resolved; 2],
    strict: bool,
) -> Option<Vec<Direction>> {
    let types = definition.types;
    let (mut arena, mut budget) = (PathArena::default(), Budget::new(definition.steps));
    let mut denote = |access| denoted(types, access, &Untracked, &mut arena, &mut budget).ok();
    let paths = [denote(&accesses[0])?, denote(&accesses[1])?];
    let direction = |(outer, inner): (usize, usize)| {
        let (a, b) = (&accesses[outer], accesses[inner]);
        let mut objects = Objects::new(types, a.base, (b, &paths[inner]), &mut budget).ok()?;
        objects.gaps = Some(Vec::new());
        let found = if strict {
            definition.search_along(a, &mut objects, &mut arena, &mut budget)
        } else {
            let start = (Prefix { at: 0, strides: Vec::new() }, Link::START);
            objects.search(&paths[outer], (a.base, UNBOUNDED), start, &mut arena, &mut budget)
        };
        let proved = found.ok()?.is_none() && !objects.unsure;
        let gaps = compare(objects.gaps.filter(|_| proved)?)?;
        Some(Direction { gaps, partings: Vec::new() })
    };
    [(0, 1), (1, 0)].into_iter().map(direction).collect()
}

/// Gives a reason for each comparison that needs one. Bytes beyond the end of all
/// memory, where an array without end would be cut, need none.
fn compare(compared: Vec<(Pattern, Pattern)>) -> Option<Vec<Gap>> {
    let mut budget = Budget::new(CASES_IN_ALL);
    let (mut seen, mut gaps) = (HashSet::default(), Vec::new());
    for (outer, inner) in compared {
        let far = outer.start.max(inner.start);
        if far >= UNBOUNDED / 2 {
            continue;
        }
        u64::try_from(far).ok()?;
        let (outer, inner) = (byte_range(&outer), byte_range(&inner));
        if seen.insert((outer.clone(), inner.clone())) {
            let apart = gap::apart(&outer, &inner, &mut budget)?;
            if !matches!(apart, Apart::Residue { modulus: 1, .. }) {
                gaps.push(Gap { outer, inner, apart });
            }
        }
    }
    Some(gaps)
}

fn inferred(
    definition: &Definition<'_>,
    accesses: [Resolved; 2],
    strict: bool,
) -> Option<Vec<Direction>> {
    let types = definition.types;
    let (mut arena, mut budget) = (PathArena::default(), Budget::new(definition.steps));
    let mut sides = accesses.map(Side::new);
    for side in &mut sides {
        side.denotes(types, &mut budget).ok().filter(|&denotes| denotes)?;
    }
    let direction = |from_b| {
        let [a, b] = &mut sides;
        let mut search = Search::new(types, if from_b { (b, a) } else { (a, b) }, strict);
        search.record = Some(Vec::new());
        let found = search.run(&mut arena, &mut budget).ok()?;
        let partings = search.record.filter(|_| !matches!(found, Found::Meet(_)))?;
        let distinct: IndexSet<_> = partings.into_iter().collect();
        let parting =
            |(ty, outer, inner)| Parting { ty: types.get(ty).node as usize, outer, inner };
        let partings = distinct.into_iter().map(parting).collect();
        Some(Direction { gaps: Vec::new(), partings })
    };
    [false, true].into_iter().map(direction).collect()
}
