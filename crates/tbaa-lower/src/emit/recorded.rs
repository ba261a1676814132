//! Nodes that are in no context yet, and that threads share.

use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::emitter::{EmitError, Emitter};
use super::plan::Attachments;
use super::sink::{Sink, SinkOperand};
use tbaa::Int;

/// A node that is written down, to be made in any [`Sink`] later, any number of
/// times, by any thread: [`Emitter::recorded`]. It never changes.
///
/// Two are equal if they are one node; clones are.
#[derive(Clone, Debug)]
pub struct Recorded(Arc<Recipe>);

#[derive(Debug)]
struct Recipe {
    operands: Vec<RecordedOperand>,
    distinct: bool,
}

#[derive(Debug)]
enum RecordedOperand {
    Null,
    Bytes(Box<[u8]>),
    Int(Int),
    Node(Recorded),
    Itself,
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Recorded {}

impl Hash for Recorded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl Recorded {
    fn below(&self) -> impl Iterator<Item = &Recorded> {
        self.0.operands.iter().filter_map(|operand| match operand {
            RecordedOperand::Node(below) => Some(below),
            _ => None,
        })
    }
}

impl Drop for Recipe {
    /// Nodes may stand one below the other without end: they are not dropped by
    /// recursion.
    fn drop(&mut self) {
        let mut work = std::mem::take(&mut self.operands);
        while let Some(operand) = work.pop() {
            if let RecordedOperand::Node(Recorded(below)) = operand
                && let Some(mut below) = Arc::into_inner(below)
            {
                work.append(&mut below.operands);
            }
        }
    }
}

/// Writes nodes down.
#[derive(Clone, Copy, Default, Debug)]
pub struct Recorder;

impl Sink for Recorder {
    type Node = Recorded;
    type Error = Infallible;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Recorded>],
        distinct: bool,
    ) -> Result<Recorded, Infallible> {
        let operand = |operand: &SinkOperand<'_, Recorded>| match *operand {
            SinkOperand::Null => RecordedOperand::Null,
            SinkOperand::Bytes(bytes) => RecordedOperand::Bytes(bytes.into()),
            SinkOperand::Int(int) => RecordedOperand::Int(int),
            SinkOperand::Node(node) => RecordedOperand::Node(node.clone()),
            SinkOperand::Itself => RecordedOperand::Itself,
        };
        let operands = operands.iter().map(operand).collect();
        Ok(Recorded(Arc::new(Recipe { operands, distinct })))
    }
}

impl<S: Sink> Emitter<S> {
    /// Emits a node that was recorded, and those below it, each once. It takes no
    /// lock, and time in proportion to the nodes that were not emitted before.
    ///
    /// # Errors
    ///
    /// [`EmitError::Sink`].
    pub fn recorded(&mut self, node: &Recorded) -> Result<S::Node, EmitError<S::Error>> {
        if let Some(known) = self.recorded.get(node) {
            return Ok(known.clone());
        }
        let mut open = vec![(node, false)];
        while let Some((next, ready)) = open.pop() {
            if self.recorded.contains_key(next) {
                continue;
            }
            if !ready {
                open.push((next, true));
                open.extend(next.below().map(|below| (below, false)));
                continue;
            }
            let operands = next.0.operands.iter().map(|operand| match operand {
                RecordedOperand::Null => SinkOperand::Null,
                RecordedOperand::Bytes(bytes) => SinkOperand::Bytes(bytes),
                RecordedOperand::Int(int) => SinkOperand::Int(*int),
                RecordedOperand::Node(below) => SinkOperand::Node(&self.recorded[below]),
                RecordedOperand::Itself => SinkOperand::Itself,
            });
            let operands: Vec<_> = operands.collect();
            let made = self.sink.node(&operands, next.0.distinct).map_err(EmitError::Sink)?;
            self.recorded.insert(next.clone(), made);
        }
        Ok(self.recorded[node].clone())
    }

    /// Emits all nodes of an instruction that were recorded.
    ///
    /// # Errors
    ///
    /// [`EmitError::Sink`].
    pub fn attachments(
        &mut self,
        nodes: &Attachments<Recorded>,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        nodes.try_map(|node| self.recorded(node))
    }
}
