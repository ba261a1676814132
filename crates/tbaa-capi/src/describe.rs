//! What tags say and why an answer is what it is, for people and for tools.

use std::mem::MaybeUninit;

use tbaa::wellformed::Verifier;
use tbaa::{Graph, spec};

use crate::oracle::{MemoryAccess, Oracle, Tag, Type};
use crate::status::{Error, OrStatus, Status, given, made, status};
use crate::text::{Str, Text, constant};

/// Formats of `tbaa_dump`.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum DumpFormat {
    /// Metadata that `llvm-as` accepts.
    Llvm = 0,
    /// Attributes of MLIR's LLVM dialect; of the old format only.
    Mlir = 1,
    /// A spec, which `tbaa_context_load` and the `tbaa` command read.
    Ron = 2,
}

/// What a tag says.
#[repr(C)]
pub struct TagDescription {
    /// The type through which memory is accessed.
    pub base: Type,
    /// The type of what is accessed.
    pub access: Type,
    /// Bytes from the start of the base type.
    pub offset: u64,
    /// Bytes accessed; 0 if unknown, and in the old format.
    pub size: u64,
    /// Whether the memory is never modified while it can be read.
    pub immutable: bool,
    /// Whether the tag is of the size-aware format.
    pub size_aware: bool,
}

/// Says what a tag says.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_describe_tag(
    oracle: Option<&Oracle>,
    tag: Tag,
    description: Option<&mut MaybeUninit<TagDescription>>,
) -> Status {
    made(description, || {
        let oracle = given(oracle, "the oracle")?;
        let found = oracle.graph().tag(oracle.known_tag(tag)?).or_status(Status::Build)?;
        Ok(TagDescription {
            base: found.base.into(),
            access: found.access.into(),
            offset: found.offset,
            size: found.size.unwrap_or(0),
            immutable: found.immutable,
            size_aware: found.format == tbaa::Format::New,
        })
    })
}

/// Gives the name of a type; empty of one without. It belongs to the oracle, and
/// lives until its context changes or the snapshot is released.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_type_name(
    oracle: Option<&Oracle>,
    node: Type,
    name: Option<&mut MaybeUninit<Str>>,
) -> Status {
    made(name, || {
        let oracle = given(oracle, "the oracle")?;
        let ty = oracle.graph().ty(oracle.known_type(node)?);
        Ok(Str::of_bytes(ty.name().unwrap_or_default()))
    })
}

/// Says whether LLVM 22's verifier accepts a tag: `TBAA_STATUS_REFUSED` where it
/// does not, and the error says which rule the tag breaks.
///
/// LLVM: `TBAAVerifier::visitTBAAMetadata`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_verify_tag(oracle: Option<&Oracle>, tag: Tag) -> Status {
    status(|| {
        let oracle = given(oracle, "the oracle")?;
        let tag = oracle.known_tag(tag)?;
        Verifier::new(oracle.graph()).check(tag).or_status(Status::Refused)
    })
}

/// Says why two accesses may overlap or cannot: the answer alone on the first
/// line, then the clause that decided, with the paths and bytes compared. Free
/// the text with `tbaa_text_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_explain(
    oracle: Option<&Oracle>,
    a: MemoryAccess,
    b: MemoryAccess,
    text: Option<&mut MaybeUninit<Text>>,
) -> Status {
    made(text, || {
        let oracle = given(oracle, "the oracle")?;
        let why = oracle.inner.explain(oracle.access(a), oracle.access(b));
        Ok(Text::from(why.to_string()))
    })
}

/// Writes all tags, copies and types as text in a format of `tbaa_dump_format`.
/// Free the text with `tbaa_text_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_dump(
    oracle: Option<&Oracle>,
    format: u32,
    text: Option<&mut MaybeUninit<Text>>,
) -> Status {
    made(text, || dumped(given(oracle, "the oracle")?.graph(), format))
}

/// The text of a graph in a format of `DumpFormat`.
pub(crate) fn dumped(graph: &Graph, format: u32) -> Result<Text, Error> {
    let all = [DumpFormat::Llvm, DumpFormat::Mlir, DumpFormat::Ron];
    Ok(Text::from(match constant(&all, format, "tbaa_dump_format")? {
        DumpFormat::Llvm => tbaa_ir::write(graph),
        DumpFormat::Mlir => tbaa_ir::write_mlir(graph).or_status(Status::Unwritable)?,
        DumpFormat::Ron => spec::write(graph),
    }))
}
