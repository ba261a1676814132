//! Linking modules' TBAA into one graph.
//!
//! A linker that puts modules together makes one graph of their type nodes:
//! equal nodes become one. That is sound as long as a name means one type. A
//! C program may well have two `struct buffer`, and a build may compile a
//! header in two ways: then two nodes of one name have two bodies, LLVM keeps
//! both, and says `NoAlias` of accesses that may be to one object.
//!
//! [`Linked`] finds such clashes ([`Linked::clashes`]) and is careful
//! ([`LinkedOracle`]): accesses that go through different bodies of one name
//! may alias. All other answers are those of the merged graph, which are those
//! of each module for its own tags. So old answers are kept or widened, and
//! never narrowed.
//!
//! - Roots without a name, and distinct nodes, stay apart.
//! - A type whose name is empty has no name, and clashes with nothing.
//! - Clashes are read off the merged graph; nothing beside it must be kept.
//!
//! A [`Summary`] is what a build system passes on: see there for its laws.
//!
//! ```
//! use tbaa_check::link::Linked;
//! use tbaa::{AliasResult, Graph, AliasRule, TagId};
//!
//! // struct buffer { int size; ... }, and struct buffer { float size; ... }
//! let module = |scalar| -> Result<(Graph, TagId, TagId), tbaa::BuildError> {
//!     let mut graph = Graph::new();
//!     let mut b = graph.builder();
//!     let root = b.root("Simple C/C++ TBAA")?;
//!     let char = b.scalar_type("omnipotent char", root)?;
//!     let scalar = b.scalar_type(scalar, char)?;
//!     let buffer = b.struct_type("buffer", &[(scalar, 0)])?;
//!     let field = b.struct_tag(buffer, scalar, 0)?;
//!     let plain = b.struct_tag(scalar, scalar, 0)?;
//!     Ok((graph, field, plain))
//! };
//! let (a, a_field, a_plain) = module("int")?;
//! let (b, b_field, _) = module("float")?;
//! let linked = Linked::new(&[("a.ll", &a), ("b.ll", &b)])?;
//! assert_eq!(linked.clashes()[0].name, b"buffer");
//!
//! let oracle = linked.oracle(AliasRule::Llvm);
//! let (a_field, a_plain) = (linked.tag(0, a_field), linked.tag(0, a_plain));
//! let b_field = linked.tag(1, b_field);
//! assert_eq!(oracle.alias(a_field, b_field), AliasResult::MayAlias, "one name, two bodies");
//! assert_eq!(oracle.alias(a_plain, b_field), AliasResult::NoAlias, "int and float");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! LLVM: `IRLinker`, which merges equal metadata and warns of nothing.

mod clash;
#[cfg(feature = "serde")]
mod portable;
mod summary;

pub use clash::{Clash, LinkedOracle, LinkedType};
pub use summary::{NodeMap, Summary};

use tbaa::AliasRule;
use tbaa::{Graph, GraphError, NodeId, TagId};

/// Modules linked into one graph.
#[derive(Debug)]
pub struct Linked {
    summary: Summary,
    graph: Graph,
    /// The node of each of the summary's places.
    ids: Vec<NodeId>,
    maps: Vec<NodeMap>,
    clashes: Vec<Clash>,
}

impl Linked {
    /// Links modules, each with the name that identifies it.
    ///
    /// # Errors
    ///
    /// [`GraphError::Full`].
    pub fn new(modules: &[(&str, &Graph)]) -> Result<Linked, GraphError> {
        let parts: Vec<(Summary, NodeMap)> =
            modules.iter().map(|(name, graph)| Summary::of(name, graph)).collect();
        let summaries: Vec<&Summary> = parts.iter().map(|(summary, _)| summary).collect();
        let (summary, maps) = Summary::link(&summaries);
        let maps = parts.iter().zip(&maps).map(|((_, own), map)| own.then(map)).collect();
        Linked::build(summary, maps)
    }

    /// Makes a graph of a summary, whatever it was linked from. Its nodes are
    /// found by their places ([`Linked::node_at`]).
    ///
    /// # Errors
    ///
    /// [`GraphError::Full`].
    pub fn from_summary(summary: Summary) -> Result<Linked, GraphError> {
        Linked::build(summary, Vec::new())
    }

    fn build(summary: Summary, maps: Vec<NodeMap>) -> Result<Linked, GraphError> {
        let (graph, ids) = summary.graph()?;
        let clashes = clash::find(&summary, &graph, &ids);
        Ok(Linked { summary, graph, ids, maps, clashes })
    }

    /// Returns the merged graph. Its own answers are LLVM's after LLVM's link;
    /// [`Linked::oracle`] has those that allow for clashes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the summary of all that was linked.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns what a node of a module has become; `None` if it was left out,
    /// or there is no such module or node. `module` counts those linked, from 0.
    #[must_use]
    pub fn node(&self, module: usize, node: NodeId) -> Option<NodeId> {
        self.node_at(self.maps.get(module)?.place(node)?)
    }

    /// Returns the node at a place of the summary.
    #[must_use]
    pub fn node_at(&self, place: usize) -> Option<NodeId> {
        self.ids.get(place).copied()
    }

    /// Returns what a tag of a module has become. `None`, which may alias
    /// everything, as [`Linked::node`].
    #[must_use]
    pub fn tag(&self, module: usize, tag: TagId) -> Option<TagId> {
        let place = *self.maps.get(module)?.tags.get(tag.index())?;
        self.graph.tag_of(self.node_at(place? as usize)?)
    }

    /// Returns the names that have several bodies, in order.
    #[must_use]
    pub fn clashes(&self) -> &[Clash] {
        &self.clashes
    }

    /// Returns an oracle that allows for the clashes.
    #[must_use]
    pub fn oracle(&self, rule: AliasRule) -> LinkedOracle<'_> {
        LinkedOracle::new(&self.graph, &self.clashes, rule)
    }
}
