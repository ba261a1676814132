//! Compares the answers of `stride.rs` with those of an enumeration of all elements.

use super::*;
use crate::random::Rng;

fn starts(pattern: &Pattern) -> Vec<u128> {
    pattern.strides.iter().fold(vec![pattern.start], |starts, stride| {
        starts
            .iter()
            .flat_map(|start| (0..=stride.last).map(move |k| start + k * stride.step))
            .collect()
    })
}

fn brute_force(a: &Pattern, b: &Pattern) -> bool {
    let theirs = starts(b);
    starts(a).iter().any(|&x| theirs.iter().any(|&y| x < y + b.len && y < x + a.len))
}

fn pattern(rng: &mut Rng, strides: u64, step: u64, last: u64, len: u64) -> Pattern {
    let mut of = |limit: u64| u128::from(rng.below(limit));
    let (start, len) = (of(3 * step), 1 + of(len));
    let mut list = Vec::new();
    for _ in 0..strides {
        let stride = Stride { step: 1 + of(step), last: of(last) };
        add_stride(&mut list, stride);
    }
    Pattern { start, len, strides: list }
}

fn share_byte(a: &Pattern, b: &Pattern, by: u128) -> Result<bool, Exhausted> {
    meets(a, b, by, &[], &mut Budget::new(ELEMENTS))
}

#[test]
fn arithmetic_equals_enumeration() {
    let mut rng = Rng(1);
    let mut found = [0; 2];
    for round in 0..9_000_u64 {
        let (left, right) = (round % 3, round / 3 % 3);
        let few = if left + right > 2 { 7 } else { 30 };
        let step = [6, 40, 300][(round % 7 % 3) as usize];
        let a = pattern(&mut rng, left, step, few, 1 + step / 8);
        let b = pattern(&mut rng, right, step, few, 1 + step / 8);
        let by = u128::from(rng.below(50));
        let moved = Pattern { start: b.start + by, ..b.clone() };
        let expected = brute_force(&a, &moved);
        let (strides, window) = (all_strides(&a, &b, &[]), window(&a, &b, by));
        for trials in [widest as Trials, fewest] {
            let answer = hits(strides.clone(), window, trials, &mut Budget::new(ELEMENTS));
            assert_eq!(answer, Ok(expected), "round {round}: {a:?} {moved:?}");
        }
        found[usize::from(expected)] += 1;
    }
    assert!(found[0] > 1_500 && found[1] > 1_500, "one-sided test: {found:?}");
}

/// For up to four strides with many elements, compares [`hits`] with a table of all sums. The
/// windows are near 0 and near the largest sum, where the sums are irregular.
#[test]
fn sums_equal_those_listed() {
    let mut rng = Rng(4);
    let mut found = [0; 2];
    for round in 0..4_000 {
        let mut of = |limit: u64| rng.below(limit);
        let mut strides = Vec::new();
        for _ in 0..3 + of(2) {
            let (step, last) = (u128::from(5 + of(26)), u128::from(1 + of(40)));
            add_stride(&mut strides, Stride { step, last });
        }
        let total = span(&strides) as usize;
        let mut sums = vec![false; total + 1];
        sums[0] = true;
        for &Stride { step, last } in &strides {
            for sum in (0..sums.len()).rev() {
                let mut terms = (1..=last as usize).map(|k| k * step as usize);
                sums[sum] |= terms.any(|term| term <= sum && sums[sum - term]);
            }
        }
        for distance in 1..60_usize.min(total) {
            let from = if round % 2 == 0 { distance } else { total - distance };
            let to = (from + of(2) as usize).min(total);
            let expected = sums[from..=to].iter().any(|&sum| sum);
            let window = Window { from: from as i128, to: to as i128 };
            for trials in [widest as Trials, fewest] {
                let answer = hits(strides.clone(), window, trials, &mut Budget::new(ELEMENTS));
                assert_eq!(answer, Ok(expected), "{strides:?} {window:?}");
            }
            found[usize::from(expected)] += 1;
        }
    }
    assert!(found[0] > 10_000 && found[1] > 10_000, "one-sided test: {found:?}");
}

#[test]
fn a_low_limit_never_gives_a_wrong_answer() {
    let mut rng = Rng(2);
    let mut unknown = 0;
    for round in 0..4_000 {
        let a = pattern(&mut rng, 2, 200, 9, 4);
        let b = pattern(&mut rng, 2, 200, 9, 4);
        let (strides, window) = (all_strides(&a, &b, &[]), window(&a, &b, 0));
        match decide(strides, window, 6, &mut Budget::new(ELEMENTS)) {
            Ok(answer) => assert_eq!(answer, brute_force(&a, &b), "round {round}"),
            Err(Exhausted) => unknown += 1,
        }
    }
    assert!(unknown > 100, "the limit was never reached");
}

#[test]
fn huge_counts_take_no_time() {
    let giga = 1_000_000_000;
    let at = |start, step, last| Pattern { start, len: 4, strides: vec![Stride { step, last }] };
    // Fields a[i].y begin at 8i + 4, and fields b[j].p at 8j.
    assert_eq!(share_byte(&at(4, 8, giga), &at(0, 8, giga), 0), Ok(false));
    // 8i + 4 and 12j are both 12 for some i and j.
    assert_eq!(share_byte(&at(4, 8, giga), &at(0, 12, giga), 0), Ok(true));
    // 2^40 and 2^40 + 1024 are multiples of 1024. If one array starts 512 bytes later, the distance
    // of two elements is never less than 512.
    let (s, t) = (1 << 40, (1 << 40) + 1024);
    assert_eq!(share_byte(&at(512, s, giga), &at(0, t, giga), 0), Ok(false));
    assert_eq!(share_byte(&at(512, s, giga), &at(0, t - 512, giga), 0), Ok(true));
}

/// Each pattern is an array in an array. No comparison reaches its limit.
#[test]
fn two_strides_a_side_are_decided() {
    let mut rng = Rng(3);
    for (start, step, many, far, len) in
        [(1_000, 100, 1_000_000, 1_000_000_000, 8), (1_000_000_000, 100_000, 3_000, 3_000, 2)]
    {
        let mut counts = [0; 2];
        for _ in 0..1_000 {
            let mut nested = || {
                let mut of = |limit: u64| 1 + u128::from(rng.below(limit));
                let unit = [1, 4, 8, 24][of(4) as usize - 1];
                let many = if of(2) == 1 { 10 } else { many };
                let (start, len) = (unit * of(start), of(len));
                let inner = Stride { step: unit * of(step), last: of(many) };
                let row = inner.step * (inner.last + 1) + unit * of(1_000);
                let outer = Stride { step: row, last: of(far) };
                Pattern { start, len, strides: vec![inner, outer] }
            };
            let (a, b) = (nested(), nested());
            let answer = share_byte(&a, &b, 0);
            let answer = answer.unwrap_or_else(|Exhausted| panic!("{a:?} {b:?}"));
            counts[usize::from(answer)] += 1;
        }
        assert!(counts[0] > 20 && counts[1] > 200, "one-sided test: {counts:?}");
    }
}

#[test]
fn covered_displacements() {
    let list = |strides: &[(u128, u128)]| -> Vec<Stride> {
        strides.iter().map(|&(step, last)| Stride { step, last }).collect()
    };
    for (less, more, covered) in [
        (&[][..], &[(4, 1)][..], true),
        (&[(4, 1)], &[], false),
        (&[(4, 2)], &[(4, 2)], true),
        (&[(4, 1)], &[(4, 2)], true),
        (&[(4, 3)], &[(4, 2)], false),
        (&[(8, 1)], &[(4, 2)], false),
        (&[(4, 1), (8, 1)], &[(4, 1), (8, 2)], true),
        (&[(4, 1), (8, 3)], &[(4, 1), (8, 2)], false),
    ] {
        assert_eq!(is_covered(&list(less), &list(more)), covered, "{less:?} {more:?}");
    }
}
