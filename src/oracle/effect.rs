//! The memory effect of an instruction or a call, as bit masks over a list of accesses.

/// The parts of memory that an instruction, a call or a function may read and write, as masks.
///
/// Two effects from the same table of [`Masks`](crate::Masks) are compared bit by bit. Effects from
/// different tables conflict if neither is empty and one of them writes.
///
/// ```
/// use tbaa::MemoryEffect;
///
/// const CALL: MemoryEffect = MemoryEffect::NONE.union(MemoryEffect::UNKNOWN);
/// assert!(CALL.conflicts(CALL) && !CALL.conflicts(MemoryEffect::NONE));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryEffect {
    /// The mask of the memory that may be read.
    pub reads: u64,
    /// The mask of the memory that may be written.
    pub writes: u64,
    /// The version of the table, or 0 if the effect comes from no table or from several.
    pub(super) version: u64,
}

impl MemoryEffect {
    /// The effect of code that reads and writes nothing.
    pub const NONE: MemoryEffect = MemoryEffect { reads: 0, writes: 0, version: 0 };
    /// The effect of code that may read and write anything.
    pub const UNKNOWN: MemoryEffect =
        MemoryEffect { reads: u64::MAX, writes: u64::MAX, version: 0 };

    /// Returns the effect of code that has both effects, one after the other.
    #[must_use]
    pub const fn union(self, other: MemoryEffect) -> MemoryEffect {
        let (a, b) = self.beside(other);
        let version = if a.is_none() { b.version } else { a.version };
        MemoryEffect { reads: a.reads | b.reads, writes: a.writes | b.writes, version }
    }

    /// Returns whether one effect may write what the other may read or write.
    #[must_use]
    pub const fn conflicts(self, other: MemoryEffect) -> bool {
        let (a, b) = self.beside(other);
        a.writes & (b.reads | b.writes) | a.reads & b.writes != 0
    }

    const fn is_none(self) -> bool {
        self.reads | self.writes == 0
    }

    /// Makes two effects comparable: if their tables differ, nonzero masks get all bits.
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
