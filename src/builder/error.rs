//! The errors of the builder.

use crate::graph::{Format, GraphError, NodeId, TypeId};

/// The reason why the builder refused a request. Nothing was added to the graph.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The graph rejects the node, for instance because the graph is full.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// An id of another graph.
    #[error("{argument}: the id was issued by another graph")]
    ForeignId {
        /// The argument's name: `"parent"`, `"base"`, `"access"`, `"field 2"`, ...
        argument: String,
    },
    /// A malformed type or tag node. The builder adds none, but the text reader may.
    #[error("{argument}: a malformed node; `verify` says what is wrong with it")]
    Malformed {
        /// The argument.
        argument: String,
        /// The node.
        node: NodeId,
    },
    /// An old-format struct type without fields. LLVM would read the struct's node as a root.
    #[error(
        "struct {name:?} has no fields: its old-format node would read as a root; leave it out, or \
         make it a scalar"
    )]
    NoFields {
        /// The struct's name.
        name: String,
    },
    /// A field whose type is a root. No memory has a root as its type.
    #[error("field {field} of {name:?} is of root type: give a scalar or a struct")]
    RootAsField {
        /// The struct's name.
        name: String,
        /// The field's position, from 0.
        field: usize,
        /// The root.
        root: TypeId,
    },
    /// A field that starts before the previous field. Fields with equal offsets make a union.
    #[error(
        "field {field} of {name:?} at offset {offset} follows one at {previous}: offsets must not \
         descend, sort the fields"
    )]
    DescendingOffset {
        /// The struct's name.
        name: String,
        /// The field's position, from 0.
        field: usize,
        /// The field's offset, in bytes.
        offset: u64,
        /// The offset of the previous field.
        previous: u64,
    },
    /// Old-format and size-aware nodes under one root. LLVM would answer NoAlias for their tags.
    #[error(
        "{argument}: {} nodes; keep to one format per root",
        .wanted.choose(
            "an old-format node under a root that has size-aware",
            "a size-aware node under a root that has old-format"
        )
    )]
    MixedFormats {
        /// The argument.
        argument: String,
        /// The format of the node that was to be added.
        wanted: Format,
        /// The type that was given as the argument.
        ty: TypeId,
    },
    /// A field whose root differs from the root of the parent or of the first field.
    #[error("{argument}: of another root than what stands before it")]
    MixedRoots {
        /// The argument.
        argument: String,
        /// The field's type.
        ty: TypeId,
    },
    /// A tag whose base type or access type is a root.
    #[error("{argument}: a root is no type of any memory; give a type under it")]
    RootInTag {
        /// `"base"` or `"access"`.
        argument: String,
        /// The root.
        root: TypeId,
    },
    /// An old-format tag that accesses a whole aggregate. Only size-aware tags may do this.
    #[error(
        "access type {access:?} is a struct: an old-format tag must end at a scalar; tag each \
         field, or use the size-aware format"
    )]
    AggregateAccess {
        /// The access type's name.
        access: String,
        /// The access type.
        ty: TypeId,
    },
    /// An old-format scalar whose parent is a struct. LLVM would read the scalar as a struct.
    #[error("parent {parent:?} is a struct: a scalar's parent is a scalar or a root")]
    AggregateParent {
        /// The parent's name.
        parent: String,
        /// The parent.
        ty: TypeId,
    },
    /// A tag with an offset other than 0 into a scalar.
    #[error("offset {offset} into scalar {base:?}: a scalar has offset 0 only")]
    OffsetInScalar {
        /// The base type's name.
        base: String,
        /// The offset, in bytes.
        offset: u64,
        /// The base type.
        ty: TypeId,
    },
    /// A tag whose base type does not have the access type at the offset.
    #[error("no path from {base:?} {}", no_path(.access, .offset, .limit))]
    NoPath {
        /// The base type's name.
        base: String,
        /// The access type's name.
        access: String,
        /// The offset, in bytes from the start of the base type.
        offset: u64,
        /// True if the search stopped at its limit, because there are too many paths to try.
        limit: bool,
        /// The base type.
        base_ty: TypeId,
        /// The access type.
        access_ty: TypeId,
    },
    /// A struct copy with an entry that starts before the previous entry ends, or that ends at an
    /// offset of 2^64 or more.
    #[error("entry {entry} of the struct copy starts before the one in front ends, or has no end")]
    OverlappingCopy {
        /// The entry's position, from 0.
        entry: usize,
    },
}

fn no_path(access: &str, offset: &u64, limit: &bool) -> String {
    match limit {
        false => format!(
            "ends at {access:?} at offset {offset}: give the offset of a field of that type"
        ),
        true => format!(
            "to {access:?} at offset {offset} was found among the first {}: use the size-aware format, \
             which says where fields end",
            super::path::LIMIT
        ),
    }
}
