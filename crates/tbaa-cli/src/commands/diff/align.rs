//! Matches two lists by a common subsequence, which is the longest unless the lists are long.

use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The largest product of the lists' lengths for which the longest result is guaranteed.
const EXACT: usize = 1 << 24;

/// Returns pairs of indices at which the two lists have equal items, ascending in both.
pub(super) fn align<K: Hash + Eq>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let is_exact = a.len().saturating_mul(b.len()) <= EXACT;
    let algorithm = if is_exact { Algorithm::RawMyers } else { Algorithm::Myers };
    let steps = capture_diff_slices(algorithm, a, b).into_iter();
    let alike = steps.filter_map(|step| match step {
        DiffOp::Equal { old_index, new_index, len } => {
            Some((0..len).map(move |at| (old_index + at, new_index + at)))
        }
        _ => None,
    });
    alike.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::align;

    fn longest(a: &[u8], b: &[u8]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for x in 0..a.len() {
            for y in 0..b.len() {
                let skip = table[x][y + 1].max(table[x + 1][y]);
                table[x + 1][y + 1] = if a[x] == b[y] { table[x][y] + 1 } else { skip };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn as_much_is_matched_as_can_be() {
        let mut seed = 1_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..2000 {
            let letters = 1 + next(4);
            let mut list = || -> Vec<u8> {
                let len = next(14);
                (0..len).map(|_| next(letters) as u8).collect()
            };
            let (a, b) = (list(), list());
            let pairs = align(&a, &b);
            assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            assert!(pairs.iter().all(|&(x, y)| a[x] == b[y]), "{a:?} {b:?} {pairs:?}");
            assert_eq!(pairs.len(), longest(&a, &b), "{a:?} {b:?} {pairs:?}");
        }
    }

    #[test]
    fn much_change_keeps_both_ends() {
        let a: Vec<u32> = (0..5000).collect();
        let mut b: Vec<u32> = (10_000..15_000).collect();
        b[..10].copy_from_slice(&a[..10]);
        b[4990..].copy_from_slice(&a[4990..]);
        assert_eq!(align(&a, &b).len(), 20);
    }
}
