//! Pairs the accesses of two builds that are one: the longest common subsequence of what
//! is known of them beside their tags.

/// Accesses left over on both sides at most, beside those at the beginning and
/// end that are alike. With more, what lies between has no counterpart.
const EDITS: usize = 1000;

/// Returns pairs of places at which two lists are alike, ascending in both.
///
/// E. W. Myers, "An O(ND) difference algorithm and its variations", 1986.
pub(super) fn align<K: PartialEq>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let both = rest_a.iter().rev().zip(rest_b.iter().rev());
    let tail = both.take_while(|(a, b)| a == b).count();
    let (mid_a, mid_b) = (&rest_a[..rest_a.len() - tail], &rest_b[..rest_b.len() - tail]);
    let mut pairs: Vec<_> = (0..head).map(|at| (at, at)).collect();
    pairs.extend(middle(mid_a, mid_b).into_iter().map(|(x, y)| (head + x, head + y)));
    pairs.extend((0..tail).map(|at| (a.len() - tail + at, b.len() - tail + at)));
    pairs
}

fn middle<K: PartialEq>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let most = (a.len() + b.len()).min(EDITS);
    // The point to which each diagonal `x - y` comes; `most + 1` is the middle one.
    let (middle, mut far) = (most + 1, vec![0_usize; 2 * most + 3]);
    let mut steps: Vec<Vec<usize>> = Vec::new();
    for edits in 0..=most {
        steps.push(far[middle - edits..=middle + edits].to_vec());
        for diagonal in (middle - edits..=middle + edits).step_by(2) {
            let down = diagonal == middle - edits
                || diagonal != middle + edits && far[diagonal - 1] < far[diagonal + 1];
            let mut x = if down { far[diagonal + 1] } else { far[diagonal - 1] + 1 };
            // A place past the end of a list is on no way.
            let Some(mut y) = (x + middle).checked_sub(diagonal) else { continue };
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            far[diagonal] = x;
            if x >= a.len() && y >= b.len() {
                return back(&steps, diagonal, (x, y), middle);
            }
        }
    }
    Vec::new()
}

/// Goes back along the way that was found, and collects where the lists are alike.
fn back(
    steps: &[Vec<usize>],
    mut diagonal: usize,
    (mut x, mut y): (usize, usize),
    middle: usize,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (edits, far) in steps.iter().enumerate().rev() {
        let far = |diagonal: usize| far.get((diagonal + edits).wrapping_sub(middle)).copied();
        let (left, right) = (far(diagonal - 1), far(diagonal + 1));
        let down = diagonal == middle - edits || diagonal != middle + edits && left < right;
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) = if edits == 0 {
            (0, 0)
        } else {
            let from = if down { right } else { left }.unwrap_or(0);
            (from, from + middle - before)
        };
        while x > from_x && y > from_y {
            (x, y) = (x - 1, y - 1);
            pairs.push((x, y));
        }
        (x, y, diagonal) = (from_x, from_y, before);
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::align;

    /// The length of the longest common subsequence, by the definition.
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
