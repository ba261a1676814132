//! The machine's limit: tables with only the values that are compared.

use tbaa_tests::Rng;

/// A record of `N` words for each tag.
pub(crate) struct Table<const N: usize> {
    records: Vec<[u32; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn random(rng: &mut Rng, records: usize) -> Self {
        Table { records: (0..records).map(|_| [0; N].map(|_: u32| rng.next() as u32)).collect() }
    }

    /// Reads the records of each pair and compares them as intervals; returns
    /// how many meet.
    pub(crate) fn ask(&self, pairs: &[[u32; 2]]) -> usize {
        let meet = |&[a, b]: &[u32; 2]| {
            let (a, b) = (&self.records[a as usize], &self.records[b as usize]);
            usize::from((a[0] < b[1]) & (b[0] < a[1]))
        };
        pairs.iter().map(meet).sum()
    }
}
