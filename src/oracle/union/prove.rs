//! Proofs: a reason for each comparison that the definition's search made.

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::definition::{Definition, byte_range};
use super::denoted::{Prefix, Untracked, denoted};
use super::inferred::{Found, Search, Side};
use super::objects::Objects;
use super::stride::{Pattern, UNBOUNDED};
use super::traversal::reach;
use super::types::{TypeIndex, Types};
use crate::graph::{Format, Graph};
use crate::oracle::access::Access;
use crate::oracle::gap;
use crate::oracle::limits::{Budget, CASES_IN_ALL};
use crate::oracle::proof::{Denoted, Direction, Gap, Inside, Parting, Proof};
use crate::table::{IndexMap, IndexSet};

/// Proves of two accesses that they do not meet; `None` if they do, or if that
/// takes too long.
pub(super) fn prove(
    definition: &Definition<'_>,
    graph: &Graph,
    (a, b): (Access, Access),
    strict: bool,
) -> Option<Proof> {
    let types = definition.types;
    let resolve = |access| Resolved::new(types, graph, access).ok();
    let accesses = [resolve(a)?, resolve(b)?];
    let mut prover = Prover { definition, types, strict, budget: Budget::new(definition.steps) };
    let (denoted, directions) = match accesses[0].format(types) {
        Format::New => prover.sized(accesses)?,
        Format::Old => prover.inferred(accesses)?,
    };
    Some(Proof { strict, denoted, directions })
}

struct Prover<'p> {
    definition: &'p Definition<'p>,
    types: &'p Types,
    strict: bool,
    budget: Budget,
}

type Parts = ([Denoted; 2], [Direction; 2]);

impl Prover<'_> {
    fn sized(&mut self, accesses: [Resolved; 2]) -> Option<Parts> {
        let types = self.types;
        let mut arena = PathArena::default();
        let mut paths = Vec::new();
        let mut proofs = Vec::new();
        for access in &accesses {
            let budget = &mut self.budget;
            paths.push(denoted(types, access, &Untracked, &mut arena, budget).ok()?);
            proofs.push(self.denoted(access)?);
        }
        let mut directions = Vec::new();
        for (outer, inner) in [(0, 1), (1, 0)] {
            let (a, b) = (&accesses[outer], accesses[inner]);
            let mut objects =
                Objects::new(types, a.base, (b, &paths[inner]), &mut self.budget).ok()?;
            objects.gaps = Some(Vec::new());
            let budget = &mut self.budget;
            let found = if self.strict {
                self.definition.search_along(a, &mut objects, &mut arena, budget)
            } else {
                let start = (Prefix { at: 0, strides: Vec::new() }, Link::START);
                objects.search(&paths[outer], (a.base, UNBOUNDED), start, &mut arena, budget)
            };
            if found.ok()?.is_some() || objects.unsure {
                return None;
            }
            let (gaps, partings) = (compare(objects.gaps?)?, Vec::new());
            let inside = self.inside(a.base, |ty| b.has_object(types, ty))?;
            directions.push(Direction { inside, gaps, partings });
        }
        Some((proofs.try_into().ok()?, directions.try_into().ok()?))
    }

    fn inferred(&mut self, accesses: [Resolved; 2]) -> Option<Parts> {
        let types = self.types;
        let mut arena = PathArena::default();
        let mut sides = accesses.map(Side::new);
        for side in &mut sides {
            side.denotes(types, &mut self.budget).ok().filter(|&denotes| denotes)?;
        }
        let mut directions = Vec::new();
        for from_b in [false, true] {
            let [a, b] = &mut sides;
            let (outer, inner) = if from_b { (b, a) } else { (a, b) };
            let (base, b) = (outer.access.base, inner.access);
            let mut search = Search::new(types, (outer, inner), self.strict);
            search.record = Some(Vec::new());
            if let Found::Meet(_) = search.run(&mut arena, &mut self.budget).ok()? {
                return None;
            }
            let distinct: IndexSet<_> = search.record?.into_iter().collect();
            let parting =
                |(ty, outer, inner)| Parting { ty: types.get(ty).node as usize, outer, inner };
            let (gaps, partings) = (Vec::new(), distinct.into_iter().map(parting).collect());
            let inside = self.inside(base, |ty| b.has_object(types, ty))?;
            directions.push(Direction { inside, gaps, partings });
        }
        let mut proofs = Vec::new();
        for side in &sides {
            let dead = side.dead().map(|(ty, rest)| (types.get(ty).node as usize, rest));
            let mut dead: Vec<_> = dead.collect();
            dead.sort_unstable();
            proofs.push(Denoted { dead, ..self.denoted(&side.access)? });
        }
        Some((proofs.try_into().ok()?, directions.try_into().ok()?))
    }

    fn denoted(&mut self, access: &Resolved) -> Option<Denoted> {
        let inside = self.inside(access.base, |ty| ty == access.access)?;
        Some(Denoted { inside, dead: Vec::new() })
    }

    fn inside(
        &mut self,
        base: TypeIndex,
        is_target: impl Fn(TypeIndex) -> bool,
    ) -> Option<Vec<Inside>> {
        let reach = reach(self.types, base, is_target, &mut self.budget).ok()?;
        let mut inside: Vec<Inside> = reach
            .iter()
            .map(|(&ty, far)| Inside {
                ty: self.types.get(ty).node as usize,
                collapsed: finite(far.collapsed),
                displaced: finite(far.displaced),
            })
            .collect();
        inside.sort_unstable_by_key(|inside| inside.ty);
        Some(inside)
    }
}

/// Bytes; `None` without end, or where 64 bits do not hold them.
fn finite(bytes: u128) -> Option<u64> {
    u64::try_from(bytes).ok()
}

/// Gives a reason for each comparison. Bytes beyond the end of all memory, where
/// an array without end would be cut, need none.
fn compare(gaps: Vec<(Pattern, Pattern)>) -> Option<Vec<Gap>> {
    let mut budget = Budget::new(CASES_IN_ALL);
    let mut reasons = IndexMap::default();
    for (outer, inner) in gaps {
        if outer.start.max(inner.start) >= UNBOUNDED / 2 {
            continue;
        }
        finite(outer.start.max(inner.start))?;
        let pair = (byte_range(&outer), byte_range(&inner));
        if !reasons.contains_key(&pair) {
            let apart = gap::apart(&pair.0, &pair.1, &mut budget)?;
            reasons.insert(pair, apart);
        }
    }
    let gap = |((outer, inner), apart)| Gap { outer, inner, apart };
    Some(reasons.into_iter().map(gap).collect())
}
