//! Adds nodes just as LLVM text contains them, even nodes that LLVM rejects.

use std::borrow::Cow;

use super::encoding::{COPY_TAG, SCALAR_FLAG, copy_entries};
use super::import::{Import, Opened, Part, Source, State};
use super::operand::{OperandKind, Packed};
use super::{
    CopyId, Graph, GraphError, IS_COPY, IS_TYPE, Int, NodeId, Operand, TagId, TagParts, TypeId,
};

/// A node that [`RawGraph::insert_group`] adds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Draft<'o> {
    /// True if the node is never merged with an equal one.
    pub distinct: bool,
    /// The operands.
    pub operands: Vec<DraftOperand<'o>>,
}

/// An operand of a [`Draft`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DraftOperand<'o> {
    /// An operand that does not refer to a draft.
    Known(Operand<'o>),
    /// The node of the draft at this position in the list of drafts. A draft may refer to itself.
    Member(usize),
}

impl<'o> From<Operand<'o>> for DraftOperand<'o> {
    fn from(operand: Operand<'o>) -> Self {
        DraftOperand::Known(operand)
    }
}

/// Adds the nodes of a text unchanged, and marks nodes as types, tags and `tbaa.struct` nodes.
///
/// In contrast, [`Graph::builder`] makes only well-formed nodes. [`Graph::ty`] and [`Graph::tag`]
/// interpret nodes; [`wellformed`](crate::wellformed) decides whether LLVM would accept them.
pub trait RawGraph: Sealed {
    /// Adds a uniqued node with any operands, or returns an existing uniqued node that equals it.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignId`] and [`GraphError::Full`]. The graph's nodes are then unchanged.
    ///
    /// LLVM: `MDNode::get`.
    fn insert(&mut self, operands: &[Operand<'_>]) -> Result<NodeId, GraphError>;

    /// Adds a distinct node, which is never merged with an equal one. To add a node that refers to
    /// itself, use [`RawGraph::insert_group`].
    ///
    /// # Errors
    ///
    /// As [`RawGraph::insert`].
    ///
    /// LLVM: `MDNode::getDistinct`.
    fn insert_distinct(&mut self, operands: &[Operand<'_>]) -> Result<NodeId, GraphError>;

    /// Adds nodes that may refer to one another in any order, and returns the node of each draft.
    ///
    /// Use this for a node that refers to itself or belongs to a cycle. Uniqued nodes with equal
    /// operands become one, even in a cycle. A uniqued node that refers to itself becomes distinct.
    ///
    /// ```
    /// use tbaa::raw::{Draft, DraftOperand, RawGraph};
    /// use tbaa::{Graph, Int, Operand};
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
    /// [`GraphError::NoMember`] and [`GraphError::ForeignId`]: the graph is then unchanged.
    /// [`GraphError::Full`]: the graph may contain some of the nodes, each of them complete.
    ///
    /// LLVM: `MDNode::getTemporary`, `MDNode::resolveCycles`.
    fn insert_group(&mut self, drafts: &[Draft<'_>]) -> Result<Vec<NodeId>, GraphError>;

    /// Marks `node` as an access tag, and its base and access type as types.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    fn mark_tag(&mut self, node: NodeId) -> TagId;

    /// Returns the tag for a node that LLVM text attaches as `!tbaa`.
    ///
    /// If the node has at least three operands and the first is a node, the node itself is marked
    /// as the tag. Any other node with operands is a type that is attached in the old scalar
    /// format. The tag is then a struct-path node for an access to this whole type. If the type has
    /// exactly three operands, the third is the immutability flag. LLVM does the same, even if a
    /// front end attached the type by mistake.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    ///
    /// LLVM: `UpgradeTBAANode`.
    fn mark_attached(&mut self, node: NodeId) -> TagId;

    /// Marks `node`, and all nodes to which its operands lead directly or indirectly, as types.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    fn mark_type(&mut self, node: NodeId) -> TypeId;

    /// Marks `node` as a `tbaa.struct` node, and the nodes at its tag positions as tags.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    fn mark_copy(&mut self, node: NodeId) -> CopyId;
}

/// Prevents other types than [`Graph`] from implementing [`RawGraph`].
pub trait Sealed {}

impl Sealed for Graph {}

impl RawGraph for Graph {
    fn insert(&mut self, operands: &[Operand<'_>]) -> Result<NodeId, GraphError> {
        self.add(false, operands.iter().copied())
    }

    fn insert_distinct(&mut self, operands: &[Operand<'_>]) -> Result<NodeId, GraphError> {
        self.add(true, operands.iter().copied())
    }

    fn insert_group(&mut self, drafts: &[Draft<'_>]) -> Result<Vec<NodeId>, GraphError> {
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
        let mut import = Import::default();
        // `import.node` never returns `None`, because every draft is a node.
        (0..drafts.len())
            .map(|at| import.node(&mut group, at)?.ok_or(GraphError::NoMember))
            .collect()
    }

    fn mark_tag(&mut self, node: NodeId) -> TagId {
        if let Some(tag) = self.tag_of(node) {
            return tag;
        }
        let index = self.tags.len() as u32;
        self.tags.push(node.index);
        self.records[node.index()].tag = index;
        for ty in self.types_of_tag(node) {
            self.mark_type(ty);
        }
        TagId { index, stamp: self.stamp.0 }
    }

    fn mark_attached(&mut self, node: NodeId) -> TagId {
        // LLVM crashes on an empty node. Here the empty node becomes a tag, which `wellformed`
        // rejects. So does a type node if the graph is too full to add a tag for it.
        let tag = if TagParts::is_struct_path(self, node) || self.operand_count(node) == 0 {
            node
        } else {
            self.upgrade(node).unwrap_or(node)
        };
        self.mark_tag(tag)
    }

    fn mark_type(&mut self, node: NodeId) -> TypeId {
        assert!(self.owns(node), "{node:?} was issued by another graph");
        // The nodes that a type refers to are usually marked already. Then `work` stays empty.
        let (mut work, mut next) = (Vec::new(), Some(node));
        while let Some(node) = next {
            let record = &mut self.records[node.index()];
            if record.flags & IS_TYPE == 0 {
                record.flags |= IS_TYPE;
                self.types.push(node.index);
                self.note_format(node);
                let nodes = self.operands(node).filter_map(Operand::node);
                work.extend(nodes.filter(|&node| self.type_of(node).is_none()));
            }
            next = work.pop();
        }
        TypeId(node)
    }

    fn mark_copy(&mut self, node: NodeId) -> CopyId {
        assert!(self.owns(node), "{node:?} was issued by another graph");
        if self.records[node.index()].flags & IS_COPY == 0 {
            self.records[node.index()].flags |= IS_COPY;
            self.copies.push(node.index);
            for at in copy_entries(self.operand_count(node)) {
                if let Some(tag) = self.operand(node, at + COPY_TAG).and_then(Operand::node) {
                    self.mark_tag(tag);
                }
            }
        }
        CopyId(node)
    }
}

impl Graph {
    /// Returns the struct-path tag for a type node that is used as a tag, as in LLVM before 3.4.
    fn upgrade(&mut self, node: NodeId) -> Result<NodeId, GraphError> {
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
