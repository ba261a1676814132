//! Nodes in an order in which operands stand before their users.

use super::{Graph, NodeId};
use tbaa_lex::table::HashSet;

impl Graph {
    /// Returns the given nodes and all that they lead to, each once and behind
    /// its operands; in a cycle, behind those that do not lead back to a node
    /// that was reached before. This is the order in which to write nodes where
    /// one must exist before it is referred to.
    ///
    /// Takes time in proportion to what is reached, and no recursion.
    ///
    /// ```
    /// # use tbaa::Graph;
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.scalar_type("int", root)?;
    /// let tag = b.struct_tag(int, int, 0, false)?;
    /// let order: Vec<_> = graph.post_order([graph.tag_node(tag)]).collect();
    /// assert_eq!(order, [root.node(), int.node(), graph.tag_node(tag)]);
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// The iterator does, if a node was issued by another graph.
    pub fn post_order(
        &self,
        from: impl IntoIterator<Item = NodeId>,
    ) -> impl Iterator<Item = NodeId> {
        let mut from = from.into_iter();
        let mut reached: HashSet<u32> = HashSet::default();
        // Nodes on the way, and the next operand of each to look at.
        let mut way: Vec<(NodeId, usize)> = Vec::new();
        std::iter::from_fn(move || {
            loop {
                let next = match way.last_mut() {
                    None => from.next()?,
                    Some((node, at)) => match self.operand(*node, *at) {
                        None => return way.pop().map(|(node, _)| node),
                        Some(operand) => {
                            *at += 1;
                            let Some(node) = operand.node() else { continue };
                            node
                        }
                    },
                };
                assert!(self.owns(next), "{next:?} was issued by another graph");
                if reached.insert(next.index) {
                    way.push((next, 0));
                }
            }
        })
    }
}
