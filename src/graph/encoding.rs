//! The positions of the operands in TBAA nodes. Other modules get the positions from this module.
//!
//! | node | old format | size-aware (new) format |
//! |---|---|---|
//! | root | `name` or nothing | the same |
//! | scalar | `name, parent [, 0]` | `parent, size, id` |
//! | struct | `name, (type, offset)...` | `parent, size, id, (type, offset, size)...` |
//! | tag | `base, access, offset [, immutable]` | `base, access, offset, size [, immutable]` |
//! | struct copy | `(offset, size, tag)...` | the same |
//!
//! LLVM: the wrappers around `MDNode` in `TypeBasedAliasAnalysis.cpp`, and `MDBuilder.cpp`.

use std::ops::Range;

use super::operand::OperandKind;
use super::{Graph, Int, NodeId, Operand};

/// The two encodings of a type node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Format {
    /// Struct-path nodes with offsets but no sizes. clang writes them by default.
    Old,
    /// Size-aware nodes. `clang -new-struct-path-tbaa` writes them.
    New,
}

impl Format {
    pub(crate) fn choose<T>(self, old: T, new: T) -> T {
        match self {
            Format::Old => old,
            Format::New => new,
        }
    }
}

/// Position of a tag's base type.
pub const TAG_BASE: usize = 0;
/// Position of a tag's access type.
pub const TAG_ACCESS: usize = 1;
/// Position of a tag's offset.
pub const TAG_OFFSET: usize = 2;
/// Position of the size in a size-aware tag.
pub const TAG_SIZE: usize = 3;
/// Position of the immutability flag in an old-format type that is used as a tag.
pub const SCALAR_FLAG: usize = 2;
pub(crate) const TAG_TYPES: [usize; 2] = [TAG_BASE, TAG_ACCESS];

/// Position of the size in an entry of a `tbaa.struct` node, from 0 at the entry's first operand.
pub const COPY_SIZE: usize = 1;
/// Position of the tag in an entry of a `tbaa.struct` node, from 0 at the entry's first operand.
pub const COPY_TAG: usize = 2;
/// The number of operands per entry of a `tbaa.struct` node.
pub const COPY_STRIDE: usize = 3;

/// Returns the first position of each complete entry in a `tbaa.struct` node with `len` operands.
pub fn copy_entries(len: usize) -> impl Iterator<Item = usize> {
    (0..len - len % COPY_STRIDE).step_by(COPY_STRIDE)
}

/// The role that a node can have, judged by the kinds of operands and not by their values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// An access tag.
    Tag,
    /// A type that is not a root.
    Type,
    /// A `tbaa.struct` node: the list of accesses that a struct copy makes.
    Copy,
}

impl Form {
    /// Returns the form of a node, or `None` if no form fits, as for a root.
    pub fn of(graph: &Graph, node: NodeId) -> Option<Form> {
        use OperandKind::{Int, Node, Small, String};
        let kinds = |node| graph.packed(node).iter().map(|operand| operand.kind());
        let is_tag = |node| {
            let mut kinds = kinds(node);
            let types = [kinds.next(), kinds.next()] == [Some(Node); 2];
            types && (1..=3).contains(&kinds.len()) && kinds.all(|kind| matches!(kind, Int | Small))
        };
        let [first, second, third] = [0, 1, 2].map(|at| kinds(node).nth(at));
        match (first, second, third) {
            _ if is_tag(node) => return Some(Form::Tag),
            (Some(String), Some(Node), _) | (Some(Node), Some(Int | Small), Some(String)) => {
                return Some(Form::Type);
            }
            _ => {}
        }
        let len = graph.operand_count(node);
        let is_int = |at| graph.operand(node, at).is_some_and(|operand| operand.int().is_some());
        let is_entry = |at: usize| {
            let tag = graph.operand(node, at + COPY_TAG).and_then(Operand::node);
            is_int(at) && is_int(at + COPY_SIZE) && tag.is_some_and(is_tag)
        };
        let is_copy = len > 0 && len.is_multiple_of(COPY_STRIDE) && copy_entries(len).all(is_entry);
        is_copy.then_some(Form::Copy)
    }
}

/// The layout of a type node's operands. The format and the number of operands determine it.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The encoding.
    pub format: Format,
    /// The number of operands.
    pub len: usize,
}

impl Shape {
    /// Reads the shape of `node` as a type. LLVM: `isNewFormatTypeNode`.
    pub fn of(graph: &Graph, node: NodeId) -> Shape {
        let operands = graph.packed(node);
        let len = operands.len();
        let parent_first = operands.first().is_some_and(|first| first.kind() == OperandKind::Node);
        let format = if len >= 3 && parent_first { Format::New } else { Format::Old };
        Shape { format, len }
    }

    pub(crate) fn first_field(self) -> usize {
        self.format.choose(1, 3)
    }

    /// Returns the position of the type of the field with index `number`.
    pub fn field(self, number: usize) -> usize {
        self.first_field() + number * self.stride()
    }

    /// Returns the position of a field's offset. `field` is the position of the field's type.
    pub fn offset(self, field: usize) -> usize {
        field + 1
    }

    /// Returns the position of a field's size, which only the new format has. `field` is the
    /// position of the field's type.
    pub fn extent(self, field: usize) -> Option<usize> {
        (self.format == Format::New).then_some(field + 2)
    }

    /// Returns the positions of a field's operands. `field` is the position of the field's type.
    pub fn operands(self, field: usize) -> Range<usize> {
        field..field + self.stride()
    }

    pub(crate) fn stride(self) -> usize {
        self.format.choose(2, 3)
    }

    /// Returns whether the node has fewer than two operands, so no parent. LLVM: `IsRootTBAANode`.
    pub fn is_root(self) -> bool {
        self.len < 2
    }

    /// Returns the parent. In the old format, the parent of an aggregate is its first field's type.
    ///
    /// LLVM: `TBAANode::getParent`.
    pub fn parent(self, graph: &Graph, node: NodeId) -> Option<NodeId> {
        let has_one = self.format == Format::New || !self.is_root();
        graph.operand(node, self.parent_position()).filter(|_| has_one)?.node()
    }

    /// Returns the position of the parent in a node that is not a root.
    pub fn parent_position(self) -> usize {
        self.format.choose(1, 0)
    }

    /// Returns whether the operands are those of an old-format scalar: a name, a parent, and
    /// optionally an offset that is 0.
    pub fn is_scalar(self, graph: &Graph, node: NodeId) -> bool {
        let named = matches!(graph.operand(node, 0), Some(Operand::String(_)));
        let parented = matches!(graph.operand(node, 1), Some(Operand::Node(_)));
        let at_start = graph
            .operand(node, 2)
            .is_none_or(|offset| offset.int().is_some_and(|offset| offset.value == 0));
        named && parented && at_start && self.len <= 3
    }

    /// Returns whether a node is a type, not a root, whose operands are complete and have the right
    /// kinds: the parent, the name in the old format, the size in the new one, and the fields.
    pub(crate) fn is_well_formed(self, graph: &Graph, node: NodeId) -> bool {
        let operands = graph.packed(node);
        let kind = |at: usize| operands.get(at).map(|operand| operand.kind());
        let is_int = |at| matches!(kind(at), Some(OperandKind::Int | OperandKind::Small));
        let named = kind(self.name()) == Some(OperandKind::String);
        let field =
            |at| kind(at) == Some(OperandKind::Node) && self.operands(at).skip(1).all(is_int);
        !self.is_root()
            && self.parent(graph, node).is_some()
            && self.size().is_none_or(is_int)
            && self.has_whole_fields()
            && (named || self.format == Format::New)
            && self.fields().all(field)
    }

    /// Returns whether every field has all its operands.
    pub fn has_whole_fields(self) -> bool {
        self.format.choose(self.len == 2 || self.len % 2 == 1, self.len.is_multiple_of(3))
    }

    /// Returns whether the type has fields whose offsets have type `i64` and never decrease.
    pub(crate) fn is_ascending(self, graph: &Graph, node: NodeId) -> bool {
        let offset = |field: usize| {
            let offset = graph.operand(node, self.offset(field))?.int()?;
            (offset.bits == 64).then_some(offset.value)
        };
        let next = |before, field| offset(field).filter(|&offset| offset >= before);
        self.fields().len() > 0 && self.fields().try_fold(0, next).is_some()
    }

    /// Returns the position of the name.
    pub fn name(self) -> usize {
        self.format.choose(0, 2)
    }

    /// Returns the position of the type's size in the new format.
    pub fn size(self) -> Option<usize> {
        (self.format == Format::New).then_some(1)
    }

    /// Finds the last field that begins at or before `offset`. Returns the position of its type and
    /// the offset at which it begins, or `None` if all fields begin later or the search reads an
    /// offset that is not an integer. The offsets of the fields must not decrease.
    pub fn field_at(self, graph: &Graph, node: NodeId, offset: u64) -> Option<(usize, u64)> {
        let at = |field: usize| self.field(field);
        let start = |field| Some(graph.operand(node, self.offset(at(field)))?.int()?.value);
        let (mut low, mut high) = (0, self.fields().len());
        while low < high {
            let middle = low.midpoint(high);
            if start(middle)? <= offset { low = middle + 1 } else { high = middle }
        }
        let last = low.checked_sub(1)?;
        Some((at(last), start(last)?))
    }

    /// Follows a type path by one step. A type without fields leads to its parent. Any other type
    /// leads to the last field that begins at or before `offset`, and `offset` becomes relative to
    /// that field. Returns `None` at a root, and if `offset` precedes the first field.
    pub fn step(self, graph: &Graph, node: NodeId, offset: &mut u64) -> Option<NodeId> {
        if self.is_root() || self.fields().len() == 0 {
            return self.parent(graph, node).filter(|_| !self.is_root());
        }
        let (at, start) = self.field_at(graph, node, *offset)?;
        *offset -= start;
        graph.operand(node, at)?.node()
    }

    /// Returns the positions of the fields' types.
    pub fn fields(self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        // A scalar with two operands has a parent but no offset, so it has no field.
        let end = if self.len == 2 { 0 } else { self.len };
        (self.first_field()..end.max(self.first_field())).step_by(self.stride())
    }
}

/// The operands of a tag whose operands have the right kinds.
#[derive(Clone, Copy)]
pub struct TagParts {
    pub(crate) base: NodeId,
    pub(crate) access: NodeId,
    pub(crate) offset: Int,
    /// The size operand, which only the new format has.
    pub(crate) size: Option<Int>,
    pub(crate) format: Format,
    /// True if the lowest bit of the immutability operand is set.
    pub(crate) immutable: bool,
}

impl TagParts {
    /// Returns the format of a tag's access type, or the old format if the tag has no access type.
    ///
    /// LLVM: `TBAAStructTagNode::isNewFormat`, `isNewFormatTBAATypeNode`.
    pub fn format(graph: &Graph, tag: NodeId) -> Format {
        match TagParts::access(graph, tag) {
            Some(access) => Shape::of(graph, access).format,
            None => Format::Old,
        }
    }

    /// Returns whether LLVM reads a node as a struct-path tag, not as a tag of the scalar format.
    ///
    /// LLVM: `UpgradeTBAANode`.
    pub(crate) fn is_struct_path(graph: &Graph, node: NodeId) -> bool {
        let base = graph.operand(node, TAG_BASE).and_then(Operand::node);
        graph.operand_count(node) > TAG_OFFSET && base.is_some()
    }

    pub(crate) fn access(graph: &Graph, tag: NodeId) -> Option<NodeId> {
        graph.operand(tag, TAG_ACCESS).and_then(Operand::node)
    }

    /// Returns the value of the size operand. `tag` must be size-aware.
    pub(crate) fn size(graph: &Graph, tag: NodeId) -> Option<u64> {
        Some(graph.operand(tag, TAG_SIZE).and_then(Operand::int)?.value)
    }

    pub(crate) fn is_immutable(graph: &Graph, tag: NodeId) -> bool {
        let len = graph.operand_count(tag);
        let int = |at| graph.operand(tag, at).and_then(Operand::int);
        let is_odd = |at| int(at).is_some_and(|int| int.value & 1 == 1);
        // Computing the format is slow, so a faster test comes first: the last operand must be odd.
        len > TagParts::immutable_position(Format::Old)
            && is_odd(len - 1)
            && is_odd(TagParts::immutable_position(TagParts::format(graph, tag)))
    }

    /// Returns the value of a tag's size operand; `None` if the tag is malformed or old-format.
    pub fn size_number(graph: &Graph, tag: NodeId) -> Option<u64> {
        Some(TagParts::of(graph, tag).ok()?.size?.value)
    }

    /// Returns the position of the immutability flag in a tag of format `format`.
    pub fn immutable_position(format: Format) -> usize {
        format.choose(TAG_SIZE, TAG_SIZE + 1)
    }

    /// Reads a tag. Fails with the position of the first operand that is missing, has the wrong
    /// kind or is superfluous.
    pub(crate) fn of(graph: &Graph, tag: NodeId) -> Result<TagParts, usize> {
        let node = |at: usize| graph.operand(tag, at).and_then(Operand::node).ok_or(at);
        let int = |at: usize| graph.operand(tag, at).and_then(Operand::int).ok_or(at);
        let (base, access) = (node(TAG_BASE)?, node(TAG_ACCESS)?);
        let offset = int(TAG_OFFSET)?;
        let format = TagParts::format(graph, tag);
        let size = (format == Format::New).then(|| int(TAG_SIZE)).transpose()?;
        let flag = TagParts::immutable_position(format);
        let set = graph.operand(tag, flag).map(|operand| operand.int().ok_or(flag)).transpose()?;
        let immutable = set.is_some_and(|int| int.value & 1 == 1);
        match graph.operand(tag, flag + 1) {
            None => Ok(TagParts { base, access, offset, size, format, immutable }),
            Some(_) => Err(flag + 1),
        }
    }

    /// Returns a tag's operands. LLVM: `MDBuilder::createTBAAStructTagNode`, `createTBAAAccessTag`.
    pub(crate) fn operands(
        base: NodeId,
        access: NodeId,
        offset: u64,
        size: Option<u64>,
        immutable: bool,
    ) -> impl Iterator<Item = Operand<'static>> {
        let int = |value| Operand::Int(Int::i64(value));
        [Operand::Node(base), Operand::Node(access), int(offset)]
            .into_iter()
            .chain(size.map(int))
            .chain(immutable.then(|| int(1)))
    }
}
