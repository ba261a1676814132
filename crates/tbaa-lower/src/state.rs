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
use tbaa::{Access, AliasRule};
use tbaa::{Graph, TagId, TypeId};

/// The result for one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Certificate<'l> {
    /// The tag in the lowered graph; `None` to leave the access untagged.
    pub tag: Option<TagId>,
    /// The reason why it is this one.
    pub why: Why,
    /// The name of its type, `None` without a tag.
    pub node: Option<&'l str>,
    /// The first source with the same node, if it is another.
    pub shared_with: Option<Access>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) node: Option<u32>,
    /// The source's root, numbered; `None` if it has none.
    pub(super) group: Option<u32>,
    pub(super) tag: Option<TagId>,
    pub(super) why: Why,
    pub(super) private: bool,
}

/// Source tags with the tags that they are lowered to; it may grow.
#[derive(Debug)]
pub struct Lowering {
    pub(super) options: Options,
    pub(super) rule: Option<AliasRule>,
    pub(super) graph: Graph,
    pub(super) forest: Forest,
    /// The sources' roots, in order; each has one of `roots`.
    pub(super) groups: IndexSet<TypeId>,
    pub(super) roots: Vec<TypeId>,
    pub(super) sources: IndexMap<Key, Entry>,
    /// The first source at each node.
    pub(super) firsts: HashMap<u32, Key>,
    /// Tags that code outside this lowering gives to the same memory, with their
    /// nodes: see [`Lowering::fix`].
    pub(super) fixed: Vec<(Key, u32)>,
    /// The number of nodes that the fixed tags have. They are the first of the forest.
    pub(super) fixed_nodes: usize,
    /// The places for accesses to memory that the fixed tags reach.
    pub(super) skeleton: Skeleton,
    /// True if other lineages continue from the same state.
    pub(super) forked: bool,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) scopes: Scopes,
    pub(super) loss: Loss,
    /// The sources at each node.
    pub(super) tally: Tally,
    /// The fixed tags and then the sources, by their places in that order, as
    /// far as they were listed.
    pub(super) vicinity: (Vicinity, usize),
    /// [`MAX_BYTES`], but in tests.
    pub(super) most_bytes: usize,
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
        }
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

    /// Returns the lowered tag of a source, in [`Lowering::graph`]. `None` means that the access
    /// must be untagged; this is also the answer for an access that is no source.
    #[must_use]
    pub fn tag(&self, source: impl Into<Access>) -> Option<TagId> {
        self.sources.get(&Key::of(source.into())?)?.tag
    }

    /// Returns what became of a source, and why; `None` if it is none.
    #[must_use]
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

    /// Returns the precision that was lost, and the part of it that cannot be avoided.
    #[must_use]
    pub fn lost(&self) -> Loss {
        self.loss
    }
}

impl Lowering {
    /// Returns the name of a type in a module's metadata that claims this lineage's name but is not
    /// this lineage's: another lowering of the same name made it, or one that continued from the
    /// same saved state. `None` if there is none, and the module may be linked with code of this
    /// lowering.
    ///
    /// LLVM merges types of equal content, so linked code of two such lineages would mix two type
    /// systems that were never checked together. Each must have a name of its own, or be a fork of
    /// the saved state ([`Saved::fork`]).
    ///
    /// [`Saved::fork`]: super::Saved::fork
    #[must_use]
    pub fn stranger(&self, linked: &Graph) -> Option<String> {
        let known = self.graph.node_count();
        let own = |name: &[u8]| name.starts_with(self.unique_name("").as_bytes());
        // Nodes with the content of an existing one merge with it.
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
    #[must_use]
    pub fn scope_domain(&self) -> String {
        self.unique_name("scopes")
    }

    /// Returns the names of the scopes; without [`Options::scopes`] there are
    /// none. Growing adds to the end.
    ///
    /// [`Options::scopes`]: super::Options::scopes
    #[must_use]
    pub fn scope_names(&self) -> &[String] {
        &self.scopes.names
    }

    /// Returns the scopes of an access with this source; `None` if it has none.
    #[must_use]
    pub fn scopes_of(&self, source: impl Into<Access>) -> Option<AccessScopes<'_>> {
        self.scopes.numbers(source.into())
    }

    /// Returns the scopes, which grow with the lowering; without
    /// [`Options::scopes`] there are none.
    ///
    /// [`Options::scopes`]: super::Options::scopes
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// A name that no other lineage has.
    pub(super) fn unique_name(&self, of: &str) -> String {
        let lineage = self.options.lineage.as_deref().unwrap_or("lowered");
        match self.fingerprint {
            Some(print) => format!("{lineage} {print} {of}"),
            None => format!("{lineage} {of}"),
        }
    }
}
