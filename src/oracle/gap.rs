//! Explains why two byte ranges that repeat for array elements share no byte. The decision itself
//! is made in `union/stride.rs`.

use std::fmt;

use super::explain::ByteRange;

/// A division with remainder that proves that two repeated byte ranges share no byte.
///
/// A *distance* is the start of an interval of the second range minus the start of an interval of
/// the first range. If intervals of the first range have `m` bytes and those of the second `n`, the
/// two intervals overlap iff the distance is in the *window*, `-n + 1 ..= m - 1`.
///
/// An array whose stride is not a multiple of `modulus` is treated as part of the interval, which
/// makes the window larger. All remaining distances have the same residue. The window contains no
/// number with this residue that is between the smallest and the greatest distance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Apart {
    /// The divisor, which is at least 2.
    pub modulus: u64,
    /// The remainder of all distances when divided by `modulus`.
    pub residue: u64,
    /// The first number of the window or the least distance, whichever is greater, if finite.
    pub from: Option<i128>,
    /// The last number of the window or the greatest distance, whichever is less, if finite.
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

/// Represents an infinite distance. All finite distances are much smaller.
const NO_END: i128 = 1 << 100;

/// An array. Its elements begin `step` bytes apart, so the distance changes by `step` per element.
struct Array {
    step: i128,
    /// The number of bytes from the start of the first element to that of the last.
    span: i128,
    /// True if the array belongs to the second range.
    second: bool,
}

impl Apart {
    /// Finds a division that proves that the ranges share no byte. Returns `None` if it finds none,
    /// or if one range simply ends before the other begins.
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
        // The least and the greatest change of a distance by the arrays whose steps are multiples
        // of `modulus`, or by the other arrays.
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

/// Returns the moduli that might prove that no distance lies in the window.
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
