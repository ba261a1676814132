//! What a check is of: what an access does, and how many bytes it has.

use std::fmt::{self, Display, Formatter};

use super::layout::ROW;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Read,
    Write,
}

/// The sizes of accesses that are checked in the module, in bytes.
pub(super) const SIZES: [u64; 4] = [1, 2, 4, 8];

/// A check of an access by what it does and a size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Check {
    pub(super) direction: Direction,
    pub(super) size: u64,
}

impl Display for Check {
    /// `read4`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = match self.direction {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        write!(f, "{word}{}", self.size)
    }
}

/// A site's row, as a constant.
pub(super) fn row(site: u32) -> String {
    format!("getelementptr ([{ROW} x i64], ptr @__tbaa_witness.rows, i64 {site})")
}
