//! The interface to the metadata nodes of a compiler, and sinks that need no LLVM.

use std::convert::Infallible;
use std::fmt::Write;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Graph, GraphError, Int, NodeId, Operand};
use tbaa_lex::source::escape;

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

/// Writes each node as a line of `.ll` text, operands first: for a front end
/// that prints LLVM's text itself.
///
/// A node's name is its number: `!7`. Nodes are not uniqued here, because an emitter requests each
/// only once.
#[derive(Clone, Default, Debug)]
pub struct TextSink {
    text: String,
    next: u64,
}

impl TextSink {
    /// Returns a sink whose first node is `!first`.
    #[must_use]
    pub fn starting_at(first: u64) -> Self {
        TextSink { text: String::new(), next: first }
    }

    /// Returns the lines written since the last call.
    #[must_use]
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

impl Sink for TextSink {
    type Node = u64;
    type Error = Infallible;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, u64>],
        storage: Storage,
    ) -> Result<u64, Infallible> {
        let number = self.next;
        self.next += 1;
        let text = &mut self.text;
        let distinct = if storage == Storage::Distinct { "distinct " } else { "" };
        let _ = write!(text, "!{number} = {distinct}!{{");
        for (position, operand) in operands.iter().enumerate() {
            text.push_str(if position == 0 { "" } else { ", " });
            let _ = match operand {
                SinkOperand::Null => write!(text, "null"),
                SinkOperand::Bytes(bytes) => {
                    text.push_str("!\"");
                    escape(bytes, text);
                    write!(text, "\"")
                }
                SinkOperand::Int(int) => write!(text, "{int}"),
                SinkOperand::Node(node) => write!(text, "!{node}"),
                SinkOperand::Itself => write!(text, "!{number}"),
            };
        }
        text.push_str("}\n");
        Ok(number)
    }
}

/// Copies nodes into a graph. The caller marks them as tags or types: [`RawGraph::mark_tag`].
impl Sink for Graph {
    type Node = NodeId;
    type Error = GraphError;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, NodeId>],
        storage: Storage,
    ) -> Result<NodeId, GraphError> {
        let operands = operands.iter().map(|operand| match *operand {
            SinkOperand::Null => Operand::Null.into(),
            SinkOperand::Bytes(bytes) => Operand::String(bytes).into(),
            SinkOperand::Int(int) => Operand::Int(int).into(),
            SinkOperand::Node(node) => Operand::Node(*node).into(),
            SinkOperand::Itself => DraftOperand::Member(0),
        });
        let distinct = storage == Storage::Distinct;
        let draft = Draft { distinct, operands: operands.collect() };
        // One draft makes one node.
        self.insert_group(&[draft])?.pop().ok_or(GraphError::NoMember)
    }
}
