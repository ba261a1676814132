//! Type-based alias analysis: build LLVM TBAA metadata, store the type DAG,
//! and ask whether two accesses may alias.

mod builder;
mod graph;
mod oracle;
#[cfg(feature = "spec")]
pub mod spec;
pub mod text;
pub mod verify;

pub use builder::{BuildError, Builder, SizedField};
pub use graph::{
    CopyEntry, CopyId, Edge, Field, Format, Graph, GraphError, Int, MalformedTag, NodeId, Operand,
    Tag, TagId, TypeDag, TypeId, TypeKind, TypeNode,
};
pub use oracle::{
    Access, AccessKind, AccessPath, AliasResult, ByteRange, Clause, Comparison, Conflict, Elements,
    Explanation, Oracle, PathStep, Rules, Side,
};
