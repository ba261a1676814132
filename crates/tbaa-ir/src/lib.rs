//! Reads and writes `.ll` text.
//!
//! [`read`] reads the TBAA of a module printed by any LLVM since 3.0: metadata nodes, and the
//! instructions that access memory. [`write()`] prints a graph as metadata that `llvm-as` accepts
//! and that [`read`] reads as an equal graph. Operands that have no meaning outside their module
//! may differ; they occur only in malformed nodes. A [`Rewriter`] changes the attachments of
//! instructions in a text.
//!
//! Strings are bytes: a text need not be UTF-8.
//!
//! # Limits
//!
//! For LLVM a line end is ordinary white space. The reader relies on line ends in two places, where
//! LLVM's own printer always writes one:
//!
//! - An instruction starts a line, follows a label or a `!tbaa` attachment, or has a result, as in
//!   `%x = load`. If `store i8 0, ptr %p store i8 1, ptr %p` is on one line, the second store is
//!   not seen.
//! - A function's `define` starts a line. After a `declare` on the same line, for example, it is
//!   not seen.
//!
//! An instruction or a global variable may extend over several lines and contain comments.

#![forbid(unsafe_code)]

mod attachments;
mod attributes;
mod body;
#[cfg(feature = "declare")]
pub mod clang;
mod debug;
mod edits;
mod effects;
mod error;
mod flow;
mod function;
mod globals;
mod instruction;
mod module;
mod names;
mod node;
mod numbers;
mod opcode;
mod pointers;
mod read;
mod remedy;
mod resolve;
mod rewrite;
mod scan;
mod sizes;
mod span;
mod stops;
pub mod types;
mod unreadable;

pub use attributes::{Attribute, Attributes, Groups};
pub use body::{Alloca, Argument, Block, Call, Def, Function, Header, Inst, Value};
pub use debug::{DebugInfo, Location, Parameter};
pub use edits::Edits;
pub use effects::{Effects, MemoryEffects, MemoryLocation};
pub(crate) use error::Result;
pub use error::{MAX_INLINE_DEPTH, TextError, TextErrorKind};
pub use flow::{Flow, Loop, Visit};
#[doc(hidden)]
pub use globals::Global;
pub use module::{Instruction, Module, TypeDefinition, Warning, WarningKind};
pub use names::{Names, name_in_source};
pub use opcode::Opcode;
pub use pointers::{Address, Object, Pointers, Step};
#[doc(hidden)]
pub use read::read_or_return;
pub use read::{read, read_with};
pub use remedy::remedy;
pub use resolve::Keep;
pub use rewrite::Rewriter;
pub use sizes::{MemorySize, Sizes, Steps};
pub use tbaa::text::{
    MlirError, Numbering, write, write_mlir, write_mlir_numbered, write_numbered, write_operands,
};
pub use tbaa_lex::source::position;
#[doc(hidden)]
pub use tbaa_types::demangle::demangled_function;
#[doc(hidden)]
pub use unreadable::{Unreadable, WhyUnreadable};
