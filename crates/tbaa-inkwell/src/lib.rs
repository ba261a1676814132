//! TBAA for JIT front ends that use LLVM through inkwell.
//!
//! A [`Jit`] holds declared types, and returns a [`TaggedPlace`] for a path such as `Node.next`. A
//! [`Tagger`] attaches the place's metadata. [`LlvmSink`] is for front ends with `llvm-sys`.
//!
//! # Features
//!
//! There is one feature for each version of LLVM, with inkwell's names. Exactly one must be on.
//! `llvm22-1` is the default, and is tested. For another version, switch off the default features.
//! inkwell's own features, such as `llvm22-1-prefer-dynamic`, decide how LLVM is linked.
//!
//! `plugin`: adds `run_passes`, which runs LLVM 22's passes with the alias table that
//! [`TagForm::Classes`] adds to a module. This feature compiles C++ with LLVM's headers.

pub mod cache;
mod helpers;
mod instrument;
#[cfg(feature = "plugin")]
mod passes;
mod read;
mod relations;
mod sink;
mod size;
mod tag;
mod tagger;

pub use helpers::{HelperError, Helpers, check_shared};
pub use instrument::{InstrumentError, instrument};
#[cfg(feature = "plugin")]
pub use passes::run_passes;
pub use read::{Attached, ModuleTags};
pub use sink::{LlvmSink, Metadata, SinkError};
pub use tag::{TagCounts, TagModuleError, tag_module};
pub use tagger::{AttachError, Tagger};

pub use tbaa_tag::{Options as TagOptions, Untagged};

pub use tbaa_lower::emit::{
    Attachments, Jit, JitError, JitOptions, MisuseError, Recorded, TagForm, Tagged, TaggedPlace,
};

// The version of inkwell that this crate uses.
pub use inkwell;

#[cfg(doctest)]
#[doc = include_str!("../embed-inkwell.md")]
mod guide {}

#[cfg(doctest)]
#[doc = include_str!("../tag.md")]
mod tag_guide {}
