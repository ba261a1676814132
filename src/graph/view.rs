//! The DAG of types as a petgraph graph.

use petgraph::graph::{DiGraph, NodeIndex};

use super::{Field, Format, Graph, TypeId, TypeKind};

/// The meaning of an edge of the type DAG.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Edge {
    /// From a type to its parent.
    Parent,
    /// From an aggregate to the type of one of its fields.
    Field {
        /// The number of bytes from the start of the aggregate to the field.
        offset: u64,
        /// The size of the field in bytes, if the format records it.
        extent: Option<u64>,
    },
}

/// The DAG of types in the form of petgraph, for petgraph's algorithms and DOT writer.
///
/// The nodes are in insertion order. For a type, petgraph's `edges()` returns the edge to the
/// parent, if there is one, and then the fields in order.
pub type TypeDag = DiGraph<TypeId, Edge>;

impl Graph {
    /// Converts the DAG of types into a petgraph graph, in linear time. A malformed type gets no
    /// outgoing edges.
    ///
    /// ```
    /// use tbaa::{Graph, petgraph};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.scalar_type("int", root)?;
    /// b.struct_type("S", &[(int, 0), (int, 4)])?;
    /// let dag = graph.type_dag();
    /// assert!(petgraph::algo::toposort(&dag, None).is_ok());
    /// assert_eq!((dag.node_count(), dag.edge_count()), (3, 3));
    /// let dot = format!("{:?}", petgraph::dot::Dot::new(&dag));
    /// assert!(dot.starts_with("digraph"));
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    pub fn type_dag(&self) -> TypeDag {
        let mut dag = TypeDag::new();
        let mut index = vec![NodeIndex::end(); self.node_count()];
        for ty in self.types() {
            index[ty.node().index()] = dag.add_node(ty);
        }
        for ty in self.types() {
            let node = self.ty(ty);
            let from = index[ty.node().index()];
            let is_aggregate = node.kind() == TypeKind::Aggregate;
            // An old-format aggregate's parent is its first field's type, which has a field edge.
            let has_parent = match node.kind() {
                TypeKind::Aggregate => node.format() == Format::New,
                kind => kind == TypeKind::Scalar,
            };
            if is_aggregate {
                for Field { ty, offset, extent } in node.fields().rev() {
                    dag.add_edge(from, index[ty.node().index()], Edge::Field { offset, extent });
                }
            }
            if let Some(parent) = node.parent().filter(|_| has_parent) {
                dag.add_edge(from, index[parent.node().index()], Edge::Parent);
            }
        }
        dag
    }
}
