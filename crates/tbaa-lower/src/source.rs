//! Lowering replaces tags by tags that stock LLVM interprets correctly. Its inputs are sources: a
//! source is a tag, perhaps with an access size that differs from the tag's.

use std::borrow::Borrow;

use tbaa::{Access, Graph, Oracle, Size, TagId};

/// A tag to be lowered.
///
/// ```
/// use tbaa_lower::Source;
/// # let mut graph = tbaa::Graph::new();
/// # let mut b = graph.builder();
/// # let root = b.root("R").unwrap();
/// # let int = b.scalar_type("int", root).unwrap();
/// # let tag = b.struct_tag(int, int, 0).unwrap();
/// assert_eq!(Source::from(tag).size, None);
/// // A vector of four elements, with the tag of its first element.
/// assert_eq!(Source::sized(tag, 16).size, Some(tbaa::Size::Bytes(16)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Source {
    /// The tag.
    pub tag: TagId,
    /// The number of accessed bytes, if it is not the tag's size.
    pub size: Option<Size>,
    /// True if the memory is private, as [`Source::private`] promises.
    pub private: bool,
}

impl Source {
    /// Returns a source for an access with its own size: a number of bytes, or a [`Size`].
    #[must_use]
    pub fn sized(tag: TagId, size: impl Into<Size>) -> Self {
        Source { size: Some(size.into()), ..Source::from(tag) }
    }

    /// Promises that other code accesses this source's memory only with tags that alias everything,
    /// such as `char`. Code of another lineage (a separately named lowering) is other code too.
    ///
    /// This matters only once [`Lowering::fix`](super::Lowering::fix) has got other code's tags.
    #[must_use]
    pub fn private(self) -> Self {
        Source { private: true, ..self }
    }

    pub(super) fn key(self) -> Key {
        Key { tag: self.tag, size: self.size }
    }
}

impl From<TagId> for Source {
    fn from(tag: TagId) -> Self {
        Source { tag, size: None, private: false }
    }
}

impl From<&TagId> for Source {
    fn from(&tag: &TagId) -> Self {
        tag.into()
    }
}

impl From<&Source> for Source {
    fn from(&source: &Source) -> Self {
        source
    }
}

/// The identity of a source: equal keys mean the same source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Key {
    pub(super) tag: TagId,
    pub(super) size: Option<Size>,
}

impl Key {
    pub(super) fn of(access: Access) -> Option<Key> {
        Some(Key { tag: access.tag?, size: access.size })
    }

    pub(super) fn access(self) -> Access {
        let mut access = Access::from(self.tag);
        access.size = self.size;
        access
    }

    pub(super) fn may_alias<G: Borrow<Graph>>(&self, other: &Key, oracle: &Oracle<G>) -> bool {
        oracle.may_alias(self.access(), other.access())
    }

    pub(super) fn size_text(&self) -> String {
        self.size.map(|size| format!(", {} bytes", u64::from(size))).unwrap_or_default()
    }

    pub(super) fn describe(&self, graph: &Graph) -> String {
        let Ok(tag) = graph.tag(self.tag) else { return String::new() };
        let name = |ty| -> String {
            let name = String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default());
            name.chars().take(60).collect()
        };
        let access = name(tag.access);
        let size = self.size_text();
        if tag.is_whole() {
            format!("{access}{size}")
        } else {
            format!("{}+{}: {access}{size}", name(tag.base), tag.offset)
        }
    }
}
