//! The keeper of metadata nodes.

use tbaa::Int;

/// One operand of a node that a [`Sink`] is to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SinkOperand<'a, N> {
    /// `null`.
    Null,
    /// A string: any bytes.
    Bytes(&'a [u8]),
    /// An integer constant.
    Int(Int),
    /// A node that the sink made.
    Node(&'a N),
    /// The node that is being made.
    Itself,
}

/// The storage of a node.
///
/// LLVM: `Metadata::StorageType`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// There is only one node with these operands.
    Uniqued,
    /// It is a node of its own, whatever its operands.
    Distinct,
}

/// A store of metadata nodes.
///
/// A sink should return the same node for equal operands of uniqued nodes, as LLVM does;
/// [`Emitter`](super::Emitter) requests each node of a graph once.
pub trait Sink {
    /// The name of a node; cheap to clone.
    type Node: Clone;
    /// The reason why a node cannot be made.
    type Error;

    /// Makes a node. A node that is an operand of itself is always distinct.
    ///
    /// # Errors
    ///
    /// The sink's own; nothing was made then.
    ///
    /// LLVM: `MDNode::get`, `MDNode::getDistinct`.
    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Self::Node>],
        storage: Storage,
    ) -> Result<Self::Node, Self::Error>;
}
