//! A map whose keys are metadata numbers.

use tbaa::parts::table::HashMap;

/// A map whose keys are metadata numbers. LLVM numbers nodes from 0 without gaps, so low numbers
/// are indices of a vector. Texts from elsewhere may have high numbers, which are hashed.
#[derive(Debug)]
pub(super) struct Numbers<V> {
    dense: Vec<Option<V>>,
    /// Numbers from this one on are in `sparse`, so that `dense` stays small for a short text.
    limit: u32,
    sparse: HashMap<u32, V>,
}

impl<V> Default for Numbers<V> {
    fn default() -> Self {
        Numbers { dense: Vec::new(), limit: 0, sparse: HashMap::new() }
    }
}

impl<V: Copy> Numbers<V> {
    /// Returns an empty map for the numbers in a text of `text_len` bytes.
    pub(super) fn new(text_len: usize) -> Self {
        // The shortest line that LLVM prints for a node has 8 bytes: `!0 = !{}`.
        let limit = u32::try_from(text_len / 8).unwrap_or(u32::MAX);
        Numbers { limit, ..Numbers::default() }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<V> {
        if number < self.limit {
            *self.dense.get(number as usize)?
        } else {
            self.sparse.get(&number).copied()
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, number: u32, value: V) -> Option<V> {
        if number >= self.limit {
            return self.sparse.insert(number, value);
        }
        let index = number as usize;
        if index >= self.dense.len() {
            self.dense.resize(index + 1, None);
        }
        self.dense[index].replace(value)
    }

    /// Returns the numbers and their values, in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, V)> {
        let dense = self.dense.iter().enumerate();
        let dense = dense.filter_map(|(number, &value)| Some((number as u32, value?)));
        dense.chain(self.sparse.iter().map(|(&number, &value)| (number, value)))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_high_number_in_a_short_text_takes_no_memory() {
        let mut numbers = Numbers::new(80);
        let values: Vec<_> = (1..=4).filter_map(NonZeroU32::new).collect();
        let keys = [0, 9, 10, u32::MAX];
        for (&key, &value) in keys.iter().zip(&values) {
            assert_eq!(numbers.get(key), None);
            assert_eq!(numbers.insert(key, value), None);
            assert_eq!(numbers.get(key), Some(value));
        }
        assert_eq!(numbers.dense.len(), 10);
        assert_eq!(numbers.insert(9, values[0]), Some(values[1]));
        assert_eq!(numbers.insert(10, values[0]), Some(values[2]));
        let mut all: Vec<_> = numbers.iter().collect();
        all.sort_unstable();
        assert_eq!(all, [(0, values[0]), (9, values[0]), (10, values[0]), (u32::MAX, values[3])]);
    }
}
