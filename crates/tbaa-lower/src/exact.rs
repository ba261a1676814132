//! The least completion of a small relation to a forest, by branch and bound.
//!
//! Let `near[v]` be `v` and the members related to it. In a forest over a
//! connected set `s`, some member stands at the top and is comparable to all of
//! `s`; below it each connected part of the rest is a forest of its own. So
//!
//! ```text
//! least(s) = min over v of  w(v) * w(s - near[v]) + sum of least(part of s - v)
//! ```
//!
//! with what cuts it down:
//!
//! * a member related to all of `s` is at the top, at no cost;
//! * members with one `near` stay together;
//! * a member `v` with `near[v] - u` inside `near[u]` need not stand above `u`:
//!   moved to just below `u` it is comparable to no more than it was;
//! * for each related pair `u, v`, all of `near[u] - near[v]` must be comparable
//!   to `v`, or all of `near[v] - near[u]` to `u`. Charging the cheaper of the
//!   two to pairs not charged before gives a lower bound;
//! * sets met before are remembered.

use super::relation::Relation;
use tbaa_types::table::HashMap;

/// The most members that a mask holds.
pub(super) const MOST: usize = 128;

type Mask = u128;

struct Found {
    /// No forest costs less.
    lower: u64,
    /// The cost of the best forest found; `u64::MAX` before there is one.
    upper: u64,
    /// The members at the top of it.
    top: Mask,
}

pub(super) struct Exact {
    near: Vec<Mask>,
    weights: Vec<u64>,
    found: HashMap<Mask, Found>,
    /// Sets that may still be branched on.
    pub(super) steps: u64,
    /// What the bound has charged to each pair, and which pairs.
    charged: Vec<u64>,
    touched: Vec<usize>,
}

/// Members of a forest, each after the one above it.
pub(super) type Parents = Vec<(u32, Option<u32>)>;

/// What the search found.
pub(super) struct Solution {
    pub(super) lower: u64,
    /// The cost of the forest, and its members with those above them, top
    /// first; `None` if nothing cheaper than the limit was found.
    pub(super) forest: Option<(u64, Parents)>,
}

fn members(mut set: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < MOST).then_some(bit)
    })
}

impl Exact {
    /// Prepares the search in a set of at most [`MOST`] members.
    pub(super) fn new(relation: &Relation, set: &[u32], steps: u64) -> Exact {
        let near = set
            .iter()
            .map(|&a| {
                let bit = |(at, &b): (usize, &u32)| {
                    Mask::from(relation.related(a as usize, b as usize)) << at
                };
                set.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
            })
            .collect();
        let weights = set.iter().map(|&member| relation.weights[member as usize]).collect();
        let charged = vec![0; set.len() * set.len()];
        Exact { near, weights, found: HashMap::new(), steps, charged, touched: Vec::new() }
    }

    /// Looks for a forest over the whole set that costs less than `limit`.
    pub(super) fn solve(mut self, set: &[u32], limit: u64) -> Solution {
        let all = Mask::MAX >> (MOST - set.len());
        let cost = self.least_of_parts(all, limit);
        let lower = match cost {
            // Proven part by part.
            Some(_) => self
                .parts(all)
                .into_iter()
                .fold(0, |sum: u64, part| sum.saturating_add(self.lower(part))),
            None if self.steps > 0 => limit,
            None => self.lower(all),
        };
        let forest = cost.map(|cost| (cost, self.build(set, all)));
        Solution { lower, forest }
    }

    fn weight(&self, set: Mask) -> u64 {
        members(set).fold(0, |sum: u64, member| sum.saturating_add(self.weights[member]))
    }

    fn parts(&self, mut set: Mask) -> Vec<Mask> {
        let mut parts = Vec::new();
        while set != 0 {
            let mut part = set & set.wrapping_neg();
            let mut fresh = part;
            while fresh != 0 {
                let reached = members(fresh).fold(0, |mask, member| mask | self.near[member]);
                fresh = reached & set & !part;
                part |= fresh;
            }
            set &= !part;
            parts.push(part);
        }
        parts
    }

    /// Members related to all of the set.
    fn tops(&self, set: Mask) -> Mask {
        members(set)
            .filter(|&member| set & !self.near[member] == 0)
            .fold(0, |mask, member| mask | 1 << member)
    }

    fn lower(&mut self, set: Mask) -> u64 {
        let rest = set & !self.tops(set);
        if rest == 0 {
            return 0;
        }
        if rest != set {
            let parts = self.parts(rest);
            return parts
                .into_iter()
                .fold(0, |sum: u64, part| sum.saturating_add(self.lower(part)));
        }
        if let Some(found) = self.found.get(&set) {
            return found.lower;
        }
        let lower = self.bound(set);
        self.found.insert(set, Found { lower, upper: u64::MAX, top: 0 });
        lower
    }

    fn bound(&mut self, set: Mask) -> u64 {
        let len = self.near.len();
        let mut total: u64 = 0;
        for u in members(set) {
            for v in members(self.near[u] & set & (Mask::MAX << u << 1)) {
                let only_u = self.near[u] & !self.near[v] & set;
                let only_v = self.near[v] & !self.near[u] & set;
                if only_u == 0 || only_v == 0 {
                    continue;
                }
                let pair = |x: usize, y: usize| x.min(y) * len + x.max(y);
                let left = |at: usize, x: usize, y: usize, charged: &[u64]| {
                    self.weights[x].saturating_mul(self.weights[y]) - charged[at]
                };
                let sum = |side: Mask, other: usize, charged: &[u64]| {
                    members(side).fold(0, |sum: u64, x| {
                        sum.saturating_add(left(pair(x, other), x, other, charged))
                    })
                };
                let charge = sum(only_u, v, &self.charged).min(sum(only_v, u, &self.charged));
                if charge == 0 {
                    continue;
                }
                total = total.saturating_add(charge);
                for (side, other) in [(only_u, v), (only_v, u)] {
                    let mut rest = charge;
                    for x in members(side) {
                        let at = pair(x, other);
                        let part = rest.min(left(at, x, other, &self.charged));
                        self.charged[at] += part;
                        self.touched.push(at);
                        rest -= part;
                    }
                }
            }
        }
        for at in self.touched.drain(..) {
            self.charged[at] = 0;
        }
        total
    }

    /// Returns the cost of a forest over the set that costs less than `limit`:
    /// the least, unless the steps ran out.
    fn least_of_parts(&mut self, set: Mask, limit: u64) -> Option<u64> {
        let parts = self.parts(set);
        let lowers: Vec<u64> = parts.iter().map(|&part| self.lower(part)).collect();
        let mut least = lowers.iter().fold(0, |sum: u64, &lower| sum.saturating_add(lower));
        for (part, lower) in parts.into_iter().zip(lowers) {
            let others = least - lower;
            let cost = self.least(part, limit.checked_sub(others)?)?;
            least = others + cost;
        }
        (least < limit).then_some(least)
    }

    fn least(&mut self, set: Mask, limit: u64) -> Option<u64> {
        let tops = self.tops(set);
        if tops != 0 {
            return self.least_of_parts(set & !tops, limit);
        }
        let lower = self.lower(set);
        let found = &self.found[&set];
        if found.lower == found.upper || self.steps == 0 {
            return (found.upper < limit).then_some(found.upper);
        }
        if lower >= limit {
            return None;
        }
        self.steps -= 1;
        let mut best = limit.min(found.upper);
        let mut top = found.top;
        let mut candidates = self.candidates(set);
        candidates.sort_by_key(|&(guess, _, group)| (guess, group));
        for (guess, cost, group) in candidates {
            if guess >= best {
                break;
            }
            if let Some(rest) = self.least_of_parts(set & !group, best - cost) {
                best = cost + rest;
                top = group;
                if best == lower {
                    break;
                }
            }
        }
        let complete = self.steps > 0;
        let found = self.found.get_mut(&set).expect("`lower` entered it");
        if best < found.upper && best < limit {
            (found.upper, found.top) = (best, top);
        }
        if complete || best == lower {
            found.lower = best;
        }
        (found.upper < limit).then_some(found.upper)
    }

    /// What may stand at the top: the least that a forest with it there can
    /// cost, its own cost, and the members with the same `near`.
    fn candidates(&mut self, set: Mask) -> Vec<(u64, u64, Mask)> {
        let near: Vec<(usize, Mask)> =
            members(set).map(|member| (member, self.near[member] & set)).collect();
        let dominated = |&(v, near_v): &(usize, Mask), &(u, near_u): &(usize, Mask)| {
            near_v & !(1 << v) & !(1 << u) & !near_u == 0
        };
        let tops: Vec<&(usize, Mask)> = near
            .iter()
            .filter(|v| {
                !near
                    .iter()
                    .any(|u| u.0 != v.0 && dominated(v, u) && (u.0 < v.0 || !dominated(u, v)))
            })
            .collect();
        tops.into_iter()
            .map(|&(_, near_v)| {
                let group = near
                    .iter()
                    .filter(|&&(_, near_u)| near_u == near_v)
                    .fold(0, |mask, &(u, _)| mask | 1 << u);
                let cost = self.weight(group).saturating_mul(self.weight(set & !near_v));
                let parts = self.parts(set & !group);
                let guess =
                    parts.into_iter().fold(cost, |sum, part| sum.saturating_add(self.lower(part)));
                (guess, cost, group)
            })
            .collect()
    }

    /// The best forest found, top first.
    fn build(&self, set: &[u32], all: Mask) -> Vec<(u32, Option<u32>)> {
        let mut forest = Vec::with_capacity(set.len());
        let mut work: Vec<(Mask, Option<u32>)> =
            self.parts(all).into_iter().map(|part| (part, None)).collect();
        while let Some((part, mut above)) = work.pop() {
            let tops = match self.tops(part) {
                0 => self.found[&part].top,
                tops => tops,
            };
            for top in members(tops) {
                forest.push((set[top], above));
                above = Some(set[top]);
            }
            work.extend(self.parts(part & !tops).into_iter().map(|part| (part, above)));
        }
        forest
    }
}
