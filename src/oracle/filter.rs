//! Which tags a wide tag cannot alias, told by their base types alone.

use super::compiled::NONE;
use super::forest::Forest;
use crate::table::{HashMap, HashSet};

/// A set of types, a bit for several types.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Filter([u64; 4]);

impl Filter {
    /// Any type.
    pub(super) const ALL: Filter = Filter([u64::MAX; 4]);

    /// Bits in a filter.
    pub(super) const PLACES: usize = 256;

    /// Returns a type's bit, below [`Filter::PLACES`].
    pub(super) fn place(ty: u32) -> usize {
        (ty.wrapping_mul(0x9e37_79b1) >> 24) as usize
    }

    pub(super) fn add(&mut self, ty: u32) {
        let place = Filter::place(ty);
        self.0[place / 64] |= 1 << (place % 64);
    }

    pub(super) fn add_all(&mut self, other: &Filter) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    pub(super) fn passes(&self, ty: u32) -> bool {
        self.has(Filter::place(ty))
    }

    /// Returns whether a type of this bit passes.
    pub(super) fn has(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 != 0
    }
}

/// Types in a walk that are looked at when a cursor is added. Real walks are at
/// most some tens long.
const STEPS: usize = 64;

/// For some types, from which base types walks come to them.
///
/// A type that was entered before anybody minds it takes all base types for
/// such, until [`Passers::complete`] looks at all cursors.
#[derive(Clone, Debug)]
pub(super) struct Passers {
    /// Types to which some cursor leads on; not known before any type is minded.
    entered: HashSet<u32>,
    /// The types minded, numbered, and a filter over all of them.
    numbers: HashMap<u32, u32>,
    minded: Filter,
    /// Each minded type's base types, after none for [`Passers::NOBODY`].
    filters: Vec<Filter>,
    /// Minded types whose filters are not complete.
    incomplete: HashSet<u32>,
    /// Some walk is longer than [`STEPS`]: no filter is to be relied on.
    deep: bool,
}

impl Default for Passers {
    fn default() -> Self {
        Passers {
            entered: HashSet::default(),
            numbers: HashMap::default(),
            minded: Filter::default(),
            filters: vec![Filter::default()],
            incomplete: HashSet::default(),
            deep: false,
        }
    }
}

impl Passers {
    /// The number of no type.
    pub(super) const NOBODY: u32 = 0;

    /// Returns a number by which to ask who passes a type. `entered` lists the
    /// types to which some cursor leads on.
    pub(super) fn mind<I: Iterator<Item = u32>>(
        &mut self,
        ty: u32,
        entered: impl FnOnce() -> I,
    ) -> u32 {
        if self.numbers.is_empty() {
            self.entered.extend(entered());
        }
        let next = self.filters.len() as u32;
        let number = *self.numbers.entry(ty).or_insert(next);
        if number == next {
            self.minded.add(ty);
            let known = !self.entered.contains(&ty) && !self.deep;
            self.filters.push(if known { Filter::default() } else { Filter::ALL });
            if !known {
                self.incomplete.insert(ty);
            }
        }
        number
    }

    /// Returns the filter that base types pass whose walks may come to the type
    /// of this number.
    pub(super) fn filter(&self, number: u32) -> &Filter {
        &self.filters[number as usize]
    }

    /// Takes note of a walk that begins at type `base` and goes on through
    /// `walk`.
    pub(super) fn add(&mut self, base: u32, walk: impl Iterator<Item = u32>) {
        if self.numbers.is_empty() {
            return;
        }
        for (step, ty) in walk.enumerate() {
            if step == 0 {
                self.entered.insert(ty);
            }
            if self.deep {
                return;
            }
            if step == STEPS {
                self.deep = true;
                self.filters[1..].fill(Filter::ALL);
                return;
            }
            if self.minded.passes(ty)
                && let Some(&number) = self.numbers.get(&ty)
            {
                self.filters[number as usize].add(base);
            }
        }
    }

    /// Completes the filters; `ty` gives each cursor's type.
    pub(super) fn complete(&mut self, forest: &Forest, ty: impl Fn(u32) -> u32) {
        if self.incomplete.is_empty() || self.deep {
            return;
        }
        for ty in self.incomplete.drain() {
            self.filters[self.numbers[&ty] as usize] = Filter::default();
        }
        // The first minded type on each cursor's walk, by its cursor.
        let mut first = Vec::with_capacity(forest.len());
        for cursor in 0..forest.len() as u32 {
            let above = forest.parent(cursor).map_or(NONE, |parent| first[parent as usize]);
            let base = ty(cursor);
            let number = self.minded.passes(base).then(|| self.numbers.get(&base)).flatten();
            let mut at = above;
            for step in 0.. {
                if at == NONE {
                    break;
                }
                if step == STEPS {
                    self.deep = true;
                    self.filters[1..].fill(Filter::ALL);
                    return;
                }
                self.filters[self.numbers[&ty(at)] as usize].add(base);
                at = forest.parent(at).map_or(NONE, |parent| first[parent as usize]);
            }
            first.push(if number.is_some() { cursor } else { above });
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.entered.shrink_to_fit();
        self.filters.shrink_to_fit();
    }
}
