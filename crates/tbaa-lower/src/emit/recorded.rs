//! Metadata nodes that are not in an LLVM context yet, and that threads may share.

use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::sink::{Sink, SinkOperand, Storage};
use tbaa::Int;

/// A metadata node that [`Emitter::recorded`](super::Emitter::recorded) can create later in any
/// [`Sink`], any number of times, on any thread. The node never changes.
///
/// Two values are equal if they are clones of one value. Equal operands do not make them equal.
#[derive(Clone, Debug)]
pub struct Recorded(Arc<Recipe>);

#[derive(Debug)]
struct Recipe {
    operands: Vec<RecordedOperand>,
    storage: Storage,
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
    /// Returns the other nodes that are operands of this node.
    pub(super) fn below(&self) -> impl Iterator<Item = &Recorded> {
        self.0.operands.iter().filter_map(|operand| match operand {
            RecordedOperand::Node(below) => Some(below),
            _ => None,
        })
    }

    /// Creates the node in `sink`. `made` returns the node that `sink` created for an operand.
    pub(super) fn make<'n, S: Sink>(
        &self,
        sink: &mut S,
        made: impl Fn(&Recorded) -> &'n S::Node,
    ) -> Result<S::Node, S::Error>
    where
        S::Node: 'n,
    {
        let operands = self.0.operands.iter().map(|operand| match operand {
            RecordedOperand::Null => SinkOperand::Null,
            RecordedOperand::Bytes(bytes) => SinkOperand::Bytes(bytes),
            RecordedOperand::Int(int) => SinkOperand::Int(*int),
            RecordedOperand::Node(below) => SinkOperand::Node(made(below)),
            RecordedOperand::Itself => SinkOperand::Itself,
        });
        sink.node(&operands.collect::<Vec<_>>(), self.0.storage)
    }
}

impl Drop for Recipe {
    /// Drops nested nodes without recursion, because they may be nested arbitrarily deep.
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

/// A sink that records nodes, so that other sinks can create them later.
#[derive(Clone, Copy, Default, Debug)]
pub struct Recorder;

impl Sink for Recorder {
    type Node = Recorded;
    type Error = Infallible;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Recorded>],
        storage: Storage,
    ) -> Result<Recorded, Infallible> {
        let operand = |operand: &SinkOperand<'_, Recorded>| match *operand {
            SinkOperand::Null => RecordedOperand::Null,
            SinkOperand::Bytes(bytes) => RecordedOperand::Bytes(bytes.into()),
            SinkOperand::Int(int) => RecordedOperand::Int(int),
            SinkOperand::Node(node) => RecordedOperand::Node(node.clone()),
            SinkOperand::Itself => RecordedOperand::Itself,
        };
        let operands = operands.iter().map(operand).collect();
        Ok(Recorded(Arc::new(Recipe { operands, storage })))
    }
}
