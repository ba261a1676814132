//! Makes TBAA nodes and tags for declared types, under a policy.

mod access;
mod adopt;
mod copy;
mod node;

use super::declarations::DeclKind;
use super::path::{ResolvedPath, Step};
use super::{DeclId, Declarations, DeclareError};
use crate::Access;
use crate::extent::Size;
use crate::graph::{Format, Graph, Tag, TagId, TypeId};

/// Determines which TBAA metadata is made for declared types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Policy {
    /// The old format, as clang 22 writes it, so the module can be linked with modules from clang.
    /// Accesses to members of unions have the tag of `char`. Accesses to array elements have a tag
    /// without the struct that contains the array. Bit-fields have no tag.
    #[default]
    Clang,
    /// The size-aware format of the RFC of 2017. A union is a type with overlapping members, for
    /// the rules [`Union`](crate::AliasRule::Union) and
    /// [`UnionStrict`](crate::AliasRule::UnionStrict). LLVM itself considers only the last member
    /// of a union.
    Rfc,
}

impl Policy {
    /// Returns the format of the nodes that the policy makes.
    pub fn format(self) -> Format {
        match self {
            Policy::Clang => Format::Old,
            Policy::Rfc => Format::New,
        }
    }
}

/// The bits of a bit-field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BitRange {
    /// The offset of the first bit, in bits. It counts from the same start as [`Place::offset`].
    pub first: u64,
    /// The number of bits.
    pub width: u32,
}

/// A resolved path, for all accesses to the memory that it denotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The tag for an access; `None` if the policy has none and the access must stay untagged.
    pub tag: Option<TagId>,
    /// The type of the accessed memory.
    pub ty: DeclId,
    /// The offset in bytes from the target of the last pointer that the path follows, or else from
    /// the start of the path's first type. Variable indices count as 0.
    pub offset: u64,
    /// The bits, if the path ends at a bit-field.
    pub bits: Option<BitRange>,
    /// The size of the type in bytes; 0 for a flexible array and for a type without a size.
    pub size: u64,
    /// The largest number of bytes that an access to the type may touch: the size of the type, or
    /// of a bit-field's storage unit. Unknown if the type contains a flexible array.
    pub extent: Size,
    /// The largest number of bytes of consecutive elements that one access may touch, such as a
    /// fill of an array. For an element of an array member, the bytes to the array's end. For other
    /// members, `extent`. Unknown if the path has no member after the last pointer that it follows.
    pub run: Size,
    /// The known alignment of the address, in bytes.
    pub align: u64,
    /// False if `align` is 1 and the type is a scalar of alignment 1 other than `char`, such as a
    /// [region](Declarations::region) of bytes: its true alignment is then unknown.
    pub aligned: bool,
    /// True if the type of the accessed memory is a pointer.
    pub pointer: bool,
    /// True if the memory is in a union. Then a tag under [`Policy::Clang`] is that of `char`.
    pub in_union: bool,
    /// True if the path is marked `volatile`, which TBAA does not record.
    pub volatile: bool,
    /// True if the memory is never modified while it can be read.
    pub immutable: bool,
}

/// Declared types with a policy. Adds nodes and tags to a graph when they are needed.
///
/// ```
/// use tbaa::declare::{Declarations, Policy, Record, Target};
/// use tbaa::{AliasResult, Graph, Oracle, AliasRule};
///
/// let mut types = Declarations::new(Target::x86_64());
/// types.define(
///     Record::structure("CallInfo")
///         .field("func", "void *")
///         .field("l", Record::structure("").field("base", "void *").field("pc", "int *"))
///         .field("status", "short"),
/// )?;
///
/// let mut graph = Graph::new();
/// let mut types = types.into_tagged(Policy::Clang);
/// let base = types.tag(&mut graph, "CallInfo.l.base")?;
/// let number = types.tag(&mut graph, "*double")?;
/// assert_eq!(graph.tag(base).unwrap().offset, 8);
///
/// let oracle = Oracle::new(&graph, AliasRule::Llvm);
/// assert_eq!(oracle.alias(base, number), AliasResult::NoAlias);
///
/// // A mistake says what was probably meant.
/// let error = types.tag(&mut Graph::new(), "CallInfo.l.bse").unwrap_err();
/// assert_eq!(error.to_string(), r#"no field "bse" in "CallInfo.l": did you mean "base"?"#);
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
///
/// clang: `CodeGenTBAA`.
#[derive(Clone, Debug)]
pub struct TaggedTypes {
    types: Declarations,
    policy: Policy,
    root: Option<TypeId>,
    /// Each type's node, by [`DeclId::index`]: `None` if not made yet, `Some(None)` if none exists.
    nodes: Vec<Option<Option<TypeId>>>,
    /// The nodes of `void *`, `void **`, ...
    any_pointers: Vec<TypeId>,
}

/// An access as TBAA describes it. clang: `TBAAAccessInfo`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AccessInfo {
    Untagged {
        reason: &'static str,
    },
    MayAlias {
        size: Size,
    },
    Ordinary {
        /// The base type; `None` if it is the access type.
        base: Option<DeclId>,
        ty: DeclId,
        /// The offset in bytes from the start of the base type.
        offset: u64,
        size: Size,
    },
}

impl Place {
    /// Returns whether an access of `size` bytes fits: it touches at most [`Place::extent`] bytes,
    /// or whole consecutive elements in [`Place::run`].
    pub fn fits(&self, size: impl Into<Size>) -> bool {
        let size = size.into();
        // An unknown number of bytes is a number of whole elements only if an element has one byte.
        let whole = match (size, self.extent) {
            (Size::Bytes(bytes), Size::Bytes(element @ 1..)) => bytes.is_multiple_of(element),
            (_, extent) => extent == Size::Bytes(1),
        };
        self.extent.covers(size) || whole && self.run.covers(size)
    }
}

impl Declarations {
    /// Chooses a policy. You can declare more types later, with [`TaggedTypes::types_mut`].
    #[must_use]
    pub fn into_tagged(self, policy: Policy) -> TaggedTypes {
        TaggedTypes { types: self, policy, root: None, nodes: Vec::new(), any_pointers: Vec::new() }
    }
}

impl TaggedTypes {
    /// Returns the policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Returns the types.
    pub fn types(&self) -> &Declarations {
        &self.types
    }

    /// Returns the types, so that you can declare more.
    pub fn types_mut(&mut self) -> &mut Declarations {
        &mut self.types
    }

    /// Returns the tag for an access to a path.
    ///
    /// A path starts at a type: `CallInfo.l.base`, `R.u.b[3].x`. `[3]`, `[i]` and `[*]` are an
    /// array's elements, which TBAA does not distinguish. `->` follows a pointer, and so does `[*]`
    /// after a pointer: `Table.array[*].tt`. `*int` is an access to any `int`. `*T.p` is an access
    /// to what the member `p` points to. `Base::x` is a member of a base class. Before a path you
    /// can write `volatile`, or `immutable` for memory that is never modified while it can be read.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Syntax`]; [`DeclareError::UnknownType`] and [`DeclareError::UnknownField`],
    /// with the most similar name; [`DeclareError::Step`]; [`DeclareError::OutOfBounds`];
    /// [`DeclareError::Untagged`] if the policy has no tag ([`TaggedTypes::place`] accepts this);
    /// [`DeclareError::Build`].
    pub fn tag(&mut self, graph: &mut Graph, path: &str) -> Result<TagId, DeclareError> {
        let (_, tag) = self.resolve(graph, path)?;
        tag.map_err(|reason| DeclareError::Untagged { path: path.to_owned(), reason })
    }

    /// Resolves a path. Returns it with its tag, or with the reason why it has no tag.
    fn resolve(
        &mut self,
        graph: &mut Graph,
        path: &str,
    ) -> Result<(ResolvedPath, Result<TagId, &'static str>), DeclareError> {
        let mut resolved = self.types.resolve(path)?;
        resolved.immutable = self.types.is_immutable(&resolved);
        let access = self.access(&resolved);
        let tag = self.tag_of(graph, &access, resolved.immutable)?;
        let reason = match access {
            AccessInfo::Untagged { reason } => reason,
            _ => "it has no type of memory; give the path of a member",
        };
        Ok((resolved, tag.ok_or(reason)))
    }

    /// Returns an access of `size` bytes to a path. The size may be larger than that of the path's
    /// type, for a vector that begins there. If the size is known only at run time, pass
    /// [`Size::Unknown`].
    ///
    /// For consecutive whole elements, such as a fill of an array, use the element's tag without a
    /// size ([`Place::run`]). The bytes after the object may have any type, so an access that
    /// reaches them may alias everything. Under policy `clang`, an access that is larger than the
    /// path's type gets the tag of `char`, because LLVM ignores sizes.
    ///
    /// # Errors
    ///
    /// The same as for [`TaggedTypes::tag`].
    pub fn sized(
        &mut self,
        graph: &mut Graph,
        path: &str,
        size: impl Into<Size>,
    ) -> Result<Access, DeclareError> {
        let (resolved, tag) = self.resolve(graph, path)?;
        let untagged = |reason| DeclareError::Untagged { path: path.to_owned(), reason };
        self.widened(graph, tag.map_err(untagged)?.into(), resolved.end(), size.into())
    }

    /// Does the same as [`TaggedTypes::sized`] for a resolved path. If the path has no tag, the
    /// access has none either, unless policy `clang` gives it the tag of `char` for its size.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Build`].
    pub fn sized_at(
        &mut self,
        graph: &mut Graph,
        place: &Place,
        size: impl Into<Size>,
    ) -> Result<Access, DeclareError> {
        self.widened(graph, place.tag.into(), place.ty, size.into())
    }

    /// Returns an access of `size` bytes, given the access `access` to a whole `ty`.
    fn widened(
        &mut self,
        graph: &mut Graph,
        access: Access,
        ty: DeclId,
        size: Size,
    ) -> Result<Access, DeclareError> {
        // The oracle assumes that an access of unknown size ends inside its base type. Here the
        // access may end after the base type, so the access gets the largest known size.
        let size = size.known().map_or(Size::MOST, Size::Bytes);
        if self.policy.format() == Format::New {
            return Ok(access.with_size(size));
        }
        if self.types.extent_of(ty).covers(size) {
            return Ok(access);
        }
        // Old-format tags have no sizes, so only the tag of `char` covers the bytes after `ty`.
        let char = self.tag_of(graph, &AccessInfo::MayAlias { size }, false)?;
        Ok(char.map_or(access, Access::from))
    }

    /// Returns the tags for accesses to several paths, in the same order.
    ///
    /// # Errors
    ///
    /// Those of [`TaggedTypes::tag`], for the first wrong path. The graph may then already have the
    /// tags of earlier paths.
    pub fn tags(
        &mut self,
        graph: &mut Graph,
        paths: &[impl AsRef<str>],
    ) -> Result<Vec<TagId>, DeclareError> {
        paths.iter().map(|path| self.tag(graph, path.as_ref())).collect()
    }

    /// Resolves a path once, so that a code generator need not parse it again.
    ///
    /// # Errors
    ///
    /// Those of [`TaggedTypes::tag`], except [`DeclareError::Untagged`]. Also
    /// [`DeclareError::TooLarge`].
    ///
    /// ```
    /// use tbaa::Graph;
    /// use tbaa::declare::{Declarations, Policy, Record, Target};
    ///
    /// let mut types = Declarations::new(Target::x86_64());
    /// types.define(
    ///     Record::structure("Header").bits("kind", "unsigned", 3).bits("mark", "unsigned", 5),
    /// )?;
    /// let mark = types.into_tagged(Policy::Clang).place(&mut Graph::new(), "Header.mark")?;
    /// let bits = mark.bits.unwrap();
    /// assert_eq!((mark.tag, bits.first, bits.width), (None, 3, 5), "clang has no tag for it");
    /// # Ok::<(), tbaa::declare::DeclareError>(())
    /// ```
    pub fn place(&mut self, graph: &mut Graph, path: &str) -> Result<Place, DeclareError> {
        let (resolved, tag) = self.resolve(graph, path)?;
        let (offset, bits, align) = self.types.spot(&resolved, path)?;
        let ty = resolved.end();
        let says = match self.types.kind(ty) {
            DeclKind::Scalar { .. } => ty == self.types.char() || self.types.align_of(ty) > 1,
            _ => true,
        };
        let mut extent = self.types.extent_of(ty);
        let mut run = self.types.run(&resolved);
        if let Some(&(Step::Field { record, index }, _)) = resolved.steps.last()
            && let (Some(_), Some(record)) = (bits, self.types.record(record))
        {
            extent = Size::Bytes(self.types.unit(record, index as usize).1);
            run = extent;
        }
        Ok(Place {
            tag: tag.ok(),
            ty,
            offset,
            bits,
            size: self.types.size_of(ty).unwrap_or(0),
            extent,
            run,
            align,
            aligned: align > 1 || says,
            in_union: resolved.members().any(|(record, _)| self.types.is_union(record)),
            pointer: matches!(self.types.kind(ty), DeclKind::Pointer { .. }),
            volatile: resolved.volatile,
            immutable: resolved.immutable,
        })
    }

    /// Returns the type node to which fields of type `ty` refer, if there is one. For an empty
    /// struct in the old format it is a root, as in clang.
    ///
    /// # Errors
    ///
    /// [`DeclareError::ForeignId`], [`DeclareError::Build`].
    pub fn node(&mut self, graph: &mut Graph, ty: DeclId) -> Result<Option<TypeId>, DeclareError> {
        self.types.check(ty)?;
        self.node_of(graph, ty)
    }

    fn tag_of(
        &mut self,
        graph: &mut Graph,
        access: &AccessInfo,
        immutable: bool,
    ) -> Result<Option<TagId>, DeclareError> {
        let (base, ty, offset, size) = match *access {
            AccessInfo::Untagged { .. } => return Ok(None),
            AccessInfo::MayAlias { size } => (None, self.types.char(), 0, size),
            AccessInfo::Ordinary { base, ty, offset, size } => (base, ty, offset, size),
        };
        let Some(node) = self.node_of(graph, ty)? else { return Ok(None) };
        let base = match base {
            Some(base) => self.node_of(graph, base)?.unwrap_or(node),
            None => node,
        };
        let format = self.policy.format();
        let size = (format == Format::New).then_some(size.bytes().unwrap_or(u64::MAX));
        let size = size.map(Size::Bytes);
        let tag = Tag { base, access: node, offset, size, immutable, format };
        Ok(Some(graph.builder().tag(tag)?))
    }
}
