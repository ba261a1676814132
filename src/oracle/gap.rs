//! The reason why two strided byte ranges share no byte, in a form that a
//! checker can follow. Whether they do is decided in `union/stride.rs`.

use super::bytes::ByteRange;
use super::limits::{Budget, CASE_DEPTH, CASES};
use super::proof::Apart;

/// Stands for "without end"; no finite distance comes near.
const NO_END: i128 = 1 << 100;

/// The elements of one array, each `step` bytes nearer or farther.
#[derive(Clone, Copy)]
struct Array {
    step: i128,
    /// `NO_END` without end.
    count: i128,
    /// Whether it is the second range's.
    second: bool,
}

impl Array {
    fn span(&self) -> i128 {
        (self.count - 1).saturating_mul(self.step).min(NO_END)
    }
}

/// All distances from an interval of the first range to one of the second.
#[derive(Clone)]
struct Distances {
    start: i128,
    arrays: Vec<Array>,
    /// The distances at which two intervals meet.
    window: (i128, i128),
}

/// Returns why two ranges share no byte; `None` if they do, or if it takes too
/// long to say.
pub(super) fn apart(first: &ByteRange, second: &ByteRange, budget: &mut Budget) -> Option<Apart> {
    let len = |range: &ByteRange| {
        range.end.map_or(NO_END, |end| i128::from(end) - i128::from(range.start))
    };
    let arrays = [(first, false), (second, true)].into_iter().flat_map(|(range, second)| {
        range.repeats.iter().map(move |elements| Array {
            step: elements.stride.into(),
            count: elements.count.map_or(NO_END, i128::from),
            second,
        })
    });
    let distances = Distances {
        start: i128::from(second.start) - i128::from(first.start),
        arrays: arrays.collect(),
        window: (1 - len(second), len(first) - 1),
    };
    distances.miss(CASE_DEPTH, budget)
}

impl Distances {
    /// The least and the greatest sum over the arrays that count.
    fn bounds(&self, counts: impl Fn(usize, &Array) -> bool) -> (i128, i128) {
        let span = |second| {
            let arrays = self.arrays.iter().enumerate().filter(|(_, array)| array.second == second);
            arrays.filter(|&(at, array)| counts(at, array)).map(|(_, array)| array.span()).sum()
        };
        let nearer: i128 = span(false);
        (-nearer, span(true))
    }

    /// Returns why no distance is in the window.
    fn miss(&self, depth: u32, budget: &mut Budget) -> Option<Apart> {
        budget.spend().ok()?;
        if let Some(apart) = self.moduli().into_iter().find_map(|modulus| self.residue(modulus)) {
            return Some(apart);
        }
        let depth = depth.checked_sub(1)?;
        let (at, (from, to)) = (0..self.arrays.len())
            .filter(|&at| self.arrays[at].count > 1)
            .map(|at| (at, self.near(at)))
            .min_by_key(|&(_, (from, to))| to - from)?;
        let count = self.arrays[at].count;
        let all = from == 0 && to == count - 1;
        if all && count > CASES {
            return None;
        }
        // The elements before, those that may come near, those after; or if all
        // may, each.
        let ends = if all { (1..=count).collect() } else { vec![from, to + 1, count] };
        let (mut runs, mut begin) = (Vec::new(), 0);
        for end in ends {
            if end > begin {
                let apart = self.run(at, begin, end - begin).miss(depth, budget)?;
                let rest = count == NO_END && end == count;
                runs.push(((!rest).then(|| u64::try_from(end - begin)).transpose().ok()?, apart));
                begin = end;
            }
        }
        Some(Apart::Cases { array: at, runs })
    }

    /// Moduli that might tell distances and window apart.
    fn moduli(&self) -> Vec<i128> {
        let mut steps: Vec<i128> =
            self.arrays.iter().filter(|array| array.count > 1).map(|array| array.step).collect();
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

    fn residue(&self, modulus: i128) -> Option<Apart> {
        let multiple = |array: &Array| array.step % modulus == 0;
        let (nearer, farther) = self.bounds(|_, array| !multiple(array));
        let (least, greatest) = self.bounds(|_, array| multiple(array));
        let from = (self.window.0 - farther).max(self.start + least);
        let to = (self.window.1 - nearer).min(self.start + greatest);
        let first = from + (self.start - from).rem_euclid(modulus);
        let bound = |bound: i128| (bound.abs() < NO_END / 2).then_some(bound);
        (first > to).then(|| Apart::Residue {
            modulus: modulus as u64,
            residue: self.start.rem_euclid(modulus) as u64,
            window: (bound(from), bound(to)),
        })
    }

    /// The first and the last element of an array with which a distance may be
    /// in the window, as far as bounds say.
    fn near(&self, at: usize) -> (i128, i128) {
        let Array { step, count, second } = self.arrays[at];
        let (least, greatest) = self.bounds(|other, _| other != at);
        let (from, to) =
            (self.window.0 - self.start - greatest, self.window.1 - self.start - least);
        let (from, to) = if second { (from, to) } else { (-to, -from) };
        let first = (from + step - 1).div_euclid(step).clamp(0, count - 1);
        (first, to.div_euclid(step).clamp(first, count - 1))
    }

    /// The distances with some elements of one array.
    fn run(&self, at: usize, begin: i128, count: i128) -> Distances {
        let mut run = self.clone();
        let array = &mut run.arrays[at];
        array.count = count;
        let moved = begin.saturating_mul(array.step).min(NO_END);
        run.start += if array.second { moved } else { -moved };
        run
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
