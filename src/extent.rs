//! Which bytes an access touches.
//!
//! An access lies inside an object of its base type. From the place to which its
//! path leads it touches as many bytes as its [`Size`] says, as far as the base type
//! extends. Nothing else cuts the range, neither an array's end nor a field's: 8
//! bytes from `arr[3]` of `struct { int arr[4]; float tail; }` touch `tail`.
//!
//! - A size that is not known reaches to the base's end.
//! - A base type with a flexible array inside has no end. Nor has one of the old format, whose nodes
//!   say no sizes.
//! - A known size that leaves the base on every path means that the tag does not
//!   describe the access, which then may alias everything: what lies behind an object
//!   of the base depends on types that may yet be added.
//!
//! So a larger known size never aliases less, and an unknown size never less than
//! a known one that stays in the base.

/// Stands for "without end". No finite extent reaches so far: offsets and sizes
/// have 64 bits.
pub(crate) const UNBOUNDED: u128 = 1 << 80;

/// How many bytes an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// As many as the last field of its path has: an old-format tag says no more.
    Slot,
    /// So many, at least 1.
    Bytes(u64),
    /// All up to the end of the base type.
    Unknown,
}

impl Size {
    /// Reads the size of a tag, or one that is given with an access. 0 and 2^64-1 mean
    /// that it is not known.
    pub(crate) fn new(size: u64) -> Size {
        match size {
            0 | u64::MAX => Size::Unknown,
            size => Size::Bytes(size),
        }
    }

    /// The size, if it is known.
    pub(crate) fn bytes(self) -> Option<u64> {
        match self {
            Size::Bytes(size) => Some(size),
            Size::Slot | Size::Unknown => None,
        }
    }

    /// How many bytes an access may touch from `at` on, in a base type that ends at
    /// `end`; none are left behind the end.
    pub(crate) fn from(self, at: u64, end: u128) -> u128 {
        let room = end.saturating_sub(at.into());
        self.bytes().map_or(room, |size| u128::from(size).min(room))
    }

    /// Whether an access of a known size that begins at `at` reaches past `end`.
    pub(crate) fn leaves(self, at: u64, end: u128) -> bool {
        self.bytes().is_some_and(|size| u128::from(at) + u128::from(size) > end)
    }
}
