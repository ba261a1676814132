//! The strings in a graph, such as the names of types.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::table::DefaultHashBuilder;

/// Byte strings, each stored once and numbered in the order of insertion.
#[derive(Clone, Default)]
pub(super) struct Strings {
    /// The bytes of all strings, one string after the other.
    bytes: Vec<u8>,
    /// The end of each string in `bytes`, where the next one begins.
    ends: Vec<usize>,
    table: HashTable<u32>,
}

fn get<'s>(bytes: &'s [u8], ends: &[usize], index: usize) -> &'s [u8] {
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[index]]
}

impl Strings {
    #[inline]
    pub(super) fn get(&self, index: usize) -> &[u8] {
        get(&self.bytes, &self.ends, index)
    }

    /// Adds a string, or finds it, and returns its index. `hasher` must be the same in all calls.
    /// An index fits in 32 bits, because a graph has at most 2^29 operands.
    pub(super) fn intern(&mut self, string: &[u8], hasher: &DefaultHashBuilder) -> usize {
        let Strings { bytes, ends, table } = self;
        let hash = hasher.hash_one(string);
        if let Some(&known) = table.find(hash, |&at| get(bytes, ends, at as usize) == string) {
            return known as usize;
        }
        let index = ends.len();
        bytes.extend_from_slice(string);
        ends.push(bytes.len());
        let hash_of = |&at: &u32| hasher.hash_one(get(bytes, ends, at as usize));
        table.insert_unique(hash, index as u32, hash_of);
        index
    }

    /// Adds the strings of `original` that `self`, an earlier copy of `original`, lacks.
    pub(super) fn follow(&mut self, original: &Strings, hasher: &DefaultHashBuilder) {
        for index in self.ends.len()..original.ends.len() {
            self.intern(original.get(index), hasher);
        }
    }

    pub(super) fn shrink_to_fit(&mut self, hasher: &DefaultHashBuilder) {
        let Strings { bytes, ends, table } = self;
        bytes.shrink_to_fit();
        ends.shrink_to_fit();
        table.shrink_to_fit(|&at| hasher.hash_one(get(bytes, ends, at as usize)));
    }
}
