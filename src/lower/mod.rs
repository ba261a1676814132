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

mod complete;
mod exact;
mod fingerprint;
mod forest;
mod levels;
mod loss;
mod options;
mod place;
mod rank;
mod relation;
mod replay;
mod source;

use std::borrow::Borrow;
use std::fmt;

pub use loss::Loss;
pub use options::{MAX_DEPTH, Options};
pub use replay::Violation;
pub use source::Source;

use crate::builder::BuildError;
use crate::graph::{Graph, TagId, TypeId};
use crate::oracle::{Access, Oracle, Rules};
use crate::table::{IndexMap, IndexSet};
use fingerprint::Fingerprint;
use forest::Forest;
use loss::{Pairs, Sum};
use place::Newcomers;
use rank::Ranks;
use relation::{Relation, ones};
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
    fingerprint: Option<Fingerprint>,
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
            fingerprint: None,
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
            self.settle(group, batch, first, &mut entries);
        }
        let entry =
            |weight| Entry { node: None, group: None, tag: None, why: Why::Malformed, weight };
        entries.extend(malformed.into_iter().map(|(key, weight)| (key, entry(weight))));
        self.name_nodes(source, kept, &entries);
        if first {
            self.fingerprint = Some(self.fingerprint_of(source, &entries));
        }
        self.make(source, kept, entries)
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
        if self.sources.keys().next().is_some_and(|key| !graph.owns_tag(key.tag)) {
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

    /// Sorts newcomers under one root into classes that may alias the same.
    fn prepare<G: Borrow<Graph>>(
        &self,
        oracle: &Oracle<G>,
        ranks: &mut Ranks,
        batch: &[(Key, u32)],
    ) -> Result<Batch, LowerError> {
        let plain: Vec<TagId> =
            batch.iter().filter(|(key, _)| key.size.is_none()).map(|(key, _)| key.tag).collect();
        let plain_classes = oracle.classes(&plain);
        // What is there tells classes apart, too.
        let group = batch.first().and_then(|(key, _)| {
            let root = oracle
                .graph()
                .tag(key.tag)
                .ok()
                .map(|tag| oracle.graph().root_of(tag.access))??;
            self.groups.get_index_of(&root)
        });
        let old: Vec<(&Key, &Entry)> = match group {
            Some(group) => {
                self.sources.iter().filter(|(_, entry)| entry.group == Some(group as u32)).collect()
            }
            None => Vec::new(),
        };
        let sized: Vec<Key> =
            batch.iter().map(|&(key, _)| key).filter(|key| key.size.is_some()).collect();
        let mut marks_of: IndexSet<Vec<u32>> = IndexSet::default();
        let mut classes: IndexMap<(usize, usize, Vec<bool>), Class> = IndexMap::default();
        let mut with_old = Pairs::default();
        let mut at_plain = 0;
        for (at, &(key, weight)) in batch.iter().enumerate() {
            let mut marks = Vec::new();
            for (old, entry) in &old {
                if old.may_alias(&key, oracle) {
                    marks.extend(entry.node);
                    with_old += Sum::of(weight).with(Sum::of(entry.weight));
                }
            }
            marks.sort_unstable();
            marks.dedup();
            let marks = marks_of.insert_full(marks).0;
            let class = match key.size {
                None => {
                    at_plain += 1;
                    plain_classes.as_slice()[at_plain - 1] as usize
                }
                // Each is a class of its own.
                Some(_) => plain_classes.len() + at,
            };
            let beside = match key.size {
                None => sized.iter().map(|other| other.may_alias(&key, oracle)).collect(),
                Some(_) => Vec::new(),
            };
            let class = (class, marks, beside);
            let class = classes.entry(class).or_insert_with(|| Class {
                members: Vec::new(),
                sum: Sum::default(),
                marks,
                rank: ranks.of(oracle.graph(), key.tag),
            });
            class.members.push((key, weight));
            class.sum += Sum::of(weight);
        }
        if classes.len() > MAX_CLASSES {
            return Err(LowerError::TooMany { classes: classes.len() });
        }
        let classes: Vec<Class> = classes.into_values().collect();
        let relation = relate(oracle, &classes);
        Ok(Batch { classes, relation, marks: marks_of.into_iter().collect(), with_old })
    }

    /// Gives a batch its places.
    fn settle(&mut self, group: u32, batch: Batch, first: bool, entries: &mut Vec<(Key, Entry)>) {
        let Batch { classes, relation, marks, with_old } = batch;
        let rank: Vec<u32> = classes.iter().map(|class| class.rank).collect();
        let marks = classes.iter().map(|class| marks[class.marks].clone()).collect();
        let newcomers = Newcomers { relation: &relation, marks, rank: &rank, group };
        let placed = self.forest.place(newcomers, self.options.depth, self.options.steps);
        self.count(group, &classes, &relation, &placed.nodes, with_old);
        if first {
            self.loss.bound = self.loss.bound.saturating_add(placed.bound);
        }
        for (at, class) in classes.into_iter().enumerate() {
            for (key, weight) in class.members {
                let (node, why) = (placed.nodes[at], placed.why[at]);
                entries.push((key, Entry { node, group: Some(group), tag: None, why, weight }));
            }
        }
    }

    /// Counts what a batch loses, in itself and with what was there.
    fn count(
        &mut self,
        group: u32,
        classes: &[Class],
        relation: &Relation,
        nodes: &[Option<u32>],
        with_old: Pairs,
    ) {
        let len = self.forest.nodes.len();
        let (mut old, mut new) = (vec![Sum::default(); len], vec![Sum::default(); len]);
        let (mut old_bare, mut new_bare) = (Sum::default(), Sum::default());
        let (mut old_all, mut new_all) = (Sum::default(), Sum::default());
        for entry in self.sources.values().filter(|entry| entry.group == Some(group)) {
            let sum = Sum::of(entry.weight);
            *entry.node.map_or(&mut old_bare, |node| &mut old[node as usize]) += sum;
            old_all += sum;
        }
        let mut may = with_old;
        for (at, class) in classes.iter().enumerate() {
            *nodes[at].map_or(&mut new_bare, |node| &mut new[node as usize]) += class.sum;
            new_all += class.sum;
            may += class.sum.within();
            for other in ones(relation.row(at).iter().copied()).filter(|&other| other > at) {
                may += class.sum.with(classes[other].sum);
            }
        }
        let mut all = new_all.within();
        all += new_all.with(old_all);
        let mut found = loss::comparable(&self.forest, &old, &new);
        // What has no tag may alias everything.
        let mut new_tagged = Sum::default();
        new.iter().for_each(|&sum| new_tagged += sum);
        found += new_bare.within();
        found += new_bare.with(new_tagged);
        found += new_bare.with(old_all);
        found += old_bare.with(new_tagged);
        let lost = found - may;
        let add = |to: &mut u64, more: u128| {
            *to = to.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        };
        add(&mut self.loss.no_alias, (all - may).count);
        add(&mut self.loss.pairs, lost.count);
        add(&mut self.loss.weight, lost.weight);
    }

    /// Names the nodes from `kept` on after the first source at each.
    fn name_nodes(&mut self, source: &Graph, kept: usize, entries: &[(Key, Entry)]) {
        for (key, entry) in entries {
            let Some(node) = entry.node.filter(|&node| node as usize >= kept) else { continue };
            let name = &mut self.forest.nodes[node as usize].name;
            if name.is_empty() {
                *name = format!("{node} {}", key.describe(source));
            }
        }
    }

    /// What tells this lineage from all others: its sources and their places.
    fn fingerprint_of(&self, source: &Graph, entries: &[(Key, Entry)]) -> Fingerprint {
        let mut print = Fingerprint::new();
        print.bytes(self.options.lineage.as_deref().unwrap_or_default().as_bytes());
        print.number(self.options.format as u64);
        print.tags(source, entries.iter().map(|(key, _)| key.tag));
        for (key, entry) in entries {
            print.number(key.size.unwrap_or(0));
            print.number(entry.node.map_or(u64::MAX, u64::from));
        }
        for node in &self.forest.nodes {
            print.number(node.above.map_or(u64::MAX, u64::from));
        }
        print
    }

    /// Makes the metadata of new nodes, and enters the newcomers.
    fn make(
        &mut self,
        source: &Graph,
        kept: usize,
        entries: Vec<(Key, Entry)>,
    ) -> Result<(), LowerError> {
        let print = self.fingerprint.expect("it is set before nodes are made");
        for group in self.roots.len()..self.groups.len() {
            let distinct = entries
                .iter()
                .filter(|(_, entry)| entry.group == Some(group as u32))
                .map(|(key, _)| key.tag);
            let distinct = Fingerprint::new().tags(source, distinct);
            let mut b = self.graph.builder();
            let root = match &self.options.lineage {
                // Equal content does not make such types equal.
                None if distinct => b.anonymous_root()?,
                None => b.root(format!("lowered {print} {group}"))?,
                Some(lineage) => b.root(format!("{lineage} {print} {group}"))?,
            };
            self.roots.push(root);
        }
        for node in kept..self.forest.nodes.len() {
            let Lowering { forest, graph, roots, options, .. } = self;
            forest.make(node as u32, graph, roots, options.format)?;
        }
        for (key, mut entry) in entries {
            if let Some(node) = entry.node {
                let immutable = source.tag(key.tag).is_ok_and(|tag| tag.immutable);
                entry.tag = Some(self.forest.tag(node, immutable, &mut self.graph)?);
            }
            self.sources.insert(key, entry);
        }
        Ok(())
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

/// Sources that may alias the same.
struct Class {
    members: Vec<(Key, u32)>,
    sum: Sum,
    /// Which of the batch's lists of nodes.
    marks: usize,
    rank: u32,
}

/// Newcomers under one root.
struct Batch {
    classes: Vec<Class>,
    relation: Relation,
    marks: Vec<Vec<u32>>,
    /// The pairs with what was there that may alias.
    with_old: Pairs,
}

/// The answers to all pairs of classes.
fn relate<G: Borrow<Graph>>(oracle: &Oracle<G>, classes: &[Class]) -> Relation {
    let weight = |class: &Class| u64::try_from(class.sum.weight).unwrap_or(u64::MAX);
    let mut relation = Relation::new(classes.iter().map(weight).collect());
    let plain: Vec<usize> =
        (0..classes.len()).filter(|&at| classes[at].members[0].0.size.is_none()).collect();
    let tags: Vec<TagId> = plain.iter().map(|&at| classes[at].members[0].0.tag).collect();
    let matrix = oracle.matrix(&tags);
    for (row, &a) in plain.iter().enumerate() {
        for (column, &b) in plain.iter().enumerate().skip(row + 1) {
            if matrix.may_alias(row, column) {
                relation.relate(a, b);
            }
        }
    }
    let sized = (0..classes.len()).filter(|&at| classes[at].members[0].0.size.is_some());
    for a in sized {
        let key = classes[a].members[0].0;
        for (b, other) in classes.iter().enumerate() {
            if key.may_alias(&other.members[0].0, oracle) {
                relation.relate(a, b);
            }
        }
    }
    relation
}
