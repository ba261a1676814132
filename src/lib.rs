//! Type-based alias analysis: build LLVM TBAA metadata, store the type DAG,
//! ask whether two accesses may alias, read and write `!tbaa` text.
//!
//! A compiler that knows the types of its program knows that a store to an
//! `int` leaves every `float` as it was. LLVM carries that knowledge as
//! `!tbaa` metadata: a tag on each load and store, which names a place in a
//! DAG of types. This crate makes such metadata, and answers what LLVM would
//! answer on it, without LLVM.
//!
//! # Example
//!
//! A Lua compiler reloads the base of the stack before every opcode. May a
//! store into a stack slot change it?
//!
//! ```
//! use tbaa::declare::{Declarations, Policy, Record, Target};
//! use tbaa::{AliasResult, Rules, Session};
//!
//! // The structs as they are in C; where their members stand is computed.
//! let types = Declarations::new(Target::x86_64());
//! let mut session = Session::new(types, Policy::Rfc, Rules::Union);
//! let value = Record::union("").field("gc", "void *").field("n", "double");
//! session.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
//! let frame = Record::structure("").field("base", "TValue *").field("savedpc", "int *");
//! session.define(Record::structure("CallInfo").field("func", "TValue *").field("l", frame))?;
//!
//! let load_base = session.tag("CallInfo.l.base")?;
//! let store_number = session.tag("TValue.value.n")?;
//! let store_pointer = session.tag("*void *")?;
//! assert_eq!(session.alias(load_base, store_number), AliasResult::NoAlias);
//! assert_eq!(session.alias(load_base, store_pointer), AliasResult::MayAlias);
//! # Ok::<(), tbaa::declare::DeclareError>(())
//! ```
//!
//! # Map
//!
//! Data flows one way: declarations, text or builder, graph, oracle, answer,
//! text.
//!
//! | part | what it does |
//! |---|---|
//! | [`Session`] | holds declared types, graph and oracle as one |
//! | [`declare`] | lays out structs, and gives the tag of an access by its path |
//! | [`Builder`] | makes well-formed nodes, as LLVM's `MDBuilder` |
//! | [`Graph`] | holds each node once; [`TypeNode`] and [`Tag`] read them |
//! | [`Oracle`] | answers queries on [`Access`]es by one of the [`Rules`], with an [`Explanation`] |
//! | [`Publisher`], [`Reader`] | answers for threads that ask while one adds, without waiting |
//! | [`Matrix`], [`Classes`] | all pairs of many tags at once |
//! | [`verify`] | says what LLVM's verifier says of a tag, and reports all that is ill formed |
//! | [`lint`] | reports what LLVM accepts and is still wrong or suspicious |
//! | [`emit`] | hands nodes to LLVM, a text or a callback; says which tags LLVM gets wrong |
//! | [`lower`] | turns tags into others that stock LLVM answers soundly |
//! | [`mod@instrument`] | puts checks into a module's text, for `libtbaa_witness` |
//! | [`link`] | merges the graphs of several modules, and says where names clash |
//! | [`types`] | LLVM's own types and data layouts: sizes, alignments, offsets |
//! | [`text`] | reads `.ll` modules; writes metadata for LLVM and MLIR |
//! | [`spec`] | reads and writes RON specs: types, tags, expected answers |
//!
//! The [`guide`] explains TBAA, the rules, and each of these parts.
//!
//! # Features
//!
//! All but `derive` and `self-check` are on by default. Without any the crate is
//! the graph, the builder and the oracle, and depends on `indexmap`, `hashbrown`,
//! `petgraph` and `arc-swap`.
//!
//! * `text`: [`text`], [`types`], [`verify`], [`lint`] and [`link`];
//! * `declare`: [`declare`] and [`Session`]; brings `text`;
//! * `lower`: [`lower`] and [`emit`]; brings `declare`;
//! * `spec`: [`spec`], and `serde` for the data types; brings `declare`;
//! * `derive`: `#[derive(Tbaa)]` and `path!` in [`declare`];
//! * `self-check`: every answer is compared with the rule's definition.

#![forbid(unsafe_code)]
// The lower layers have functions that only the higher ones call.
#![cfg_attr(not(feature = "lower"), allow(dead_code, unreachable_pub))]

mod builder;
#[cfg(feature = "declare")]
pub mod declare;
mod diagnostic;
#[cfg(feature = "lower")]
pub mod emit;
mod forest;
mod graph;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "text")]
pub mod instrument;
pub mod link;
#[cfg(feature = "text")]
pub mod lint;
#[cfg(feature = "lower")]
pub mod lower;
#[cfg(feature = "declare")]
mod nearest;
mod oracle;
#[cfg(test)]
mod random;
#[cfg(feature = "declare")]
mod session;
#[cfg(feature = "text")]
mod source;
#[cfg(feature = "spec")]
pub mod spec;
#[cfg(feature = "text")]
mod subject;
mod table;
#[cfg(feature = "text")]
pub mod text;
#[cfg(feature = "text")]
pub mod types;
#[cfg(feature = "text")]
pub mod verify;
mod wellformed;

// The version of petgraph that `Graph::type_dag` speaks.
pub use petgraph;

pub use builder::{BuildError, Builder, SizedField};
pub use diagnostic::{
    Code, Diagnostic, FindingLimits, Findings, Label, LeftOut, Level, UnknownCode,
};
pub use graph::{
    CopyEntry, CopyId, Draft, DraftOperand, Edge, Field, Format, Graph, GraphError, Int,
    MalformedTag, NodeId, Operand, Tag, TagId, TypeDag, TypeId, TypeKind, TypeNode,
};
pub use oracle::{
    Access, AccessKind, AccessPath, AliasResult, Apart, ByteRange, Classes, Clause, Comparison,
    Conflict, Elements, Explanation, Matrix, Oracle, PathStep, Publisher, Reader, Rules, Side,
    UnknownRules,
};

#[cfg(feature = "declare")]
pub use session::Session;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
