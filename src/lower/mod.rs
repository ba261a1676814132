//! Lowering: tags that stock LLVM gets right, for sources that it gets wrong.
//!
//! LLVM reads tags by its own rule. It follows one member of a union, ignores
//! sizes, and crashes on some programs; so tags that are right by rule `union`
//! may be a miscompile there. A [`Lowering`] gives each source tag another, of a
//! graph of its own, such that LLVM answers `MayAlias` on each pair on which the
//! rule does, and on as few others as can be.
//!
//! ```
//! use tbaa::declare::{Declarations, Policy, Record, Target};
//! use tbaa::lower::{Lowering, Options};
//! use tbaa::{Graph, Oracle, Rules};
//!
//! let mut types = Declarations::new(Target::x86_64());
//! let value = Record::union("Value").field("gc", "void *").field("n", "double");
//! types.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
//! types.define(Record::structure("CallInfo").field("func", "TValue *").field("top", "TValue *"))?;
//!
//! let mut graph = Graph::new();
//! let mut types = types.lower(Policy::Rfc);
//! let mut tag = |path| types.tag(&mut graph, path);
//! let (gc, n) = (tag("TValue.value.gc")?, tag("TValue.value.n")?);
//! let (tt, func) = (tag("TValue.tt")?, tag("CallInfo.func")?);
//!
//! let oracle = Oracle::new(&graph, Rules::Union);
//! let mut lowering = Lowering::new(Options::new());
//! lowering.lower(&oracle, [gc, n, tt, func])?;
//! assert_eq!(lowering.lost().pairs, 0);
//!
//! // What LLVM 22 answers on the metadata:
//! let llvm = Oracle::new(lowering.graph(), Rules::Llvm);
//! assert!(llvm.may_alias(lowering.tag(gc), lowering.tag(n)), "one word of memory");
//! assert!(!llvm.may_alias(lowering.tag(n), lowering.tag(tt)));
//! assert!(!llvm.may_alias(lowering.tag(n), lowering.tag(func)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How
//!
//! On scalar types LLVM answers `MayAlias` when one of two types stands above
//! the other in the tree. So what it can answer under one root is what a forest
//! can express, and any forest is written as scalar types. The pairs that the
//! rule calls `MayAlias` are rarely those of a forest; the cheapest forest that
//! has them all is searched for. `docs/lowering.md` tells the theory.
//!
//! The forest is *closed*: nobody else tags the same memory under the same root,
//! so the root bears a fingerprint. Two accesses that LLVM merges get the tag of
//! their nearest common node, which aliases whatever either did.

mod batch;
mod clang;
mod complete;
mod exact;
mod fingerprint;
mod fixed;
mod forest;
mod grow;
mod levels;
mod loss;
mod options;
mod place;
mod rank;
mod relation;
mod replay;
#[cfg(feature = "serde")]
mod saved;
mod scopes;
mod source;

use std::borrow::Borrow;
use std::fmt;

pub use clang::{access_paths, tags_of_clang};
pub use fixed::FixError;
pub use loss::Loss;
pub use options::{MAX_DEPTH, Options};
pub use replay::Violation;
#[cfg(feature = "serde")]
pub use saved::{LoadError, Saved};
pub use scopes::{AccessScopes, ScopeForm};
pub use source::Source;

use crate::builder::BuildError;
use crate::graph::{Graph, TagId, TypeId};
use crate::oracle::{Access, Oracle, Rules};
use crate::table::{IndexMap, IndexSet};
use fingerprint::Fingerprint;
use forest::Forest;
use rank::Ranks;
use scopes::Scopes;
use source::Key;

/// The most classes of sources under one root that one call may add: their
/// answers take a bit a pair.
pub const MAX_CLASSES: usize = 1 << 16;

/// Why sources were not lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LowerError {
    /// A tag was issued by another graph than the oracle's, or than that of the
    /// sources before.
    ForeignTag,
    /// The oracle follows other rules than the one of the sources before.
    OtherRules {
        /// The rules of the sources before.
        before: Rules,
    },
    /// Sources were added to a lowering whose lineage has no name.
    NoLineage,
    /// More classes under one root than [`MAX_CLASSES`].
    TooMany {
        /// How many.
        classes: usize,
    },
    /// The lowered graph is full.
    Build(BuildError),
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LowerError::ForeignTag => f.write_str(
                "a tag that another graph issued: a lowering's sources are tags of one graph",
            ),
            LowerError::OtherRules { before } => {
                write!(f, "the sources before were lowered by rule {before}: go on with that")
            }
            LowerError::NoLineage => {
                f.write_str("the lowering has no lineage to grow: name one with `Options::lineage`")
            }
            LowerError::TooMany { classes } => write!(
                f,
                "{classes} classes of tags under one root, and at most {MAX_CLASSES} can be \
                 lowered at once: lower them in several calls"
            ),
            LowerError::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LowerError {}

impl From<BuildError> for LowerError {
    fn from(error: BuildError) -> Self {
        LowerError::Build(error)
    }
}

/// Why a source's tag stands where it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Why {
    /// It has its place in the forest of the sources that came with it.
    Completed,
    /// What it may alias stands on branches that part: it stands where they do.
    CommonAncestor,
    /// It stood deeper than may be, and was put at a node above.
    DepthLimit,
    /// What it may alias has no node in common: it has no tag.
    NothingInCommon,
    /// Its source is no tag that can be read: it has no tag.
    Malformed,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Why::Completed => "its place in the forest",
            Why::CommonAncestor => "the nearest node that covers all that it may alias",
            Why::DepthLimit => "the depth limit",
            Why::NothingInCommon => "no tag: no node covers all that it may alias",
            Why::Malformed => "no tag: the source is malformed",
        })
    }
}

/// What became of one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Certificate<'l> {
    /// The tag in the lowered graph; `None` to leave the access untagged.
    pub tag: Option<TagId>,
    /// Why this one.
    pub why: Why,
    /// The name of its type, `None` without a tag.
    pub node: Option<&'l str>,
    /// The first source with the same node, if it is another.
    pub shared_with: Option<Access>,
}

#[derive(Clone, Debug)]
struct Entry {
    node: Option<u32>,
    /// The source's root, numbered; `None` if it has none.
    group: Option<u32>,
    tag: Option<TagId>,
    why: Why,
    weight: u32,
    scope: Option<u32>,
}

/// Source tags with the tags that they are lowered to; it may grow.
#[derive(Debug)]
pub struct Lowering {
    options: Options,
    rules: Option<Rules>,
    graph: Graph,
    forest: Forest,
    /// The sources' roots, in order; each has one of `roots`.
    groups: IndexSet<TypeId>,
    roots: Vec<TypeId>,
    sources: IndexMap<Key, Entry>,
    /// Somebody else's tags of the same memory, with their nodes.
    fixed: Vec<(Key, u32)>,
    /// The nodes of these, which are the first.
    others: usize,
    fingerprint: Option<Fingerprint>,
    scopes: Scopes,
    loss: Loss,
}

impl Lowering {
    /// Returns a lowering without sources.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Lowering {
            options,
            rules: None,
            graph: Graph::new(),
            forest: Forest::default(),
            groups: IndexSet::default(),
            roots: Vec::new(),
            sources: IndexMap::default(),
            fixed: Vec::new(),
            others: 0,
            fingerprint: None,
            scopes: Scopes::default(),
            loss: Loss::default(),
        }
    }

    /// Adds sources: tags of the oracle's graph, accesses with a size of their
    /// own, either with a weight that says how often it is asked about.
    ///
    /// The first call lowers its sources as well as [`Options::steps`] allows.
    /// Later calls find places for more, and change no tag that was given out;
    /// they take time in proportion to the sources added, times those there.
    /// A source that is there already is passed over.
    ///
    /// # Errors
    ///
    /// [`LowerError::ForeignTag`], [`LowerError::OtherRules`],
    /// [`LowerError::NoLineage`], [`LowerError::TooMany`]; the lowering is then
    /// unchanged. [`LowerError::Build`] where the lowered graph is full.
    pub fn lower<G: Borrow<Graph>, S: Into<Source>>(
        &mut self,
        oracle: &Oracle<G>,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<(), LowerError> {
        let new = self.newcomers(oracle, sources)?;
        if new.is_empty() {
            return Ok(());
        }
        let first = self.fingerprint.is_none();
        if !first && self.options.lineage.is_none() {
            return Err(LowerError::NoLineage);
        }
        let source = oracle.graph();
        let mut batches: IndexMap<TypeId, Vec<(Key, u32)>> = IndexMap::default();
        let mut malformed = Vec::new();
        for (&key, &weight) in &new {
            let root = source.tag(key.tag).ok().and_then(|tag| source.root_of(tag.access));
            match root {
                Some(root) => batches.entry(root).or_default().push((key, weight)),
                None => malformed.push((key, weight)),
            }
        }
        let mut ranks = Ranks::default();
        let mut prepared = Vec::new();
        for (&root, batch) in &batches {
            prepared.push((root, self.prepare(oracle, &mut ranks, batch)?));
        }
        self.rules = Some(oracle.rules());
        let kept = self.forest.nodes.len();
        let mut entries = Vec::new();
        for (root, batch) in prepared {
            let group = self.groups.insert_full(root).0 as u32;
            self.settle(source, group, batch, &mut entries);
        }
        entries.extend(malformed.into_iter().map(|(key, weight)| {
            let why = Why::Malformed;
            (key, Entry { node: None, group: None, tag: None, why, weight, scope: None })
        }));
        if first {
            self.fingerprint = Some(self.fingerprint_of(source, &entries));
        }
        self.name_nodes(source, kept, &entries);
        let distinct: Vec<bool> = (0..self.groups.len())
            .map(|group| {
                self.options.lineage.is_none() && Self::is_distinct(source, group as u32, &entries)
            })
            .collect();
        // Equal content does not make such types equal.
        self.make_roots(|group| distinct[group])?;
        self.make_nodes(kept)?;
        self.enter(source, entries)?;
        Ok(())
    }

    /// The sources that are not there yet, each once.
    fn newcomers<G: Borrow<Graph>, S: Into<Source>>(
        &self,
        oracle: &Oracle<G>,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<IndexMap<Key, u32>, LowerError> {
        if let Some(before) = self.rules.filter(|&rules| rules != oracle.rules()) {
            return Err(LowerError::OtherRules { before });
        }
        let graph = oracle.graph();
        let known = self.sources.keys().chain(self.fixed.iter().map(|(key, _)| key)).next();
        if known.is_some_and(|key| !graph.owns_tag(key.tag)) {
            return Err(LowerError::ForeignTag);
        }
        let mut new: IndexMap<Key, u32> = IndexMap::default();
        for source in sources {
            let source: Source = source.into();
            if !graph.owns_tag(source.tag) {
                return Err(LowerError::ForeignTag);
            }
            if !self.sources.contains_key(&source.key()) {
                let weight = new.entry(source.key()).or_insert(0);
                *weight = weight.saturating_add(source.weight.max(1));
            }
        }
        Ok(new)
    }

    /// Returns the lowered metadata.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the tag that a source is lowered to, of [`Lowering::graph`].
    /// `None` means that the access must go untagged; so must one that is no
    /// source.
    #[must_use]
    pub fn tag(&self, source: impl Into<Access>) -> Option<TagId> {
        self.sources.get(&Key::of(source.into())?)?.tag
    }

    /// Returns what became of a source, and why; `None` if it is none.
    #[must_use]
    pub fn why(&self, source: impl Into<Access>) -> Option<Certificate<'_>> {
        let key = Key::of(source.into())?;
        let entry = self.sources.get(&key)?;
        let same = |(_, other): &(&Key, &Entry)| other.node == entry.node;
        let first = entry.node.and_then(|_| self.sources.iter().find(same));
        Some(Certificate {
            tag: entry.tag,
            why: entry.why,
            node: entry.node.map(|node| self.forest.nodes[node as usize].name.as_str()),
            shared_with: first
                .map(|(&first, _)| first)
                .filter(|&first| first != key)
                .map(Key::access),
        })
    }

    /// Returns the sources in the order in which they came.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = Access> + '_ {
        self.sources.keys().map(|&key| key.access())
    }

    /// Returns what is lost, and what must be.
    #[must_use]
    pub fn lost(&self) -> Loss {
        self.loss
    }
}
