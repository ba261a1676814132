//! A check: the direction and size of an access.

use std::fmt::{self, Display, Formatter};

use super::layout::ROW;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Read,
    Write,
}

/// The sizes in bytes of accesses with checks in the module. Others call the runtime.
pub(super) const SIZES: [u64; 4] = [1, 2, 4, 8];

/// The check of an access with this direction and size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Check {
    pub(super) direction: Direction,
    pub(super) size: u64,
}

impl Display for Check {
    /// Writes the check's name: `read4`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = match self.direction {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        write!(f, "{word}{}", self.size)
    }
}

/// Returns the address of a site's row, as a constant.
pub(super) fn row(site: u32) -> String {
    format!("getelementptr ([{ROW} x i64], ptr @__tbaa_witness.rows, i64 {site})")
}
