//! The checked id of a type.

use std::fmt;

/// Names one type of one [`Context`](super::Context).
///
/// Ids stay valid for the life of the context: neither adding a type nor completing a struct moves
/// another. Two ids of one context are equal exactly when LLVM's two `Type *` are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    pub(super) index: u32,
    pub(super) stamp: u32,
}

impl Type {
    /// Returns the type's position in [`Context::types`](super::Context::types).
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ty{}", self.index)
    }
}
