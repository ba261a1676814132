//! Counting the pairs that are lost.

/// What a lowering loses: pairs of sources that the rule calls `NoAlias` and
/// LLVM does not. A pair weighs the product of its sources' weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loss {
    /// Pairs of sources that the rule calls `NoAlias`.
    pub no_alias: u64,
    /// Those of them that are lost.
    pub pairs: u64,
    /// What those lost weigh.
    pub weight: u64,
    /// Whether some pairs were taken to alias because searches came to their limit
    /// ([`Lowering::lower`](super::Lowering::lower)). Those are counted nowhere here.
    pub unsearched: bool,
}

impl Loss {
    /// Returns the share of the rule's `NoAlias` pairs that LLVM keeps, 1 if
    /// there are none.
    #[must_use]
    pub fn kept(&self) -> f64 {
        if self.no_alias == 0 { 1.0 } else { 1.0 - self.pairs as f64 / self.no_alias as f64 }
    }
}

/// A number of sources, their weight, and the weights' squares.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sum {
    pub(super) count: u128,
    pub(super) weight: u128,
    pub(super) squares: u128,
}

/// A number of pairs, and their weight.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pairs {
    pub(super) count: u128,
    pub(super) weight: u128,
}

impl Sum {
    pub(super) fn of(weight: u32) -> Sum {
        let weight = u128::from(weight);
        Sum { count: 1, weight, squares: weight * weight }
    }

    /// The pairs with another set.
    pub(super) fn with(self, other: Sum) -> Pairs {
        Pairs { count: self.count * other.count, weight: self.weight.saturating_mul(other.weight) }
    }

    /// The pairs inside the set.
    pub(super) fn within(self) -> Pairs {
        let square = self.weight.saturating_mul(self.weight);
        Pairs {
            count: self.count * self.count.saturating_sub(1) / 2,
            weight: square.saturating_sub(self.squares) / 2,
        }
    }
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        self.count += other.count;
        self.weight = self.weight.saturating_add(other.weight);
        self.squares = self.squares.saturating_add(other.squares);
    }
}

impl std::ops::AddAssign for Pairs {
    fn add_assign(&mut self, other: Pairs) {
        self.count = self.count.saturating_add(other.count);
        self.weight = self.weight.saturating_add(other.weight);
    }
}

impl std::ops::Sub for Pairs {
    type Output = Pairs;

    fn sub(self, other: Pairs) -> Pairs {
        Pairs {
            count: self.count.saturating_sub(other.count),
            weight: self.weight.saturating_sub(other.weight),
        }
    }
}
