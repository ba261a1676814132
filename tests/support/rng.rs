/// `SplitMix64`, a small random generator: a seed gives the same numbers everywhere.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub struct Rng(pub u64);

impl Rng {
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number below `bound`. `bound` must not be 0.
    pub fn below<N: TryInto<u64> + TryFrom<u64>>(&mut self, bound: N) -> N {
        let number = bound.try_into().ok().map(|bound| self.next() % bound);
        number.and_then(|number| number.try_into().ok()).expect("a positive bound")
    }

    /// Returns true once in `times` calls, on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns the numbers below `count`, in random order.
    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).for_each(|at| order.swap(at, self.below(at + 1)));
        order
    }
}
