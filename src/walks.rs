//! The walks of tags: the forest of cursors that the verifier, the index and the rules
//! share.
//!
//! A *cursor* is a place on a tag's walk: a type and an offset into it, and
//! then, from the scalar that is accessed, the scalar's parents. Who walks says
//! which cursor comes next. Each cursor has one successor, so cursors form a
//! [`Forest`].

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::forest::Forest;
use crate::table::{DefaultHashBuilder, HashMap};
use crate::type_set::TypeSet;

/// No cursor.
const NONE: u32 = u32::MAX;

/// Marks the type of a cursor that leads another way than the cursor of its
/// place, for tags of which a place has several.
const ROUTED: u32 = 1 << 31;

/// An offset that 32 bits do not hold.
const FAR: u32 = u32::MAX;

/// Walks of which one may begin on another.
#[derive(Clone, Default, Debug)]
pub(crate) struct Walks {
    /// The parent of each cursor is the next on its walk.
    pub(crate) forest: Forest,
    /// Type of each cursor, and whether it is [`ROUTED`].
    types: Vec<u32>,
    /// Offset of each cursor,
    offsets: Vec<u32>,
    /// and those of [`FAR`] and more.
    far: HashMap<u32, u64>,
    /// The types on each cursor's walk.
    sets: Vec<TypeSet>,
    /// The cursors, hashed by type, offset and route.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Walks {
    /// Gives back memory that the tables hold to grow into.
    pub(crate) fn shrink_to_fit(&mut self) {
        let mut known = std::mem::take(&mut self.known);
        known.shrink_to_fit(|&cursor| self.hash_of(cursor));
        self.known = known;
        self.forest.shrink_to_fit();
        self.types.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.sets.shrink_to_fit();
    }

    /// Returns the cursor of a place from which all tags go on alike.
    pub(crate) fn find(&self, ty: u32, offset: u64) -> Option<u32> {
        let is_it =
            |&cursor: &u32| self.types[cursor as usize] == ty && self.offset(cursor) == offset;
        self.known.find(self.hash(ty, offset, NONE), is_it).copied()
    }

    /// Returns the cursor of a place, with the walk from there added. `next`
    /// gives the place after one, or `Some(None)` at the walk's end; `None`
    /// gives up, and so does a walk of more than `longest` new places.
    pub(crate) fn add_walk(
        &mut self,
        start: (u32, u64),
        longest: usize,
        mut next: impl FnMut(u32, u64) -> Option<Option<(u32, u64)>>,
    ) -> Option<u32> {
        let mut path = Vec::new();
        let mut at = start;
        let mut cursor = loop {
            if let Some(known) = self.find(at.0, at.1) {
                break Some(known);
            }
            path.push(at);
            match next(at.0, at.1)? {
                Some(next) if path.len() <= longest => at = next,
                Some(_) => return None,
                None => break None,
            }
        };
        for (ty, offset) in path.into_iter().rev() {
            cursor = Some(self.push(ty, offset, cursor));
        }
        cursor
    }

    /// Adds a cursor that [`Walks::find`] did not find, before `next`.
    pub(crate) fn push(&mut self, ty: u32, offset: u64, next: Option<u32>) -> u32 {
        self.insert(ty, offset, next, NONE)
    }

    /// Returns the cursor of a place from which tags go different ways, on the
    /// way to `next` or at its end.
    pub(crate) fn routed(&mut self, ty: u32, offset: u64, next: Option<u32>) -> u32 {
        let is_it = |&cursor: &u32| {
            self.types[cursor as usize] == ty | ROUTED
                && self.offset(cursor) == offset
                && self.forest.parent(cursor) == next
        };
        let route = next.unwrap_or(NONE);
        let found = self.known.find(self.hash(ty, offset, route), is_it).copied();
        found.unwrap_or_else(|| self.insert(ty | ROUTED, offset, next, route))
    }

    fn insert(&mut self, ty: u32, offset: u64, next: Option<u32>, route: u32) -> u32 {
        let cursor = self.forest.push(next);
        let beyond = next.map_or(TypeSet::default(), |next| self.sets[next as usize]);
        self.sets.push(beyond.union(TypeSet::of(ty & !ROUTED)));
        self.types.push(ty);
        self.offsets.push(u32::try_from(offset).unwrap_or(FAR));
        if offset >= FAR.into() {
            self.far.insert(cursor, offset);
        }
        let hash = self.hash(ty & !ROUTED, offset, route);
        let mut known = std::mem::take(&mut self.known);
        known.insert_unique(hash, cursor, |&other| self.hash_of(other));
        self.known = known;
        cursor
    }

    fn hash(&self, ty: u32, offset: u64, route: u32) -> u64 {
        self.hasher.hash_one((ty, offset, route))
    }

    /// The hash of a cursor that is known.
    fn hash_of(&self, cursor: u32) -> u64 {
        let routed = self.types[cursor as usize] & ROUTED != 0;
        let route = self.forest.parent(cursor).filter(|_| routed).unwrap_or(NONE);
        self.hash(self.ty(cursor), self.offset(cursor), route)
    }

    /// Returns a cursor's offset, in bytes from the start of its type.
    pub(crate) fn offset(&self, cursor: u32) -> u64 {
        match self.offsets[cursor as usize] {
            FAR => self.far[&cursor],
            offset => offset.into(),
        }
    }

    pub(crate) fn ty(&self, cursor: u32) -> u32 {
        self.types[cursor as usize] & !ROUTED
    }

    /// Returns the types on a cursor's walk.
    pub(crate) fn types_from(&self, cursor: u32) -> impl Iterator<Item = u32> + '_ {
        self.forest.walk(cursor).map(|at| self.ty(at))
    }

    /// Returns the types on a cursor's walk, as a set.
    pub(crate) fn types_on_walk(&self, cursor: u32) -> TypeSet {
        self.sets[cursor as usize]
    }

    /// Returns the place at which a walk comes to type `ty`, itself included.
    /// `rank` descends along every walk; without one, every step is looked at.
    pub(crate) fn find_on_walk(
        &self,
        from: u32,
        ty: u32,
        rank: Option<impl Fn(u32) -> u32>,
    ) -> Option<u32> {
        if !self.sets[from as usize].may_have(ty) {
            return None;
        }
        let Some(rank) = rank else {
            return self.forest.walk(from).find(|&at| self.ty(at) == ty);
        };
        let wanted = rank(ty);
        if rank(self.ty(from)) < wanted {
            return None;
        }
        let found = self.forest.climb(from, |at| rank(self.ty(at)) >= wanted);
        (self.ty(found) == ty).then_some(found)
    }
}
