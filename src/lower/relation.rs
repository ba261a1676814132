//! Which pairs of classes may alias, a bit each, and how much each class weighs.

/// A symmetric and reflexive relation on the numbers below a length.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// Words in a row.
    stride: usize,
    bits: Vec<u64>,
    /// Of each member, at least 1. A pair weighs the product of its two.
    pub(super) weights: Vec<u64>,
}

impl Relation {
    /// Returns the relation in which each member is related to itself alone.
    pub(super) fn new(weights: Vec<u64>) -> Relation {
        let stride = weights.len().div_ceil(64);
        let mut relation = Relation { stride, bits: vec![0; stride * weights.len()], weights };
        for member in 0..relation.len() {
            relation.relate(member, member);
        }
        relation
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn relate(&mut self, a: usize, b: usize) {
        self.bits[a * self.stride + b / 64] |= 1 << (b % 64);
        self.bits[b * self.stride + a / 64] |= 1 << (a % 64);
    }

    pub(super) fn related(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.stride + b / 64] >> (b % 64) & 1 != 0
    }

    /// The members that one is related to, 64 to a word.
    pub(super) fn row(&self, member: usize) -> &[u64] {
        &self.bits[member * self.stride..][..self.stride]
    }

    /// The weight of a pair.
    pub(super) fn pair(&self, a: usize, b: usize) -> u64 {
        self.weights[a].saturating_mul(self.weights[b])
    }

    pub(super) fn weight_of(&self, members: &[u32]) -> u64 {
        members.iter().fold(0, |sum: u64, &at| sum.saturating_add(self.weights[at as usize]))
    }
}

/// The positions of the bits that are set.
pub(super) fn ones(words: impl IntoIterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            (bit < 64).then_some(64 * at + bit)
        })
    })
}

/// The connected parts of a set of members, each in ascending order.
pub(super) fn parts(relation: &Relation, set: &[u32]) -> Vec<Vec<u32>> {
    let (Some(&low), Some(&high)) = (set.iter().min(), set.iter().max()) else {
        return Vec::new();
    };
    let words = low as usize / 64..high as usize / 64 + 1;
    let mut left = vec![0_u64; words.len()];
    for &member in set {
        left[member as usize / 64 - words.start] |= 1 << (member % 64);
    }
    let (mut parts, mut left_over) = (Vec::new(), set.len());
    for &seed in set {
        let (word, bit) = (seed as usize / 64 - words.start, 1 << (seed % 64));
        if left[word] & bit == 0 {
            continue;
        }
        left[word] &= !bit;
        left_over -= 1;
        let mut part = vec![seed];
        let mut next = 0;
        while next < part.len() && left_over > 0 {
            let row = &relation.row(part[next] as usize)[words.clone()];
            for (at, (word, &near)) in left.iter_mut().zip(row).enumerate() {
                let mut found = *word & near;
                *word &= !near;
                while found != 0 {
                    let bit = found.trailing_zeros() as usize;
                    found &= found - 1;
                    part.push((64 * (words.start + at) + bit) as u32);
                    left_over -= 1;
                }
            }
            next += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}
