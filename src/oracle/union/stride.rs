//! Decides by arithmetic whether two byte patterns share a byte.
//!
//! A [`Pattern`] is an interval that is repeated for the elements of arrays. Patterns `a` and `b`
//! share a byte iff an interval of `a` overlaps one of `b`. If `a`'s elements are counted from the
//! last one, the distance of two intervals is a constant plus a sum of `k_i * step_i`, with each
//! `k_i` in `0..=last_i`. So the question is whether such a sum is in a range, the *window*. First,
//! strides whose step is at most the window's width are removed, and strides that continue one
//! another are joined. Then a division decides for one stride, and Euclid's algorithm for two. For
//! more strides, the elements of some of them are tried one by one.

use crate::oracle::limits::{Budget, ELEMENTS, Exhausted, STRIDES, TIGHTENINGS};
use crate::oracle::types::{Stride, span};

/// The bytes `start + sum k_i * step_i + [0, len)`, where `len` is not 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    pub(crate) start: u128,
    pub(crate) len: u128,
    pub(crate) strides: Vec<Stride>,
}

impl Pattern {
    pub(crate) fn end(&self) -> u128 {
        self.start + self.len + span(&self.strides)
    }
}

/// Adds a stride to a list that is sorted by step and contains each step once.
pub(crate) fn add_stride(strides: &mut Vec<Stride>, stride: Stride) {
    if stride.last == 0 {
        return;
    }
    match strides.binary_search_by_key(&stride.step, |s| s.step) {
        Ok(at) => strides[at].last += stride.last,
        Err(at) => strides.insert(at, stride),
    }
}

/// Returns whether `more` has every step of `less` with at least as many elements. Both lists are
/// sorted by step.
pub(crate) fn is_covered(less: &[Stride], more: &[Stride]) -> bool {
    less.iter().all(|stride| {
        more.binary_search_by_key(&stride.step, |s| s.step)
            .is_ok_and(|at| more[at].last >= stride.last)
    })
}

/// Cuts the pattern `whole` at the end of a type, and appends the resulting patterns to `into`. The
/// first element ends `room` bytes before the end of the type. Elements that cross the end are
/// shortened to end there, so the first of these covers the others. Later elements are dropped.
pub(crate) fn cut(
    whole: Pattern,
    room: u128,
    into: &mut Vec<Pattern>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let Pattern { start, len, strides } = whole;
    let mut first_cut = u128::MAX;
    // An element's offset from `start`, its inner strides, and the room behind its first interval.
    let mut open = vec![(0, &strides[..], room)];
    while let Some((at, inner, room)) = open.pop() {
        budget.spend()?;
        let Some((&Stride { step, last }, smaller)) =
            inner.split_last().filter(|_| span(inner) > room)
        else {
            into.push(Pattern { start: start + at, len, strides: inner.to_vec() });
            continue;
        };
        // The number of elements of the widest stride that are completely inside the type.
        let uncut =
            room.checked_sub(span(smaller)).map_or(0, |room| (room / step + 1).min(last + 1));
        if uncut > 0 {
            let mut strides = smaller.to_vec();
            add_stride(&mut strides, Stride { step, last: uncut - 1 });
            into.push(Pattern { start: start + at, len, strides });
        }
        for element in uncut..=last {
            budget.spend()?;
            let moved = element * step;
            let Some(room) = room.checked_sub(moved) else {
                first_cut = first_cut.min(at + moved);
                break;
            };
            open.push((at + moved, smaller, room));
        }
    }
    let end = start + len + room;
    if first_cut < end - start {
        into.push(Pattern {
            start: start + first_cut,
            len: end - start - first_cut,
            strides: Vec::new(),
        });
    }
    Ok(())
}

/// Returns whether `a` and `b` share a byte, if `b` is moved by `by` and repeated at `moved`.
pub(crate) fn meets(
    a: &Pattern,
    b: &Pattern,
    by: u128,
    moved: &[Stride],
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    // The window and the largest sum decide many pairs before strides are combined.
    let (window, total) = (window(a, b, by), span(&a.strides) + span(&b.strides) + span(moved));
    match within(window, total) {
        Some(answer) => Ok(answer),
        None => decide(all_strides(a, b, moved), window, ELEMENTS, budget),
    }
}

/// Returns false if the window contains no number in `0..=total`, true if it contains 0 or `total`.
fn within(window: Window, total: u128) -> Option<bool> {
    if window.to < window.from || window.to < 0 || window.from > total as i128 {
        return Some(false);
    }
    (window.contains(0) || window.contains(total)).then_some(true)
}

/// Returns all strides. The patterns share a byte iff a sum over these is in the [`window`].
fn all_strides(a: &Pattern, b: &Pattern, moved: &[Stride]) -> Vec<Stride> {
    let mut strides = Vec::with_capacity(a.strides.len() + b.strides.len() + moved.len());
    for &stride in a.strides.iter().chain(&b.strides).chain(moved) {
        add_stride(&mut strides, stride);
    }
    strides
}

fn window(a: &Pattern, b: &Pattern, by: u128) -> Window {
    // If `a`'s elements are counted from the last one, the sum over all strides is `base` plus the
    // distance from the start of `a`'s interval to the start of `b`'s.
    let base = (a.start + span(&a.strides)) as i128 - (b.start + by) as i128;
    Window { from: base - b.len as i128 + 1, to: base + a.len as i128 - 1 }
}

/// The elements of one stride that are tried: the stride's index, the first and the last element.
type Trial = (usize, u128, u128);

/// Returns elements to try. If any sum is in the window, so is a sum with one of these elements.
type Trials = fn(&[Stride]) -> Vec<Trial>;

/// Returns whether a sum is in the window. Tries the elements of [`widest`], and if these are too
/// many, those of [`fewest`].
fn decide(
    mut strides: Vec<Stride>,
    mut window: Window,
    elements: u32,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    if let Some(answer) = settle(&mut strides, &mut window) {
        return Ok(answer);
    }
    let mut try_by = |trials: Trials| {
        budget.within(elements / 2, |budget| hits(strides.clone(), window, trials, budget))
    };
    try_by(widest).or_else(|Exhausted| try_by(fewest))
}

/// The range of integers `from..=to`.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: i128,
    to: i128,
}

impl Window {
    fn shifted_down(self, by: u128) -> Window {
        Window { from: self.from - by as i128, to: self.to - by as i128 }
    }

    fn contains(self, value: u128) -> bool {
        (self.from..=self.to).contains(&(value as i128))
    }
}

/// Returns whether some `sum k_i * step_i` is in the window.
fn hits(
    mut strides: Vec<Stride>,
    mut window: Window,
    trials: Trials,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    if let Some(answer) = settle(&mut strides, &mut window) {
        return Ok(answer);
    }
    if strides.len() > STRIDES {
        return Err(Exhausted);
    }
    for (at, from, to) in trials(&strides) {
        let mut rest = strides.clone();
        let Stride { step, .. } = rest.swap_remove(at);
        for k in from..=to {
            budget.spend()?;
            if hits(rest.clone(), window.shifted_down(k * step), trials, budget)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Simplifies the question, and answers it unless more than two strides are left.
fn settle(strides: &mut Vec<Stride>, window: &mut Window) -> Option<bool> {
    simplify(strides, window).or_else(|| match strides[..] {
        // One stride is never left: `simplify` reduces its step to 1 and then removes it.
        [a, b] => Some(two_hit(a, b, *window)),
        _ => None,
    })
}

/// Simplifies the question without changing the answer. Returns the answer if it is found.
fn simplify(strides: &mut Vec<Stride>, window: &mut Window) -> Option<bool> {
    // A call of `tighten` may remove only one element, so the number of calls is limited.
    let mut tightenings = 0..TIGHTENINGS;
    loop {
        strides.retain(|stride| stride.last != 0);
        let total = span(strides);
        if let Some(answer) = within(*window, total) {
            return Some(answer);
        }
        // Here 0 < from <= to < total, and at least one stride is left.
        if fold(strides, window) {
            continue;
        }
        let common = strides.iter().fold(0, |common, stride| gcd(common, stride.step)) as i128;
        if common > 1 {
            window.from = (window.from - 1).div_euclid(common) + 1;
            window.to = window.to.div_euclid(common);
            strides.iter_mut().for_each(|stride| stride.step /= common as u128);
            continue;
        }
        let changed =
            tightenings.next().is_some() && tighten(strides, window, total) || merge(strides);
        if !changed {
            return None;
        }
    }
}

/// Removes a stride whose step is at most the window's width, and widens the window instead.
fn fold(strides: &mut Vec<Stride>, window: &mut Window) -> bool {
    let width = (window.to - window.from + 1) as u128;
    let Some(at) = strides.iter().position(|stride| stride.step <= width) else {
        return false;
    };
    let Stride { step, last } = strides.swap_remove(at);
    window.from -= (step * last) as i128;
    true
}

/// Removes elements with which no sum is in the window, whatever the other elements are.
fn tighten(strides: &mut [Stride], window: &mut Window, total: u128) -> bool {
    let mut total = total;
    let mut changed = false;
    for stride in strides {
        let most = window.to as u128 / stride.step;
        if most < stride.last {
            total -= (stride.last - most) * stride.step;
            stride.last = most;
            changed = true;
        }
        let others = total - stride.step * stride.last;
        let least = (window.from as u128).saturating_sub(others).div_ceil(stride.step);
        if least > 0 {
            // If more elements are needed than there are, no sum is in the window.
            let least = least.min(stride.last);
            stride.last -= least;
            total -= least * stride.step;
            *window = window.shifted_down(least * stride.step);
            changed |= least > 0;
            if window.from < 0 || window.to < 0 {
                return true;
            }
        }
    }
    changed
}

/// Joins two strides if one continues the other: `int a[3][4]` becomes an array of 12 elements.
fn merge(strides: &mut Vec<Stride>) -> bool {
    for small in 0..strides.len() {
        for large in 0..strides.len() {
            let (s, l) = (strides[small], strides[large]);
            let ratio = l.step / s.step;
            if small != large && l.step % s.step == 0 && ratio <= s.last + 1 {
                strides[small].last += ratio * l.last;
                strides.swap_remove(large);
                return true;
            }
        }
    }
    false
}

/// Returns whether `k * a.step + j * b.step` is in the window for some elements `k` and `j`.
fn two_hit(a: Stride, b: Stride, window: Window) -> bool {
    let (from, to) = (window.from as u128, window.to as u128);
    // The elements of b can provide the rest of the sum only if k is in least..=most.
    let least = from.saturating_sub(b.step * b.last).div_ceil(a.step);
    let most = (to / a.step).min(a.last);
    if least > most {
        return false;
    }
    // (to - k * a.step) mod b.step must not exceed `width`.
    let width = to - from;
    let gap = (to - least * a.step) % b.step;
    if gap <= width {
        return true;
    }
    let step = (b.step - a.step % b.step) % b.step;
    let low = b.step - gap;
    first_in(step, b.step, low, low + width).is_some_and(|k| k <= most - least)
}

/// Returns the least `k` with `low <= k * a mod m <= high`, where `0 < low <= high < m`, `a < m`.
///
/// Each call is one step of Euclid's algorithm for `a` and `m`.
fn first_in(a: u128, m: u128, low: u128, high: u128) -> Option<u128> {
    if a == 0 {
        return None;
    }
    let k = low.div_ceil(a);
    if a * k <= high {
        return Some(k);
    }
    // No multiple of `a` is in low..=high, so 0 < low % a <= high % a.
    let rounds = first_in(m % a, a, a - high % a, a - low % a)?;
    Some((low + m * rounds).div_ceil(a))
}

/// Returns all elements of the stride with the widest step. For each of them, few elements of the
/// next widest stride are possible, so this is best for arrays inside arrays.
fn widest(strides: &[Stride]) -> Vec<Trial> {
    let at = (0..strides.len()).max_by_key(|&at| strides[at].step);
    at.map(|at| (at, 0, strides[at].last)).into_iter().collect()
}

/// Returns the smallest of these sets of elements to try: all elements of one stride, or the
/// elements of two strides that the next paragraph names.
///
/// Let two steps be `s = h * g` and `t = i * g`. Then `i` elements of `s` span as many bytes as `h`
/// elements of `t`. So if a sum is in the window, there is one that uses fewer than `i` elements of
/// `s`, or leaves fewer than `h` elements of `t` unused.
fn fewest(strides: &[Stride]) -> Vec<Trial> {
    let mut best = u128::MAX;
    let mut trials = Vec::new();
    for (s, a) in strides.iter().enumerate() {
        if a.last < best {
            best = a.last;
            trials = vec![(s, 0, a.last)];
        }
        for (t, b) in strides.iter().enumerate().filter(|&(t, _)| t != s) {
            let common = gcd(a.step, b.step);
            let few = (b.step / common - 1).min(a.last);
            let most = (a.step / common - 1).min(b.last);
            if few + most + 1 < best {
                best = few + most + 1;
                trials = vec![(s, 0, few), (t, b.last - most, b.last)];
            }
        }
    }
    trials
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        // A processor divides numbers of 64 bits by one instruction.
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(a), Ok(b)) => (b.into(), (a % b).into()),
            _ => (b, a % b),
        };
    }
    a
}

#[cfg(test)]
mod tests;
