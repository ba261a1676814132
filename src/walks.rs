//! The walks of tags, which the verifier, the index and the rules share.
//!
//! A *walk* is the path of a tag from its base type, field by field, to the accessed scalar, and on
//! to the scalar's parents. A *cursor* is a type on a walk and an offset into the type. Each cursor
//! has at most one successor, so cursors form a [`Forest`].

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::forest::Forest;
use crate::table::{DefaultHashBuilder, HashMap};

/// The most cursors, so that an index fits in 30 bits. [`Walks::add_walk`] never exceeds it.
pub(crate) const MOST_CURSORS: usize = (1 << 30) - 1;

/// Marks an offset of 2^32-1 or more, which [`Walks::far`] has.
const FAR: u32 = u32::MAX;

/// A set of walks. Walks that reach the same cursor share all cursors after it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Walks {
    /// The cursors; the parent of a cursor is the next one on its walk.
    pub(crate) forest: Forest,
    types: Vec<u32>,
    /// The offset of each cursor, or [`FAR`] if `far` has it.
    offsets: Vec<u32>,
    /// The offsets of [`FAR`] and above, by cursor.
    far: HashMap<u32, u64>,
    /// The cursors, hashed by type and offset.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Walks {
    pub(crate) fn shrink_to_fit(&mut self) {
        let mut known = std::mem::take(&mut self.known);
        known.shrink_to_fit(|&cursor| self.hash_of(cursor));
        self.known = known;
        self.forest.shrink_to_fit();
        self.types.shrink_to_fit();
        self.offsets.shrink_to_fit();
    }

    pub(crate) fn find(&self, ty: u32, offset: u64) -> Option<u32> {
        let is_it =
            |&cursor: &u32| self.types[cursor as usize] == ty && self.offset(cursor) == offset;
        self.known.find(self.hash(ty, offset), is_it).copied()
    }

    /// Adds the walk from `start`, a type and offset, and returns its first cursor. `next` returns
    /// the next type and offset, `Some(None)` at the end of the walk, or `None` to cancel. Returns
    /// `None` and adds nothing if `next` cancels, there would be too many cursors, or neither a
    /// known cursor nor the end is within `longest` steps of `start`.
    pub(crate) fn add_walk(
        &mut self,
        start: (u32, u64),
        longest: usize,
        mut next: impl FnMut(u32, u64) -> Option<Option<(u32, u64)>>,
    ) -> Option<u32> {
        let room = MOST_CURSORS.saturating_sub(self.forest.len() + 2);
        let mut path = Vec::new();
        let mut at = start;
        let mut cursor = loop {
            if let Some(known) = self.find(at.0, at.1) {
                break Some(known);
            }
            path.push(at);
            match next(at.0, at.1)? {
                Some(next) if path.len() <= longest.min(room) => at = next,
                Some(_) => return None,
                None => break None,
            }
        };
        for (ty, offset) in path.into_iter().rev() {
            cursor = Some(self.push(ty, offset, cursor));
        }
        cursor
    }

    /// Adds a cursor that [`Walks::find`] did not find, and whose successor is `next`.
    pub(crate) fn push(&mut self, ty: u32, offset: u64, next: Option<u32>) -> u32 {
        let cursor = self.forest.push(next);
        self.types.push(ty);
        self.offsets.push(u32::try_from(offset).unwrap_or(FAR));
        if offset >= FAR.into() {
            self.far.insert(cursor, offset);
        }
        let hash = self.hash(ty, offset);
        let mut known = std::mem::take(&mut self.known);
        known.insert_unique(hash, cursor, |&other| self.hash_of(other));
        self.known = known;
        cursor
    }

    fn hash(&self, ty: u32, offset: u64) -> u64 {
        self.hasher.hash_one((ty, offset))
    }

    fn hash_of(&self, cursor: u32) -> u64 {
        self.hash(self.ty(cursor), self.offset(cursor))
    }

    /// Returns a cursor's offset, in bytes from the start of its type.
    pub(crate) fn offset(&self, cursor: u32) -> u64 {
        match self.offsets[cursor as usize] {
            FAR => self.far[&cursor],
            offset => offset.into(),
        }
    }

    pub(crate) fn ty(&self, cursor: u32) -> u32 {
        self.types[cursor as usize]
    }

    /// Returns the types on the walk from a cursor, its own type first.
    pub(crate) fn types_from(&self, cursor: u32) -> impl Iterator<Item = u32> + '_ {
        self.forest.walk(cursor).map(|at| self.ty(at))
    }
}
