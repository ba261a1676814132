//! The scalar format, LLVM before 3.4: a bare type node in a tag's place.

use super::operand::{OperandKind, Packed};
use super::{Graph, GraphError, Int, NodeId, Operand, TagId};

impl Graph {
    /// Takes a node that a text attaches as `!tbaa` for a tag.
    ///
    /// A type node in this place is a tag of the scalar format, and reads as
    /// the struct-path tag of an access to that type as a whole; a third
    /// operand of such a node is its immutability flag. That is how LLVM reads
    /// it, even where a front end has attached a type by mistake.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    ///
    /// LLVM: `UpgradeTBAANode`.
    pub fn mark_attached(&mut self, node: NodeId) -> TagId {
        let struct_path = self.operand_count(node) >= 3
            && matches!(self.operand(node, 0), Some(Operand::Node(_)));
        // LLVM's reader crashes on an empty node. Kept as it is, it is a tag
        // that the verifier rejects; so is one that a full graph cannot wrap.
        let tag = if struct_path || self.operand_count(node) == 0 {
            node
        } else {
            self.upgrade(node).unwrap_or(node)
        };
        self.mark_tag(tag)
    }

    fn upgrade(&mut self, node: NodeId) -> Result<NodeId, GraphError> {
        let (scalar, constant) = match *self.packed(node) {
            [name, parent, constant] => {
                let first = self.operands.len();
                self.operands.extend([name, parent]);
                (self.intern(first)?, Some(constant))
            }
            _ => (node, None),
        };
        let zero = self.pack(Operand::Int(Int::i64(0)))?;
        let scalar = Packed::new(OperandKind::Node, scalar.index()).ok_or(GraphError::Full)?;
        let first = self.operands.len();
        self.operands.extend([scalar, scalar, zero]);
        self.operands.extend(constant);
        self.intern(first)
    }
}
