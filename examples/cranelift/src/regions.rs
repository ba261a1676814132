//! Tags to alias regions.
//!
//! Cranelift knows memory as disjoint regions: accesses of two regions never
//! alias, and those of one may. So two tags that may alias belong into one
//! region, and regions are the connected components of the relation "may alias".
//! One vague tag, such as `char`, connects all. Such a tag may go without a
//! region instead. A store without one is a fence: it ends what is known of all
//! memory. A load without one, NB, takes no notice of the stores of regions; it
//! is sound only behind a fence, which [`Regions::needs_fence`] asks for.
//!
//! Which tags should go without? Each loses all its own `NoAlias` answers, and
//! what it connected keeps its own. Most pairs are kept by an optimum over all
//! sets of classes of tags; finding it is hard in general, as it is to separate a
//! graph by vertices. All sets are tried for as many classes as one function has;
//! beyond that, classes are taken one by one as long as that gains.

use std::borrow::Borrow;
use std::collections::HashMap;

use tbaa::{Graph, Oracle, TagId};

/// The most classes of which all sets are tried.
const EXACT: usize = 16;

/// The regions of some tags.
#[derive(Debug)]
pub(crate) struct Regions {
    of: HashMap<TagId, Option<u32>>,
    /// Pairs of tags that the rule calls `NoAlias`, and of those the ones that
    /// regions tell apart.
    pub(crate) pairs: usize,
    pub(crate) kept: usize,
    /// Whether no other choice keeps more.
    pub(crate) optimal: bool,
}

impl Regions {
    /// Finds regions for the tags of one function, or of several that are to be
    /// inlined into each other.
    pub(crate) fn new<G: Borrow<Graph>>(oracle: &Oracle<G>, tags: &[TagId]) -> Regions {
        let mut distinct: Vec<TagId> = Vec::new();
        for &tag in tags {
            if !distinct.contains(&tag) {
                distinct.push(tag);
            }
        }
        // Classes answer alike, so they stand or fall together.
        let classes = oracle.classes(&distinct);
        let count = classes.len();
        let mut sizes = vec![0; count];
        classes.as_slice().iter().for_each(|&class| sizes[class as usize] += 1);
        let first = |class: usize| distinct[classes.representatives()[class] as usize];
        let may: Vec<Vec<bool>> = (0..count)
            .map(|a| (0..count).map(|b| oracle.may_alias(first(a), first(b))).collect())
            .collect();
        let relation = Relation { may, sizes };

        let optimal = count <= EXACT;
        let without = if optimal { relation.best_of_all() } else { relation.best_one_by_one() };
        let components = relation.components(&without);
        let of = distinct.iter().zip(classes.as_slice());
        Regions {
            of: of.map(|(&tag, &class)| (tag, components[class as usize])).collect(),
            pairs: relation.pairs(|a, b| !relation.may[a][b]),
            kept: relation.kept(&components),
            optimal,
        }
    }

    /// The number of a tag's region; `None` for a fence.
    pub(crate) fn of(&self, tag: TagId) -> Option<u32> {
        self.of.get(&tag).copied().flatten()
    }

    /// Whether a load with this tag must stand behind a fence.
    pub(crate) fn needs_fence(&self, tag: TagId) -> bool {
        self.of(tag).is_none()
    }

    /// The number of regions.
    pub(crate) fn len(&self) -> usize {
        self.of.values().flatten().max().map_or(0, |&last| last as usize + 1)
    }
}

/// Which classes may alias, and how many tags are in each.
struct Relation {
    may: Vec<Vec<bool>>,
    sizes: Vec<usize>,
}

impl Relation {
    /// Pairs of tags in pairs of classes.
    fn pairs(&self, of: impl Fn(usize, usize) -> bool) -> usize {
        let count = self.sizes.len();
        let all = (0..count).flat_map(|b| (0..b).map(move |a| (a, b)));
        all.filter(|&(a, b)| of(a, b)).map(|(a, b)| self.sizes[a] * self.sizes[b]).sum()
    }

    /// The connected components, numbered in order; `None` for classes without.
    fn components(&self, without: &[bool]) -> Vec<Option<u32>> {
        let mut component = vec![None; without.len()];
        let mut next = 0;
        for start in 0..without.len() {
            if without[start] || component[start].is_some() {
                continue;
            }
            let mut open = vec![start];
            component[start] = Some(next);
            while let Some(class) = open.pop() {
                for other in 0..without.len() {
                    if self.may[class][other] && !without[other] && component[other].is_none() {
                        component[other] = Some(next);
                        open.push(other);
                    }
                }
            }
            next += 1;
        }
        component
    }

    fn kept(&self, components: &[Option<u32>]) -> usize {
        self.pairs(|a, b| {
            let of = (components[a], components[b]);
            matches!(of, (Some(a), Some(b)) if a != b)
        })
    }

    fn best_of_all(&self) -> Vec<bool> {
        let count = self.sizes.len();
        let set = |bits: u32| -> Vec<bool> { (0..count).map(|at| bits >> at & 1 == 1).collect() };
        let mut best = (0, set(0));
        for bits in 0..1_u32 << count {
            let without = set(bits);
            let kept = self.kept(&self.components(&without));
            if kept > best.0 {
                best = (kept, without);
            }
        }
        best.1
    }

    fn best_one_by_one(&self) -> Vec<bool> {
        let mut without = vec![false; self.sizes.len()];
        let mut kept = self.kept(&self.components(&without));
        let mut best = (kept, without.clone());
        // A step that gains nothing may make way for one that does: of two vague
        // classes each alone connects all.
        for _ in 0..self.sizes.len() {
            let mut step = None;
            for class in 0..without.len() {
                if without[class] {
                    continue;
                }
                without[class] = true;
                let now = self.kept(&self.components(&without));
                let degree = self.may[class].iter().filter(|&&may| may).count();
                if step.is_none_or(|(most, of, _)| (now, degree) > (most, of)) {
                    step = Some((now, degree, class));
                }
                without[class] = false;
            }
            let Some((now, _, class)) = step else { break };
            without[class] = true;
            kept = now;
            if kept > best.0 {
                best = (kept, without.clone());
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_by_one_is_near_the_best_of_all() {
        let mut state = 7_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 33
        };
        let (mut exact, mut greedy) = (0, 0);
        for _ in 0..200 {
            let count = 4 + random() as usize % 7;
            let mut may = vec![vec![false; count]; count];
            let pairs = (0..count).flat_map(|a| (0..=a).map(move |b| (a, b)));
            for (a, b) in pairs {
                // A few vague classes, and few other pairs.
                let vague = random() % 6 == 0 || b == 0 && random() % 3 != 0;
                may[a][b] = a == b || vague;
                may[b][a] = may[a][b];
            }
            let sizes = (0..count).map(|_| 1 + random() as usize % 3).collect();
            let relation = Relation { may, sizes };
            let kept = |without: Vec<bool>| relation.kept(&relation.components(&without));
            let (best, stepwise) = (kept(relation.best_of_all()), kept(relation.best_one_by_one()));
            assert!(stepwise <= best && kept(vec![false; count]) <= stepwise);
            exact += best;
            greedy += stepwise;
        }
        println!("all sets keep {exact} pairs, one by one {greedy}");
        assert!(greedy * 100 >= exact * 95, "{greedy} of {exact}");
    }
}
