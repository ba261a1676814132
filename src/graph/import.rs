//! Adds the nodes of a [`Source`]: operands first, and the nodes of a cycle all at once.
//!
//! A source is a text, for example. Its nodes refer to one another by *keys*, in any order. A node
//! can be compared with existing nodes only when its operands are in the graph, so operands are
//! added before the nodes that use them. A node is *open* from [`Source::open`] until it is added.
//! `Graph::add_cycle` adds all nodes of a cycle.
//!
//! Tarjan's algorithm for strongly connected components finds the cycles. Its stack is explicit,
//! because a chain of nodes may be as long as the input.

use std::borrow::Cow;

use super::{Graph, GraphError, Int, NodeId, Operand};

/// An operand of a node that is being added.
pub enum Part<'t, K> {
    Null,
    String(Cow<'t, [u8]>),
    Int(Int),
    Raw(Cow<'t, str>),
    /// A reference to a node by its key. The node must be looked up.
    Key(K),
    /// A node of the graph.
    Node(NodeId),
    /// A reference to an open node, by its index among the open nodes.
    Open(u32),
}

impl<K> Part<'_, K> {
    /// Returns the operand, or `None` for a key or an open node.
    pub(super) fn operand(&self) -> Option<Operand<'_>> {
        Some(match self {
            Part::Null => Operand::Null,
            Part::String(bytes) => Operand::String(bytes),
            Part::Int(int) => Operand::Int(*int),
            Part::Raw(text) => Operand::Raw(text),
            Part::Node(node) => Operand::Node(*node),
            Part::Key(_) | Part::Open(_) => return None,
        })
    }
}

/// The progress of adding one node.
#[derive(Clone, Copy)]
pub enum State {
    New,
    /// The node is open. The number is its index among the open nodes.
    Open(u32),
    Added(NodeId),
}

/// The result of looking up a key.
pub enum Opened<'t, P> {
    Node {
        place: P,
        distinct: bool,
    },
    /// Something that is not a TBAA node, represented by its text.
    Raw(Cow<'t, str>),
}

/// A source of nodes, which finds them by key.
pub trait Source<'t> {
    /// The key of a node.
    type Key: Copy;
    /// Data about an open node that [`Source::added`] receives, such as the node's key.
    type Place: Copy;
    type Error;

    fn graph(&mut self) -> &mut Graph;
    fn state(&self, key: Self::Key) -> State;
    /// Appends a node's operands to `parts`. `place` is the node's index among the open nodes.
    fn open(
        &mut self,
        key: Self::Key,
        place: u32,
        parts: &mut Vec<Part<'t, Self::Key>>,
    ) -> Result<Opened<'t, Self::Place>, Self::Error>;
    /// Called when the open node with the data `place` has been added as `node`.
    fn added(&mut self, place: Self::Place, node: NodeId);
    /// Called at the first reference to an open node. `alone` is true if the node makes this
    /// reference itself and has no other operand.
    fn cycle(&mut self, reference: Self::Key, alone: bool);
    fn error(&self, place: Self::Place, error: GraphError) -> Self::Error;
}

/// A node on the explicit stack: its operands are being looked up.
#[derive(Clone, Copy)]
struct Frame {
    open: u32,
    /// The index in `Import::parts` of the node's first operand. The top frame's operands are last.
    first: usize,
    /// The index of the operand to look up next.
    next: usize,
}

pub(super) struct Open<'t, K, P> {
    place: P,
    pub(super) distinct: bool,
    /// The lowest index among the node itself and the open nodes to which it is known to lead.
    low: u32,
    /// True if an open node, possibly the node itself, is known to refer to this node.
    referred: bool,
    /// The operands, once all of them have been looked up. Some may refer to open nodes.
    pub(super) parts: Vec<Part<'t, K>>,
}

type PartOf<'t, S> = Part<'t, <S as Source<'t>>::Key>;

pub struct Import<'t, S: Source<'t>> {
    frames: Vec<Frame>,
    /// The operands of all nodes on the stack, in the order of the stack.
    parts: Vec<PartOf<'t, S>>,
    open: Vec<Open<'t, S::Key, S::Place>>,
}

impl<'t, S: Source<'t>> Default for Import<'t, S> {
    fn default() -> Self {
        Import { frames: Vec::new(), parts: Vec::new(), open: Vec::new() }
    }
}

impl<'t, S: Source<'t>> Import<'t, S> {
    /// Adds the node with the key `key` and all nodes to which its operands lead. Returns the node,
    /// or `None` if the key denotes something that is not a TBAA node.
    ///
    /// After an error, this `Import` must not be used any more.
    pub fn node(&mut self, source: &mut S, key: S::Key) -> Result<Option<NodeId>, S::Error> {
        if let State::Added(node) = source.state(key) {
            return Ok(Some(node));
        }
        if self.open(source, key)?.is_some() {
            return Ok(None);
        }
        let mut last = None;
        while let Some(&Frame { open, first, next }) = self.frames.last() {
            let part = match self.parts.get(next) {
                None => {
                    let (part, node) = self.close(source)?;
                    last = node;
                    part
                }
                Some(&Part::Key(key)) => match source.state(key) {
                    State::Added(node) => Part::Node(node),
                    State::Open(other) => {
                        let target = &mut self.open[other as usize];
                        if !std::mem::replace(&mut target.referred, true) {
                            let alone = other == open && self.parts.len() == first + 1;
                            source.cycle(key, alone);
                        }
                        let low = &mut self.open[open as usize].low;
                        *low = other.min(*low);
                        Part::Open(other)
                    }
                    State::New => match self.open(source, key)? {
                        None => continue,
                        Some(text) => Part::Raw(text),
                    },
                },
                Some(_) => {
                    self.frames.last_mut().into_iter().for_each(|frame| frame.next += 1);
                    continue;
                }
            };
            if let Some(frame) = self.frames.last_mut() {
                self.parts[frame.next] = part;
                frame.next += 1;
            }
        }
        Ok(last)
    }

    /// Opens a node. If it is not a TBAA node, returns its text instead.
    fn open(&mut self, source: &mut S, key: S::Key) -> Result<Option<Cow<'t, str>>, S::Error> {
        let (first, open) = (self.parts.len(), self.open.len() as u32);
        match source.open(key, open, &mut self.parts)? {
            Opened::Raw(text) => Ok(Some(text)),
            Opened::Node { place, distinct } => {
                self.frames.push(Frame { open, first, next: first });
                let parts = Vec::new();
                self.open.push(Open { place, distinct, low: open, referred: false, parts });
                Ok(None)
            }
        }
    }

    /// Removes the topmost frame, whose operands have all been looked up. Returns the operand by
    /// which the frame below refers to the removed frame's node, and the node if it was added.
    fn close(&mut self, source: &mut S) -> Result<(PartOf<'t, S>, Option<NodeId>), S::Error> {
        let Some(Frame { open, first, .. }) = self.frames.pop() else {
            return Ok((Part::Null, None));
        };
        let at = open as usize;
        let Open { low, referred, place, distinct, .. } = self.open[at];
        if !referred && low == open {
            // No later node is open: such a node would lead to this node or to an earlier one.
            let parts = self.parts[first..].iter();
            let operands = parts.map(|part| part.operand().unwrap_or(Operand::Null));
            let node = source.graph().add(distinct, operands);
            let node = node.map_err(|error| source.error(place, error))?;
            source.added(place, node);
            self.parts.truncate(first);
            self.open.truncate(at);
            return Ok((Part::Node(node), Some(node)));
        }
        self.open[at].parts = self.parts.drain(first..).collect();
        if low < open {
            if let Some(user) = self.frames.last() {
                let above = &mut self.open[user.open as usize].low;
                *above = low.min(*above);
            }
            return Ok((Part::Open(open), None));
        }
        let nodes = source.graph().add_cycle(&self.open[at..], open);
        let nodes = nodes.map_err(|error| source.error(place, error))?;
        for (open, &node) in self.open.drain(at..).zip(&nodes) {
            source.added(open.place, node);
        }
        Ok((Part::Node(nodes[0]), Some(nodes[0])))
    }
}
