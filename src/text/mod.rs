//! `.ll` text in and out.
//!
//! [`read`] takes the TBAA out of a module that any LLVM since 3.0 printed:
//! metadata nodes, and the instructions that use them. Everything else is
//! passed over and never rejected. [`write()`] prints a graph as metadata that
//! `llvm-as` accepts and [`read`] reads back as an equal graph.
//!
//! Strings are bytes: a text need not be UTF-8.

mod cursor;
mod error;
mod function;
mod mlir;
mod module;
mod node;
mod read;
mod resolve;
mod scan;
mod write;

#[cfg(feature = "spec")]
pub(crate) use cursor::unescape;
pub use error::{TextError, TextErrorKind, position};
pub use mlir::{MlirError, write_mlir};
pub use module::{Instruction, Module, Opcode, Warning};
pub use node::MAX_INLINE_DEPTH;
pub use read::{read, read_with};
pub use resolve::Keep;
pub use write::{write, write_operands};

/// Named metadata in which [`write()`] lists tags, so that `llvm-as` and
/// `opt` keep them although no instruction uses them.
pub(crate) const TAGS: &str = "tbaa.tags";
/// The same for `tbaa.struct` nodes.
pub(crate) const COPIES: &str = "tbaa.structs";
/// The same for types that no tag reaches.
pub(crate) const TYPES: &str = "tbaa.types";
