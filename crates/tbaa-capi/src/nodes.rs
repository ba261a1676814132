//! Makes nodes one by one, as LLVM's `MDBuilder` does, for front ends whose types are not C's.

use std::mem::MaybeUninit;

use tbaa::{BuildError, CopyEntry, Format, Graph, SizedField, TypeId};

use crate::context::{Context, made_in};
use crate::oracle::{Copy, Tag, Type, known_type, unknown};
use crate::status::{Error, OrStatus, Status};
use crate::text::{Out, Str, slice};

/// A field of a type.
#[repr(C)]
pub struct Field {
    /// The field's type, or the type of the elements if the field is an array.
    pub node: Type,
    /// Bytes from the start of the type that contains the field.
    pub offset: u64,
    /// The bytes of the field, including all elements of an array; 0 for a flexible array.
    /// `tbaa_build_struct_type` ignores it.
    pub size: u64,
}

/// One access of a struct copy.
#[repr(C)]
pub struct Part {
    /// The tag of the access.
    pub tag: Tag,
    /// Bytes from the start of the copied memory.
    pub offset: u64,
    /// The number of bytes copied.
    pub size: u64,
}

/// Runs `make`, which makes a node in the context's graph, and writes the node's id.
fn build<T, I: From<T>>(
    context: Option<&mut Context>,
    id: Out<'_, I>,
    make: impl FnOnce(&mut Graph) -> Result<Result<T, BuildError>, Error>,
) -> Status {
    made_in(context, id, |context| {
        context.grow(|graph| make(graph)?.map(I::from).or_status(Status::Build))
    })
}

fn known_tag(graph: &Graph, tag: Tag) -> Result<tbaa::TagId, Error> {
    graph.tag_at((tag.id as usize).wrapping_sub(1)).ok_or_else(|| unknown("tag", tag.id))
}

/// # Safety
///
/// The same as for [`slice`].
unsafe fn fields_of(
    graph: &Graph,
    fields: *const Field,
    count: usize,
) -> Result<Vec<SizedField>, Error> {
    // SAFETY: the caller promises `count` fields.
    let fields = unsafe { slice(fields, count, "fields") }?;
    let sized = |&Field { node, offset, size }: &Field| {
        Ok(SizedField { ty: known_type(graph, node)?, offset, size })
    };
    fields.iter().map(sized).collect()
}

/// Makes a named root, or finds it. Types under roots of different names may alias.
///
/// LLVM: `MDBuilder::createTBAARoot`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_root(
    context: Option<&mut Context>,
    name: Str,
    root: Option<&mut MaybeUninit<Type>>,
) -> Status {
    build(context, root, |graph| Ok(graph.builder().root(name.bytes()?)))
}

/// Makes a root that no other module shares.
///
/// LLVM: `MDBuilder::createAnonymousTBAARoot`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_anonymous_root(
    context: Option<&mut Context>,
    root: Option<&mut MaybeUninit<Type>>,
) -> Status {
    build(context, root, |graph| Ok(graph.builder().anonymous_root()))
}

/// Makes a scalar type of the old format under a root or a scalar.
///
/// LLVM: `MDBuilder::createTBAAScalarTypeNode`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_scalar_type(
    context: Option<&mut Context>,
    name: Str,
    parent: Type,
    node: Option<&mut MaybeUninit<Type>>,
) -> Status {
    build(context, node, |graph| {
        let parent = known_type(graph, parent)?;
        Ok(graph.builder().scalar_type(name.bytes()?, parent))
    })
}

/// Makes a struct type of the old format. Fields must be in the order of their offsets; fields at
/// one offset form a union.
///
/// LLVM: `MDBuilder::createTBAAStructTypeNode`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_build_struct_type(
    context: Option<&mut Context>,
    name: Str,
    fields: *const Field,
    count: usize,
    node: Option<&mut MaybeUninit<Type>>,
) -> Status {
    build(context, node, |graph| {
        // SAFETY: the caller promises `count` fields.
        let fields = unsafe { fields_of(graph, fields, count) }?;
        let fields: Vec<(TypeId, u64)> = fields.iter().map(|f| (f.ty, f.offset)).collect();
        Ok(graph.builder().struct_type(name.bytes()?, &fields))
    })
}

/// Makes a type of the size-aware format with `size` bytes: a scalar if it has no fields, otherwise
/// a struct, or a union if fields overlap.
///
/// LLVM: `MDBuilder::createTBAATypeNode`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_build_sized_type(
    context: Option<&mut Context>,
    name: Str,
    parent: Type,
    size: u64,
    fields: *const Field,
    count: usize,
    node: Option<&mut MaybeUninit<Type>>,
) -> Status {
    build(context, node, |graph| {
        let parent = known_type(graph, parent)?;
        // SAFETY: the caller promises `count` fields.
        let fields = unsafe { fields_of(graph, fields, count) }?;
        Ok(graph.builder().sized_type(parent, size, name.bytes()?, &fields))
    })
}

/// Makes a tag of the old format: an access to the scalar `access` at `offset` bytes in `base`. For
/// a variable outside any struct, `base` and `access` are the same type.
///
/// LLVM: `MDBuilder::createTBAAStructTagNode`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_struct_tag(
    context: Option<&mut Context>,
    base: Type,
    access: Type,
    offset: u64,
    immutable: bool,
    tag: Option<&mut MaybeUninit<Tag>>,
) -> Status {
    build(context, tag, |graph| {
        let (base, access) = (known_type(graph, base)?, known_type(graph, access)?);
        let tag = tbaa::Tag { base, access, offset, size: None, immutable, format: Format::Old };
        Ok(graph.builder().tag(tag))
    })
}

/// Makes a tag of the size-aware format. `size` is the access's bytes, 0 if unknown. The access may
/// be to a whole struct.
///
/// LLVM: `MDBuilder::createTBAAAccessTag`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_access_tag(
    context: Option<&mut Context>,
    base: Type,
    access: Type,
    offset: u64,
    size: u64,
    immutable: bool,
    tag: Option<&mut MaybeUninit<Tag>>,
) -> Status {
    build(context, tag, |graph| {
        let (base, access) = (known_type(graph, base)?, known_type(graph, access)?);
        let size = Some(size.into());
        let tag = tbaa::Tag { base, access, offset, size, immutable, format: Format::New };
        Ok(graph.builder().tag(tag))
    })
}

/// Gives a tag like `tag`, but without the promise that its memory is never modified.
///
/// LLVM: `MDBuilder::createMutableTBAAAccessTag`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_mutable_tag(
    context: Option<&mut Context>,
    tag: Tag,
    without: Option<&mut MaybeUninit<Tag>>,
) -> Status {
    build(context, without, |graph| {
        let tag = known_tag(graph, tag)?;
        Ok(graph.builder().mutable_tag(tag))
    })
}

/// Makes a `tbaa.struct` node: the accesses that a copy of a struct makes, by ascending offset and
/// without overlap.
///
/// LLVM: `MDBuilder::createTBAAStructNode`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_build_copy(
    context: Option<&mut Context>,
    parts: *const Part,
    count: usize,
    copy: Option<&mut MaybeUninit<Copy>>,
) -> Status {
    build(context, copy, |graph| {
        // SAFETY: the caller promises `count` parts.
        let parts = unsafe { slice(parts, count, "parts") }?;
        let entry = |&Part { tag, offset, size }: &Part| {
            Ok(CopyEntry { tag: known_tag(graph, tag)?, offset, size })
        };
        let entries: Vec<CopyEntry> = parts.iter().map(entry).collect::<Result<_, Error>>()?;
        Ok(graph.builder().struct_copy(&entries))
    })
}

/// Gives the tag for one access that replaces accesses with tags `a` and `b`, by the context's
/// rule. It is 0 if no tag can express this; then the access must stay untagged.
///
/// LLVM: `MDNode::getMostGenericTBAA`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_build_merged_tag(
    context: Option<&mut Context>,
    a: Tag,
    b: Tag,
    merged: Option<&mut MaybeUninit<Tag>>,
) -> Status {
    made_in(context, merged, |context| {
        let oracle = context.oracle();
        let (Some(a), Some(b)) = (oracle.tag(a), oracle.tag(b)) else {
            return Ok(Tag { id: 0 });
        };
        let Some((merged, size)) = oracle.inner.most_generic_as_written(a, b) else {
            return Ok(Tag { id: 0 });
        };
        let merged = tbaa::Tag { size: size.map(tbaa::Size::Bytes), ..merged };
        let made = context.grow(|graph| graph.insert_tag(merged).map_err(BuildError::from));
        made.map(Tag::from).or_status(Status::Build)
    })
}
