//! Bit masks that answer all alias queries between the accesses of a fixed list.
//!
//! A bit stands for a set of accesses that all may alias each other. In the graph whose edges are
//! the pairs that may alias, this is a *clique*. If the cliques cover all edges, two accesses may
//! alias iff their masks share a bit. The mask of a set of accesses is the OR of their masks: an
//! access shares a bit with the OR iff it shares one with one of these masks.
//!
//! Finding the fewest cliques is NP-hard (Kou, Stockmeyer and Wong, 1978). If the common neighbours
//! of an edge are a clique, the edge is in no other maximal clique, so such cliques are chosen
//! first. Cliques that grow greedily cover the other edges. If no clique contains two edges of a
//! set, each of these edges needs its own bit, so the size of the set is a lower bound.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicU64, Ordering};

use fixedbitset::FixedBitSet;

use super::effect::MemoryEffect;
use super::grow::Oracle;
use crate::access::{Access, AccessKind};
use crate::graph::Graph;

/// The largest number of accesses, and of cliques. Two roots with m scalars each need m^2 cliques.
const MOST: usize = 1 << 12;
/// The largest number of 64-bit words that one search may read, which takes about a second.
const WORDS: u64 = 1 << 30;
/// The number of heaviest cliques that `merge` compares in pairs, after joining the rest to them.
const PAIRED: usize = 1 << 9;

/// The version of the next [`Masks`].
static VERSION: AtomicU64 = AtomicU64::new(1);

/// A mask for each access of a list. If two accesses may alias, their masks share a bit. The only
/// other masks that share a bit are those of the pairs in [`Masks::lost`].
///
/// ```
/// use tbaa::{AccessKind::{Read, Write}, AliasRule, Graph, Oracle};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let char = b.scalar_type("char", root)?;
/// let [int, float] = ["int", "float"].map(|name| b.scalar_type(name, char));
/// let (int, float) = (int?, float?);
/// let tags = [b.struct_tag(char, char, 0)?, b.struct_tag(int, int, 0)?, b.struct_tag(float, float, 0)?];
///
/// let masks = Oracle::new(&graph, AliasRule::Llvm).masks(tags.map(|tag| (tag, 1)), 64)?;
/// assert!(masks.lost().next().is_none());
/// assert_eq!([0, 1, 2].map(|at| masks.mask(at).count_ones()), [2, 1, 1]);
/// assert!(masks.may_alias(0, 1) && !masks.may_alias(1, 2));
/// // A function that reads an int and writes a float.
/// let call = masks.effect(1, Read).union(masks.effect(2, Write));
/// assert!(call.conflicts(masks.effect(0, Write)) && !call.conflicts(masks.effect(1, Read)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Masks {
    /// For each access, the set of accesses that it may alias.
    near: Vec<FixedBitSet>,
    /// The mask of each access, which is never 0.
    masks: Vec<u64>,
    bits: usize,
    exact_bits: usize,
    least_bits: usize,
    version: u64,
}

/// The reason why masks cannot be made for a list of accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MasksError {
    /// The width of a mask must be from 1 to 64.
    #[error("a mask has 1 to 64 bits, not {0}")]
    Width(usize),
    /// The list is too long.
    #[error("a list for masks has at most {MOST} accesses, not {0}: list equal ones once")]
    TooManyAccesses(usize),
    /// The accesses need too many bits before bits are merged, or the search takes too long.
    #[error("the accesses need more than {MOST} bits or too long a search: take those of one root")]
    TooManyBits,
}

impl Masks {
    /// Returns the number of accesses.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Returns whether the list of accesses is empty.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    /// Returns the mask of the access at position `at` of the list. The mask is never 0, and must
    /// not be compared with a mask of another [`Masks`].
    ///
    /// # Panics
    ///
    /// If the list has no such access. This holds for all functions that take a position.
    #[inline]
    pub fn mask(&self, at: usize) -> u64 {
        self.masks[at]
    }

    /// Returns whether the masks of two accesses share a bit.
    #[inline]
    pub fn may_alias(&self, a: usize, b: usize) -> bool {
        self.mask(a) & self.mask(b) != 0
    }

    /// Returns the effect of an access that reads, writes or does both. A load with an immutable
    /// tag counts as a read, because it must stay after the store that initialises the memory.
    pub fn effect(&self, at: usize, kind: AccessKind) -> MemoryEffect {
        let when = |does: bool| if does { self.mask(at) } else { 0 };
        let (reads, writes) = (when(kind.reads()), when(kind.writes()));
        MemoryEffect { reads, writes, version: self.version }
    }

    /// Returns the number of bits that the masks use.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the number of bits that exact masks use, before bits are merged.
    pub fn exact_bits(&self) -> usize {
        self.exact_bits
    }

    /// Returns a lower bound on the bits of exact masks. It is seldom below [`Masks::exact_bits`].
    pub fn least_bits(&self) -> usize {
        self.least_bits
    }

    /// Returns the pairs of accesses that do not alias although their masks share a bit. There are
    /// none iff the masks are exact.
    pub fn lost(&self) -> impl Iterator<Item = (usize, usize)> {
        let pairs = (0..self.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.filter(|&(a, b)| self.may_alias(a, b) && !self.near[a].contains(b))
    }

    /// Returns a number that no other [`Masks`] of this process has, except clones of this one.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Computes a mask of at most `bits` bits, 1 to 64, for each access. Each access is given with
    /// its weight, which is how often it occurs, or 1.
    ///
    /// If the accesses need more bits, bits are merged: some pairs that do not alias then share a
    /// bit ([`Masks::lost`]). The merging prefers pairs with small weights. Pairs that may alias
    /// always share a bit. The search for masks takes about a second at most, and queries have the
    /// limits of [`Oracle::matrix`]. To add an access, make all masks anew.
    ///
    /// # Errors
    ///
    /// If `bits` is not 1 to 64, accesses or cliques exceed 4,096, or the search takes too long.
    pub fn masks<A: Into<Access>>(
        &self,
        accesses: impl IntoIterator<Item = (A, u64)>,
        bits: usize,
    ) -> Result<Masks, MasksError> {
        if !(1..=64).contains(&bits) {
            return Err(MasksError::Width(bits));
        }
        let accesses = accesses.into_iter().map(|(access, weight)| (access.into(), weight));
        let (list, weights): (Vec<Access>, Vec<u64>) = accesses.unzip();
        if list.len() > MOST {
            return Err(MasksError::TooManyAccesses(list.len()));
        }
        let mut left = self.steps_to_compare();
        let mut near = vec![FixedBitSet::with_capacity(list.len()); list.len()];
        for (a, &first) in list.iter().enumerate() {
            near[a].insert(a);
            for (b, &second) in list[..a].iter().enumerate() {
                if self.may_alias_within(first, second, &mut left).unwrap_or(true) {
                    near[a].insert(b);
                    near[b].insert(a);
                }
            }
        }
        let mut search = Search { near: &near, left: WORDS };
        let (mut cliques, least_bits) = search.cover().ok_or(MasksError::TooManyBits)?;
        let exact_bits = cliques.len();
        search.merge(&mut cliques, &weights, bits).ok_or(MasksError::TooManyBits)?;
        let mut masks = vec![0; list.len()];
        for (bit, clique) in cliques.iter().enumerate() {
            clique.ones().for_each(|access| masks[access] |= 1 << bit);
        }
        let (bits, version) = (cliques.len(), VERSION.fetch_add(1, Ordering::Relaxed));
        Ok(Masks { near, masks, bits, exact_bits, least_bits, version })
    }
}

/// A search for cliques, which may read `left` words. Beyond a limit, its functions return `None`.
struct Search<'a> {
    near: &'a [FixedBitSet],
    left: u64,
}

impl Search<'_> {
    fn spend(&mut self, rows: usize) -> Option<()> {
        self.left = self.left.checked_sub((rows * self.near.len().div_ceil(64)) as u64)?;
        Some(())
    }

    /// Returns cliques that cover all edges, and a lower bound on the number of cliques needed.
    fn cover(&mut self) -> Option<(Vec<FixedBitSet>, usize)> {
        let near = self.near;
        // Edges with few common neighbours come first. For `(a, a)`, all neighbours of `a` count.
        let mut edges: Vec<(u16, u16, u16)> = Vec::new();
        for (a, row) in near.iter().enumerate() {
            for b in row.ones().take_while(|&b| b <= a) {
                self.spend(1)?;
                edges.push((row.intersection_count(&near[b]) as u16, a as u16, b as u16));
            }
        }
        edges.sort_unstable();
        // Edges not covered yet, and edges that share no clique with an edge counted in `least`.
        let (mut open, mut free) = (near.to_vec(), near.to_vec());
        let (mut cliques, mut least) = (Vec::new(), 0);
        for is_forced in [true, false] {
            for &(_, a, b) in &edges {
                let (a, b) = (a as usize, b as usize);
                let (is_open, is_free) = (open[a].contains(b), free[a].contains(b));
                if !is_open && !is_free {
                    continue;
                }
                self.spend(1)?;
                let common = &near[a] & &near[b];
                let is_clique = is_forced && self.is_clique(&common)?;
                if is_forced && !is_clique {
                    continue;
                }
                if is_free {
                    self.spend(common.count_ones(..))?;
                    least += 1;
                    common.ones().for_each(|at| free[at].difference_with(&common));
                }
                if is_open {
                    let clique = if is_clique { common } else { self.grow(&open, (a, b), common)? };
                    self.spend(clique.count_ones(..))?;
                    clique.ones().for_each(|at| open[at].difference_with(&clique));
                    cliques.push(clique);
                    if cliques.len() > MOST {
                        return None;
                    }
                }
            }
        }
        Some((cliques, least))
    }

    fn is_clique(&mut self, set: &FixedBitSet) -> Option<bool> {
        for member in set.ones() {
            self.spend(1)?;
            if !set.is_subset(&self.near[member]) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns a clique that contains the edge `(a, b)`. Repeatedly adds the candidate that covers
    /// the most edges of `open`, until no candidate covers any.
    fn grow(
        &mut self,
        open: &[FixedBitSet],
        (a, b): (usize, usize),
        mut candidates: FixedBitSet,
    ) -> Option<FixedBitSet> {
        let mut clique = FixedBitSet::with_capacity(candidates.len());
        let mut next = Some(a);
        let mut second = Some(b).filter(|&b| b != a);
        while let Some(member) = next {
            clique.insert(member);
            candidates.remove(member);
            candidates.intersect_with(&self.near[member]);
            next = second.take();
            if next.is_none() {
                let gain = |at: usize| {
                    open[at].intersection_count(&clique) + usize::from(open[at].contains(at))
                };
                let gains: Vec<_> =
                    candidates.ones().map(|at| (gain(at), std::cmp::Reverse(at))).collect();
                self.spend(1 + gains.len())?;
                next = gains.into_iter().max().filter(|gain| gain.0 > 0).map(|gain| gain.1.0);
            }
        }
        Some(clique)
    }

    /// Joins sets until at most `wanted` are left. The cost of joining two sets is the sum of the
    /// products of weights, over the pairs that share a bit only afterwards. The cost is kept low.
    fn merge(&mut self, sets: &mut Vec<FixedBitSet>, weights: &[u64], wanted: usize) -> Option<()> {
        if sets.len() <= wanted {
            return Some(());
        }
        // For each access, the accesses that share a bit with it.
        let mut joined = self.near.to_vec();
        let sum = |set: &FixedBitSet| {
            set.ones().fold(0_u128, |sum, at| sum.saturating_add(weights[at].into()))
        };
        let mut new = FixedBitSet::new();
        let mut cost = |joined: &[FixedBitSet], a: &FixedBitSet, b: &FixedBitSet| {
            let mut cost = 0_u128;
            for member in a.ones() {
                self.spend(1)?;
                new.clone_from(b);
                new.difference_with(&joined[member]);
                cost = cost.saturating_add(sum(&new).saturating_mul(weights[member].into()));
            }
            Some(cost)
        };
        let join = |joined: &mut [FixedBitSet], a: &mut FixedBitSet, b: &FixedBitSet| {
            a.union_with(b);
            a.ones().for_each(|at| joined[at].union_with(a));
        };
        sets.sort_by_cached_key(|set| std::cmp::Reverse(sum(set)));
        for light in sets.split_off(PAIRED.min(sets.len())) {
            let costs = sets.iter().map(|set| cost(&joined, &light, set));
            let costs: Vec<u128> = costs.collect::<Option<_>>()?;
            let (_, best) = costs.iter().zip(0..).min()?;
            join(&mut joined, &mut sets[best], &light);
        }
        // Row `a` has the cost of joining clique `a` to each earlier clique. When two other cliques
        // are joined, this cost can only fall, and is not computed again.
        let mut costs: Vec<Vec<u128>> = Vec::new();
        for (at, set) in sets.iter().enumerate() {
            let row = sets[..at].iter().map(|other| cost(&joined, other, set));
            costs.push(row.collect::<Option<_>>()?);
        }
        while sets.len() > wanted {
            let all = costs.iter().enumerate();
            let all =
                all.flat_map(|(a, row)| row.iter().enumerate().map(move |(b, cost)| (cost, b, a)));
            let (_, to, from) = all.min()?;
            let taken = sets.remove(from);
            costs.remove(from);
            for row in &mut costs[from..] {
                row.remove(from);
            }
            join(&mut joined, &mut sets[to], &taken);
            for other in (0..sets.len()).filter(|&other| other != to) {
                let (high, low) = (other.max(to), other.min(to));
                costs[high][low] = cost(&joined, &sets[to], &sets[other])?;
            }
        }
        Some(())
    }
}
