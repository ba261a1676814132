//! The id of a type in a context.

use std::fmt;

/// A type of one [`Context`](super::Context), as an id.
///
/// An id stays valid for the life of the context: adding or completing types changes no id.
/// Two ids of a context are equal exactly if LLVM's `Type *` pointers would be equal.
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
