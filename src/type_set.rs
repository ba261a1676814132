//! Small sets of types (Bloom filters): `may_have` is true for added types, and for some others.

/// A Bloom filter of 256 bits, in which each type sets one or two.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TypeSet([u64; 4]);

impl TypeSet {
    pub(crate) const BITS: usize = 256;

    /// Returns the positions of a type's two bits, which may be the same bit.
    pub(crate) fn bits(ty: u32) -> [u32; 2] {
        let hash = ty.wrapping_mul(0x9e37_79b1);
        [hash >> 24, hash >> 16 & 255]
    }

    pub(crate) fn add(&mut self, ty: u32) {
        for bit in TypeSet::bits(ty) {
            self.0[bit as usize / 64] |= 1 << (bit % 64);
        }
    }

    pub(crate) fn ones(self) -> impl Iterator<Item = usize> {
        ones(self.0)
    }

    pub(crate) fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    pub(crate) fn may_have(&self, ty: u32) -> bool {
        let [x, y] = TypeSet::bits(ty);
        (self.0[x as usize / 64] >> (x % 64)) & (self.0[y as usize / 64] >> (y % 64)) & 1 != 0
    }
}

/// Returns the positions of the bits that are set, in ascending order. A word has 64 bits.
pub fn ones(words: impl IntoIterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            (bit < 64).then_some(64 * at + bit)
        })
    })
}
