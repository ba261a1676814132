//! Checked ids of declared types.

/// Names one type of one [`Declarations`](super::Declarations).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DeclId {
    pub(super) index: u32,
    pub(super) stamp: u32,
}

impl DeclId {
    /// Returns the type's position in [`Declarations::types`](super::Declarations::types).
    #[must_use]
    pub fn index(self) -> usize {
        self.index as usize
    }
}
