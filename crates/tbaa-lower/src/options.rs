//! The options of a lowering.

use tbaa::Format;

/// The largest depth of a lowered tree: the number of nodes on a path, without the root. A query
/// takes LLVM some 16 ns for each.
pub const MAX_DEPTH: usize = 64;

/// The most bytes that one call of [`Lowering::lower`](super::Lowering::lower) uses to store which
/// classes may alias. A class takes 4 bytes for each class that it may alias, or one bit for every
/// class if that is less. If the classes do not fit, those that may alias the most others get no
/// tag; [`Why::TooManyPairs`](super::Why::TooManyPairs) marks them.
///
/// 65,536 classes that may all alias fit, and so do 5,000,000 classes that may alias 20 others
/// each. The lists of scopes have the same limit. A list takes 4 bytes for each scope in it, or, if
/// nearly all scopes are in it, for each that is not.
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
    /// The name of the lineage. A lowering without one cannot grow, and its fingerprint identifies
    /// it.
    pub lineage: Option<String>,
    /// The format of the metadata.
    pub format: Format,
    /// The largest number of nodes on a path, without the root.
    pub depth: usize,
    /// True if scopes for all pairs are added to the tags.
    pub scopes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { lineage: None, format: Format::Old, depth: MAX_DEPTH, scopes: false }
    }
}

impl Options {
    /// Returns the default: the old format, which every LLVM since 3.4 reads,
    /// 64 nodes deep, and no lineage to grow.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the lineage, so that the lowering can grow.
    ///
    /// Modules of one lineage may be linked: their tags belong to one type system. NB: the name is
    /// a promise that only one lowering grows under it. Two that start alike and then diverge,
    /// without knowledge of each other's tags, must have different names; a process's number or a
    /// time is enough. See [`Lowering::save`](super::Lowering::save) for a lineage that several
    /// processes continue, one after the other.
    #[must_use]
    pub fn lineage(self, name: impl Into<String>) -> Self {
        Options { lineage: Some(name.into()), ..self }
    }

    /// Sets the format of the metadata.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Options { format, ..self }
    }

    /// Sets the largest number of nodes on a path, without the root: at least 1, at most 64.
    #[must_use]
    pub fn depth(self, nodes: usize) -> Self {
        Options { depth: nodes.clamp(1, MAX_DEPTH), ..self }
    }

    /// Adds scopes to the tags. They separate all pairs that the rule separates, even without the
    /// tags. A list has up to as many scopes as there are classes, and LLVM scans it at each query:
    /// beyond 64 scopes its passes become slow.
    #[must_use]
    pub fn scopes(self) -> Self {
        Options { scopes: true, ..self }
    }
}
