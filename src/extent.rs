//! The bytes that an access touches.
//!
//! An access lies inside an object of its base type. From the end of its path it touches as many
//! bytes as its [`Size`] says, up to the end of the base type. Nothing else cuts the range, neither
//! an array's end nor a field's: 8 bytes from `arr[3]` of `struct { int arr[4]; float tail; }`
//! touch `tail`.
//!
//! - An unknown size extends to the base's end.
//! - A base type that contains a flexible array has no end. Neither has an old-format type, because
//!   its nodes record no sizes.
//! - A known size that exceeds the base on every path means that the tag does not describe the
//!   access, which may then alias everything: the memory after an object of the base depends on
//!   types that may be added later.
//!
//! So a larger known size never aliases less, and an unknown size never aliases less than a known
//! one that stays in the base.

/// Means "without end". Finite extents are smaller, because offsets and sizes have 64 bits.
pub(crate) const UNBOUNDED: u128 = 1 << 80;

/// The number of bytes that an access touches.
///
/// Texts, LLVM's metadata and C have a number instead. There 0 and 2^64-1 mean that the size is
/// unknown, and `From<u64>` reads them so.
///
/// ```
/// use tbaa::Size;
///
/// assert_eq!(Size::from(8), Size::Bytes(8));
/// assert_eq!([0, u64::MAX].map(Size::from), [Size::Unknown; 2]);
/// ```
///
/// LLVM: `LocationSize`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    /// The number of bytes is known only when the program runs.
    Unknown,
    /// This many bytes. An oracle takes an access of `Bytes(0)` or `Bytes(u64::MAX)` for one of an unknown
    /// size.
    Bytes(u64),
}

impl Size {
    /// The largest known size.
    #[cfg(feature = "declare")]
    pub(crate) const MOST: Size = Size::Bytes(u64::MAX - 1);

    /// Returns the number of bytes, if it is known.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Size::Unknown => None,
            Size::Bytes(bytes) => Some(bytes),
        }
    }

    /// Returns how many bytes an access of this size touches, if that is known.
    pub(crate) fn known(self) -> Option<u64> {
        self.bytes().filter(|&bytes| bytes != 0 && bytes != u64::MAX)
    }

    /// Returns whether `other` is at most this size. An unknown size covers every other.
    #[must_use]
    pub fn covers(self, other: Size) -> bool {
        match (self, other) {
            (Size::Unknown, _) => true,
            (Size::Bytes(_), Size::Unknown) => false,
            (Size::Bytes(bytes), Size::Bytes(other)) => other <= bytes,
        }
    }
}

impl From<u64> for Size {
    /// Reads the number that a text or C has for a size: 0 and 2^64-1 are unknown.
    fn from(bytes: u64) -> Size {
        match bytes {
            0 | u64::MAX => Size::Unknown,
            bytes => Size::Bytes(bytes),
        }
    }
}

impl From<Size> for u64 {
    /// Returns the number that a text or C has for a size: 0 for an unknown one, as clang
    /// writes it.
    fn from(size: Size) -> u64 {
        size.bytes().unwrap_or(0)
    }
}

/// Returns the number of bytes that an access may touch from `at` on, in a base type that ends at
/// `end`; none remain after the end. Without a size it is an old-format tag's, which extends to the
/// end.
pub(crate) fn touched(size: Option<Size>, at: u64, end: u128) -> u128 {
    let room = end.saturating_sub(at.into());
    size.and_then(Size::bytes).map_or(room, |size| u128::from(size).min(room))
}

/// Returns whether an access of a known size that begins at `at` reaches past `end`.
pub(crate) fn leaves(size: Option<Size>, at: u64, end: u128) -> bool {
    let end_of = |size: u64| u128::from(at) + u128::from(size);
    size.and_then(Size::bytes).is_some_and(|size| end_of(size) > end)
}
