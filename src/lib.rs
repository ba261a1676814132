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
//! use tbaa::{AliasResult, Graph, Oracle, Rules, text};
//!
//! let mut graph = Graph::new();
//! let mut b = graph.builder();
//! let root = b.root("Simple C / C++ TBAA")?;
//! let char = b.scalar_type("omnipotent char", root)?;
//! let pointer = b.scalar_type("any pointer", char)?;
//! let number = b.scalar_type("long long", char)?;
//! let short = b.scalar_type("short", char)?;
//!
//! // struct CallInfo { TValue *func, *top; ... }, at 64-bit offsets
//! let call_info = b.struct_type("CallInfo", &[(pointer, 0), (pointer, 8)])?;
//! let slot = b.struct_type("TValue", &[(number, 0), (short, 8)])?;
//!
//! let load_top = b.struct_tag(call_info, pointer, 8, false)?;
//! let store_number = b.struct_tag(slot, number, 0, false)?;
//! let store_pointer = b.struct_tag(pointer, pointer, 0, false)?;
//!
//! let oracle = Oracle::new(&graph, Rules::Llvm);
//! assert_eq!(oracle.alias(load_top, store_number), AliasResult::NoAlias);
//! assert_eq!(oracle.alias(load_top, store_pointer), AliasResult::MayAlias);
//!
//! assert!(text::write(&graph).contains(r#"!{!"CallInfo", !2, i64 0, !2, i64 8}"#));
//! # Ok::<(), tbaa::BuildError>(())
//! ```
//!
//! # Map
//!
//! Data flows one way: text or builder, graph, oracle, answer, text.
//!
//! | part | what it does |
//! |---|---|
//! | [`Builder`] | makes well-formed nodes, as LLVM's `MDBuilder` |
//! | [`Graph`] | holds each node once; [`TypeNode`] and [`Tag`] read them |
//! | [`Oracle`] | answers queries on [`Access`]es by one of the [`Rules`], with an [`Explanation`] |
//! | [`verify`] | says what LLVM's verifier says of a tag |
//! | [`types`] | LLVM's own types and data layouts: sizes, alignments, offsets |
//! | [`text`] | reads `.ll` modules; writes metadata for LLVM and MLIR |
//! | [`spec`] | reads and writes RON specs: types, tags, expected answers |
//!
//! # Features
//!
//! `spec` (default) brings [`spec`] and `serde` for the data types. Without
//! it the crate depends on `indexmap`, `hashbrown`, `petgraph` and `memchr`.

#![forbid(unsafe_code)]

mod builder;
pub mod declare;
mod graph;
mod nearest;
mod oracle;
#[cfg(feature = "spec")]
pub mod spec;
mod table;
pub mod text;
pub mod types;
pub mod verify;

// The version of petgraph that `Graph::type_dag` speaks.
pub use petgraph;

pub use builder::{BuildError, Builder, SizedField};
pub use graph::{
    CopyEntry, CopyId, Edge, Field, Format, Graph, GraphError, Int, MalformedTag, NodeId, Operand,
    Tag, TagId, TypeDag, TypeId, TypeKind, TypeNode,
};
pub use oracle::{
    Access, AccessKind, AccessPath, AliasResult, ByteRange, Clause, Comparison, Conflict, Elements,
    Explanation, Oracle, PathStep, Rules, Side,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../docs/tbaa.md")]
mod guide {}

#[cfg(doctest)]
#[doc = include_str!("../docs/rules.md")]
mod rules {}
