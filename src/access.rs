//! Memory accesses, for queries to an oracle.

use crate::extent::Size;
use crate::graph::{Format, Graph, Tag, TagId};

/// The effect of an access on memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum AccessKind {
    /// The access loads.
    Read,
    /// The access stores.
    Write,
    /// The access may load and may store.
    #[default]
    Both,
}

impl AccessKind {
    pub(crate) fn reads(self) -> bool {
        self != AccessKind::Write
    }

    pub(crate) fn writes(self) -> bool {
        self != AccessKind::Read
    }
}

/// A memory access, described by its tag.
///
/// A [`TagId`] or an `Option<TagId>` converts into an access of kind [`AccessKind::Both`] without a
/// `size`.
///
/// ```
/// use tbaa::{Graph, Oracle, Access, AliasRule, SizedField};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.sized_type(root, 4, "int", &[])?;
/// let at = |offset| SizedField { ty: int, offset, size: 4 };
/// let pair = b.sized_type(root, 8, "pair", &[at(0), at(4)])?;
/// let x = b.access_tag(pair, int, 0, 4)?;
/// let y = b.access_tag(pair, int, 4, 4)?;
///
/// let oracle = Oracle::new(&graph, AliasRule::Union);
/// assert!(!oracle.may_alias(x, y));
/// // A vectoriser that loads both through the tag of the first.
/// assert!(oracle.may_alias(Access::from(x).with_size(8), y));
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// LLVM: `MemoryLocation`. [`AliasRule::Llvm`](crate::AliasRule::Llvm) ignores `size`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
#[must_use]
pub struct Access {
    /// The tag. An access without a tag may touch any memory.
    pub tag: Option<TagId>,
    /// The size of the access, if it differs from the tag's size.
    pub size: Option<Size>,
    /// Says if the access reads, writes, or both. [`may_conflict`](crate::Oracle::may_conflict)
    /// uses this, but [`may_alias`](crate::Oracle::may_alias) does not.
    pub kind: AccessKind,
}

impl Access {
    /// Returns the access with `size` (a number of bytes, or a [`Size`]) instead of the tag's size.
    ///
    /// If the tag is for an array element, the bytes may begin at any element: 8 bytes from
    /// `arr[k]` of `struct { int arr[4]; float tail; }` may touch `tail`, because `k` may be 3.
    /// Old-format nodes do not record an element's size. So an access of `n` bytes with an
    /// old-format tag may begin at any byte of the tag's field, and end up to `n - 1` bytes after
    /// the field. For an instruction's width use [`Access::of_width`]. That function assumes that
    /// an access does not leave the field if its width fits into the field.
    pub fn with_size(self, size: impl Into<Size>) -> Self {
        Access { size: Some(size.into()), ..self }
    }

    /// Returns the access of an instruction that touches `width` bytes and has a tag of `graph`.
    ///
    /// If `width` is larger than the tag's size, or if the tag's size is unknown, the access gets
    /// the size `width`. But if the instruction touches whole elements of an array, as a vector
    /// load may do, the access has the size of one element. The old format does not record sizes.
    /// With an old-format tag, the access gets no `size` if `width` fits into the tag's field.
    ///
    /// ```
    /// use tbaa::{Access, Graph, Size, SizedField};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.sized_type(root, 4, "int", &[])?;
    /// let field = |offset, size| SizedField { ty: int, offset, size };
    /// let s = b.sized_type(root, 24, "S", &[field(0, 16), field(16, 4), field(20, 4)])?;
    /// let (element, member) = (b.access_tag(s, int, 0, 4)?, b.access_tag(s, int, 16, 4)?);
    /// // Two elements of the array; but for the member, also the bytes after it.
    /// assert_eq!(Access::of_width(&graph, element, 8).size, None);
    /// assert_eq!(Access::of_width(&graph, member, 8).size, Some(Size::Bytes(8)));
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    pub fn of_width(graph: &Graph, tag: TagId, width: u64) -> Self {
        let access = Access::from(tag);
        let Ok(parts) = graph.tag(tag) else { return access.with_size(width) };
        let room = room(graph, &parts);
        let Some(said) = parts.size else {
            let fits = room.is_some_and(|room| width <= room);
            return if fits { access } else { access.with_size(width) };
        };
        let element = graph.ty(parts.access).size().filter(|&size| size != 0);
        let is_run = |size| width.is_multiple_of(size) && room.is_some_and(|room| width <= room);
        match (said.bytes(), element.filter(|&size| is_run(size))) {
            (Some(said), _) if width <= said => access,
            (Some(said), Some(element)) if said == element => access,
            // The result is not smaller than the tag's own size.
            (said, Some(element)) if said.is_none_or(|said| said < element) => {
                access.with_size(element)
            }
            _ => access.with_size(width),
        }
    }

    /// Returns an access of `bytes` bytes with a tag of `graph`. For an old-format tag, does the
    /// same as [`Access::of_width`]; for any other tag, the same as [`Access::with_size`].
    pub fn of_bytes(graph: &Graph, tag: TagId, bytes: u64) -> Self {
        let old = graph.tag(tag).is_ok_and(|tag| tag.size.is_none());
        if old { Access::of_width(graph, tag, bytes) } else { Access::from(tag).with_size(bytes) }
    }

    /// Returns the size that was given with the access. Numbers that mean an unknown size become
    /// [`Size::Unknown`].
    pub(crate) fn given(self) -> Option<Size> {
        self.size.map(|size| size.known().map_or(Size::Unknown, Size::Bytes))
    }

    /// Returns the access with another kind.
    pub fn with_kind(self, kind: AccessKind) -> Self {
        Access { kind, ..self }
    }

    /// Returns the access as one that only reads memory.
    pub fn reading(self) -> Self {
        self.with_kind(AccessKind::Read)
    }

    /// Returns the access as one that only writes memory.
    pub fn writing(self) -> Self {
        self.with_kind(AccessKind::Write)
    }
}

impl From<TagId> for Access {
    fn from(tag: TagId) -> Self {
        Some(tag).into()
    }
}

impl From<Option<TagId>> for Access {
    fn from(tag: Option<TagId>) -> Self {
        Access { tag, ..Access::default() }
    }
}

/// Returns the largest number of bytes that consecutive elements at a tag's offset can have, or
/// `u64::MAX` if there is no limit. LLVM's path enters the last field that begins at or before the
/// offset. In the size-aware format, the limit is the size of the last field on this path, and the
/// result is `None` if the path misses the access type, as in a union. In the old format, the limit
/// is the distance to the nearest later field of an aggregate on the path.
fn room(graph: &Graph, tag: &Tag) -> Option<u64> {
    let old = tag.format == Format::Old;
    let (mut ty, mut rest, mut room) = (tag.base, tag.offset, u64::MAX);
    // A type that contains itself has an endless path.
    for _ in 0..graph.node_count() {
        if ty == tag.access {
            return Some(room);
        }
        let node = graph.ty(ty);
        let Some(field) = node.fields().take_while(|field| field.offset <= rest).last() else {
            break;
        };
        let next = || node.fields().map(|field| field.offset).find(|&offset| offset > rest);
        room = match field.extent {
            Some(0) => u64::MAX,
            Some(extent) => extent,
            None => next().map_or(room, |next| room.min(next - rest)),
        };
        (ty, rest) = (field.ty, rest - field.offset);
    }
    old.then_some(room)
}
