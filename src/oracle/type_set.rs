//! Small sets of types, with others by mistake: they tell what is certainly not
//! in them.

fn hash(ty: u32) -> u32 {
    ty.wrapping_mul(0x9e37_79b1)
}

/// A set of 64 bits: the types on a walk.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TypeSet(u64);

impl TypeSet {
    pub(super) fn of(ty: u32) -> TypeSet {
        TypeSet(1 << (hash(ty) >> 26))
    }

    pub(super) fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    /// Whether a type may be in both.
    pub(super) fn meets(self, other: TypeSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the type may be in the set.
    pub(super) fn may_have(self, ty: u32) -> bool {
        self.meets(TypeSet::of(ty))
    }
}

/// A set of 256 bits: the types inside another.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LargeTypeSet([u64; 4]);

impl LargeTypeSet {
    pub(super) fn add(&mut self, ty: u32) {
        let bit = hash(ty) >> 24;
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    pub(super) fn union(self, other: LargeTypeSet) -> LargeTypeSet {
        LargeTypeSet(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// Whether the type may be in the set.
    pub(super) fn may_have(&self, ty: u32) -> bool {
        let bit = hash(ty) >> 24;
        self.0[bit as usize / 64] >> (bit % 64) & 1 != 0
    }
}

impl Extend<u32> for LargeTypeSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, types: I) {
        types.into_iter().for_each(|ty| self.add(ty));
    }
}
