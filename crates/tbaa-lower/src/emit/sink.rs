//! [`Sink`], the interface that creates metadata nodes, and sinks that do not need LLVM.

use std::convert::Infallible;
use std::fmt::Write;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Graph, GraphError, Int, NodeId, Operand};
use tbaa_lex::source::escape;

/// An operand of a node that a [`Sink`] creates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SinkOperand<'a, N> {
    /// `null`.
    Null,
    /// A string, which may have any bytes.
    Bytes(&'a [u8]),
    /// An integer constant.
    Int(Int),
    /// A node that the sink created before.
    Node(&'a N),
    /// The node that is being created.
    Itself,
}

/// The storage of a node.
///
/// LLVM: `Metadata::StorageType`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// Equal operands give the same node.
    Uniqued,
    /// Each node is a new one, whatever its operands.
    Distinct,
}

/// A system that creates metadata nodes.
///
/// For uniqued nodes with equal operands, a sink should return the same node, as LLVM does.
/// [`Emitter`](super::Emitter) requests each node of a graph once.
pub trait Sink {
    /// A handle to a node.
    type Node: Clone;
    /// The reason why a node cannot be created.
    type Error;

    /// Creates a node. LLVM makes a node that is an operand of itself distinct in any case.
    ///
    /// # Errors
    ///
    /// Returns the sink's error if it did not create the node.
    ///
    /// LLVM: `MDNode::get`, `MDNode::getDistinct`.
    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Self::Node>],
        storage: Storage,
    ) -> Result<Self::Node, Self::Error>;
}

/// Writes each node as a line of LLVM assembly, for a front end that prints LLVM assembly itself.
///
/// A node's handle is its number, 7 for `!7`. Nodes are not uniqued, because an
/// [`Emitter`](super::Emitter) requests each node only once.
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

/// Copies nodes into a graph. The caller marks tags and types afterwards: [`RawGraph::mark_tag`].
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
        // `insert_group` returns one node for each draft.
        self.insert_group(&[draft])?.pop().ok_or(GraphError::NoMember)
    }
}
