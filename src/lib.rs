//! Type-based alias analysis: build LLVM TBAA metadata, store the type DAG,
//! decide whether two accesses may alias, write `!tbaa` text.
//!
//! A compiler that knows the types of its program knows that a store to an `int` does not change
//! any `float`. LLVM represents this knowledge as `!tbaa` metadata: a load or store can have a tag,
//! which refers to a position in a DAG of types. This crate makes such metadata. It also answers
//! alias queries as LLVM would answer them, without LLVM.
//!
//! # Example
//!
//! A value in Lua is a union, next to a number that says which member is stored. The example asks
//! which accesses may touch the same bytes. A [`Builder`] makes the nodes, like LLVM's `MDBuilder`.
//! A [`Graph`] stores them, an [`Oracle`] answers, and [`text::write`] writes the metadata.
//!
//! ```
//! use tbaa::{Access, AliasRule, Graph, Oracle, SizedField, text};
//!
//! let mut graph = Graph::new();
//! let mut b = graph.builder();
//! let root = b.root("Lua")?;
//! let pointer = b.sized_type(root, 8, "pointer", &[])?;
//! let number = b.sized_type(root, 8, "number", &[])?;
//! let kind = b.sized_type(root, 2, "kind", &[])?;
//! let field = |ty, offset, size| SizedField { ty, offset, size };
//! let value = b.sized_type(root, 8, "Value", &[field(pointer, 0, 8), field(number, 0, 8)])?;
//! let object = b.sized_type(root, 16, "TValue", &[field(value, 0, 8), field(kind, 8, 2)])?;
//! let gc = b.access_tag(object, pointer, 0, 8)?;
//! let n = b.access_tag(object, number, 0, 8)?;
//! let tt = b.access_tag(object, kind, 8, 2)?;
//!
//! let oracle = Oracle::new(&graph, AliasRule::Union);
//! assert!(oracle.may_alias(gc, n)); // members of one union
//! assert!(!oracle.may_alias(n, tt));
//! assert!(oracle.may_alias(Access::from(n).with_size(16), tt)); // a copy of all 16 bytes
//! assert!(text::write(&graph).contains("!{!2, i64 2, !\"kind\"}"));
//! # Ok::<(), tbaa::BuildError>(())
//! ```
//!
//! # Declare types
//!
//! It is easier to declare the structs as in C. The library then lays them out, and a [`Session`]
//! returns the tag for a path. Types can be declared while the program is being compiled.
//!
//! ```
//! use tbaa::declare::{Declarations, Record, Target};
//! use tbaa::{AliasResult, Session};
//!
//! let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
//! let value = Record::union("").field("gc", "void *").field("n", "double");
//! session.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
//! let frame = Record::structure("").field("base", "TValue *").field("savedpc", "int *");
//! session.define(Record::structure("CallInfo").field("func", "TValue *").field("l", frame))?;
//!
//! // A Lua compiler reloads the base of the stack before every opcode: may a store change it?
//! let load_base = session.tag("CallInfo.l.base")?;
//! let store_number = session.tag("TValue.value.n")?;
//! let store_pointer = session.tag("*void *")?;
//! assert_eq!(session.alias(load_base, store_number), AliasResult::NoAlias);
//! assert_eq!(session.alias(load_base, store_pointer), AliasResult::MayAlias);
//! # Ok::<(), tbaa::declare::DeclareError>(())
//! ```
//!
//! Stock LLVM crashes on some of these tags. So lower them first: `tbaa-lower` turns them into tags
//! that LLVM answers soundly. Tags of [`Session::like_clang`] can be given to LLVM unchanged.
//!
//! # Map
//!
//! Data flows one way: builder or declarations, graph, oracle, answer.
//!
//! | part | what it does |
//! |---|---|
//! | [`Builder`] | makes well-formed nodes, like LLVM's `MDBuilder` |
//! | [`Graph`] | stores each node once; [`TypeNode`] and [`Tag`] read the nodes |
//! | [`Oracle`] | answers queries about [`Access`]es by an [`AliasRule`]; explains answers: [`explain`] |
//! | [`text`] | writes metadata for LLVM and MLIR |
//! | [`declare`], [`Session`] | lays out structs and returns the tag of an access by its path; combines types, graph and oracle |
//! | [`Publisher`], [`Reader`] | let many threads query, without waiting, while one thread adds types and tags |
//! | [`Matrix`], [`Classes`] | answer all pairs of many tags at once |
//! | [`Masks`], [`MemoryEffect`] | the answers for a fixed list of accesses as bits; effects of calls |
//! | [`raw`] | adds the nodes of a text unchanged |
//! | [`wellformed`] | checks a tag as LLVM's verifier does |
//! | [`types`] | LLVM's own types and data layouts: sizes, alignments, offsets |
//! | [`spec`] | reads and writes RON specs: types, tags, expected answers |
//!
//! The other crates:
//!
//! | crate | what it does |
//! |---|---|
//! | `tbaa-lex`, `tbaa-types` | read the tokens of LLVM's text; LLVM's types and data layouts |
//! | `tbaa-ir` | reads `.ll` modules: metadata, instructions, debug information; edits them |
//! | `tbaa-check` | reports tags that LLVM rejects, and wrong ones that it accepts; links modules |
//! | `tbaa-lower` | turns tags into ones that stock LLVM answers soundly; passes nodes to LLVM |
//! | `tbaa-tag` | makes tags for a module that has none |
//! | `tbaa-instrument`, `tbaa-witness` | add run-time checks of tags to modules; the runtime of these checks |
//! | `tbaa-inkwell`, `tbaa-capi` | attach tags through inkwell, and from C and C++ |
//! | `tbaa-cranelift` | makes alias regions for Cranelift, and checks them |
//! | `tbaa-derive` | `#[derive(Tbaa)]` and `path!`, for the feature `derive` |
//! | `tbaa-plugin` | a plugin for LLVM 22, so that LLVM's passes use an oracle's answers |
//! | `tbaa-cli` | the command `tbaa` |
//!
//! The [`guide`] explains TBAA, the rules and each of these parts.
//!
//! # Features
//!
//! * `declare`: [`declare`] and [`Session`];
//! * `spec`, the default: [`spec`], and `serde` for the data types; enables `declare`;
//! * `derive`: `#[derive(Tbaa)]` and `path!` in [`declare`]; enables `declare`;
//! * `equal`: compares and merges the types of several modules, in [`types`]; enables `declare`.

#![forbid(unsafe_code)]

mod access;
mod builder;
#[cfg(feature = "declare")]
pub mod declare;
mod extent;
mod fnv;
mod forest;
mod graph;
// The guide's examples use all crates, so the crate `tests` runs them.
#[cfg(all(doc, not(doctest)))]
pub mod guide;
#[cfg(feature = "declare")]
mod nearest;
mod oracle;
#[cfg(test)]
mod random;
#[cfg(feature = "declare")]
mod session;
#[cfg(feature = "spec")]
pub mod spec;
mod table;
pub mod text;
mod type_set;
mod walks;
pub mod wellformed;

// The version of petgraph that the signature of `Graph::type_dag` uses.
pub use petgraph;
// LLVM's types, which the signatures in `declare` use.
#[cfg(feature = "declare")]
pub use tbaa_types as types;

pub use builder::{BuildError, Builder, SizedField};
pub use extent::Size;
pub use graph::{
    CopyEntry, CopyId, Edge, Field, Format, Graph, GraphError, Int, MalformedTagError, NodeId,
    Operand, Tag, TagId, TypeDag, TypeId, TypeKind, TypeNode,
};
pub use oracle::{
    Access, AccessKind, AliasResult, AliasRule, Classes, Conflict, Masks, MasksError, Matrix,
    MemoryEffect, Oracle, Publisher, Reader, UnknownRuleError,
};

/// The types that describe the result of [`Oracle::explain`].
pub mod explain {
    pub use crate::oracle::{
        AccessPath, Apart, ByteRange, Clause, Comparison, Elements, Explanation, PathStep, Side,
    };
}

/// For programs that read texts: functions that store nodes unchanged, even if LLVM rejects them.
pub mod raw {
    pub use crate::graph::{Draft, DraftOperand, RawGraph};
}

#[cfg(feature = "declare")]
pub use session::Session;

/// Code that several crates of this project use. It may change in any version.
#[doc(hidden)]
pub mod parts {
    pub use crate::fnv::fnv;
    pub use crate::graph::{CLANG_ROOTS, Shape, TagParts, encoding, import, is_clang_root};
    #[cfg(feature = "declare")]
    pub use crate::nearest::nearest;
    pub use crate::oracle::{Pairs, Vicinity};
    pub use crate::text::{COPIES, TAGS, TYPES, write_two};
    pub use crate::type_set::ones;
    pub use crate::wellformed::Verdicts;

    pub mod table {
        pub use crate::table::*;
    }
}
