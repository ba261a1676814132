//! Finds a forest that expresses a relation of members, with few additional pairs.
//!
//! A member is a class of sources (accesses). Two members of a forest are *comparable* if one is an
//! ancestor of the other. Related members must be comparable. The cost of a forest is the number of
//! pairs of sources whose members are comparable but not related.
//!
//! A *part* is a maximal set of members that relations connect. Its *top* is the ancestor of its
//! other members, which are then divided into smaller parts below the top. Members that are related
//! to the whole part become tops first, because they cost nothing. Otherwise an order of the
//! members chooses the top. For the first forest the order is given. If the first forest has a
//! cost, a second one is made, with the most related member on top, and the cheaper forest is used.
//! For a small part of the second forest, several tops are tried, each with both orders below it.

use super::relation::{Parts, Relation};

/// The largest number of members of a part in which several members are tried as the top.
const SMALL_PART: usize = 128;

/// The number of members that are tried as the top of a small part.
const MAX_TOPS: usize = 4;

/// A function that chooses the top of a part, given [`Completer::degrees`] and the part.
type Pick<'p> = &'p dyn Fn(&[u64], &[u32]) -> Option<u32>;

/// Returns a sort key that puts the member with the largest degree first.
fn most(degrees: &[u64]) -> impl Fn(&u32) -> (u64, u32) + '_ {
    |&at| (u64::MAX - degrees[at as usize], at)
}

/// Finds forests for sets of a relation's members, one set after the other.
pub(super) struct Completer<'r> {
    relation: &'r Relation,
    /// The order for the first forest: the lowest rank on top, and of equal ranks the lowest index.
    rank: &'r [u32],
    /// For each member of the set: the number of related sources in its part, including its own.
    degrees: Vec<u64>,
    /// True for each member of the set, while degrees are counted.
    inside: Vec<bool>,
    parts: Parts<'r>,
}

impl<'r> Completer<'r> {
    pub(super) fn new(relation: &'r Relation, rank: &'r [u32]) -> Completer<'r> {
        let len = relation.len();
        let (degrees, inside) = (vec![0; len], vec![false; len]);
        Completer { relation, rank, degrees, inside, parts: Parts::new(relation) }
    }

    /// Returns a cheap forest over the members in `set`, which must be in ascending order.
    pub(super) fn complete(&mut self, set: &[u32]) -> Completion {
        if let &[one] = set {
            return Completion { forest: vec![(one, None)], cost: 0 };
        }
        let rank = self.rank;
        let general = |_: &[u64], part: &[u32]| {
            part.iter().copied().min_by_key(|&at| (rank[at as usize], at))
        };
        let known = Completion::run(self, set, &general);
        if known.cost == 0 {
            return known;
        }
        let found = self.looking_ahead(set, &general);
        if found.cost < known.cost { found } else { known }
    }

    /// Makes the second forest. Puts the member with the largest degree on top of a large part, and
    /// tries several members as the top of a small part.
    fn looking_ahead(&mut self, set: &[u32], general: Pick<'_>) -> Completion {
        let central: Pick<'_> = &|degrees, part| part.iter().copied().min_by_key(most(degrees));
        self.count_degrees(set);
        let mut tree = Completion::default();
        let mut work = self.parts_below(set);
        while let Some((part, above)) = work.pop() {
            let mut tops = part.clone();
            tops.sort_unstable_by_key(most(&self.degrees));
            let universal = self.degrees[tops[0] as usize] == self.relation.size_of(&part);
            if universal || part.len() > SMALL_PART {
                tree.descend(self, part, above, central, &mut work);
                continue;
            }
            tops.truncate(MAX_TOPS);
            let cost = |&top: &u32| {
                self.count_degrees(&part);
                let (mut probe, mut rest) = (Completion::default(), Vec::new());
                probe.descend(self, part.clone(), None, &|_, _| Some(top), &mut rest);
                rest.iter().fold(probe.cost, |sum, (part, _)| {
                    let cost = Completion::run(self, part, central).cost;
                    sum.saturating_add(cost.min(Completion::run(self, part, general).cost))
                })
            };
            let top = tops.into_iter().min_by_key(cost);
            self.count_degrees(&part);
            tree.descend(self, part, above, &|_, _| top, &mut work);
        }
        tree
    }

    pub(super) fn parts_of(&mut self, set: &[u32]) -> Vec<Vec<u32>> {
        self.parts.of(set)
    }

    /// Returns the parts of a set, each with `None` as the parent of its top.
    fn parts_below(&mut self, set: &[u32]) -> Vec<(Vec<u32>, Option<u32>)> {
        self.parts.of(set).into_iter().map(|part| (part, None)).collect()
    }

    /// Sets the `degrees` of the members of a set, counting only relations inside the set.
    fn count_degrees(&mut self, set: &[u32]) {
        set.iter().for_each(|&at| self.inside[at as usize] = true);
        for &at in set {
            let near = self.relation.near_of(at as usize, set).filter(|&near| self.inside[near]);
            let sizes = near.map(|near| self.relation.sizes[near]);
            self.degrees[at as usize] = sizes.fold(0, u64::saturating_add);
        }
        set.iter().for_each(|&at| self.inside[at as usize] = false);
    }
}

/// A forest over a set of members, built from the top down.
#[derive(Default, Debug)]
pub(super) struct Completion {
    /// Each member with its parent, which comes earlier in the list.
    pub(super) forest: Vec<(u32, Option<u32>)>,
    /// The number of pairs of sources that are comparable but not related.
    cost: u64,
}

impl Completion {
    fn run(on: &mut Completer<'_>, set: &[u32], pick: Pick<'_>) -> Completion {
        on.count_degrees(set);
        let mut tree = Completion::default();
        let mut work = on.parts_below(set);
        while let Some((part, above)) = work.pop() {
            tree.descend(on, part, above, pick, &mut work);
        }
        tree
    }

    /// Moves the tops of a part into the forest, below `above`: the members that are related to the
    /// whole part or, if there are none, the one that `pick` chooses. Then moves members that are
    /// parts by themselves, and adds the other parts of the rest to `work`.
    fn descend(
        &mut self,
        on: &mut Completer<'_>,
        mut part: Vec<u32>,
        mut above: Option<u32>,
        pick: Pick<'_>,
        work: &mut Vec<(Vec<u32>, Option<u32>)>,
    ) {
        let Completer { relation, degrees, parts, .. } = on;
        let sizes = &relation.sizes;
        let size = relation.size_of(&part);
        let full = |degrees: &[u64], at: u32| degrees[at as usize] == size;
        let tops: Vec<u32> = part.iter().copied().filter(|&at| full(degrees, at)).collect();
        let universal = !tops.is_empty();
        let tops = if universal { tops } else { pick(degrees, &part).into_iter().collect() };
        let mut taken = 0_u64;
        for &top in &tops {
            let missing = size.saturating_sub(degrees[top as usize]);
            let cost = sizes[top as usize].saturating_mul(missing);
            self.forest.push((top, above));
            self.cost = self.cost.saturating_add(cost);
            above = Some(top);
            taken = taken.saturating_add(sizes[top as usize]);
        }
        part.retain(|&at| if universal { !full(degrees, at) } else { at != tops[0] });
        for &at in &part {
            if universal || relation.related(at as usize, tops[0] as usize) {
                degrees[at as usize] = degrees[at as usize].saturating_sub(taken);
            }
        }
        // A member that is related to no other member is a part by itself.
        let isolated = |at: u32| degrees[at as usize] == sizes[at as usize];
        for &at in part.iter().filter(|&&at| isolated(at)) {
            self.forest.push((at, above));
        }
        part.retain(|&at| !isolated(at));
        work.extend(parts.of(&part).into_iter().map(|part| (part, above)));
    }
}

#[cfg(test)]
mod tests {
    use super::{Completer, Completion};
    use crate::relation::Relation;

    /// The random number generator `SplitMix64`.
    struct Rng(u64);

    impl Rng {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % bound
        }
    }

    fn random(rng: &mut Rng, len: usize, percent: u64, uneven: bool) -> Relation {
        let size = |rng: &mut Rng| if uneven { 1 + rng.below(9) } else { 1 };
        let sizes = (0..len).map(|_| size(rng)).collect();
        let mut pairs: Vec<_> = (0..len).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        pairs.retain(|_| rng.below(100) < percent);
        relation(sizes, &pairs)
    }

    fn relation(sizes: Vec<u64>, pairs: &[(usize, usize)]) -> Relation {
        let mut counts = vec![0; sizes.len()];
        for &(a, b) in pairs {
            counts[a] += 1;
            counts[b] += 1;
        }
        let each = |relate: &mut dyn FnMut(usize, usize)| {
            pairs.iter().for_each(|&(a, b)| relate(a, b));
        };
        Relation::new(sizes, &counts, each)
    }

    fn complete(relation: &Relation, set: &[u32], rank: &[u32]) -> Completion {
        Completer::new(relation, rank).complete(set)
    }

    /// Finds the least cost by exhaustive search. While two related members each have a neighbour
    /// that the other lacks, tries to relate either neighbour to the member that lacks it.
    fn exhaustive(relation: &Relation, related: &[Vec<bool>], cost: u64, best: &mut u64) {
        if cost >= *best {
            return;
        }
        let len = relation.len();
        for u in 0..len {
            for v in (0..len).filter(|&v| v != u && related[u][v]) {
                let only_u = (0..len).find(|&x| related[x][u] && !related[x][v]);
                let only_v = (0..len).find(|&y| related[y][v] && !related[y][u]);
                if let (Some(x), Some(y)) = (only_u, only_v) {
                    for (a, b) in [(x, v), (y, u)] {
                        let mut more = related.to_vec();
                        (more[a][b], more[b][a]) = (true, true);
                        let added = relation.sizes[a] * relation.sizes[b];
                        exhaustive(relation, &more, cost + added, best);
                    }
                    return;
                }
            }
        }
        *best = cost;
    }

    fn matrix(relation: &Relation) -> Vec<Vec<bool>> {
        let row = |a| (0..relation.len()).map(|b| relation.related(a, b)).collect();
        (0..relation.len()).map(row).collect()
    }

    /// Checks that every related pair is comparable, and returns the cost of the forest.
    fn cost_of(relation: &Relation, done: &Completion) -> u64 {
        let above = |member: u32| done.forest.iter().find(|at| at.0 == member).unwrap().1;
        let comparable = |a: u32, b: u32| {
            let up = |from| std::iter::successors(Some(from), |&at| above(at));
            up(a).any(|at| at == b) || up(b).any(|at| at == a)
        };
        let mut cost = 0;
        for a in 0..relation.len() {
            for b in 0..a {
                match (comparable(a as u32, b as u32), relation.related(a, b)) {
                    (true, false) => cost += relation.sizes[a] * relation.sizes[b],
                    (false, true) => panic!("{a} and {b} are related"),
                    _ => {}
                }
            }
        }
        cost
    }

    fn all(len: usize) -> Vec<u32> {
        (0..len as u32).collect()
    }

    #[test]
    fn never_better_than_the_exhaustive_search_and_mostly_as_good() {
        let (mut lossy, mut over_by) = (0, [0; 4]);
        for seed in 0..1_000 {
            let mut rng = Rng(seed);
            let len = 4 + rng.below(6) as usize;
            let percent = 20 + rng.below(60);
            let relation = random(&mut rng, len, percent, seed % 2 == 0);
            let mut best = u64::MAX;
            exhaustive(&relation, &matrix(&relation), 0, &mut best);
            let done = complete(&relation, &all(len), &all(len));
            assert_eq!(cost_of(&relation, &done), done.cost, "seed {seed}");
            lossy += u32::from(best > 0);
            let over = (done.cost - best) * 10;
            over_by[match () {
                () if over == 0 => 0,
                () if over <= best => 1,
                () if over <= 5 * best => 2,
                () => 3,
            }] += 1;
        }
        println!("optimal, over by up to 10 %, 50 %, more: {over_by:?}");
        assert!(lossy > 500, "{lossy} instances of 1,000 have no forest");
        assert!(over_by[0] > 900, "{over_by:?}");
    }

    #[test]
    fn a_forest_is_found_again() {
        for seed in 0..20 {
            let mut rng = Rng(seed);
            let len = 30 + rng.below(120) as usize;
            let percent = 1 + rng.below(60);
            let relation = random(&mut rng, len, percent, seed % 2 == 0);
            let done = complete(&relation, &all(len), &all(len));
            assert_eq!(cost_of(&relation, &done), done.cost, "seed {seed}");
            // The resulting forest, used as the relation, costs nothing.
            let mut pairs = Vec::new();
            for &(member, mut above) in &done.forest {
                while let Some(up) = above {
                    pairs.push((member as usize, up as usize));
                    above = done.forest.iter().find(|at| at.0 == up).unwrap().1;
                }
            }
            let forest = self::relation(relation.sizes.clone(), &pairs);
            assert_eq!(complete(&forest, &all(len), &all(len)).cost, 0, "seed {seed}");
        }
    }
}
