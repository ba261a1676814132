//! The results of a JIT: they borrow nothing, and may be used on any thread.

use std::fmt;

use super::super::plan::Attachments;
use super::super::recorded::Recorded;
use tbaa::declare::Place;
use tbaa::{AccessKind, Size};

/// The nodes of an access and of a call, which are in no LLVM context yet.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tagged {
    pub(super) access: Attachments<Recorded>,
    /// The same without the mark for immutable memory.
    pub(super) call: Attachments<Recorded>,
}

impl Tagged {
    /// Returns the nodes for a load or store.
    #[must_use]
    pub fn nodes(&self) -> &Attachments<Recorded> {
        &self.access
    }

    /// Returns the nodes for an instruction that may write even if its memory is immutable to
    /// others: a call, a copy.
    #[must_use]
    pub fn nodes_for_calls(&self) -> &Attachments<Recorded> {
        &self.call
    }
}

/// The place of a path, with the nodes for accesses there.
///
/// It borrows nothing, and may be used on any thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaggedPlace {
    pub(super) place: Place,
    pub(super) path: String,
    /// The size that was requested.
    pub(super) sized: Option<Size>,
    pub(super) nodes: Tagged,
}

impl TaggedPlace {
    /// Returns the offset, size and alignment of an access to the path.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the path that was requested.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the most bytes of an access there: the requested size, or else the place's
    /// [extent](Place::extent).
    #[must_use]
    pub fn room(&self) -> Size {
        self.sized.unwrap_or(self.place.extent)
    }

    /// Returns the nodes for accesses.
    #[must_use]
    pub fn tagged(&self) -> &Tagged {
        &self.nodes
    }

    /// Returns the nodes for a load or store: [`Tagged::nodes`].
    #[must_use]
    pub fn nodes(&self) -> &Attachments<Recorded> {
        self.nodes.nodes()
    }

    /// Checks that an access of this size may have this tag: it must end inside the place, or be a
    /// [run](Place::run) of whole elements. If it writes, the memory must not be immutable.
    ///
    /// # Errors
    ///
    /// [`MisuseError::Wider`] if it extends past the place, [`MisuseError::Store`] for a store to
    /// immutable memory.
    pub fn check(&self, size: impl Into<Size>, kind: AccessKind) -> Result<(), MisuseError> {
        self.check_kind(kind)?;
        let size = size.into();
        let fits = match self.sized {
            Some(sized) => sized.covers(size),
            None => self.place.fits(size),
        };
        match fits {
            true => Ok(()),
            false => Err(MisuseError::Wider { path: self.path.clone(), size, room: self.room() }),
        }
    }

    /// Checks that an access of this kind may have this tag, whatever its size.
    ///
    /// # Errors
    ///
    /// [`MisuseError::Store`] for a store to immutable memory.
    pub fn check_kind(&self, kind: AccessKind) -> Result<(), MisuseError> {
        match self.place.immutable && kind != AccessKind::Read {
            true => Err(MisuseError::Store { path: self.path.clone() }),
            false => Ok(()),
        }
    }

    /// Checks that a copy or fill of this size is one of this place alone. It may write where
    /// memory is immutable to others.
    ///
    /// # Errors
    ///
    /// [`MisuseError::Wider`], as [`TaggedPlace::check`]. One of an unknown size is a run: its
    /// path must end at an element, unless the place has no end.
    pub fn check_copy(&self, size: impl Into<Size>) -> Result<(), MisuseError> {
        let size = size.into();
        let runs = self.sized.is_none() && !self.place.extent.covers(self.place.run);
        if runs && size == Size::Unknown {
            return Ok(());
        }
        self.check(size, AccessKind::Read)
    }
}

/// An instruction that must not have a place's tag.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MisuseError {
    /// It accesses more bytes than the place has; LLVM ignores sizes.
    Wider {
        /// The place.
        path: String,
        /// The number of bytes that it accesses.
        size: Size,
        /// The number of bytes that the place has.
        room: Size,
    },
    /// It stores to immutable memory: LLVM moves loads of it across stores.
    Store {
        /// The place.
        path: String,
    },
}

impl fmt::Display for MisuseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MisuseError::Wider { path, size, room } => {
                match size {
                    Size::Unknown => f.write_str("an access of a size that varies")?,
                    Size::Bytes(size) => write!(f, "an access of {size} bytes")?,
                }
                // An access that reaches past a place means that the place has an end.
                let room = u64::from(*room);
                write!(
                    f,
                    " at `{path}`, which has {room}: LLVM does not look at sizes and would miss \
                     the rest; ask for the place of the whole record, for an array's elements by \
                     a path that ends in `[*]`, or for this one with the size of the access \
                     (`sized`)"
                )
            }
            MisuseError::Store { path } => write!(
                f,
                "a store at `{path}`, which is immutable: LLVM moves loads of immutable memory \
                 over any store; let the runtime store there before the code that loads it is \
                 compiled, or ask for the place without `immutable`, in each function that stores \
                 there"
            ),
        }
    }
}

impl std::error::Error for MisuseError {}

/// The nodes of a call that accesses some memory and no other.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaggedCall(pub(super) Attachments<Recorded>);

impl TaggedCall {
    /// Returns the nodes for the call; there may be none.
    #[must_use]
    pub fn nodes(&self) -> &Attachments<Recorded> {
        &self.0
    }
}
