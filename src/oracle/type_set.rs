//! Small sets of types, with others by mistake: they tell what is certainly not
//! in them. A type is two bits of a set.

fn hash(ty: u32) -> u32 {
    ty.wrapping_mul(0x9e37_79b1)
}

/// A set of 64 bits: the types on a walk.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TypeSet(u64);

impl TypeSet {
    /// All types.
    pub(super) const ALL: TypeSet = TypeSet(u64::MAX);

    pub(super) fn of(ty: u32) -> TypeSet {
        let hash = hash(ty);
        TypeSet(1 << (hash >> 26) | 1 << (hash >> 20 & 63))
    }

    pub(super) fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    /// Whether all types of another set may be in this one.
    pub(super) fn may_have_all(self, other: TypeSet) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether the type may be in the set.
    pub(super) fn may_have(self, ty: u32) -> bool {
        self.may_have_all(TypeSet::of(ty))
    }
}

/// A set of 256 bits: the types inside another.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LargeTypeSet([u64; 4]);

impl LargeTypeSet {
    /// All types.
    pub(super) const ALL: LargeTypeSet = LargeTypeSet([u64::MAX; 4]);

    fn bits(ty: u32) -> [u32; 2] {
        let hash = hash(ty);
        [hash >> 24, hash >> 16 & 255]
    }

    pub(super) fn add(&mut self, ty: u32) {
        for bit in LargeTypeSet::bits(ty) {
            self.0[bit as usize / 64] |= 1 << (bit % 64);
        }
    }

    pub(super) fn union(self, other: LargeTypeSet) -> LargeTypeSet {
        LargeTypeSet(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// Whether the type may be in the set.
    pub(super) fn may_have(&self, ty: u32) -> bool {
        let [x, y] = LargeTypeSet::bits(ty);
        (self.0[x as usize / 64] >> (x % 64)) & (self.0[y as usize / 64] >> (y % 64)) & 1 != 0
    }
}

impl Extend<u32> for LargeTypeSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, types: I) {
        types.into_iter().for_each(|ty| self.add(ty));
    }
}
