//! What a query is about.

use crate::extent::Size;
use crate::graph::{Graph, TagId};

/// What an access does to the memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum AccessKind {
    /// It loads.
    Read,
    /// It stores.
    Write,
    /// It may do either, or both: an atomic exchange, a call, or not known.
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

/// A memory access, as far as its type says anything about it.
///
/// A [`TagId`], or an `Option` of one, converts into an access of the tag's
/// own size that may read and write.
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
/// LLVM: `MemoryLocation`, of which rule `llvm` reads the tag alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Access {
    /// The tag; without one the access may touch anything.
    pub tag: Option<TagId>,
    /// How many bytes it touches, in place of what the tag says.
    pub size: Option<Size>,
    /// Whether the access reads or writes; only [`may_conflict`] asks.
    ///
    /// [`may_conflict`]: crate::Oracle::may_conflict
    pub kind: AccessKind,
}

impl Access {
    /// Returns the access with a size that overrides the tag's: a number of bytes, or a [`Size`].
    #[must_use]
    pub fn with_size(self, size: impl Into<Size>) -> Self {
        Access { size: Some(size.into()), ..self }
    }

    /// Returns the access that an instruction makes which touches so many bytes, by a tag of
    /// `graph`.
    ///
    /// The width is the access's size. It is not, where the instruction touches several whole
    /// elements: a vector of elements of an array, or from a bare pointer on, makes an access to
    /// each, and has the element's tag and size. In the old format, which knows no elements,
    /// the width is always the size.
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
    /// // Two elements of the array; but a member, and what is behind it.
    /// assert_eq!(Access::of_width(&graph, element, 8).size, None);
    /// assert_eq!(Access::of_width(&graph, member, 8).size, Some(Size::Bytes(8)));
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    #[must_use]
    pub fn of_width(graph: &Graph, tag: TagId, width: u64) -> Self {
        let access = Access::from(tag);
        let Some(said) = graph.tag(tag).ok().and_then(|tag| tag.size) else {
            return access.with_size(width);
        };
        match (said.bytes(), element_of_run(graph, tag, width)) {
            (Some(said), _) if width <= said => access,
            (Some(said), Some(element)) if said == element => access,
            (_, Some(element)) => access.with_size(element),
            _ => access.with_size(width),
        }
    }

    /// Returns the access as one of a kind.
    #[must_use]
    pub fn with_kind(self, kind: AccessKind) -> Self {
        Access { kind, ..self }
    }

    /// Returns the access as one that only reads.
    #[must_use]
    pub fn reading(self) -> Self {
        self.with_kind(AccessKind::Read)
    }

    /// Returns the access as one that only writes.
    #[must_use]
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

/// The size of the elements that a size-aware tag accesses, if so many bytes are whole ones: of
/// an array that has so many, or from a bare pointer on.
fn element_of_run(graph: &Graph, tag: TagId, width: u64) -> Option<u64> {
    let tag = graph.tag(tag).ok()?;
    let element = graph.ty(tag.access).size().filter(|&size| size != 0)?;
    let (mut ty, mut rest, mut extent) = (tag.base, tag.offset, u64::MAX);
    while ty != tag.access {
        let field = graph.ty(ty).fields().take_while(|field| field.offset <= rest).last()?;
        rest -= field.offset;
        (ty, extent) = (field.ty, field.extent.filter(|&extent| extent != 0).unwrap_or(u64::MAX));
    }
    (width.is_multiple_of(element) && width <= extent).then_some(element)
}
