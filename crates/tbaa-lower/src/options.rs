//! The options of a lowering, which replaces tags by tags that LLVM interprets correctly.

use tbaa::Format;

/// The largest depth of a lowered tree: the number of nodes on a path, without the root. A query in
/// LLVM takes about 16 ns for each node.
pub const MAX_DEPTH: usize = 64;

/// The largest number of bytes that one call of [`Lowering::lower`](super::Lowering::lower) uses to
/// store which classes (sets of tags) may alias. A class takes 4 bytes for each class that it may
/// alias, or one bit for every class if that is less. Beyond the limit, the classes that may alias
/// the most others get no tag; [`Why::TooManyPairs`](super::Why::TooManyPairs) marks them.
///
/// 65,536 classes that may all alias fit, and so do 5,000,000 classes that may alias 20 others
/// each. All lists of scopes of a lowering together have the same limit. The list of a class takes
/// 4 bytes for each class that it may alias.
pub const MAX_BYTES: usize = 1 << 29;

/// The options of a lowering.
///
/// ```
/// use tbaa::Format;
/// use tbaa_lower::Options;
///
/// let options = Options::new().lineage("my JIT, process 4711").format(Format::Old);
/// assert_eq!(options.depth, 64);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Options {
    /// The name of the lineage: the modules whose lowered tags belong to one type system. Without a
    /// name, no tags can be added after the first call of `lower`.
    pub lineage: Option<String>,
    /// The format of the lowered tags.
    pub format: Format,
    /// The largest number of nodes on a path, without the root.
    pub depth: usize,
    /// True if accesses get alias scopes (`!alias.scope`, `!noalias`) besides tags.
    pub scopes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { lineage: None, format: Format::Old, depth: MAX_DEPTH, scopes: false }
    }
}

impl Options {
    /// Returns the defaults: the old format, which every LLVM since 3.4 reads, at most 64 nodes on
    /// a path, and no lineage name, so the lowering cannot grow.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the lineage, so that tags can be added later.
    ///
    /// Modules of one lineage may be linked: their tags belong to one type system. NB: only one
    /// lowering may grow under a name. Two lowerings that begin with equal tags and then add
    /// different tags do not know each other's tags, so they need different names, for instance
    /// with a process number. With [`Lowering::save`](super::Lowering::save) several processes can
    /// continue a lineage, one after the other.
    #[must_use]
    pub fn lineage(self, name: impl Into<String>) -> Self {
        Options { lineage: Some(name.into()), ..self }
    }

    /// Sets the format of the lowered tags.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Options { format, ..self }
    }

    /// Sets the largest number of nodes on a path, without the root: at least 1, at most 64.
    #[must_use]
    pub fn depth(self, nodes: usize) -> Self {
        Options { depth: nodes.clamp(1, MAX_DEPTH), ..self }
    }

    /// Adds alias scopes. With them, LLVM answers `NoAlias` wherever the oracle's rule does, even
    /// without tags, unless [`MAX_BYTES`] is reached. A list has up to one scope for each class,
    /// and LLVM scans it at each query: with more than 64 scopes LLVM's passes become slow.
    #[must_use]
    pub fn scopes(self) -> Self {
        Options { scopes: true, ..self }
    }
}
