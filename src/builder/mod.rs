//! Adds well-formed nodes to a graph, like LLVM's `MDBuilder`.
//!
//! Three alias-analysis features of `MDBuilder` have no counterpart here: `createTBAANode`, whose
//! format is older than LLVM 3.4 (only [`RawGraph::mark_attached`] reads it); the offset of
//! `createTBAAScalarTypeNode`, which LLVM's verifier requires to be 0; and alias scopes.

mod error;
mod path;

use crate::extent::Size;
use crate::graph::{
    CopyEntry, CopyId, Draft, DraftOperand, Format, Graph, Int, Operand, RawGraph, Tag, TagId,
    TagParts, TypeId, TypeKind,
};
pub use error::BuildError;

/// A field of a size-aware type, as given to [`Builder::sized_type`].
///
/// LLVM: `MDBuilder::TBAAStructField`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizedField {
    /// The field's type. For an array, the type of its elements.
    pub ty: TypeId,
    /// The offset in bytes from the start of the struct.
    pub offset: u64,
    /// The size in bytes. For an array, the size of all elements; 0 for a flexible array member.
    pub size: u64,
}

/// Adds well-formed nodes to a graph. [`Graph::builder`] costs nothing, so a JIT may make a new
/// builder for each node.
///
/// ```
/// use tbaa::{AliasResult, Graph, Oracle, AliasRule};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("Simple C/C++ TBAA")?;
/// let char = b.scalar_type("omnipotent char", root)?;
/// let ptr = b.scalar_type("any pointer", char)?;
/// let int = b.scalar_type("int", char)?;
/// let call_info = b.struct_type("CallInfo", &[(ptr, 0), (ptr, 8), (int, 16)])?;
/// let func = b.struct_tag(call_info, ptr, 0)?;
/// let top = b.struct_tag(call_info, ptr, 8)?;
///
/// let oracle = Oracle::new(&graph, AliasRule::Llvm);
/// assert_eq!(oracle.alias(func, top), AliasResult::NoAlias);
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// LLVM: `MDBuilder`.
#[derive(Debug)]
pub struct Builder<'g> {
    graph: &'g mut Graph,
}

impl Graph {
    /// Returns a builder that adds to this graph.
    pub fn builder(&mut self) -> Builder<'_> {
        Builder { graph: self }
    }
}

impl Builder<'_> {
    /// Adds the root with this name, or finds it. Tags of types under different roots may alias.
    ///
    /// # Errors
    ///
    /// [`BuildError::Graph`]. LLVM: `MDBuilder::createTBAARoot`.
    pub fn root(&mut self, name: impl AsRef<[u8]>) -> Result<TypeId, BuildError> {
        let node = self.graph.insert(&[Operand::String(name.as_ref())])?;
        Ok(self.graph.mark_type(node))
    }

    /// Adds a new root that no other module can share. It is a distinct node that refers to itself.
    ///
    /// # Errors
    ///
    /// [`BuildError::Graph`]. LLVM: `MDBuilder::createAnonymousTBAARoot`.
    pub fn anonymous_root(&mut self) -> Result<TypeId, BuildError> {
        let itself = Draft { distinct: true, operands: vec![DraftOperand::Member(0)] };
        let nodes = self.graph.insert_group(&[itself])?;
        Ok(self.graph.mark_type(nodes[0]))
    }

    /// Adds the root `!{}`, a uniqued node without operands, or finds it. Wasmer uses this root.
    ///
    /// # Errors
    ///
    /// [`BuildError::Graph`].
    pub fn empty_root(&mut self) -> Result<TypeId, BuildError> {
        let node = self.graph.insert(&[])?;
        Ok(self.graph.mark_type(node))
    }

    /// Adds an old-format scalar type. `parent` is a root or a scalar.
    ///
    /// # Errors
    ///
    /// [`BuildError::MixedFormats`] if the root has size-aware types;
    /// [`BuildError::AggregateParent`], [`BuildError::ForeignId`], [`BuildError::Malformed`],
    /// [`BuildError::Graph`]. LLVM: `MDBuilder::createTBAAScalarTypeNode`.
    pub fn scalar_type(
        &mut self,
        name: impl AsRef<[u8]>,
        parent: TypeId,
    ) -> Result<TypeId, BuildError> {
        let argument = || "parent".to_owned();
        if self.check_type(parent, argument)? == TypeKind::Aggregate {
            return Err(BuildError::AggregateParent { parent: self.name(parent), ty: parent });
        }
        self.check_format(parent, argument, Format::Old)?;
        self.add_type([Operand::String(name.as_ref()), Operand::Node(parent.0), int(0)])
    }

    /// Adds an old-format struct type. Each field has a type and an offset in bytes from the start
    /// of the struct. Offsets must not descend. Fields with equal offsets make a union. For an
    /// array field, give its element type.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoFields`], [`BuildError::RootAsField`], [`BuildError::DescendingOffset`],
    /// [`BuildError::MixedFormats`], [`BuildError::MixedRoots`], [`BuildError::ForeignId`],
    /// [`BuildError::Malformed`], [`BuildError::Graph`].
    /// LLVM: `MDBuilder::createTBAAStructTypeNode`.
    pub fn struct_type(
        &mut self,
        name: impl AsRef<[u8]>,
        fields: &[(TypeId, u64)],
    ) -> Result<TypeId, BuildError> {
        let name = name.as_ref();
        let [(first, _), ..] = fields else {
            return Err(BuildError::NoFields { name: lossy(name) });
        };
        self.check_fields(name, *first, fields.iter().copied(), Format::Old)?;
        let fields = fields.iter().flat_map(|&(ty, offset)| [Operand::Node(ty.0), int(offset)]);
        self.add_type([Operand::String(name)].into_iter().chain(fields))
    }

    /// Adds a size-aware type: a scalar if `fields` is empty, else a struct or union. `size` is in
    /// bytes. `parent` is a root or a size-aware type. A field may end after the struct's end,
    /// because clang gives a bit-field the size of its declared type.
    ///
    /// # Errors
    ///
    /// The errors of [`Builder::struct_type`], except [`BuildError::NoFields`].
    /// LLVM: `MDBuilder::createTBAATypeNode`.
    pub fn sized_type(
        &mut self,
        parent: TypeId,
        size: u64,
        name: impl AsRef<[u8]>,
        fields: &[SizedField],
    ) -> Result<TypeId, BuildError> {
        let name = name.as_ref();
        let argument = || "parent".to_owned();
        self.check_type(parent, argument)?;
        self.check_format(parent, argument, Format::New)?;
        let offsets = fields.iter().map(|field| (field.ty, field.offset));
        self.check_fields(name, parent, offsets, Format::New)?;
        let operands = [Operand::Node(parent.0), int(size), Operand::String(name)];
        let fields = fields
            .iter()
            .flat_map(|field| [Operand::Node(field.ty.0), int(field.offset), int(field.size)]);
        self.add_type(operands.into_iter().chain(fields))
    }

    /// Adds an old-format tag for an access to a scalar `access`, at `offset` bytes from the start
    /// of `base`.
    ///
    /// The access may be to any member of a union. But LLVM's verifier considers only the last
    /// member, and may reject tags for other members. Check with [`crate::wellformed::Verifier`]
    /// before you pass such a tag to LLVM.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoPath`], [`BuildError::OffsetInScalar`], [`BuildError::AggregateAccess`],
    /// [`BuildError::RootInTag`], [`BuildError::MixedFormats`], [`BuildError::ForeignId`],
    /// [`BuildError::Malformed`], [`BuildError::Graph`].
    /// LLVM: `MDBuilder::createTBAAStructTagNode`.
    pub fn struct_tag(
        &mut self,
        base: TypeId,
        access: TypeId,
        offset: u64,
    ) -> Result<TagId, BuildError> {
        self.tag(mutable(base, access, offset, None))
    }

    /// Adds a tag like [`Builder::struct_tag`] with the immutable flag: the memory never changes
    /// while it can be read.
    ///
    /// # Errors
    ///
    /// The same as for [`Builder::struct_tag`].
    /// LLVM: `MDBuilder::createTBAAStructTagNode` with `IsConstant`.
    pub fn immutable_struct_tag(
        &mut self,
        base: TypeId,
        access: TypeId,
        offset: u64,
    ) -> Result<TagId, BuildError> {
        self.tag(Tag { immutable: true, ..mutable(base, access, offset, None) })
    }

    /// Adds a size-aware tag. `size` is a number of bytes or a [`Size`]. An unknown size is written
    /// as 0, as in clang. The access type may be an aggregate. The access may be to any member of a
    /// union, but see [`Builder::struct_tag`] for LLVM's verifier.
    ///
    /// # Errors
    ///
    /// The errors of [`Builder::struct_tag`], except [`BuildError::AggregateAccess`].
    /// LLVM: `MDBuilder::createTBAAAccessTag`.
    pub fn access_tag(
        &mut self,
        base: TypeId,
        access: TypeId,
        offset: u64,
        size: impl Into<Size>,
    ) -> Result<TagId, BuildError> {
        self.tag(mutable(base, access, offset, Some(size.into())))
    }

    /// Adds a tag like [`Builder::access_tag`] with the immutable flag: the memory never changes
    /// while it can be read.
    ///
    /// # Errors
    ///
    /// The same as for [`Builder::access_tag`].
    /// LLVM: `MDBuilder::createTBAAAccessTag` with `IsImmutable`.
    pub fn immutable_access_tag(
        &mut self,
        base: TypeId,
        access: TypeId,
        offset: u64,
        size: impl Into<Size>,
    ) -> Result<TagId, BuildError> {
        self.tag(Tag { immutable: true, ..mutable(base, access, offset, Some(size.into())) })
    }

    /// Adds a tag with these parts: like [`Builder::struct_tag`] in the old format, and like
    /// [`Builder::access_tag`] in the size-aware format.
    ///
    /// # Errors
    ///
    /// Those of [`Builder::struct_tag`] and [`Builder::access_tag`]. Also [`BuildError::Graph`] if
    /// an old-format tag has a size or a size-aware tag has none.
    pub fn tag(&mut self, tag: Tag) -> Result<TagId, BuildError> {
        self.check_path(tag.base, tag.access, tag.offset, tag.format)?;
        let size = tag.size.map(|size| Size::Bytes(size.into()));
        Ok(self.graph.insert_tag(Tag { size, ..tag })?)
    }

    /// Returns the tag without the immutable flag, or `tag` itself if it does not have the flag.
    ///
    /// # Errors
    ///
    /// [`BuildError::ForeignId`], [`BuildError::Malformed`], [`BuildError::Graph`].
    /// LLVM: `MDBuilder::createMutableTBAAAccessTag`.
    pub fn mutable_tag(&mut self, tag: TagId) -> Result<TagId, BuildError> {
        if !self.graph.owns_tag(tag) {
            return Err(BuildError::ForeignId { argument: "tag".to_owned() });
        }
        let node = self.graph.tag_node(tag);
        let parts = self.graph.tag(tag);
        let parts =
            parts.map_err(|_| BuildError::Malformed { argument: "tag".to_owned(), node })?;
        if !parts.immutable {
            return Ok(tag);
        }
        // A number that means an unknown size is copied unchanged.
        let size = TagParts::size_number(self.graph, node).map(Size::Bytes);
        Ok(self.graph.insert_tag(Tag { immutable: false, size, ..parts })?)
    }

    /// Adds a `tbaa.struct` node, which lists the accesses of a struct copy. An entry must not
    /// start before the previous entry ends.
    ///
    /// # Errors
    ///
    /// [`BuildError::OverlappingCopy`], [`BuildError::ForeignId`], [`BuildError::Graph`].
    /// LLVM: `MDBuilder::createTBAAStructNode`.
    pub fn struct_copy(&mut self, entries: &[CopyEntry]) -> Result<CopyId, BuildError> {
        let mut operands = Vec::with_capacity(3 * entries.len());
        let mut end = 0;
        for (position, entry) in entries.iter().enumerate() {
            if !self.graph.owns_tag(entry.tag) {
                return Err(BuildError::ForeignId { argument: format!("entry {position}") });
            }
            let next = entry.offset.checked_add(entry.size).filter(|_| entry.offset >= end);
            end = next.ok_or(BuildError::OverlappingCopy { entry: position })?;
            operands.extend([
                int(entry.offset),
                int(entry.size),
                Operand::Node(self.graph.tag_node(entry.tag)),
            ]);
        }
        let node = self.graph.insert(&operands)?;
        Ok(self.graph.mark_copy(node))
    }

    fn add_type<'o>(
        &mut self,
        operands: impl IntoIterator<Item = Operand<'o>>,
    ) -> Result<TypeId, BuildError> {
        let node = self.graph.add(false, operands)?;
        Ok(self.graph.mark_type(node))
    }

    fn check_type(
        &self,
        ty: TypeId,
        argument: impl FnOnce() -> String,
    ) -> Result<TypeKind, BuildError> {
        if !self.graph.owns(ty.0) {
            return Err(BuildError::ForeignId { argument: argument() });
        }
        match self.graph.ty(ty).kind() {
            TypeKind::Malformed => Err(BuildError::Malformed { argument: argument(), node: ty.0 }),
            kind => Ok(kind),
        }
    }

    fn check_format(
        &self,
        ty: TypeId,
        argument: impl FnOnce() -> String,
        wanted: Format,
    ) -> Result<(), BuildError> {
        let Some(root) = self.graph.root_of(ty) else {
            return Err(BuildError::Malformed { argument: argument(), node: ty.0 });
        };
        let of_type = self.graph.ty(ty);
        let mixed = of_type.kind() != TypeKind::Root && of_type.format() != wanted;
        if mixed || self.graph.root_format(root).is_some_and(|format| format != wanted) {
            return Err(BuildError::MixedFormats { argument: argument(), wanted, ty });
        }
        Ok(())
    }

    /// Checks that the fields' types have this format and the same root as `relative`, and that the
    /// offsets do not descend.
    fn check_fields(
        &self,
        name: &[u8],
        relative: TypeId,
        fields: impl Iterator<Item = (TypeId, u64)>,
        format: Format,
    ) -> Result<(), BuildError> {
        let (mut previous, mut checked) = (0, None);
        for (field, (ty, offset)) in fields.enumerate() {
            let argument = || format!("field {field} of {:?}", lossy(name));
            if checked.replace(ty) != Some(ty) {
                if self.check_type(ty, argument)? == TypeKind::Root {
                    return Err(BuildError::RootAsField { name: lossy(name), field, root: ty });
                }
                let same_root = self.graph.root_of(ty) == self.graph.root_of(relative);
                // The check of the first field includes its root. So a later field with the same
                // root and the right format needs no check.
                if field == 0 || !same_root || self.graph.ty(ty).format() != format {
                    self.check_format(ty, argument, format)?;
                }
                if !same_root {
                    return Err(BuildError::MixedRoots { argument: argument(), ty });
                }
            }
            if offset < previous {
                let name = lossy(name);
                return Err(BuildError::DescendingOffset { name, field, offset, previous });
            }
            previous = offset;
        }
        Ok(())
    }

    fn check_path(
        &self,
        base: TypeId,
        access: TypeId,
        offset: u64,
        format: Format,
    ) -> Result<(), BuildError> {
        for (ty, argument) in [(base, "base"), (access, "access")] {
            let argument = || argument.to_owned();
            if self.check_type(ty, argument)? == TypeKind::Root {
                return Err(BuildError::RootInTag { argument: argument(), root: ty });
            }
            self.check_format(ty, argument, format)?;
        }
        let access_kind = self.graph.ty(access).kind();
        if format == Format::Old && access_kind != TypeKind::Scalar {
            return Err(BuildError::AggregateAccess { access: self.name(access), ty: access });
        }
        if offset != 0 && self.graph.ty(base).kind() == TypeKind::Scalar {
            return Err(BuildError::OffsetInScalar { base: self.name(base), offset, ty: base });
        }
        match path::exists(self.graph, base, access, offset) {
            Some(true) => Ok(()),
            found => {
                let (base_ty, access_ty, limit) = (base, access, found.is_none());
                let (base, access) = (self.name(base), self.name(access));
                Err(BuildError::NoPath { base, access, offset, limit, base_ty, access_ty })
            }
        }
    }

    fn name(&self, ty: TypeId) -> String {
        lossy(self.graph.ty(ty).name().unwrap_or_default())
    }
}

fn mutable(base: TypeId, access: TypeId, offset: u64, size: Option<Size>) -> Tag {
    let format = if size.is_some() { Format::New } else { Format::Old };
    Tag { base, access, offset, size, immutable: false, format }
}

fn int(value: u64) -> Operand<'static> {
    Operand::Int(Int::i64(value))
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
