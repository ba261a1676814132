//! An access, as the union rules read it.

use super::types::{TypeIndex, Types};

/// An access whose tag has been read and found sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub(crate) base: TypeIndex,
    pub(crate) access: TypeIndex,
    pub(crate) offset: u64,
    /// Bytes; `None` when unknown.
    pub(crate) size: Option<u64>,
}

impl Resolved {
    pub(crate) fn is_whole(&self) -> bool {
        self.base == self.access
    }

    /// Whether a path that ends at `ty` ends at an object of this access.
    pub(crate) fn has_object(&self, types: &Types, ty: TypeIndex) -> bool {
        ty == self.base || self.is_whole() && types.is_ancestor(self.base, ty)
    }
}
