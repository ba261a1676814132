//! The scalar format, LLVM before 3.4: a bare type node in a tag's place.

use super::encoding::SCALAR_FLAG;
use super::operand::{OperandKind, Packed};
use super::{Graph, GraphError, Int, NodeId, Operand};

impl Graph {
    pub(super) fn upgrade(&mut self, node: NodeId) -> Result<NodeId, GraphError> {
        let scalar = self.range(node.index());
        let (scalar, constant) = match self.operands[scalar.clone()].get(SCALAR_FLAG).copied() {
            Some(constant) if scalar.len() == SCALAR_FLAG + 1 => {
                let first = self.operands.len();
                self.operands.extend_from_within(scalar.start..scalar.start + SCALAR_FLAG);
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
