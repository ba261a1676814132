//! An explanation why the elements of two strided byte ranges share no byte. The decision itself is
//! made in `union/stride.rs`.

use std::fmt;

use super::explain::ByteRange;

/// A division that shows that two strided byte ranges share no byte.
///
/// A *distance* is the difference between the starts of an interval of the second range and one of
/// the first. Two intervals of `m` and `n` bytes meet if it is in `-n + 1 ..= m - 1`, the *window*.
///
/// Arrays whose strides are not multiples of `modulus` are added to the bytes, which widens the
/// window. Then all distances are congruent, and between the least and the greatest of them the
/// window contains no such number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Apart {
    /// At least 2.
    pub modulus: u64,
    /// The distances' residue.
    pub residue: u64,
    /// The first number of the window; `None` without one.
    pub from: Option<i128>,
    /// The last number of the window; `None` without one.
    pub to: Option<i128>,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Apart { modulus, residue, from, to } = self;
        let bound = |bound: &Option<i128>| bound.map_or("?".to_owned(), |bound| bound.to_string());
        write!(f, "distances are {residue} modulo {modulus}, the bytes need ")?;
        write!(f, "{}..{}", bound(from), bound(to))
    }
}

/// A distance without end. All finite distances are much smaller.
const NO_END: i128 = 1 << 100;

/// The elements of one array, each `step` bytes nearer or farther.
struct Array {
    step: i128,
    /// From the first element to the last, in bytes.
    span: i128,
    /// True if it is the second range's.
    second: bool,
}

impl Apart {
    /// Finds such a division; `None` if there is none, or if one range ends before the other
    /// begins.
    pub(super) fn find(first: &ByteRange, second: &ByteRange) -> Option<Apart> {
        let len = |range: &ByteRange| {
            range.end.map_or(NO_END, |end| i128::from(end) - i128::from(range.start))
        };
        let mut arrays = Vec::new();
        for (range, second) in [(first, false), (second, true)] {
            for elements in range.repeats.iter().filter(|elements| elements.count != Some(1)) {
                let step = i128::from(elements.stride);
                let last = elements.count.map_or(NO_END, |count| i128::from(count) - 1);
                arrays.push(Array { step, span: last.saturating_mul(step).min(NO_END), second });
            }
        }
        let start = i128::from(second.start) - i128::from(first.start);
        let window = (1 - len(second), len(first) - 1);
        let apart = |modulus| Apart::residue(modulus, start, &arrays, window);
        let found = moduli(&arrays).into_iter().find_map(apart);
        found.filter(|apart| apart.modulus > 1)
    }

    fn residue(
        modulus: i128,
        start: i128,
        arrays: &[Array],
        window: (i128, i128),
    ) -> Option<Apart> {
        // The least and the greatest sum of distances over some arrays.
        let bounds = |multiples: bool| {
            let of = |second| {
                let counts = |array: &&Array| {
                    array.second == second && (array.step % modulus == 0) == multiples
                };
                arrays.iter().filter(counts).map(|array| array.span).sum::<i128>()
            };
            (-of(false), of(true))
        };
        let ((nearer, farther), (least, greatest)) = (bounds(false), bounds(true));
        let from = (window.0 - farther).max(start + least);
        let to = (window.1 - nearer).min(start + greatest);
        let first = from + (start - from).rem_euclid(modulus);
        let bound = |bound: i128| (bound.abs() < NO_END / 2).then_some(bound);
        (first > to).then(|| Apart {
            modulus: modulus as u64,
            residue: start.rem_euclid(modulus) as u64,
            from: bound(from),
            to: bound(to),
        })
    }
}

/// Returns moduli that might separate distances and window.
fn moduli(arrays: &[Array]) -> Vec<i128> {
    let mut steps: Vec<i128> = arrays.iter().map(|array| array.step).collect();
    steps.sort_unstable();
    let mut moduli = vec![1];
    let mut of_widest = 0;
    for (at, &step) in steps.iter().enumerate().rev() {
        of_widest = gcd(of_widest, step);
        moduli.push(of_widest);
        moduli.extend(steps[at..].iter().map(|&other| gcd(step, other)));
    }
    moduli
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
