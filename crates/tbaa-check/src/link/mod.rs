//! Links modules' TBAA into one graph.
//!
//! A linker that combines modules makes one graph of their type nodes: equal nodes become one. This
//! is sound as long as a name means one type. But a C program may have two `struct buffer`, and a
//! build may compile a header in two ways. Then two nodes of one name have two bodies; LLVM keeps
//! both, and answers `NoAlias` for accesses that may be to one object.
//!
//! [`Linked`] finds such clashes ([`Linked::clashes`]) and allows for them ([`LinkedOracle`]):
//! accesses that go through different bodies of one name may alias, unless these are scalars of one
//! module. All other answers are the merged graph's. Linking never turns `MayAlias` into `NoAlias`.
//!
//! - Unnamed roots and distinct nodes do not merge.
//! - A type with an empty name counts as unnamed, and clashes with nothing.
//!
//! A build system can store and link a [`Summary`], whose documentation states the laws of linking.
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
//! LLVM: `IRLinker`, which merges equal metadata without warnings.

mod clash;
#[cfg(feature = "serde")]
mod portable;
mod summary;

pub use clash::{Clash, LinkedOracle, LinkedType};
pub use summary::{NodeMap, Summary};

use tbaa::{AliasRule, Graph, GraphError, NodeId, TagId};

/// Modules linked into one graph.
#[derive(Debug)]
pub struct Linked {
    summary: Summary,
    graph: Graph,
    /// The merged graph's node for each place (node index) in the summary.
    ids: Vec<NodeId>,
    maps: Vec<NodeMap>,
    clashes: Vec<Clash>,
}

impl Linked {
    /// Links modules, each with the name that identifies it. Fails with [`GraphError::Full`].
    pub fn new(modules: &[(&str, &Graph)]) -> Result<Linked, GraphError> {
        let parts: Vec<(Summary, NodeMap)> =
            modules.iter().map(|(name, graph)| Summary::of(name, graph)).collect();
        let summaries: Vec<&Summary> = parts.iter().map(|(summary, _)| summary).collect();
        let (summary, maps) = Summary::link(&summaries);
        let maps = parts.iter().zip(&maps).map(|((_, own), map)| own.then(map)).collect();
        Linked::build(summary, maps)
    }

    /// Makes a graph from a summary of any number of modules. [`Linked::node_at`] finds its nodes
    /// by their indices in the summary. Fails with [`GraphError::Full`].
    pub fn from_summary(summary: Summary) -> Result<Linked, GraphError> {
        Linked::build(summary, Vec::new())
    }

    fn build(summary: Summary, maps: Vec<NodeMap>) -> Result<Linked, GraphError> {
        let (graph, ids) = summary.graph()?;
        let clashes = clash::find(&summary, &graph, &ids);
        Ok(Linked { summary, graph, ids, maps, clashes })
    }

    /// Returns the merged graph. By [`AliasRule::Llvm`], an oracle of this graph alone answers
    /// like LLVM after LLVM's own link; [`Linked::oracle`] also allows for clashes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the summary of all linked modules.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns a module's node in the merged graph; `None` if linking left the node out, or there
    /// is no such module or node. `module` is the module's index among the linked modules, from 0.
    pub fn node(&self, module: usize, node: NodeId) -> Option<NodeId> {
        self.node_at(self.maps.get(module)?.place(node)?)
    }

    /// Returns the merged graph's node for a place (node index) in the summary.
    pub fn node_at(&self, place: usize) -> Option<NodeId> {
        self.ids.get(place).copied()
    }

    /// Returns a module's tag in the merged graph; `None` in the same cases as [`Linked::node`].
    pub fn tag(&self, module: usize, tag: TagId) -> Option<TagId> {
        let place = *self.maps.get(module)?.tags.get(tag.index())?;
        self.graph.tag_of(self.node_at(place? as usize)?)
    }

    /// Returns the names that have several bodies, sorted by name.
    pub fn clashes(&self) -> &[Clash] {
        &self.clashes
    }

    /// Returns an oracle that allows for the clashes.
    pub fn oracle(&self, rule: AliasRule) -> LinkedOracle<'_> {
        LinkedOracle::new(&self.graph, &self.clashes, rule)
    }
}
