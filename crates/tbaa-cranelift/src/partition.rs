//! Chooses the accesses that share an alias region.
//!
//! Accesses in two regions must not alias, so regions are connected components of the relation "may
//! alias". One access to a `char` can connect all others, so it may be left without a region.
//!
//! A choice says which [`Node`]s have no region; [`Score`] rates it. Nodes that may alias are
//! *neighbours*. For few nodes, all choices are tried. For more, the better result of two greedy
//! searches is used: `try_vaguest` and `try_upwards`.
//!
//! Cranelift's analysis takes time for each region, so the number of regions is limited. Further
//! components join the region with which they have the fewest load-store pairs: a load in one, and
//! a store in the other.

/// The largest number of nodes to choose from for which all choices are tried.
const MAX_EXACT: usize = 8;
/// The largest number of nodes that `try_vaguest` takes out of regions.
const MAX_STEPS: usize = 64;
/// The largest number of nodes that a step of `try_vaguest` compares.
const CANDIDATES: usize = 8;

/// Either new accesses that may alias the same accesses, or all old accesses of one region.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    /// The number of different accesses in the node.
    pub(crate) accesses: u64,
    /// The region of old accesses, which cannot change; `None` if the node is new.
    pub(crate) given: Option<u32>,
}

/// The score of a choice. The first number counts load-store pairs in different regions. Each load
/// that needs a sequence point lowers this number by the number of loads in regions. The second
/// number counts ordered pairs of accesses in different regions; it decides between equal first
/// numbers.
type Score = (i128, i128);

/// Nodes, and which of them may alias each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    nodes: Vec<Node>,
    may: Vec<Vec<usize>>,
}

impl Relation {
    /// Adds a node, and returns its number. `may` lists earlier nodes that the new node may alias.
    pub(crate) fn add(&mut self, node: Node, may: impl IntoIterator<Item = usize>) -> usize {
        let new = self.nodes.len();
        let may: Vec<usize> = may.into_iter().filter(|&other| other < new).collect();
        may.iter().for_each(|&other| self.may[other].push(new));
        self.nodes.push(node);
        self.may.push(may);
        new
    }

    /// Returns the region of each node, or `None`. Nodes that may alias are never in two regions.
    /// New regions are numbered from `next`. If there are `most` regions, no new ones are made.
    pub(crate) fn regions(&self, next: u32, most: u32) -> Vec<Option<u32>> {
        // A new node that may alias two given regions cannot be in either.
        let mut without: Vec<bool> =
            (0..self.nodes.len()).map(|node| self.is_new(node) && self.anchors(node) > 1).collect();
        let free: Vec<usize> =
            (0..self.nodes.len()).filter(|&node| self.is_new(node) && !without[node]).collect();
        if free.len() <= MAX_EXACT {
            self.try_all(&free, &mut without);
        } else {
            let mut upwards = without.clone();
            self.try_vaguest(&free, &mut without);
            self.try_upwards(&free, &mut upwards);
            if self.score(&upwards) > self.score(&without) {
                without = upwards;
            }
        }
        let regions = self.components(&without, next);
        self.joined(regions, next, most.max(1))
    }

    /// Renumbers the regions from `next` on, those with the most loads and stores first. Once there
    /// are `most`, each further region joins the one with which it has the fewest load-store pairs.
    fn joined(&self, mut regions: Vec<Option<u32>>, next: u32, most: u32) -> Vec<Option<u32>> {
        let count = regions.iter().flatten().max().map_or(0, |&last| last + 1);
        let mut sums = vec![[0_u128; 2]; count as usize];
        for (node, region) in self.nodes.iter().zip(&regions) {
            let Some(region) = *region else { continue };
            let of = &mut sums[region as usize];
            *of = [of[0] + u128::from(node.loads), of[1] + u128::from(node.stores)];
        }
        let mut new: Vec<u32> = (next..count).collect();
        new.sort_by_key(|&region| std::cmp::Reverse(sums[region as usize].iter().sum::<u128>()));
        // The new number of each region, and the sums of loads and stores of each new number.
        let mut numbers: Vec<u32> = (0..count).collect();
        let mut joined: Vec<[u128; 2]> = sums[..next.min(count) as usize].to_vec();
        for region in new {
            let [loads, stores] = sums[region as usize];
            if (joined.len() as u32) < most {
                numbers[region as usize] = joined.len() as u32;
                joined.push([loads, stores]);
                continue;
            }
            let against = |of: &[u128; 2]| loads * of[1] + stores * of[0];
            let least = (0..joined.len()).min_by_key(|&at| against(&joined[at])).unwrap_or(0);
            joined[least] = [joined[least][0] + loads, joined[least][1] + stores];
            numbers[region as usize] = least as u32;
        }
        regions.iter_mut().flatten().for_each(|region| *region = numbers[*region as usize]);
        regions
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

    /// Takes nodes with many neighbours out of their regions, one after the other.
    fn try_vaguest(&self, free: &[usize], without: &mut Vec<bool>) {
        let mut choice = without.clone();
        let mut best = self.score(without);
        // A step may lower the score and the next one raise it: if each of two nodes connects all
        // others, only removing both helps.
        for _ in 0..MAX_STEPS {
            let degree = |node: usize| self.may[node].iter().filter(|&&may| !choice[may]).count();
            let mut vaguest: Vec<(usize, usize)> = free
                .iter()
                .filter(|&&node| !choice[node])
                .map(|&node| (degree(node), node))
                // Removing a node without neighbours cannot help.
                .filter(|&(degree, _)| degree > 0)
                .collect();
            vaguest.sort_unstable_by(|a, b| b.cmp(a));
            vaguest.truncate(CANDIDATES);
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

    /// Starts with no node of `free` in a region, and adds nodes that seem to raise the score.
    /// Tries nodes whose neighbours load and store least before others.
    fn try_upwards(&self, free: &[usize], without: &mut [bool]) {
        let of = |node: usize| {
            let node = &self.nodes[node];
            [node.loads, node.stores, node.accesses].map(i128::from)
        };
        let add = |a: [i128; 3], b: [i128; 3]| std::array::from_fn(|at| a[at] + b[at]);
        free.iter().for_each(|&node| without[node] = true);
        let mut order: Vec<usize> = free.to_vec();
        let near =
            |node: usize| self.may[node].iter().map(|&may| of(may)[0] + of(may)[1]).sum::<i128>();
        order.sort_by_cached_key(|&node| (near(node), self.may[node].len(), node));
        // Union-find: the parent of each node; the sums and the given region of each component.
        let mut above: Vec<usize> = (0..self.nodes.len()).collect();
        let mut sums: Vec<[i128; 3]> = (0..self.nodes.len()).map(of).collect();
        let mut given: Vec<Option<u32>> = self.nodes.iter().map(|node| node.given).collect();
        let inside = (0..self.nodes.len()).filter(|&node| !without[node]);
        let mut all = inside.map(of).fold([0; 3], add);
        for node in order {
            let mut roots = Vec::new();
            for &other in self.may[node].iter().filter(|&&may| may != node && !without[may]) {
                let mut root = other;
                while above[root] != root {
                    above[root] = above[above[root]];
                    root = above[root];
                }
                roots.push(root);
            }
            roots.sort_unstable();
            roots.dedup();
            let mut regions = roots.iter().filter_map(|&root| given[root]);
            let region = regions.next();
            if regions.any(|other| Some(other) != region) {
                continue;
            }
            let own = of(node);
            let near = roots.iter().map(|&root| sums[root]).fold([0; 3], add);
            let parted = |sums: &[i128; 3]| [sums[0] * sums[1], sums[2] * sums[2]];
            let lost = roots.iter().map(|&root| parted(&sums[root]));
            let lost = lost.fold(parted(&near), |sum, one| [sum[0] - one[0], sum[1] - one[1]]);
            let fence = if near[1] > 0 { own[0] * all[0] } else { 0 };
            let gained = own[0] * (all[1] - near[1]) + own[1] * (all[0] - near[0]) + fence;
            let pairs = 2 * own[2] * (all[2] - near[2]);
            if roots.is_empty() || (gained - lost[0], pairs - lost[1]) > (0, 0) {
                without[node] = false;
                all = add(all, own);
                sums[node] = add(near, own);
                given[node] = region;
                roots.iter().for_each(|&root| above[root] = node);
            }
        }
    }

    /// Returns the region of each node. A connected component of new nodes not in `without` has the
    /// given region that it touches, no region if it touches several, or else a new region.
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
        // A load without a region needs a sequence point if a store in a region may reach it.
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
            // Some nodes may alias many others, most only a few. Given regions never alias.
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
            let most = given as u32 + 1 + random() as u32 % 4;
            let regions = relation.regions(given as u32, most);
            assert!(regions.iter().flatten().all(|&region| region < most), "round {round}");
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
            let upwards = best(|relation, free, without| relation.try_upwards(free, without));
            assert!(vaguest.max(upwards) <= all && relation.score(&vec![false; count]) <= vaguest);
            exact = (exact.0 + all.0, exact.1 + upwards.0);
            greedy += vaguest.max(upwards).0;
        }
        println!("all choices: {}, greedy: {greedy}, of which upwards finds {}", exact.0, exact.1);
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
        assert_eq!(relation.regions(2, 9), [Some(0), Some(1), None, Some(1), Some(2)]);
        assert_eq!(relation.regions(2, 2)[4], Some(0));
    }

    /// 192 nodes with few loads and stores may alias all 80 nodes with many. `try_vaguest` takes
    /// too few of the 192 out of regions.
    #[test]
    fn the_search_begins_at_both_ends() {
        let mut relation = Relation::default();
        let node = |weight| Node { loads: weight, stores: weight, accesses: 1, given: None };
        for pair in 0..40 {
            relation.add(node(100), []);
            relation.add(node(100), [2 * pair]);
        }
        for _ in 0..3 * MAX_STEPS {
            relation.add(node(1), 0..80);
        }
        let regions = relation.regions(0, u32::MAX);
        let count = regions.iter().flatten().max().unwrap() + 1;
        assert!(count >= 40, "{count}");
        assert!((0..40).all(|pair| regions[2 * pair] == regions[2 * pair + 1]));
    }

    #[test]
    fn at_most_so_many_regions() {
        let mut relation = Relation::default();
        for (loads, stores) in [(90, 0), (0, 90), (50, 50), (8, 0), (0, 8), (4, 0)] {
            relation.add(Node { loads, stores, accesses: 1, given: None }, []);
        }
        assert_eq!(
            relation.regions(0, 3),
            [0, 1, 2, 0, 1, 0].map(|region| Some([1, 2, 0][region]))
        );
        assert_eq!(relation.regions(0, 1), [Some(0); 6]);
    }
}
