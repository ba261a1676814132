//! The reasons against enumeration: each is there, and holds.

use super::*;
use crate::oracle::bytes::Elements;
use crate::oracle::limits::CASES_IN_ALL;
use crate::random::Rng;

fn range(rng: &mut Rng, repeats: u64, stride: u64, count: u64) -> ByteRange {
    let mut of = |limit: u64| rng.below(limit);
    let start = of(3 * stride);
    let mut elements = || Elements { stride: 1 + of(stride), count: Some(1 + of(count)) };
    let repeats = (0..repeats).map(|_| elements()).collect();
    ByteRange { start, end: Some(start + 1 + of(1 + stride / 6)), repeats }
}

/// The arrays of both ranges: step, count, and whether the distance grows with it.
fn arrays(a: &ByteRange, b: &ByteRange) -> Vec<(i128, i128, i128)> {
    let of = |range: &ByteRange, sign| {
        let all = range.repeats.iter();
        all.map(|it| (sign * i128::from(it.stride), 0, i128::from(it.count.unwrap()))).collect()
    };
    let both: [Vec<_>; 2] = [of(a, -1), of(b, 1)];
    both.concat()
}

/// All sums of one element of each array.
fn sums<'a>(arrays: impl IntoIterator<Item = &'a (i128, i128, i128)>) -> Vec<i128> {
    arrays.into_iter().fold(vec![0], |sums, &(step, begin, end)| {
        sums.iter().flat_map(|sum| (begin..end).map(move |at| sum + at * step)).collect()
    })
}

/// Asserts that a reason holds for these elements of the arrays. The distances at
/// which two intervals meet are `meeting`.
fn hold(why: &Apart, start: i128, meeting: (i128, i128), arrays: &[(i128, i128, i128)]) {
    match why {
        Apart::Residue { modulus, residue, window } => {
            let (modulus, residue) = (i128::from(*modulus), i128::from(*residue));
            let (multiples, others): (Vec<_>, Vec<_>) =
                arrays.iter().partition(|(step, ..)| step % modulus == 0);
            let (multiples, others) = (sums(&multiples), sums(&others));
            let [from, to] = [window.0.unwrap(), window.1.unwrap()];
            assert!((from..=to).all(|at| at.rem_euclid(modulus) != residue), "{why:?}");
            let bounds = |of: &[i128]| (*of.iter().min().unwrap(), *of.iter().max().unwrap());
            let (least, greatest) = bounds(&multiples);
            let (nearest, farthest) = bounds(&others);
            for sum in multiples {
                let distance = start + sum;
                assert_eq!(distance.rem_euclid(modulus), residue, "{why:?}");
                // What may meet lies in the window.
                assert!(
                    !(meeting.0 - farthest..=meeting.1 - nearest).contains(&distance)
                        || (from..=to).contains(&distance),
                    "{why:?}"
                );
            }
            // As wide as the claim says, and no wider.
            assert_eq!(from, (meeting.0 - farthest).max(start + least), "{why:?}");
            assert_eq!(to, (meeting.1 - nearest).min(start + greatest), "{why:?}");
        }
        Apart::Cases { array, runs } => {
            let (step, mut begin, end) = arrays[*array];
            for (count, why) in runs {
                let some = begin + i128::from(count.expect("no array is without end"));
                let mut part = arrays.to_vec();
                part[*array] = (step, 0, some - begin);
                hold(why, start + begin * step, meeting, &part);
                begin = some;
            }
            assert_eq!(begin, end, "all elements");
        }
    }
}

#[test]
fn reasons_hold_and_are_found() {
    let mut rng = Rng(1);
    let mut found = [0; 3];
    for round in 0..6_000_u64 {
        let (left, right) = (round % 3, round / 3 % 3);
        let stride = [6, 40, 300][(round % 7 % 3) as usize];
        let [a, b] = [left, right].map(|repeats| range(&mut rng, repeats, stride, 6));
        let len = |range: &ByteRange| i128::from(range.end.unwrap() - range.start);
        let meeting = (1 - len(&b), len(&a) - 1);
        let start = i128::from(b.start) - i128::from(a.start);
        let arrays = arrays(&a, &b);
        let meet = sums(&arrays).iter().any(|sum| (meeting.0..=meeting.1).contains(&(start + sum)));
        let why = apart(&a, &b, &mut Budget::new(CASES_IN_ALL));
        assert_eq!(why.is_none(), meet, "round {round}: {a:?} {b:?}");
        let Some(why) = why else { continue };
        hold(&why, start, meeting, &arrays);
        match why {
            Apart::Residue { modulus: 1, .. } => found[0] += 1,
            Apart::Residue { .. } => found[1] += 1,
            Apart::Cases { .. } => found[2] += 1,
        }
    }
    assert!(found.iter().all(|&count| count > 100), "{found:?}");
}

/// Where a range or an array has no end, no bound is said.
#[test]
fn without_an_end() {
    let range = |start, end, repeats| ByteRange { start, end, repeats };
    let endless = |stride| vec![Elements { stride, count: None }];
    let why = |a: &ByteRange, b: &ByteRange| apart(a, b, &mut Budget::new(1 << 10));
    let (a, b) = (range(0, Some(4), endless(8)), range(4, Some(8), endless(8)));
    let expected = Apart::Residue { modulus: 8, residue: 4, window: (Some(-3), Some(3)) };
    assert_eq!(why(&a, &b), Some(expected));
    assert_eq!(why(&a, &range(3, Some(8), endless(8))), None);
    let (a, b) = (range(0, Some(4), vec![]), range(4, None, vec![]));
    let expected = Apart::Residue { modulus: 1, residue: 0, window: (Some(4), Some(3)) };
    assert_eq!(why(&a, &b), Some(expected));
    assert_eq!(why(&range(0, Some(5), vec![]), &b), None);
    // The elements before the other range, those near it, those after.
    let (a, b) = (range(0, Some(2), endless(8)), range(802, Some(804), vec![]));
    assert!(why(&a, &b).is_some() && why(&a, &range(801, Some(804), vec![])).is_none());
}
