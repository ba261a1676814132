//! What any forest must cost, for sets too large to be searched.
//!
//! For each related pair `u, v`, all of `near[u] - near[v]` must be comparable to
//! `v`, or all of `near[v] - near[u]` to `u`. The cheaper of the two is charged to
//! pairs that were not charged before. Parts that were searched have bounds of
//! their own, which are added: pairs inside one part are then charged no more.

use super::relation::Relation;
use crate::table::HashMap;

/// Members that the bound of one set may look at.
const STEPS: usize = 1 << 24;

/// Returns what any forest on a set in ascending order must cost. `parts` are
/// bounds of disjoint parts of it, and `part_of` tells which members have one.
pub(super) fn bound(
    relation: &Relation,
    set: &[u32],
    parts: &[u64],
    part_of: &HashMap<u32, usize>,
) -> u64 {
    let alone = Charges::new(relation, set, None).total(set);
    let searched = parts.iter().copied().fold(0, u64::saturating_add);
    let beside = match searched {
        0 => 0,
        _ => searched.saturating_add(Charges::new(relation, set, Some(part_of)).total(set)),
    };
    alone.max(beside)
}

/// What each pair was charged.
struct Charges<'r> {
    relation: &'r Relation,
    inside: Vec<bool>,
    /// Whether a member is on the two sides' common list.
    both: Vec<bool>,
    part_of: Option<&'r HashMap<u32, usize>>,
    charged: HashMap<(u32, u32), u64>,
    steps: usize,
}

impl<'r> Charges<'r> {
    fn new(
        relation: &'r Relation,
        set: &[u32],
        part_of: Option<&'r HashMap<u32, usize>>,
    ) -> Charges<'r> {
        let mut inside = vec![false; relation.len()];
        set.iter().for_each(|&at| inside[at as usize] = true);
        let both = vec![false; relation.len()];
        Charges { relation, inside, both, part_of, charged: HashMap::new(), steps: STEPS }
    }

    /// Charges for each related pair of the set: those first of members with few
    /// pairs, which leave most to the others.
    fn total(mut self, set: &[u32]) -> u64 {
        let count = |at: u32| {
            let near = self.relation.near_of(at as usize, set);
            near.filter(|&near| self.inside[near]).count()
        };
        let mut order: Vec<(usize, u32)> = set.iter().map(|&at| (count(at), at)).collect();
        order.sort_unstable();
        let mut place = vec![0; self.relation.len()];
        for (number, &(_, at)) in order.iter().enumerate() {
            place[at as usize] = number;
        }
        let mut total: u64 = 0;
        for (number, &(_, u)) in order.iter().enumerate() {
            let near_u: Vec<usize> =
                self.relation.near_of(u as usize, set).filter(|&at| self.inside[at]).collect();
            for &v in near_u.iter().filter(|&&v| place[v] > number) {
                total = total.saturating_add(self.pair(set, (u as usize, &near_u), v));
                if self.steps == 0 {
                    return total;
                }
            }
        }
        total
    }

    /// Charges for the pair of `u`, with what is near it, and `v`.
    fn pair(&mut self, set: &[u32], (u, near_u): (usize, &[usize]), v: usize) -> u64 {
        near_u.iter().for_each(|&at| self.both[at] = true);
        let (mut only_v, mut common, mut steps) = (Vec::new(), Vec::new(), near_u.len());
        for at in self.relation.near_of(v, set) {
            steps += 1;
            match self.both[at] {
                true => common.push(at),
                false if self.inside[at] => only_v.push(at),
                false => {}
            }
        }
        self.steps = self.steps.saturating_sub(steps);
        common.iter().for_each(|&at| self.both[at] = false);
        let only_u: Vec<usize> = near_u.iter().copied().filter(|&at| self.both[at]).collect();
        near_u.iter().for_each(|&at| self.both[at] = false);
        if only_u.is_empty() || only_v.is_empty() {
            return 0;
        }
        let sides = [(&only_u, v), (&only_v, u)];
        let sums = sides.map(|(side, other)| {
            side.iter().fold(0, |sum: u64, &at| sum.saturating_add(self.left(at, other)))
        });
        let charge = sums[0].min(sums[1]);
        for (side, other) in sides {
            let mut rest = charge;
            for &at in side {
                let part = rest.min(self.left(at, other));
                if part > 0 {
                    *self.charged.entry(key(at, other)).or_default() += part;
                    rest -= part;
                }
            }
        }
        charge
    }

    /// What a pair can still be charged.
    fn left(&self, a: usize, b: usize) -> u64 {
        let part = |at: usize| self.part_of?.get(&(at as u32));
        if part(a).is_some() && part(a) == part(b) {
            return 0;
        }
        self.relation.pair(a, b) - self.charged.get(&key(a, b)).copied().unwrap_or(0)
    }
}

fn key(a: usize, b: usize) -> (u32, u32) {
    (a.min(b) as u32, a.max(b) as u32)
}
