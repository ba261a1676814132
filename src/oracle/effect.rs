//! The effect of an instruction or a call on the memory of a list of accesses.

/// The masks of what an instruction, a call or a function may read and write.
///
/// Effects of one table of [`Masks`](crate::Masks) are compared bit by bit. Effects of two tables
/// conflict wherever both are not empty and one writes.
///
/// ```
/// use tbaa::MemoryEffect;
///
/// const CALL: MemoryEffect = MemoryEffect::NONE.union(MemoryEffect::UNKNOWN);
/// assert!(CALL.conflicts(CALL) && !CALL.conflicts(MemoryEffect::NONE));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryEffect {
    /// The mask of what may be read.
    pub reads: u64,
    /// The mask of what may be written.
    pub writes: u64,
    /// The table's, or 0 of none and of several.
    pub(super) version: u64,
}

impl MemoryEffect {
    /// Nothing is read or written.
    pub const NONE: MemoryEffect = MemoryEffect { reads: 0, writes: 0, version: 0 };
    /// Anything may be read and written.
    pub const UNKNOWN: MemoryEffect =
        MemoryEffect { reads: u64::MAX, writes: u64::MAX, version: 0 };

    /// Returns the effect of both, one after the other.
    #[must_use]
    pub const fn union(self, other: MemoryEffect) -> MemoryEffect {
        let (a, b) = self.beside(other);
        let version = if a.is_none() { b.version } else { a.version };
        MemoryEffect { reads: a.reads | b.reads, writes: a.writes | b.writes, version }
    }

    /// Returns whether one may write what the other reads or writes, so that their order counts.
    #[must_use]
    pub const fn conflicts(self, other: MemoryEffect) -> bool {
        let (a, b) = self.beside(other);
        a.writes & (b.reads | b.writes) | a.reads & b.writes != 0
    }

    const fn is_none(self) -> bool {
        self.reads | self.writes == 0
    }

    /// Returns two effects whose bits mean the same: those of two tables are all bits.
    const fn beside(self, other: MemoryEffect) -> (MemoryEffect, MemoryEffect) {
        if self.version == other.version || self.is_none() || other.is_none() {
            (self, other)
        } else {
            (self.widened(), other.widened())
        }
    }

    const fn widened(self) -> MemoryEffect {
        MemoryEffect { reads: all_bits(self.reads), writes: all_bits(self.writes), version: 0 }
    }
}

const fn all_bits(mask: u64) -> u64 {
    if mask == 0 { 0 } else { u64::MAX }
}
