//! The results of a JIT. They borrow nothing, and may be used on any thread.

use super::super::plan::Attachments;
use super::super::recorded::Recorded;
use tbaa::declare::Place;
use tbaa::{AccessKind, Size};

/// The metadata for an access and for a call that makes it. No node is in an LLVM context yet.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Tagged {
    /// The nodes for a load or store.
    pub access: Attachments<Recorded>,
    /// The nodes for a call, copy or fill: it may write memory that is immutable for other code.
    pub call: Attachments<Recorded>,
}

/// An access path with its offset and size, and the nodes for accesses there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaggedPlace {
    pub(super) place: Place,
    pub(super) path: String,
    /// The size that the caller requested for accesses, if any.
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

    /// Returns the requested size or, if none was requested, the place's [extent](Place::extent).
    pub fn room(&self) -> Size {
        self.sized.unwrap_or(self.place.extent)
    }

    /// Returns the nodes for accesses and for calls.
    pub fn tagged(&self) -> &Tagged {
        &self.nodes
    }

    /// Returns the nodes for a load or store: [`Tagged::access`].
    pub fn nodes(&self) -> &Attachments<Recorded> {
        &self.nodes.access
    }

    /// Checks that an access of this size may have this tag. The access must end inside the place,
    /// or be a [run](Place::run) of whole elements. A write must not be to immutable memory.
    ///
    /// # Errors
    ///
    /// Returns [`MisuseError::Wider`] if the access extends past the place, or
    /// [`MisuseError::Store`] for a store to immutable memory.
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

    /// Checks an access to several elements. An element (`size` bytes) must not be larger than the
    /// place: a pointer does not fit an `int`. A place of one byte accepts elements of any size.
    ///
    /// # Errors
    ///
    /// Returns [`MisuseError::Element`] if an element is larger.
    pub fn check_element(&self, size: u64) -> Result<(), MisuseError> {
        let room = self.room();
        let fits = room == Size::Bytes(1) || room.covers(Size::Bytes(size));
        let element = || MisuseError::Element { path: self.path.clone(), size, room };
        fits.then_some(()).ok_or_else(element)
    }

    /// Checks that an access of this kind may have this tag. Ignores sizes.
    ///
    /// # Errors
    ///
    /// Returns [`MisuseError::Store`] for a store to immutable memory.
    pub fn check_kind(&self, kind: AccessKind) -> Result<(), MisuseError> {
        let fits = !self.place.immutable || kind == AccessKind::Read;
        fits.then_some(()).ok_or_else(|| MisuseError::Store { path: self.path.clone() })
    }

    /// Checks that a copy or fill of this size may have this tag. Unlike a store, it may write to
    /// memory that is immutable for other code.
    ///
    /// # Errors
    ///
    /// Returns [`MisuseError::Wider`], as [`TaggedPlace::check`] does. [`Size::Unknown`] is valid
    /// too if no size was requested and the place's [run](Place::run) exceeds its extent.
    pub fn check_copy(&self, size: impl Into<Size>) -> Result<(), MisuseError> {
        let size = size.into();
        let runs = self.sized.is_none() && !self.place.extent.covers(self.place.run);
        if runs && size == Size::Unknown { Ok(()) } else { self.check(size, AccessKind::Read) }
    }
}

/// The reason why an instruction must not have a place's tag.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MisuseError {
    /// The instruction accesses more bytes than the place has, and LLVM ignores sizes.
    #[error(
        "an access of {} at `{path}`, which has {}: LLVM does not look at sizes and would miss the \
         rest; ask for the place of the whole record, for an array's elements by a path that ends \
         in `[*]`, or for this one with the size of the access (`sized`)",
        .size.bytes().map_or("a size that varies".to_owned(), |size| format!("{size} bytes")),
        // The size of the place is known, because the access reaches past its end.
        u64::from(*.room)
    )]
    Wider {
        /// The place's path.
        path: String,
        /// The number of bytes that the instruction accesses.
        size: Size,
        /// The number of bytes that the place has.
        room: Size,
    },
    /// One value that the instruction accesses is larger than an element of the place.
    #[error(
        "an access of one value of {size} bytes at `{path}`, whose elements have {}: a run has \
         elements of the accessed type; ask for the place of what is accessed, or for this one \
         with the size of the access (`sized`)",
        u64::from(*.room)
    )]
    Element {
        /// The place's path.
        path: String,
        /// The number of bytes of the accessed value.
        size: u64,
        /// The number of bytes of an element.
        room: Size,
    },
    /// The instruction stores to immutable memory: LLVM moves loads of such memory across stores.
    #[error(
        "a store at `{path}`, which is immutable: LLVM moves loads of immutable memory over any \
         store; let the runtime store there before the code that loads it is compiled, or ask for \
         the place without `immutable`, in each function that stores there"
    )]
    Store {
        /// The place's path.
        path: String,
    },
}
