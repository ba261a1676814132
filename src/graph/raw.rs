//! Nodes that refer to one another before any of them exists.

use std::borrow::Cow;

use super::import::{Import, Opened, Part, Source, State};
use super::{Graph, GraphError, NodeId, Operand};

/// A node that [`Graph::insert_group`] is to add.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Draft<'o> {
    /// Whether the node is never merged with an equal one.
    pub distinct: bool,
    /// The operands.
    pub operands: Vec<DraftOperand<'o>>,
}

/// An operand of a [`Draft`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DraftOperand<'o> {
    /// An operand that exists.
    Known(Operand<'o>),
    /// The node that becomes of a draft of the same group, by its position.
    Member(usize),
}

impl<'o> From<Operand<'o>> for DraftOperand<'o> {
    fn from(operand: Operand<'o>) -> Self {
        DraftOperand::Known(operand)
    }
}

impl Graph {
    /// Adds nodes that may refer to one another in any order, and returns the
    /// node of each draft.
    ///
    /// This is how a node comes about that stands in a cycle or refers to
    /// itself. Equal nodes are one node, in whatever order they are given: each
    /// is compared when its operands are known. In a cycle, uniqued nodes with
    /// the same operands are one; one that refers to itself becomes distinct.
    ///
    /// ```
    /// use tbaa::{Draft, DraftOperand, Graph, Int, Operand};
    ///
    /// let mut graph = Graph::new();
    /// let int = |root| Draft {
    ///     distinct: false,
    ///     operands: vec![
    ///         Operand::String(b"int").into(),
    ///         DraftOperand::Member(root),
    ///         Operand::Int(Int::i64(0)).into(),
    ///     ],
    /// };
    /// let root = Draft { distinct: false, operands: vec![Operand::String(b"R").into()] };
    /// let nodes = graph.insert_group(&[int(2), int(2), root])?;
    /// assert_eq!(nodes[0], nodes[1], "equal nodes are one, though they came before the root");
    /// # Ok::<(), tbaa::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::NoMember`] and [`GraphError::ForeignId`]; the graph is then
    /// as it was. [`GraphError::Full`]; it may then hold some of the nodes, each
    /// whole.
    ///
    /// LLVM: `MDNode::getTemporary`, `MDNode::resolveCycles`.
    pub fn insert_group(&mut self, drafts: &[Draft<'_>]) -> Result<Vec<NodeId>, GraphError> {
        for operand in drafts.iter().flat_map(|draft| &draft.operands) {
            match *operand {
                DraftOperand::Member(at) if at >= drafts.len() => return Err(GraphError::NoMember),
                DraftOperand::Known(Operand::Node(node)) if !self.owns(node) => {
                    return Err(GraphError::ForeignId);
                }
                _ => {}
            }
        }
        let states = vec![State::New; drafts.len()];
        let mut group = Group { graph: self, drafts, states };
        let mut import = Import::new();
        // No draft is anything but a node.
        (0..drafts.len())
            .map(|at| import.node(&mut group, at)?.ok_or(GraphError::NoMember))
            .collect()
    }
}

struct Group<'g, 'o> {
    graph: &'g mut Graph,
    drafts: &'o [Draft<'o>],
    states: Vec<State>,
}

impl<'o> Source<'o> for Group<'_, 'o> {
    type Key = usize;
    type Place = usize;
    type Error = GraphError;

    fn graph(&mut self) -> &mut Graph {
        self.graph
    }

    fn state(&self, draft: usize) -> State {
        self.states[draft]
    }

    fn open(
        &mut self,
        draft: usize,
        place: u32,
        parts: &mut Vec<Part<'o, usize>>,
    ) -> Result<Opened<'o, usize>, GraphError> {
        self.states[draft] = State::Open(place);
        let Draft { distinct, operands } = &self.drafts[draft];
        parts.extend(operands.iter().map(|operand| match *operand {
            DraftOperand::Member(draft) => Part::Key(draft),
            DraftOperand::Known(Operand::Null) => Part::Null,
            DraftOperand::Known(Operand::String(bytes)) => Part::String(Cow::Borrowed(bytes)),
            DraftOperand::Known(Operand::Int(int)) => Part::Int(int),
            DraftOperand::Known(Operand::Node(node)) => Part::Node(node),
            DraftOperand::Known(Operand::Raw(text)) => Part::Raw(Cow::Borrowed(text)),
        }));
        Ok(Opened::Node { place: draft, distinct: *distinct })
    }

    fn added(&mut self, draft: usize, node: NodeId) {
        self.states[draft] = State::Added(node);
    }

    fn cycle(&mut self, _: usize, _: bool) {}

    fn error(&self, _: usize, error: GraphError) -> GraphError {
        error
    }
}
