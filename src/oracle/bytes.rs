//! The bytes of an access, as an explanation shows them.

use std::fmt;

/// The elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Elements {
    /// Bytes from one element to the next.
    pub stride: u64,
    /// The number of elements; `None` for a flexible array without end.
    pub count: Option<u64>,
}

/// The bytes of an access: an interval, repeated for each array element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ByteRange {
    /// The first byte, from the start of the type that the path starts from.
    pub start: u64,
    /// The byte after the last; `None` without end.
    pub end: Option<u64>,
    /// The arrays that repeat the interval for each element.
    pub repeats: Vec<Elements>,
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}", self.start)?;
        match self.end {
            Some(end) if end == self.start + 1 => {}
            Some(end) => write!(f, "-{}", end - 1)?,
            None => write!(f, " onward")?,
        }
        for Elements { stride, count } in &self.repeats {
            write!(f, ", every {stride}")?;
            if let Some(count) = count {
                write!(f, " ({count} times)")?;
            }
        }
        Ok(())
    }
}
