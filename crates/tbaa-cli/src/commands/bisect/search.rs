//! Searches for a minimal set of accesses whose tags show a fault.
//!
//! Accesses with the same tag are adjacent. Assume that a fault that shows with some tags also
//! shows with more. Then binary search finds the shortest prefix of the candidates that shows the
//! fault. The last access of the prefix is needed: it becomes known, and the candidates before it
//! remain. This finds k accesses among n with about k (log2 n + 3) questions: calls of `shows`.
//!
//! Even if the assumption is wrong, the set that is found shows the fault, and does not show it if
//! any one access is left out.
//!
//! Source: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", 2002; the order
//! of the questions is that of Junker, `QuickXplain`, 2004.

use std::collections::BTreeSet;

/// Finds a minimal set of the ascending `candidates`: no single access can be left out.
/// The fault must show with all candidates, and must not show with the empty set.
/// `class` returns a number that identifies an access's tag. `shows` is called with accesses in
/// ascending order, and must always give the same answer for the same accesses.
pub(super) fn smallest<E>(
    mut candidates: Vec<usize>,
    class: impl Fn(usize) -> usize,
    mut shows: impl FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    // Invariant: the fault shows with the known accesses and the candidates together.
    let mut known: Vec<usize> = Vec::new();
    while !candidates.is_empty() && (known.is_empty() || !shows(&known)?) {
        // If the known accesses have two or more tags, the missing accesses probably have the same
        // tags: try without the other candidates.
        let classes: BTreeSet<_> = known.iter().map(|&access| class(access)).collect();
        if classes.len() > 1 {
            let near = candidates.iter().filter(|&&access| classes.contains(&class(access)));
            let near: Vec<_> = near.copied().collect();
            if !near.is_empty() && near.len() < candidates.len() && shows(&union(&near, &known))? {
                candidates = near;
            }
        }
        // With `known`, the first `with` candidates show the fault, the first `without` do not.
        let (mut without, mut with) = (0, candidates.len());
        while with - without > 1 {
            let middle = without + (with - without) / 2;
            if shows(&union(&candidates[..middle], &known))? {
                with = middle;
            } else {
                without = middle;
            }
        }
        known.push(candidates[with - 1]);
        known.sort_unstable();
        candidates.truncate(with - 1);
    }
    let mut next = 0;
    while next < known.len() && known.len() > 1 {
        let mut fewer = known.clone();
        fewer.remove(next);
        if shows(&fewer)? {
            // After the removal, an access that was needed before may be unnecessary: start again.
            (known, next) = (fewer, 0);
        } else {
            next += 1;
        }
    }
    Ok(known)
}

fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::smallest;

    /// Returns the found set, and the number of distinct sets asked about, except for the full set.
    fn search(n: usize, classes: usize, shows: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
        let mut asked = HashMap::new();
        assert!(shows(&(0..n).collect::<Vec<_>>()) && !shows(&[]));
        asked.insert((0..n).collect(), true);
        let ask = |set: &[usize]| {
            assert!(set.is_sorted_by(|a, b| a < b), "{set:?}");
            let answer = *asked.entry(set.to_vec()).or_insert_with(|| shows(set));
            Ok::<_, Infallible>(answer)
        };
        let Ok(found) = smallest((0..n).collect(), |access| access * classes / n, ask);
        (found, asked.len() - 1)
    }

    #[test]
    fn every_pair_is_found() {
        for n in [2, 3, 8, 9, 33] {
            for b in 1..n {
                for a in 0..b {
                    let shows = |set: &[usize]| set.contains(&a) && set.contains(&b);
                    let (found, asked) = search(n, 5.min(n), shows);
                    assert_eq!(found, [a, b]);
                    assert!(asked <= 2 * n.next_power_of_two().ilog2() as usize + 3, "{asked}");
                }
            }
        }
    }

    /// `tbaa bisect` itself asks five more questions.
    #[test]
    fn a_pair_among_5000_accesses_takes_35_questions() {
        const N: usize = 5000;
        let mut most = 0;
        for i in 0..2000 {
            let (a, b) = (i * 7919 % N, i * 104_729 % (N - 1));
            let b = if b >= a { b + 1 } else { b };
            let shows =
                |set: &[usize]| set.binary_search(&a).is_ok() && set.binary_search(&b).is_ok();
            let (found, asked) = search(N, 1 + i % N, shows);
            assert_eq!(found, [a.min(b), a.max(b)]);
            most = most.max(asked);
        }
        assert!((26..=30).contains(&most), "{most}");
    }

    /// In the last case, the needed accesses have two tags. The search tries known tags first.
    #[test]
    fn one_access_or_many_are_found() {
        for (n, classes, set, most) in [
            (100, 10, &[0][..], 200),
            (100, 10, &[99], 200),
            (100, 10, &[3, 50, 51], 200),
            (100, 10, &[10, 11, 12, 13, 14, 15, 90], 200),
            (10_000, 1_000, &[4_001, 4_002, 4_003, 7_005], 2 * 14 + 2 * 8 + 8),
        ] {
            let shows = |kept: &[usize]| set.iter().all(|set| kept.binary_search(set).is_ok());
            let (found, asked) = search(n, classes, shows);
            assert_eq!(found, set);
            assert!(asked <= most, "{asked}");
        }
    }

    #[test]
    fn what_is_found_shows_the_fault_whatever_the_answers() {
        for seed in 1..500_u64 {
            let shows = |set: &[usize]| {
                let hash = set.iter().fold(seed, |hash, &access| {
                    (hash ^ access as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
                });
                set.len() == 40 || !set.is_empty() && hash % 3 == 0
            };
            let (found, _) = search(40, 6, shows);
            assert!(shows(&found));
            for leave_out in 0..if found.len() > 1 { found.len() } else { 0 } {
                let mut fewer = found.clone();
                fewer.remove(leave_out);
                assert!(!shows(&fewer), "{found:?} without {leave_out}");
            }
        }
    }
}
