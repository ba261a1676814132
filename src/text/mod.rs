//! Writing metadata in the forms of LLVM and MLIR.
//!
//! The crate `tbaa-ir` reads it, and has these functions too.

mod mlir;
mod write;

pub use mlir::{MlirError, write_mlir, write_mlir_numbered};
#[doc(hidden)]
pub use write::write_two;
pub use write::{Numbering, write, write_numbered, write_operands};

/// Named metadata in which [`write()`] lists tags, so that `llvm-as` and
/// `opt` keep them although no instruction uses them.
#[doc(hidden)]
pub const TAGS: &str = "tbaa.tags";
/// The same for `tbaa.struct` nodes.
#[doc(hidden)]
pub const COPIES: &str = "tbaa.structs";
/// The same for types that no tag reaches.
#[doc(hidden)]
pub const TYPES: &str = "tbaa.types";
