//! The options of a lowering.

use tbaa::Format;

/// The most nodes from the top down to another: LLVM's time for a query grows
/// with it, some 16 ns a node.
pub const MAX_DEPTH: usize = 64;

/// The most bytes of one call of [`Lowering::lower`](super::Lowering::lower) for the pairs of
/// classes that may alias: 4 for each pair and class, or a bit for each other class if that is
/// less. If the classes do not fit, those with the most pairs get no tag;
/// [`Why::TooManyPairs`](super::Why::TooManyPairs) marks them.
///
/// 65,536 classes that may all alias fit, and so do 5,000,000 with 20 pairs each. The lists of
/// scopes have the same limit, with 4 bytes for each scope that they name or, if they name all but
/// a few, leave out.
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
    /// The name of the lineage. Without it a lowering cannot grow, and is identified by its
    /// fingerprint.
    pub lineage: Option<String>,
    /// The format of the metadata.
    pub format: Format,
    /// The most nodes from the top down to another.
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

    /// Sets the most nodes from the top down to another: at least 1, at most 64.
    #[must_use]
    pub fn depth(self, nodes: usize) -> Self {
        Options { depth: nodes.clamp(1, MAX_DEPTH), ..self }
    }

    /// Adds scopes to the tags. They separate all pairs that the rule separates, even without the
    /// tags. A list has up to as many scopes as there are classes, and LLVM scans it at each query.
    #[must_use]
    pub fn scopes(self) -> Self {
        Options { scopes: true, ..self }
    }
}
