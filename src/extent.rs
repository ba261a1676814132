//! The range of bytes that an access touches inside its base type.
//!
//! The type path of a tag leads to an offset in the base type. The range begins there and has as
//! many bytes as the access's [`Size`], but it is cut at the end of the base type. The end of an
//! array or a field inside the base does not cut the range: 8 bytes from `arr[3]` in
//! `struct { int arr[4]; float tail; }` touch `tail`.
//!
//! - An access of unknown size may touch everything up to the end of the base.
//! - A base type that contains a flexible array has no end. Nor has an old-format type, because
//!   old-format nodes record no sizes.
//! - If the tag's offset plus the known size of the access exceeds the end of the base, the tag
//!   does not describe the access. Then the access may alias everything.
//!
//! So a larger known size never makes an access alias less.

/// The extent of an access or type without an end. Finite extents are smaller: sizes have 64 bits.
pub(crate) const UNBOUNDED: u128 = 1 << 80;

/// The number of bytes that an access touches.
///
/// LLVM's metadata, assembly text and C code store a plain number instead. `From<u64>` converts the
/// numbers 0 and 2^64-1 to an unknown size.
///
/// ```
/// use tbaa::Size;
///
/// assert_eq!(Size::from(8), Size::Bytes(8));
/// assert_eq!([0, u64::MAX].map(Size::from), [Size::Unknown; 2]);
/// ```
///
/// LLVM's class: `LocationSize`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    /// The number of bytes is known only when the program runs.
    Unknown,
    /// A number of bytes. An oracle treats `Bytes(0)` and `Bytes(u64::MAX)` as an unknown size.
    Bytes(u64),
}

impl Size {
    #[cfg(feature = "declare")]
    pub(crate) const MOST: Size = Size::Bytes(u64::MAX - 1);

    /// Returns the number of bytes, if it is known.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Size::Unknown => None,
            Size::Bytes(bytes) => Some(bytes),
        }
    }

    /// Returns the number of bytes if known. `Bytes(0)` and `Bytes(u64::MAX)` count as unknown.
    pub(crate) fn known(self) -> Option<u64> {
        self.bytes().filter(|&bytes| bytes != 0 && bytes != u64::MAX)
    }

    /// Returns whether `other` is not larger than this size. An unknown size covers every size.
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
    /// Converts the number that metadata or C code stores for a size: 0 and 2^64-1 mean unknown.
    fn from(bytes: u64) -> Size {
        match bytes {
            0 | u64::MAX => Size::Unknown,
            bytes => Size::Bytes(bytes),
        }
    }
}

impl From<Size> for u64 {
    /// Returns the size as a plain number, with 0 for an unknown size.
    fn from(size: Size) -> u64 {
        size.bytes().unwrap_or(0)
    }
}

/// Returns the number of bytes that an access at offset `at` may touch in a base type that ends at
/// `end`, or 0 if the access begins at the end or later. If `size` is `None` (an old-format tag) or
/// `Unknown`, the access may touch everything up to the end.
pub(crate) fn touched(size: Option<Size>, at: u64, end: u128) -> u128 {
    let room = end.saturating_sub(at.into());
    size.and_then(Size::bytes).map_or(room, |size| u128::from(size).min(room))
}

/// Returns whether an access that begins at `at` has a known size and extends past `end`.
pub(crate) fn leaves(size: Option<Size>, at: u64, end: u128) -> bool {
    let end_of = |size: u64| u128::from(at) + u128::from(size);
    size.and_then(Size::bytes).is_some_and(|size| end_of(size) > end)
}
