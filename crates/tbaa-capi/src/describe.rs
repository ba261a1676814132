//! Explains an oracle's answers, and writes metadata as text.

use std::mem::MaybeUninit;

use tbaa::spec;

use crate::oracle::{MemoryAccess, Oracle};
use crate::status::{OrStatus, Status, given, made};
use crate::text::{Text, constant};

/// Formats of `tbaa_dump`.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum DumpFormat {
    /// Metadata that `llvm-as` accepts.
    Llvm = 0,
    /// Attributes of MLIR's LLVM dialect; only for tags of the old format, which is not size-aware.
    Mlir = 1,
    /// A spec, which `tbaa_context_load` and the `tbaa` command read.
    Ron = 2,
}

/// Explains why two accesses may overlap or cannot. The first line is the answer; then follow the
/// condition that decided, and the compared paths and bytes. Free the text with `tbaa_text_free`.
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

/// Writes all tags, types and `tbaa.struct` nodes as text in a format of `tbaa_dump_format`. Free
/// the text with `tbaa_text_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_dump(
    oracle: Option<&Oracle>,
    format: u32,
    text: Option<&mut MaybeUninit<Text>>,
) -> Status {
    made(text, || {
        let graph = given(oracle, "the oracle")?.graph();
        let all = [DumpFormat::Llvm, DumpFormat::Mlir, DumpFormat::Ron];
        Ok(Text::from(match constant(&all, format, "tbaa_dump_format")? {
            DumpFormat::Llvm => tbaa_ir::write(graph),
            DumpFormat::Mlir => tbaa_ir::write_mlir(graph).or_status(Status::Unwritable)?,
            DumpFormat::Ron => spec::write(graph),
        }))
    })
}
