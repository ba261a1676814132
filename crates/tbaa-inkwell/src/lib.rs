//! TBAA for JIT front ends that use LLVM through inkwell.
//!
//! Types are declared with [`tbaa::declare`], and each access names its
//! [`Place`](tbaa::declare::Place); a [`Tagger`] attaches to the instruction
//! what LLVM should know of it. [`LlvmSink`] is the same for front ends that use
//! `llvm-sys`.
//!
//! # Features
//!
//! One for each version of LLVM, named as inkwell's, of which exactly one must
//! be on: `llvm22-1-prefer-dynamic` is the default, and what is tested. For
//! another, switch the default features off. How LLVM is linked is a matter of
//! inkwell's own features.

mod helpers;
mod instrument;
mod read;
mod sink;
mod tagger;

pub use helpers::{HelperError, Helpers};
pub use instrument::{InstrumentError, instrument};
pub use read::ModuleTags;
pub use sink::{LlvmSink, Metadata, SinkError};
pub use tagger::{AttachError, Tagger};

// The version of inkwell that is spoken here.
pub use inkwell;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/embed-inkwell.md")]
mod guide {}
