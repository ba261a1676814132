//! Interprets the operands of nodes as types and tags.

use std::fmt;

use crate::extent::Size;

use super::{CopyId, Format, Graph, Operand, Shape, TagId, TagParts, TypeId, encoding};

/// The names of clang's roots (`CodeGenTBAA::getRoot`), for C and for C++.
pub const CLANG_ROOTS: [&str; 2] = ["Simple C/C++ TBAA", "Simple C++ TBAA"];

/// Returns whether clang's roots include one with this name.
pub fn is_clang_root(name: &[u8]) -> bool {
    CLANG_ROOTS.iter().any(|root| root.as_bytes() == name)
}

/// The role of a type node in the DAG of types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum TypeKind {
    /// The top of a tree. A root has at most one operand: normally its name, or the root itself.
    Root,
    /// A type with a parent and no fields. In the old format, the node `(name, T, 0)`, where `T` is
    /// a scalar or a root, can be read as a scalar under `T` or as an aggregate with one field `T`
    /// at offset 0. It counts as a scalar here, but [`TypeNode::fields`] returns the field.
    Scalar,
    /// A struct, a union, or a type that contains an array.
    Aggregate,
    /// None of these: an operand is missing or has the wrong kind, or the parent of an old-format
    /// node `(name, parent)` is neither a scalar nor a root.
    Malformed,
}

/// A field of an aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The field's type. For an array, it is the type of the elements.
    pub ty: TypeId,
    /// The number of bytes from the start of the aggregate to the field.
    pub offset: u64,
    /// The size of the field in bytes, or `None` in the old format, which does not record it. If
    /// this size exceeds that of `ty`, the field is an array. Size 0 means a flexible array.
    pub extent: Option<u64>,
}

/// A type node whose operands can be read. LLVM: `TBAAStructTypeNode` and `TBAANode`.
#[derive(Clone, Copy)]
pub struct TypeNode<'g> {
    graph: &'g Graph,
    id: TypeId,
    shape: Shape,
}

impl fmt::Debug for TypeNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(self.name().unwrap_or(b""));
        write!(f, "{:?} {:?} {name:?}", self.id, self.kind())
    }
}

impl<'g> TypeNode<'g> {
    /// Returns the type's id.
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// Returns the node's format. A root has no format, and this returns [`Format::Old`] for it.
    pub fn format(&self) -> Format {
        self.shape.format
    }

    /// Returns the kind of the node.
    pub fn kind(&self) -> TypeKind {
        let Shape { format, len } = self.shape;
        if self.shape.is_root() {
            return TypeKind::Root;
        }
        match (self.graph.is_well_formed(self.id.0), format) {
            (false, _) => TypeKind::Malformed,
            (true, Format::Old) if self.graph.is_old_scalar(self.id.0) => TypeKind::Scalar,
            // The node has a name and a parent, but the parent is neither a scalar nor a root.
            (true, Format::Old) if len == 2 => TypeKind::Malformed,
            (true, Format::New) if len == 3 => TypeKind::Scalar,
            _ => TypeKind::Aggregate,
        }
    }

    /// Returns the bytes of the name, or `None` if the operand for it is missing or not a string.
    pub fn name(&self) -> Option<&'g [u8]> {
        match self.operand(self.shape.name()) {
            Some(Operand::String(name)) => Some(name),
            _ => None,
        }
    }

    /// Returns the parent. An old-format aggregate has no parent of its own. For it, this returns
    /// the type of its first field, as LLVM does.
    ///
    /// LLVM: `TBAANode::getParent`.
    pub fn parent(&self) -> Option<TypeId> {
        self.shape.parent(self.graph, self.id.0).map(TypeId)
    }

    /// Returns the type's size in bytes, which only the new format records.
    pub fn size(&self) -> Option<u64> {
        self.int(self.shape.size()?)
    }

    /// Returns the fields in order, without those that are malformed.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = Field> + Clone + 'g {
        let node = *self;
        // Collecting the positions in a vector would allocate memory in each call.
        let fields = 0..self.shape.fields().len();
        fields.filter_map(move |number| node.field_at(node.shape.field(number)))
    }

    /// Returns the last field that begins at or before `offset`. This takes logarithmic time if the
    /// node is well-formed and the fields' offsets have type `i64` and never decrease.
    ///
    /// LLVM: `TBAAStructTypeNode::getField`.
    pub fn last_field(&self, offset: u64) -> Option<Field> {
        if !self.graph.is_ascending(self.id.0) {
            return self.fields().rfind(|field| field.offset <= offset);
        }
        let (at, _) = self.shape.field_at(self.graph, self.id.0, offset)?;
        self.field_at(at)
    }

    fn field_at(&self, at: usize) -> Option<Field> {
        let ty = TypeId(self.operand(at)?.node()?);
        let offset = self.int(self.shape.offset(at))?;
        let extent = match self.shape.extent(at) {
            None => None,
            Some(extent) => Some(self.int(extent)?),
        };
        Some(Field { ty, offset, extent })
    }

    fn operand(&self, position: usize) -> Option<Operand<'g>> {
        self.graph.operand(self.id.0, position)
    }

    fn int(&self, position: usize) -> Option<u64> {
        Some(self.operand(position)?.int()?.value)
    }
}

/// The parts of an access tag. LLVM: `TBAAStructTagNode`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag {
    /// The type through which memory is accessed.
    pub base: TypeId,
    /// The type of the accessed bytes.
    pub access: TypeId,
    /// The number of bytes from the start of the base type to the access.
    pub offset: u64,
    /// The size of the access, or `None` in the old format, which does not record it.
    pub size: Option<Size>,
    /// True if the memory is never modified while it is visible to the program.
    pub immutable: bool,
    /// The format of the access type.
    pub format: Format,
}

impl Tag {
    /// Returns whether the base type is the access type, as for a scalar alone or a whole struct.
    pub fn is_whole(&self) -> bool {
        self.base == self.access
    }
}

/// The reason why a node cannot be read as a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("operand {operand} of a tag, {}", tag_operand(*.operand))]
pub struct MalformedTagError {
    /// Position of the first operand that is missing, has the wrong kind, or is superfluous.
    pub operand: usize,
}

/// One access of a struct copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CopyEntry {
    /// The number of bytes from the start of the copied memory to the access.
    pub offset: u64,
    /// The number of bytes that this access copies.
    pub size: u64,
    /// The tag of the access.
    pub tag: TagId,
}

impl Graph {
    /// Returns a view through which the operands of a type node can be read.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    pub fn ty(&self, id: TypeId) -> TypeNode<'_> {
        TypeNode { graph: self, id, shape: Shape::of(self, id.0) }
    }

    /// Returns the parts of a tag.
    ///
    /// This checks only the number and kinds of the operands. [`crate::wellformed`] decides whether
    /// LLVM accepts the tag.
    ///
    /// # Errors
    ///
    /// [`MalformedTagError`] if an operand is missing, superfluous or of the wrong kind. The
    /// builder ([`Graph::builder`]) never makes such a tag.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    pub fn tag(&self, id: TagId) -> Result<Tag, MalformedTagError> {
        let parts = TagParts::of(self, self.tag_node(id))
            .map_err(|operand| MalformedTagError { operand })?;
        Ok(Tag {
            base: TypeId(parts.base),
            access: TypeId(parts.access),
            offset: parts.offset.value,
            size: parts.size.map(|size| size.value.into()),
            immutable: parts.immutable,
            format: parts.format,
        })
    }

    /// Returns the accesses of a struct copy, or `None` if an entry is malformed or incomplete.
    ///
    /// # Panics
    ///
    /// If `id` was issued by another graph.
    pub fn copy(&self, id: CopyId) -> Option<Vec<CopyEntry>> {
        let len = self.operand_count(id.0);
        let int = |at| Some(self.operand(id.0, at)?.int()?.value);
        if !len.is_multiple_of(encoding::COPY_STRIDE) {
            return None;
        }
        let entries = encoding::copy_entries(len).map(|at| {
            let tag = self.operand(id.0, at + encoding::COPY_TAG)?.node()?;
            let size = int(at + encoding::COPY_SIZE)?;
            Some(CopyEntry { offset: int(at)?, size, tag: self.tag_of(tag)? })
        });
        entries.collect()
    }
}

fn tag_operand(operand: usize) -> &'static str {
    match operand {
        encoding::TAG_BASE => "the base type, must be a type node",
        encoding::TAG_ACCESS => "the access type, must be a type node",
        encoding::TAG_OFFSET => "the offset, must be an integer",
        _ => "size and immutability, must be integers, and no operand may follow them",
    }
}
