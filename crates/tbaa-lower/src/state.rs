//! The state of a lowering, and its results.

use super::emit::Emitter;
use super::fingerprint::Fingerprint;
use super::forest::Forest;
use super::loss::Loss;
use super::options::{MAX_BYTES, Options};
use super::scopes::{AccessScopes, Scopes};
use super::skeleton::Skeleton;
use super::source::Key;
use super::tally::Tally;
use super::why::Why;
use tbaa::parts::Vicinity;
use tbaa::parts::table::{HashMap, IndexMap, IndexSet};
use tbaa::{Access, AliasRule, Graph, TagId, TypeId};

/// A longer name in [`Lowering::set_name`] is cut after this number of characters.
const LONGEST_NAME: usize = 120;

/// The result for one source (a tag that was lowered).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Certificate<'l> {
    /// The tag in the lowered graph, or `None` if the access must be untagged.
    pub tag: Option<TagId>,
    /// The reason for this tag.
    pub why: Why,
    /// The name of the tag's type, or `None` without a tag.
    pub node: Option<&'l str>,
    /// The first source that got the same type, if that is not this source.
    pub shared_with: Option<Access>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) node: Option<u32>,
    /// The number of the root above the source's type, or `None` without a root.
    pub(super) group: Option<u32>,
    pub(super) tag: Option<TagId>,
    pub(super) why: Why,
    pub(super) private: bool,
}

/// Maps tags (the sources) to tags that stock LLVM interprets correctly, by [`Lowering::lower`].
#[derive(Debug)]
pub struct Lowering {
    pub(super) options: Options,
    pub(super) rule: Option<AliasRule>,
    pub(super) graph: Graph,
    pub(super) forest: Forest,
    /// The roots of the sources, each with a lowered root of the same index in `roots`.
    pub(super) groups: IndexSet<TypeId>,
    pub(super) roots: Vec<TypeId>,
    pub(super) sources: IndexMap<Key, Entry>,
    /// The first source at each forest node.
    pub(super) firsts: HashMap<u32, Key>,
    /// The sources whose tags other modules chose ([`Lowering::fix`]), each with its tag's node.
    pub(super) fixed: Vec<(Key, u32)>,
    /// The number of nodes for fixed tags. They come first in the forest.
    pub(super) fixed_nodes: usize,
    /// The nodes for accesses to memory that other modules tag too.
    pub(super) skeleton: Skeleton,
    /// True if other lineages (separately named lowerings) may continue from the same saved state.
    pub(super) forked: bool,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) scopes: Scopes,
    pub(super) loss: Loss,
    pub(super) tally: Tally,
    /// An index that finds tags which may alias an access, and the number of tags in it. The fixed
    /// tags were added before the sources.
    pub(super) vicinity: (Vicinity, usize),
    /// [`MAX_BYTES`], except in tests.
    pub(super) most_bytes: usize,
    /// The names from [`Lowering::set_name`] for the next call of [`Lowering::lower`].
    pub(super) names: HashMap<Key, String>,
}

impl Lowering {
    /// Returns a lowering without sources.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Lowering {
            options,
            rule: None,
            graph: Graph::new(),
            forest: Forest::default(),
            groups: IndexSet::default(),
            roots: Vec::new(),
            sources: IndexMap::default(),
            firsts: HashMap::default(),
            fixed: Vec::new(),
            fixed_nodes: 0,
            skeleton: Skeleton::default(),
            forked: false,
            fingerprint: None,
            scopes: Scopes::default(),
            loss: Loss::default(),
            tally: Tally::default(),
            vicinity: Default::default(),
            most_bytes: MAX_BYTES,
            names: HashMap::default(),
        }
    }

    /// Names a source's type in the metadata, for instance after the path of a member. The name is
    /// used if the next call of [`Lowering::lower`] adds the source and makes a type for it.
    /// Without this name, a new type is named after the tag, as in `CallInfo+8: any pointer`.
    pub fn set_name(&mut self, source: impl Into<Access>, name: impl Into<String>) {
        if let Some(key) = Key::of(source.into()).filter(|key| !self.sources.contains_key(key)) {
            self.names.insert(key, name.into());
        }
    }

    pub(super) fn describe(&self, key: &Key, source: &Graph) -> String {
        match self.names.get(key) {
            Some(name) => name.chars().take(LONGEST_NAME).chain(key.size_text().chars()).collect(),
            None => key.describe(source),
        }
    }

    /// Returns the graph of the lowered tags.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the lowered tag of a source, in [`Lowering::graph`]. `None` means that the access
    /// must be untagged. An access that is not a source also gets `None`.
    pub fn tag(&self, source: impl Into<Access>) -> Option<TagId> {
        self.sources.get(&Key::of(source.into())?)?.tag
    }

    /// Returns the result for a source, with the reason, or `None` if `source` was not added.
    pub fn why(&self, source: impl Into<Access>) -> Option<Certificate<'_>> {
        let key = Key::of(source.into())?;
        let entry = self.sources.get(&key)?;
        let first = entry.node.and_then(|node| self.firsts.get(&node));
        Some(Certificate {
            tag: entry.tag,
            why: entry.why,
            node: entry.node.map(|node| self.forest.nodes[node as usize].name.as_str()),
            shared_with: first.filter(|&&first| first != key).map(|first| first.access()),
        })
    }

    /// Returns the sources in the order in which they were added.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = Access> + '_ {
        self.sources.keys().map(|&key| key.access())
    }

    /// Returns for how many pairs of sources the rule answers `NoAlias`, but LLVM does not.
    pub fn lost(&self) -> Loss {
        self.loss
    }

    /// Returns the name of a type in `linked` that this lowering did not make, although the type or
    /// its root has this lowering's name and fingerprint. If there is such a type, the module with
    /// the types `linked` must not be linked with code of this lowering.
    ///
    /// Such a type comes from a lowering that began with the same name and sources, or continued
    /// the same saved state. LLVM merges equal types, so linked code would mix types that were
    /// never checked together. Each lowering must have its own name, or be a fork of the saved
    /// state ([`Saved::fork`](super::Saved::fork)).
    pub fn stranger(&self, linked: &Graph) -> Option<String> {
        let known = self.graph.node_count();
        let own = |name: &[u8]| name.starts_with(self.unique_name("").as_bytes());
        // A node that equals an existing one merges with it.
        let mut copy = Emitter::new(self.graph.clone());
        let mut strangers = linked.types().filter(|&ty| {
            let named = |ty: TypeId| linked.ty(ty).name().is_some_and(own);
            let claims = named(ty) || linked.root_of(ty).is_some_and(named);
            claims && !copy.node(linked, ty.node()).is_ok_and(|node| node.index() < known)
        });
        let name = linked.ty(strangers.next()?).name().unwrap_or_default();
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// Returns the name of the scopes' domain, which no other lineage has.
    pub fn scope_domain(&self) -> String {
        self.unique_name("scopes")
    }

    /// Returns the names of the scopes; there are none without
    /// [`Options::scopes`](super::Options::scopes). New scopes are added at the end.
    pub fn scope_names(&self) -> &[String] {
        &self.scopes.names
    }

    /// Returns the scopes of an access, or `None` if it has none.
    pub fn scopes_of(&self, source: impl Into<Access>) -> Option<AccessScopes<'_>> {
        self.scopes.numbers(source.into())
    }

    /// Returns the scopes, which grow with the lowering. There are none without
    /// [`Options::scopes`](super::Options::scopes).
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Returns the lineage's name and fingerprint, followed by `of`.
    pub(super) fn unique_name(&self, of: &str) -> String {
        let lineage = self.options.lineage.as_deref().unwrap_or("lowered");
        match self.fingerprint {
            Some(print) => format!("{lineage} {print} {of}"),
            None => format!("{lineage} {of}"),
        }
    }
}
