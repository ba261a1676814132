//! Sets of small numbers, a bit each.

/// A set of numbers below a length, 64 to a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Returns the empty set of numbers below a length.
    pub(crate) fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 != 0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// Sets a range of bits.
pub(crate) fn fill(words: &mut [u64], range: std::ops::Range<usize>) {
    let (start, end) = (range.start, range.end);
    if start >= end {
        return;
    }
    let (first, last) = (start / 64, (end - 1) / 64);
    let (from, to) = (u64::MAX << (start % 64), u64::MAX >> (63 - (end - 1) % 64));
    if first == last {
        words[first] |= from & to;
        return;
    }
    words[first] |= from;
    words[first + 1..last].fill(u64::MAX);
    words[last] |= to;
}

/// Returns the numbers of the bits that are set, 64 to a word, in ascending order.
pub fn ones(words: impl IntoIterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            (bit < 64).then_some(64 * at + bit)
        })
    })
}
