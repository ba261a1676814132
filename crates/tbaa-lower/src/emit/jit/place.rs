//! The results of a JIT: they borrow nothing, and may be used on any thread.

use super::super::plan::Attachments;
use super::super::recorded::Recorded;
use tbaa::declare::Place;
use tbaa::{AccessKind, Size};

/// The nodes of an access and of a call, which are in no LLVM context yet.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Tagged {
    /// The nodes of a load or store.
    pub access: Attachments<Recorded>,
    /// The nodes of an instruction that may write though its memory is immutable to others: a
    /// call, a copy.
    pub call: Attachments<Recorded>,
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
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the path that was requested.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the most bytes of an access there: the requested size, or else the place's
    /// [extent](Place::extent).
    pub fn room(&self) -> Size {
        self.sized.unwrap_or(self.place.extent)
    }

    /// Returns the nodes for accesses.
    pub fn tagged(&self) -> &Tagged {
        &self.nodes
    }

    /// Returns what a load or store gets: [`Tagged::access`].
    pub fn nodes(&self) -> &Attachments<Recorded> {
        &self.nodes.access
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
        let wider = || MisuseError::Wider { path: self.path.clone(), size, room: self.room() };
        fits.then_some(()).ok_or_else(wider)
    }

    /// Checks that the elements of a run, of this size, are not larger than the place's: an access of
    /// two `int` is no access to a pointer. A run of single bytes may have any type.
    ///
    /// # Errors
    ///
    /// [`MisuseError::Element`].
    pub fn check_element(&self, size: u64) -> Result<(), MisuseError> {
        let room = self.room();
        let fits = room == Size::Bytes(1) || room.covers(Size::Bytes(size));
        let element = || MisuseError::Element { path: self.path.clone(), size, room };
        fits.then_some(()).ok_or_else(element)
    }

    /// Checks that an access of this kind may have this tag, whatever its size.
    ///
    /// # Errors
    ///
    /// [`MisuseError::Store`] for a store to immutable memory.
    pub fn check_kind(&self, kind: AccessKind) -> Result<(), MisuseError> {
        let fits = !self.place.immutable || kind == AccessKind::Read;
        fits.then_some(()).ok_or_else(|| MisuseError::Store { path: self.path.clone() })
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
        if runs && size == Size::Unknown { Ok(()) } else { self.check(size, AccessKind::Read) }
    }
}

/// An instruction that must not have a place's tag.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MisuseError {
    /// It accesses more bytes than the place has; LLVM ignores sizes.
    #[error(
        "an access of {} at `{path}`, which has {}: LLVM does not look at sizes and would miss the \
         rest; ask for the place of the whole record, for an array's elements by a path that ends \
         in `[*]`, or for this one with the size of the access (`sized`)",
        .size.bytes().map_or("a size that varies".to_owned(), |size| format!("{size} bytes")),
        // An access that reaches past a place means that the place has an end.
        u64::from(*.room)
    )]
    Wider {
        /// The place.
        path: String,
        /// The number of bytes that it accesses.
        size: Size,
        /// The number of bytes that the place has.
        room: Size,
    },
    /// It accesses several elements, as one of another type.
    #[error(
        "an access of one value of {size} bytes at `{path}`, whose elements have {}: a run has \
         elements of the accessed type; ask for the place of what is accessed, or for this one \
         with the size of the access (`sized`)",
        u64::from(*.room)
    )]
    Element {
        /// The place.
        path: String,
        /// The number of bytes of what it accesses.
        size: u64,
        /// The number of bytes of an element.
        room: Size,
    },
    /// It stores to memory that is immutable: LLVM moves loads of it over stores.
    #[error(
        "a store at `{path}`, which is immutable: LLVM moves loads of immutable memory over any \
         store; let the runtime store there before the code that loads it is compiled, or ask for \
         the place without `immutable`, in each function that stores there"
    )]
    Store {
        /// The place.
        path: String,
    },
}
