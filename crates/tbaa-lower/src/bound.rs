//! What any forest must cost, for sets too large to be searched.
//!
//! For each related pair `u, v`, all of `near[u] - near[v]` must be comparable to
//! `v`, or all of `near[v] - near[u]` to `u`. The cheaper of the two is charged to
//! pairs that were not charged before. Parts that were searched have bounds of
//! their own, which are added: pairs inside one part are then charged no more.

use super::relation::Relation;
use tbaa_types::table::HashMap;

/// Members that the bound of one set may look at.
const STEPS: usize = 1 << 22;

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
        Charges { relation, inside, part_of, charged: HashMap::new(), steps: STEPS }
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

    /// Charges for the pair of `u`, with what is near it, and `v`, which is near
    /// as many or more.
    fn pair(&mut self, set: &[u32], (u, near_u): (usize, &[usize]), v: usize) -> u64 {
        let relation = self.relation;
        self.steps = self.steps.saturating_sub(near_u.len());
        let only_u: Vec<usize> =
            near_u.iter().copied().filter(|&at| !relation.related(at, v)).collect();
        let most = only_u.iter().fold(0, |sum: u64, &at| sum.saturating_add(self.left(at, v)));
        if most == 0 {
            return 0;
        }
        // Of the other side as many as it takes to cost the same.
        let (mut only_v, mut charge, mut steps) = (Vec::new(), 0_u64, 0);
        for at in relation.near_of(v, set) {
            steps += 1;
            if self.inside[at] && !relation.related(at, u) {
                charge = charge.saturating_add(self.left(at, u));
                only_v.push(at);
                if charge >= most {
                    charge = most;
                    break;
                }
            }
        }
        self.steps = self.steps.saturating_sub(steps);
        for (side, other) in [(&only_u, v), (&only_v, u)] {
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
