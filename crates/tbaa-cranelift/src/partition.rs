//! Chooses the accesses that share a region.
//!
//! Regions are disjoint, and "may alias" is not: a slot's word may be its integer or its float, which never
//! alias each other. Accesses that may alias each other share a region, so regions are the connected components
//! of the relation. One vague access, such as to a `char`, connects all. It may go without a region instead.
//!
//! Which accesses should go without? The best choice has the highest [`Score`]. To find it is to separate a graph
//! by vertices, which is hard in general: all choices are tried for few nodes, and greedy ones for many.

/// The most nodes for which all choices are tried.
const EXACT: usize = 8;
/// The number of nodes that a greedy search removes, and the number of candidates each time.
const STEPS: usize = 64;
const WIDTH: usize = 8;

/// Accesses that may alias the same others, or all accesses of an earlier region.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The number of its accesses that load, and how many store.
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    /// The number of different accesses in the node.
    pub(crate) accesses: u64,
    /// The earlier region. It cannot change.
    pub(crate) given: Option<u32>,
}

/// The score of a choice, most important first: the number of pairs of a load and a store in
/// different regions, less the pairs of a load and a sequence point; then the number of all pairs
/// of accesses in different regions.
///
/// The second number decides if this function has no stores, because the next one may have some.
type Score = (i128, i128);

/// The nodes that may alias each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    nodes: Vec<Node>,
    may: Vec<Vec<usize>>,
}

impl Relation {
    /// Adds a node that may alias some of those before it, and returns its number.
    pub(crate) fn add(&mut self, node: Node, may: impl IntoIterator<Item = usize>) -> usize {
        let new = self.nodes.len();
        let may: Vec<usize> = may.into_iter().filter(|&other| other < new).collect();
        may.iter().for_each(|&other| self.may[other].push(new));
        self.nodes.push(node);
        self.may.push(may);
        new
    }

    /// Returns the region of each node, or `None` for a node without one. Nodes that may alias each
    /// other are never in two regions. New regions are numbered from `next`.
    pub(crate) fn regions(&self, next: u32) -> Vec<Option<u32>> {
        // A node that may alias two regions cannot be in either.
        let mut without: Vec<bool> =
            (0..self.nodes.len()).map(|node| self.is_new(node) && self.anchors(node) > 1).collect();
        let free: Vec<usize> =
            (0..self.nodes.len()).filter(|&node| self.is_new(node) && !without[node]).collect();
        if free.len() <= EXACT {
            self.try_all(&free, &mut without);
        } else {
            self.try_vaguest(&free, &mut without);
        }
        self.components(&without, next)
    }

    fn is_new(&self, node: usize) -> bool {
        self.nodes[node].given.is_none()
    }

    /// Returns the number of given regions that a node may alias.
    fn anchors(&self, node: usize) -> usize {
        self.may[node].iter().filter(|&&other| !self.is_new(other)).count()
    }

    fn try_all(&self, free: &[usize], without: &mut Vec<bool>) {
        let mut best: Option<(Score, Vec<bool>)> = None;
        for bits in 0..1_u32 << free.len() {
            let mut choice = without.clone();
            free.iter().enumerate().for_each(|(bit, &node)| choice[node] |= bits >> bit & 1 == 1);
            let score = self.score(&choice);
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, choice));
            }
        }
        *without = best.map_or_else(Vec::new, |(_, choice)| choice);
    }

    fn try_vaguest(&self, free: &[usize], without: &mut Vec<bool>) {
        let mut choice = without.clone();
        let mut best = self.score(without);
        // A step without gain may enable one with gain: each of two vague nodes alone may connect
        // all others.
        for _ in 0..STEPS {
            let degree = |node: usize| self.may[node].iter().filter(|&&it| !choice[it]).count();
            let mut vaguest: Vec<(usize, usize)> = free
                .iter()
                .filter(|&&node| !choice[node])
                .map(|&node| (degree(node), node))
                .collect();
            vaguest.sort_unstable_by(|a, b| b.cmp(a));
            vaguest.truncate(WIDTH);
            let step = vaguest.into_iter().map(|(degree, node)| {
                choice[node] = true;
                let score = self.score(&choice);
                choice[node] = false;
                (score, degree, node)
            });
            let Some((score, _, node)) = step.max() else { break };
            choice[node] = true;
            if score > best {
                best = score;
                without.clone_from(&choice);
            }
        }
    }

    /// The connected components of the nodes that have a region. A component that would join two given regions has
    /// none.
    fn components(&self, without: &[bool], mut next: u32) -> Vec<Option<u32>> {
        let mut regions: Vec<Option<u32>> = self.nodes.iter().map(|node| node.given).collect();
        let mut seen = without.to_vec();
        for start in 0..self.nodes.len() {
            if !self.is_new(start) || seen[start] {
                continue;
            }
            seen[start] = true;
            let mut members = vec![start];
            let mut given: Vec<u32> = Vec::new();
            let mut at = 0;
            while let Some(&node) = members.get(at) {
                at += 1;
                for &other in &self.may[node] {
                    match self.nodes[other].given {
                        Some(region) if !given.contains(&region) => given.push(region),
                        None if !seen[other] => {
                            seen[other] = true;
                            members.push(other);
                        }
                        _ => {}
                    }
                }
            }
            let region = match given[..] {
                [] => {
                    next += 1;
                    Some(next - 1)
                }
                [region] => Some(region),
                _ => None,
            };
            members.iter().for_each(|&node| regions[node] = region);
        }
        regions
    }

    fn score(&self, without: &[bool]) -> Score {
        let given = self.nodes.iter().filter_map(|node| node.given).max();
        let regions = self.components(without, given.map_or(0, |last| last + 1));
        let count = regions.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut sums = vec![[0_i128; 3]; count];
        let mut all = [0_i128; 3];
        for (node, region) in self.nodes.iter().zip(&regions) {
            let Some(region) = region else { continue };
            let counts = [node.loads, node.stores, node.accesses].map(i128::from);
            let sums = &mut sums[*region as usize];
            for (place, count) in counts.into_iter().enumerate() {
                sums[place] += count;
                all[place] += count;
            }
        }
        // A load without a region needs a sequence point if a region's store may reach it.
        let is_reached = |node: usize| {
            let mut others = self.may[node].iter();
            others.any(|&other| regions[other].is_some() && self.nodes[other].stores > 0)
        };
        let bare = (0..self.nodes.len()).filter(|&node| regions[node].is_none());
        let fences: i128 = bare
            .filter(|&node| is_reached(node))
            .map(|node| i128::from(self.nodes[node].loads))
            .sum();
        let apart: i128 = sums.iter().map(|[loads, stores, _]| loads * (all[1] - stores)).sum();
        let pairs: i128 = sums.iter().map(|[_, _, own]| own * (all[2] - own)).sum();
        (apart - fences * all[0], pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_relation(random: &mut impl FnMut() -> u64, count: usize, given: usize) -> Relation {
        let mut relation = Relation::default();
        for node in 0..count {
            let fixed = (node < given).then_some(node as u32);
            let node =
                Node { loads: random() % 4, stores: random() % 4, accesses: 1, given: fixed };
            // A few vague nodes, and few other pairs. Earlier regions do not alias.
            let vague = random().is_multiple_of(4);
            let others: Vec<usize> = (0..relation.nodes.len())
                .filter(|_| fixed.is_none() && random().is_multiple_of(if vague { 2 } else { 8 }))
                .collect();
            relation.add(node, others);
        }
        relation
    }

    fn numbers() -> impl FnMut() -> u64 {
        let mut state = 7_u64;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 33
        }
    }

    #[test]
    fn regions_never_part_what_may_alias_and_given_ones_stay() {
        let mut random = numbers();
        for round in 0..600 {
            let (count, given) = (1 + random() as usize % 24, random() as usize % 4);
            let relation = random_relation(&mut random, count, given.min(count));
            let regions = relation.regions(given as u32);
            for (a, node) in relation.nodes.iter().enumerate() {
                assert!(node.given.is_none() || regions[a] == node.given, "round {round}");
                for &b in &relation.may[a] {
                    let parted = regions[a].zip(regions[b]).is_some_and(|(a, b)| a != b);
                    assert!(!parted, "round {round}: {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn the_greedy_choice_is_near_the_best() {
        let mut random = numbers();
        let (mut exact, mut greedy) = ((0, 0), 0);
        for _ in 0..200 {
            let count = 4 + random() as usize % 7;
            let relation = random_relation(&mut random, count, 0);
            let free: Vec<usize> = (0..count).collect();
            let best = |search: fn(&Relation, &[usize], &mut Vec<bool>)| {
                let mut without = vec![false; count];
                search(&relation, &free, &mut without);
                relation.score(&without)
            };
            let (all, vaguest) = (best(Relation::try_all), best(Relation::try_vaguest));
            assert!(vaguest <= all && relation.score(&vec![false; count]) <= vaguest);
            exact = (exact.0 + all.0, exact.1 + 1);
            greedy += vaguest.0;
        }
        println!("all choices: {}, greedy: {greedy}", exact.0);
        assert!(greedy * 100 >= exact.0 * 95, "{greedy} of {}", exact.0);
    }

    #[test]
    fn an_access_that_connects_two_given_regions_goes_without() {
        let mut relation = Relation::default();
        let node = |given| Node { loads: 1, stores: 1, accesses: 1, given };
        let first = relation.add(node(Some(0)), []);
        let second = relation.add(node(Some(1)), []);
        relation.add(node(None), [first, second]);
        relation.add(node(None), [second]);
        relation.add(node(None), []);
        assert_eq!(relation.regions(2), [Some(0), Some(1), None, Some(1), Some(2)]);
    }
}
