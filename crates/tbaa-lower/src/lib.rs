//! Lowering: replaces tags that stock LLVM misinterprets by tags that it interprets correctly.
//!
//! LLVM follows only one member of a union, ignores sizes, and crashes on some tags. So tags that
//! are right by [`AliasRule::Union`](tbaa::AliasRule::Union) may cause a miscompilation. A
//! [`Lowering`] maps each tag (a source) to a tag in another graph. If the rule answers `MayAlias`
//! for two sources, LLVM does so for their new tags. For other pairs LLVM rarely does.
//!
//! ```
//! use tbaa::declare::{Declarations, Policy, Record, Target};
//! use tbaa_lower::{Lowering, Options};
//! use tbaa::{Graph, Oracle, AliasRule};
//!
//! let mut types = Declarations::new(Target::x86_64());
//! let value = Record::union("Value").field("gc", "void *").field("n", "double");
//! types.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
//! types.define(Record::structure("CallInfo").field("func", "TValue *").field("top", "TValue *"))?;
//!
//! let mut graph = Graph::new();
//! let mut types = types.into_tagged(Policy::Rfc);
//! let mut tag = |path| types.tag(&mut graph, path);
//! let (gc, n) = (tag("TValue.value.gc")?, tag("TValue.value.n")?);
//! let (tt, func) = (tag("TValue.tt")?, tag("CallInfo.func")?);
//!
//! let oracle = Oracle::new(&graph, AliasRule::Union);
//! let mut lowering = Lowering::new(Options::new());
//! lowering.lower(&oracle, [gc, n, tt, func])?;
//! assert_eq!(lowering.lost().pairs, 0);
//!
//! // LLVM 22's answers on the lowered tags:
//! let llvm = Oracle::new(lowering.graph(), AliasRule::Llvm);
//! assert!(llvm.may_alias(lowering.tag(gc), lowering.tag(n)), "one word of memory");
//! assert!(!llvm.may_alias(lowering.tag(n), lowering.tag(tt)));
//! assert!(!llvm.may_alias(lowering.tag(n), lowering.tag(func)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! For scalar types, LLVM answers `MayAlias` if one type is an ancestor of the other. So under one
//! root it can give exactly the answers that a forest can express, and any forest can be written as
//! scalar types. The pairs for which the rule answers `MayAlias` need not form a forest. So the
//! lowering computes a forest for all these pairs, in which LLVM answers `MayAlias` for few others.
//! `docs/lowering.md` explains the theory.
//!
//! Without [`Lowering::fix`], no other code uses the forest's root. When LLVM merges two accesses,
//! it uses the nearest common ancestor of their types, which aliases all that either may alias.

#![forbid(unsafe_code)]

mod answers;
mod batch;
mod clang;
mod classes;
mod complete;
pub mod emit;
mod error;
mod fingerprint;
mod fixed;
mod forest;
mod grow;
mod levels;
mod loss;
mod options;
mod place;
mod rank;
mod relation;
mod replay;
#[cfg(feature = "serde")]
mod saved;
mod scopes;
mod shared;
mod skeleton;
mod source;
mod state;
mod tally;
mod why;

pub use clang::{access_paths, tags_of_clang};
pub use classes::AccessClasses;
pub use error::LowerError;
pub use fixed::FixError;
pub use loss::Loss;
pub use options::{MAX_BYTES, MAX_DEPTH, Options};
pub use replay::ReplayError;
#[cfg(feature = "serde")]
pub use saved::{LoadError, Saved};
pub use scopes::AccessScopes;
pub use shared::Shared;
pub use source::Source;
pub use state::{Certificate, Lowering};
pub use why::Why;
