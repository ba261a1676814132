//! Sinks that need no LLVM.

use super::sink::{Sink, SinkOperand, Storage};
use std::convert::Infallible;
use std::fmt::Write;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Graph, GraphError, NodeId, Operand};
use tbaa_lex::source::escape;

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
