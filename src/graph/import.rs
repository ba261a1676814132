//! Imports named nodes into the store: operands first, and each cycle as a whole.
//!
//! A text, a serialised graph and a list of drafts name nodes before they exist, and refer to them
//! in any order. A node can only be compared with existing nodes once its operands are in the
//! store. So nodes are added depth first, operands before users. The nodes of a cycle have no such
//! order, and are added together (`Graph::add_cycle`).
//!
//! Cycles are found by Tarjan's algorithm for strongly connected components, on an explicit stack,
//! because a chain of nodes may be as long as the input.

use std::borrow::Cow;

use super::{Graph, GraphError, Int, NodeId, Operand};

/// An operand of a node that is being added.
pub enum Part<'t, K> {
    Null,
    String(Cow<'t, [u8]>),
    Int(Int),
    Raw(Cow<'t, str>),
    /// A node that must be looked up.
    Key(K),
    /// A node of the store.
    Node(NodeId),
    /// An open node, by its index among the open ones.
    Open(u32),
}

impl<K> Part<'_, K> {
    /// The operand, unless it is a node that the store does not have.
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

/// The progress of a named node.
#[derive(Clone, Copy)]
pub enum State {
    New,
    /// Its operands are being looked up; its place among the open nodes.
    Open(u32),
    Added(NodeId),
}

/// The node that a name turned out to be.
pub enum Opened<'t, P> {
    Node {
        place: P,
        distinct: bool,
    },
    /// A node of another kind, represented by its text.
    Raw(Cow<'t, str>),
}

/// The source of the nodes.
pub trait Source<'t> {
    /// Names a node.
    type Key: Copy;
    /// The source's knowledge of an open node: its place and its name.
    type Place: Copy;
    type Error;

    fn graph(&mut self) -> &mut Graph;
    fn state(&self, key: Self::Key) -> State;
    /// Appends a node's operands, and takes note that it is open at `place` among the open nodes.
    fn open(
        &mut self,
        key: Self::Key,
        place: u32,
        parts: &mut Vec<Part<'t, Self::Key>>,
    ) -> Result<Opened<'t, Self::Place>, Self::Error>;
    /// Called with the new node for an open one.
    fn added(&mut self, place: Self::Place, node: NodeId);
    /// Called at the first reference back to an open node; `alone` is true if it is the only
    /// operand of that node itself.
    fn cycle(&mut self, reference: Self::Key, alone: bool);
    fn error(&self, place: Self::Place, error: GraphError) -> Self::Error;
}

/// A node whose operands are being looked up: the topmost, or one of its users.
#[derive(Clone, Copy)]
struct Frame {
    open: u32,
    /// The index of its first operand, and of the next one to look up. Its operands end with the
    /// list while the frame is the topmost.
    first: usize,
    next: usize,
}

/// A node that is not in the store yet.
pub(super) struct Open<'t, K, P> {
    place: P,
    pub(super) distinct: bool,
    /// The first open node that it is known to lead back to.
    low: u32,
    /// True if a node refers back to it.
    referred: bool,
    /// Its operands, once all are looked up; some are open.
    pub(super) parts: Vec<Part<'t, K>>,
}

/// An operand of a source's node.
type PartOf<'t, S> = Part<'t, <S as Source<'t>>::Key>;

pub struct Import<'t, S: Source<'t>> {
    frames: Vec<Frame>,
    /// The operands of the frames' nodes, one node's after another's.
    parts: Vec<PartOf<'t, S>>,
    open: Vec<Open<'t, S::Key, S::Place>>,
}

impl<'t, S: Source<'t>> Default for Import<'t, S> {
    fn default() -> Self {
        Import { frames: Vec::new(), parts: Vec::new(), open: Vec::new() }
    }
}

impl<'t, S: Source<'t>> Import<'t, S> {
    /// Returns the node of a name, after adding everything that it reaches to the store; `None` if
    /// it is of a kind that the store does not have.
    ///
    /// After an error the import cannot be used any more.
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

    /// Opens a node; for a node of another kind, returns its text.
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

    /// Closes the topmost frame, whose operands have all been looked up. Returns the reference for
    /// its user.
    fn close(&mut self, source: &mut S) -> Result<(PartOf<'t, S>, Option<NodeId>), S::Error> {
        let Some(Frame { open, first, .. }) = self.frames.pop() else {
            return Ok((Part::Null, None));
        };
        let at = open as usize;
        let Open { low, referred, place, distinct, .. } = self.open[at];
        if !referred && low == open {
            // No later node is open: it would lead back to before this one.
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
