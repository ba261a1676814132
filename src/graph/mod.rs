//! The store of metadata nodes.
//!
//! A [`Graph`] corresponds to LLVM's `LLVMContext`, reduced to the metadata of TBAA. A node is a
//! list of [`Operand`]s. Equal nodes are stored as one, unless they are distinct. Ids are assigned
//! in insertion order, and iteration follows this order unless documented otherwise.
//!
//! [`Graph::builder`] makes only well-formed nodes. [`RawGraph`] stores the nodes of a text
//! unchanged. [`TypeNode`] and [`Tag`] interpret nodes, and [`crate::wellformed`] decides whether
//! LLVM would accept them.

mod cycle;
pub mod encoding;
mod equal;
mod grow;
mod id;
#[doc(hidden)]
pub mod import;
mod node;
mod operand;
#[cfg(feature = "serde")]
mod portable;
mod raw;
mod replica;
mod strings;
mod view;

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;

use crate::table::{DefaultHashBuilder, IndexMap, IndexSet};

pub use encoding::Format;
#[doc(hidden)]
pub use encoding::{Shape, TagParts};
pub use id::{CopyId, NodeId, TagId, TypeId};
pub use node::{
    CLANG_ROOTS, CopyEntry, Field, MalformedTagError, Tag, TypeKind, TypeNode, is_clang_root,
};
pub use operand::{Int, Operand};
use operand::{OperandKind, Packed};
pub use raw::{Draft, DraftOperand, RawGraph};
use strings::Strings;
pub use view::{Edge, TypeDag};

/// The reason why a graph rejected a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The graph would exceed its limit of 2^29 nodes, operands or strings.
    #[error(
        "the graph is full: it holds at most 2^29 nodes and operands; make a graph for each module"
    )]
    Full,
    /// An operand is an id that another graph issued.
    #[error("an id that another graph issued")]
    ForeignId,
    /// A tag's format differs from its access type's, or a new-format tag has no size, or an
    /// old-format tag has one.
    #[error("a tag has the format of its access type, and a size if that is the size-aware one")]
    TagFormat,
    /// A [`Draft`] refers to a position past the end of the list of drafts.
    #[error("a draft refers to a draft that is not in the group")]
    NoMember,
}

/// The value of [`Record::root`] for a node whose parents form a cycle or lead to a cycle.
const NO_ROOT: u32 = u32::MAX;
const NO_TAG: u32 = u32::MAX;

const DISTINCT: u8 = 1;
const IS_TYPE: u8 = 2;
const IS_COPY: u8 = 4;
/// An old-format scalar. All its ancestors except the root are scalars too.
const IS_SCALAR: u8 = 8;
/// A node that is not a root and has the operands of a type, each of the right kind.
const WELL_FORMED: u8 = 16;
/// A well-formed node with fields, whose offsets have type `i64` and never decrease.
const ASCENDING: u8 = 32;

/// One node. `first` is the index of its first operand. The operands of the next node follow.
#[derive(Clone, Copy)]
struct Record {
    first: u32,
    root: u32,
    tag: u32,
    flags: u8,
}

/// A store of TBAA metadata. Equal nodes are one node, unless they are distinct.
///
/// Adding a node never changes or moves another, so ids and earlier answers to alias queries stay
/// valid. Every function that only reads takes `&self`, and many threads may read at once.
///
/// ```
/// use tbaa::Graph;
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("Simple C/C++ TBAA")?;
/// let char = b.scalar_type("omnipotent char", root)?;
/// let int = b.scalar_type("int", char)?;
/// let again = b.scalar_type("int", char)?;
/// assert_eq!(int, again, "equal nodes are one node");
/// assert_eq!(graph.ty(int).name(), Some(&b"int"[..]));
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// # Ids of another graph
///
/// Every id contains the stamp of its graph, so an id of another graph is always recognised:
///
/// - functions that add nodes return [`GraphError::ForeignId`] or
///   [`BuildError::ForeignId`](crate::BuildError::ForeignId);
/// - queries answer `MayAlias`, as if the tag were missing;
/// - functions that read or mark a node panic, as for an index out of range. No input can cause
///   this, only a mistake in the program. [`Graph::owns`] and [`Graph::owns_tag`] check an id.
///
/// A clone is another graph: it grows independently of the original. The clone's nodes and tags
/// have the same positions as the original's, so `clone.tag_at(tag.index())` is the clone's id for
/// the original's `tag`.
///
/// ```
/// # use tbaa::Graph;
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let tag = b.struct_tag(int, int, 0)?;
/// let clone = graph.clone();
/// assert!(!clone.owns_tag(tag));
/// let same = clone.tag_at(tag.index()).unwrap();
/// assert_eq!(clone.ty(clone.tag(same)?.base).name(), Some(&b"int"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The counterpart in LLVM is `LLVMContext` with its `MDNode`s.
#[derive(Clone, Default)]
pub struct Graph {
    stamp: Stamp,
    strings: Strings,
    /// Integers, except for small ones, which are stored in the operand itself.
    ints: IndexSet<Int>,
    raws: IndexSet<Box<str>>,
    operands: Vec<Packed>,
    records: Vec<Record>,
    /// The node index of each tag, in the order of [`TagId`].
    tags: Vec<u32>,
    /// The node index of each `tbaa.struct` node, in the order in which they were marked as such.
    copies: Vec<u32>,
    /// The node index of each type, in the order in which they were marked as types.
    types: Vec<u32>,
    /// The node indices of the uniqued nodes, hashed by their operands.
    unique: HashTable<u32>,
    /// The hasher for `unique` and `strings`. A clone of the graph hashes alike.
    hasher: DefaultHashBuilder,
    /// For the node index of each root, the format of the first type that was marked under it.
    root_formats: IndexMap<u32, Format>,
}

/// The number that is in all ids of a graph. A clone of the graph gets a new one.
struct Stamp(u32);

impl Default for Stamp {
    fn default() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Stamp(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Stamp {
    fn clone(&self) -> Self {
        Stamp::default()
    }
}

impl Graph {
    /// Returns an empty graph.
    #[must_use]
    pub fn new() -> Self {
        Graph::default()
    }

    /// Returns the number of nodes in the graph.
    pub fn node_count(&self) -> usize {
        self.records.len()
    }

    /// Returns the number of tags in the graph.
    pub fn tag_count(&self) -> usize {
        self.tags.len()
    }

    /// Returns the node whose [`NodeId::index`] is `index`.
    pub fn nth_node(&self, index: usize) -> Option<NodeId> {
        (index < self.records.len()).then(|| self.id(index))
    }

    /// Returns every node, in insertion order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + '_ {
        (0..self.records.len()).map(|index| self.id(index))
    }

    /// Returns every type node, in insertion order.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = TypeId> + '_ {
        self.nodes().filter(|id| self.records[id.index()].flags & IS_TYPE != 0).map(TypeId)
    }

    /// Returns the types from index `from` on, in the order in which they became types. When a type
    /// is marked, all nodes to which its operands lead are marked in the same call.
    pub(crate) fn types_since(&self, from: usize) -> impl ExactSizeIterator<Item = TypeId> + '_ {
        self.types.get(from..).unwrap_or_default().iter().map(|&index| TypeId(self.node_at(index)))
    }

    /// Returns every tag, in the order in which the nodes became tags.
    pub fn tags(&self) -> impl DoubleEndedIterator<Item = TagId> + ExactSizeIterator + '_ {
        (0..self.tags.len() as u32).map(|index| TagId { index, stamp: self.stamp.0 })
    }

    /// Returns the tag whose [`TagId::index`] is `index`.
    #[inline]
    pub fn tag_at(&self, index: usize) -> Option<TagId> {
        (index < self.tags.len()).then_some(TagId { index: index as u32, stamp: self.stamp.0 })
    }

    /// Returns every `tbaa.struct` node, in the order in which the nodes were marked as such.
    pub fn copies(&self) -> impl DoubleEndedIterator<Item = CopyId> + ExactSizeIterator + '_ {
        self.copies.iter().map(|&index| CopyId(self.node_at(index)))
    }

    /// Returns the operands of a node.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    pub fn operands(
        &self,
        id: NodeId,
    ) -> impl DoubleEndedIterator<Item = Operand<'_>> + ExactSizeIterator + Clone + '_ {
        self.packed(id).iter().map(|&packed| self.unpack(packed))
    }

    /// Returns the operand at `position`, or `None` if the node has fewer operands.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    #[inline]
    pub fn operand(&self, id: NodeId, position: usize) -> Option<Operand<'_>> {
        self.packed(id).get(position).map(|&packed| self.unpack(packed))
    }

    /// Returns the number of operands of a node.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    pub fn operand_count(&self, id: NodeId) -> usize {
        self.packed(id).len()
    }

    /// Returns whether a node is distinct, which means that it is never merged with an equal one.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    pub fn is_distinct(&self, id: NodeId) -> bool {
        self.record(id).flags & DISTINCT != 0
    }

    /// Returns the stamp that every id of this graph contains.
    #[doc(hidden)]
    pub fn stamp(&self) -> u32 {
        self.stamp.0
    }

    /// Returns whether this graph issued `id`.
    pub fn owns(&self, id: NodeId) -> bool {
        id.stamp == self.stamp.0 && id.index() < self.records.len()
    }

    /// Returns whether this graph issued the tag `id`.
    pub fn owns_tag(&self, id: TagId) -> bool {
        id.stamp == self.stamp.0 && id.index() < self.tags.len()
    }

    /// Returns the metadata node of a tag.
    ///
    /// # Panics
    ///
    /// If `tag` was issued by another graph.
    pub fn tag_node(&self, tag: TagId) -> NodeId {
        assert!(self.owns_tag(tag), "{tag:?} was issued by another graph");
        self.id(self.tags[tag.index()] as usize)
    }

    /// Returns the tag id of `node`, if `node` is a tag.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    pub fn tag_of(&self, node: NodeId) -> Option<TagId> {
        let index = self.record(node).tag;
        (index != NO_TAG).then_some(TagId { index, stamp: self.stamp.0 })
    }

    /// Returns the copy id of `node`, if it has been marked as a `tbaa.struct` node.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    pub fn copy_of(&self, node: NodeId) -> Option<CopyId> {
        (self.record(node).flags & IS_COPY != 0).then_some(CopyId(node))
    }

    /// Returns the type id of `node`, if it has been marked as a type.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    pub fn type_of(&self, node: NodeId) -> Option<TypeId> {
        (self.record(node).flags & IS_TYPE != 0).then_some(TypeId(node))
    }

    /// Returns a type's root: its last ancestor, or the type itself if it has no parent. Returns
    /// `None` if the chain of parents has no end.
    ///
    /// # Panics
    ///
    /// If `ty` was issued by another graph.
    pub fn root_of(&self, ty: TypeId) -> Option<TypeId> {
        let root = self.record(ty.0).root;
        (root != NO_ROOT).then(|| TypeId(self.id(root as usize)))
    }

    /// Returns the format of the type under `root` that was marked as a type first.
    pub(crate) fn root_format(&self, root: TypeId) -> Option<Format> {
        self.root_formats.get(&root.0.index).copied()
    }

    /// Returns the node with this index, which must be less than the number of nodes.
    pub(crate) fn node_at(&self, index: u32) -> NodeId {
        self.id(index as usize)
    }

    fn id(&self, index: usize) -> NodeId {
        NodeId { index: index as u32, stamp: self.stamp.0 }
    }

    fn record(&self, id: NodeId) -> &Record {
        assert!(self.owns(id), "{id:?} was issued by another graph");
        &self.records[id.index()]
    }

    #[inline]
    fn range(&self, index: usize) -> std::ops::Range<usize> {
        let first = self.records[index].first as usize;
        let end = self.records.get(index + 1).map_or(self.operands.len(), |r| r.first as usize);
        first..end
    }

    #[inline]
    fn packed_at(&self, index: usize) -> &[Packed] {
        &self.operands[self.range(index)]
    }

    #[inline]
    fn packed(&self, id: NodeId) -> &[Packed] {
        assert!(self.owns(id), "{id:?} was issued by another graph");
        self.packed_at(id.index())
    }

    #[inline]
    fn unpack(&self, packed: Packed) -> Operand<'_> {
        let index = packed.index();
        match packed.kind() {
            OperandKind::Null => Operand::Null,
            OperandKind::String => Operand::String(self.strings.get(index)),
            OperandKind::Int => Operand::Int(self.ints[index]),
            OperandKind::Small => Operand::Int(Int::i64(index as u64)),
            OperandKind::Node => Operand::Node(self.id(index)),
            OperandKind::Raw => Operand::Raw(&self.raws[index]),
        }
    }

    pub(crate) fn is_well_formed(&self, id: NodeId) -> bool {
        self.record(id).flags & WELL_FORMED != 0
    }

    pub(crate) fn is_ascending(&self, id: NodeId) -> bool {
        self.record(id).flags & ASCENDING != 0
    }

    /// Returns whether a node and all its ancestors except the root are old-format scalars.
    ///
    /// LLVM: `TBAAVerifier::isValidScalarTBAANode`.
    #[doc(hidden)]
    pub fn is_old_scalar(&self, id: NodeId) -> bool {
        self.record(id).flags & IS_SCALAR != 0
    }
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Graph>();
};
