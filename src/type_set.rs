//! Small sets of types with false positives: they only show what is certainly not in them.

/// A set of 256 bits, two for each type: the types inside another.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TypeSet([u64; 4]);

impl TypeSet {
    /// Number of bits.
    pub(crate) const BITS: usize = 256;

    /// Returns a type's two bits.
    pub(crate) fn bits(ty: u32) -> [u32; 2] {
        let hash = ty.wrapping_mul(0x9e37_79b1);
        [hash >> 24, hash >> 16 & 255]
    }

    pub(crate) fn add(&mut self, ty: u32) {
        for bit in TypeSet::bits(ty) {
            self.0[bit as usize / 64] |= 1 << (bit % 64);
        }
    }

    /// Returns the bits, 64 to a word.
    pub(crate) fn words(self) -> [u64; 4] {
        self.0
    }

    pub(crate) fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// Returns whether the type may be in the set.
    pub(crate) fn may_have(&self, ty: u32) -> bool {
        let [x, y] = TypeSet::bits(ty);
        (self.0[x as usize / 64] >> (x % 64)) & (self.0[y as usize / 64] >> (y % 64)) & 1 != 0
    }
}
