//! Equality of graphs: equal tags, copies (`tbaa.struct` nodes) and types in the same order.

use super::{CopyId, DISTINCT, Graph, IS_COPY, IS_TYPE, NodeId, Operand, TagId};

/// A one-to-one mapping between nodes of two graphs. The comparison extends it.
struct Pairing<'g> {
    left: &'g Graph,
    right: &'g Graph,
    to_right: Vec<Option<NodeId>>,
    to_left: Vec<Option<NodeId>>,
}

impl Pairing<'_> {
    /// Maps two nodes and, recursively, their operands to one another. Returns false if any differ.
    fn pair(&mut self, left: NodeId, right: NodeId) -> bool {
        let mut work = vec![(left, right)];
        while let Some((l, r)) = work.pop() {
            match (self.to_right[l.index()], self.to_left[r.index()]) {
                (None, None) => {}
                (Some(paired), _) if paired == r => continue,
                _ => return false,
            }
            self.to_right[l.index()] = Some(r);
            self.to_left[r.index()] = Some(l);
            let facts = |graph: &Graph, node| {
                let (tag, flags) = (graph.tag_of(node).map(TagId::index), graph.record(node).flags);
                (tag, flags & (DISTINCT | IS_TYPE | IS_COPY), graph.operand_count(node))
            };
            if facts(self.left, l) != facts(self.right, r) {
                return false;
            }
            for pair in self.left.operands(l).zip(self.right.operands(r)) {
                match pair {
                    (Operand::Node(l), Operand::Node(r)) => work.push((l, r)),
                    (l, r) if l == r => {}
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Compares the tags in order, then the `tbaa.struct` nodes in order, then in order the types to
/// which none of these leads. Two nodes are equal if their operands are equal, recursively, and
/// they agree in tag index and in being a `tbaa.struct` node, a type or distinct. Node indices and
/// other nodes have no effect.
///
/// A graph that is written and read again, as serialised data or text, equals the original, except
/// that [`text::write`](crate::text::write()) replaces operands that refer to a module, such as
/// `ptr @g`, by `null`.
impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        let mut pairing = Pairing {
            left: self,
            right: other,
            to_right: vec![None; self.node_count()],
            to_left: vec![None; other.node_count()],
        };
        if self.tag_count() != other.tag_count() || self.copies().len() != other.copies().len() {
            return false;
        }
        let nodes = |graph: &Graph| {
            let tags = graph.tags().map(|tag| graph.tag_node(tag));
            tags.chain(graph.copies().map(CopyId::node)).collect::<Vec<_>>()
        };
        if !nodes(self).into_iter().zip(nodes(other)).all(|(left, right)| pairing.pair(left, right))
        {
            return false;
        }
        let mut left = self.types();
        let mut right = other.types();
        loop {
            let l = left.find(|ty| pairing.to_right[ty.node().index()].is_none());
            let r = right.find(|ty| pairing.to_left[ty.node().index()].is_none());
            match (l, r) {
                (None, None) => return true,
                (Some(l), Some(r)) if pairing.pair(l.node(), r.node()) => {}
                _ => return false,
            }
        }
    }
}

impl Eq for Graph {}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let operands = |id| self.operands(id).collect::<Vec<_>>();
        f.debug_map().entries(self.nodes().map(|id| (id, operands(id)))).finish()
    }
}
