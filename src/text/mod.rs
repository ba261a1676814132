//! Writes metadata in the forms of LLVM and MLIR.
//!
//! The crate `tbaa-ir` reads LLVM's form, and exports these functions too.

mod mlir;
mod write;

pub use mlir::{MlirError, write_mlir, write_mlir_numbered};
#[doc(hidden)]
pub use write::write_two;
pub use write::{Numbering, write, write_numbered, write_operands};

/// The named metadata in which [`write()`] lists tags, so that `llvm-as` and `opt` keep tags that
/// no instruction uses.
#[doc(hidden)]
pub const TAGS: &str = "tbaa.tags";
/// The named metadata that lists `!tbaa.struct` nodes.
#[doc(hidden)]
pub const COPIES: &str = "tbaa.structs";
/// The named metadata that lists types to which neither a tag nor an earlier listed type leads.
#[doc(hidden)]
pub const TYPES: &str = "tbaa.types";
