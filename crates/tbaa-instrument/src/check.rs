//! The kinds of checks. A check's kind is the direction and the size of the access.

use std::fmt::{self, Display, Formatter};

use super::layout::ROW;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Read,
    Write,
}

/// The access sizes in bytes whose checks are in the module. Other accesses call the runtime.
pub(super) const SIZES: [u64; 4] = [1, 2, 4, 8];

/// The check for an access with this direction and size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Check {
    pub(super) direction: Direction,
    pub(super) size: u64,
}

impl Display for Check {
    /// Writes the check's name, such as `read4`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = match self.direction {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        write!(f, "{word}{}", self.size)
    }
}

/// Returns the constant address of the row of the access with number `site`: see [`ROW`].
pub(super) fn row(site: u32) -> String {
    format!("getelementptr ([{ROW} x i64], ptr @__tbaa_witness.rows, i64 {site})")
}
