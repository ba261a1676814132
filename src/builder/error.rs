//! What the builder refuses.

use std::fmt;

use crate::graph::{Format, GraphError, NodeId, TypeId};

/// Why the builder refused a request. Nothing was added to the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The graph is full.
    Graph(GraphError),
    /// An id that another graph issued.
    ForeignId {
        /// Which argument: `"parent"`, `"base"`, `"access"`, `"field 2"`, ...
        argument: String,
    },
    /// A type node that no well-formed node may refer to, which only a text
    /// can bring in.
    Malformed {
        /// Which argument.
        argument: String,
        /// The node.
        node: NodeId,
    },
    /// A struct type of the old format without fields: its node would read as
    /// a root, and a tag under a different root may alias everything.
    NoFields {
        /// The struct's name.
        name: String,
    },
    /// A field of root type: a root is no type of any memory.
    RootAsField {
        /// The struct's name.
        name: String,
        /// The field's position, from 0.
        field: usize,
        /// The root.
        root: TypeId,
    },
    /// A field that starts before the field in front of it. LLVM requires
    /// offsets to ascend; equal offsets make a union.
    DescendingOffset {
        /// The struct's name.
        name: String,
        /// The field's position, from 0.
        field: usize,
        /// Its offset, in bytes.
        offset: u64,
        /// The offset of the field in front of it.
        previous: u64,
    },
    /// Old-format and size-aware nodes under one root: LLVM answers NoAlias
    /// between them, silently.
    MixedFormats {
        /// Which argument.
        argument: String,
        /// The format of the node being made.
        wanted: Format,
        /// The argument.
        ty: TypeId,
    },
    /// A field under another root than the fields (or the parent) before it.
    MixedRoots {
        /// Which argument.
        argument: String,
        /// The argument.
        ty: TypeId,
    },
    /// A tag of or into a root.
    RootInTag {
        /// `"base"` or `"access"`.
        argument: String,
        /// The root.
        root: TypeId,
    },
    /// An old-format tag whose access type has fields; only size-aware tags
    /// may access an aggregate as a whole.
    AggregateAccess {
        /// The access type's name.
        access: String,
        /// The access type.
        ty: TypeId,
    },
    /// An old-format scalar under a struct: LLVM would read it as a struct with
    /// one field.
    AggregateParent {
        /// The parent's name.
        parent: String,
        /// The parent.
        ty: TypeId,
    },
    /// An offset other than 0 into a scalar.
    OffsetInScalar {
        /// The base type's name.
        base: String,
        /// The offset, in bytes.
        offset: u64,
        /// The base type.
        ty: TypeId,
    },
    /// No path from the base type ends at the access type at that offset.
    NoPath {
        /// The base type's name.
        base: String,
        /// The access type's name.
        access: String,
        /// The offset, in bytes from the start of the base type.
        offset: u64,
        /// Whether the search was given up: overlapping fields of unknown size
        /// can lead to an offset in more ways than can be tried.
        limit: bool,
        /// The base type.
        base_ty: TypeId,
        /// The access type.
        access_ty: TypeId,
    },
    /// An entry of a struct copy that starts before the end of the entry in
    /// front of it, or ends past byte 2^64.
    OverlappingCopy {
        /// The entry's position, from 0.
        entry: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Graph(error) => write!(f, "{error}"),
            BuildError::ForeignId { argument } => {
                write!(f, "{argument}: the id was issued by another graph")
            }
            BuildError::Malformed { argument, .. } => {
                write!(f, "{argument}: a malformed node; `verify` says what is wrong with it")
            }
            BuildError::NoFields { name } => write!(
                f,
                "struct {name:?} has no fields: its old-format node would read as a root; \
                 leave it out, or make it a scalar"
            ),
            BuildError::RootAsField { name, field, .. } => {
                write!(f, "field {field} of {name:?} is of root type: give a scalar or a struct")
            }
            BuildError::DescendingOffset { name, field, offset, previous } => write!(
                f,
                "field {field} of {name:?} at offset {offset} follows one at {previous}: \
                 offsets must not descend, sort the fields"
            ),
            BuildError::MixedFormats { argument, wanted, .. } => {
                let (this, other) = match wanted {
                    Format::Old => ("an old-format", "size-aware"),
                    Format::New => ("a size-aware", "old-format"),
                };
                write!(
                    f,
                    "{argument}: {this} node under a root that has {other} nodes; \
                     keep to one format per root"
                )
            }
            BuildError::MixedRoots { argument, .. } => {
                write!(f, "{argument}: of another root than what stands before it")
            }
            BuildError::RootInTag { argument, .. } => {
                write!(f, "{argument}: a root is no type of any memory; give a type under it")
            }
            BuildError::AggregateAccess { access, .. } => write!(
                f,
                "access type {access:?} is a struct: an old-format tag must end at a scalar; \
                 tag each field, or use the size-aware format"
            ),
            BuildError::AggregateParent { parent, .. } => {
                write!(f, "parent {parent:?} is a struct: a scalar's parent is a scalar or a root")
            }
            BuildError::OffsetInScalar { base, offset, .. } => {
                write!(f, "offset {offset} into scalar {base:?}: a scalar has offset 0 only")
            }
            BuildError::NoPath { base, access, offset, limit: false, .. } => write!(
                f,
                "no path from {base:?} ends at {access:?} at offset {offset}: \
                 give the offset of a field of that type"
            ),
            BuildError::NoPath { base, access, offset, limit: true, .. } => write!(
                f,
                "no path from {base:?} to {access:?} at offset {offset} was found among the first \
                 {}: use the size-aware format, which says where fields end",
                super::path::LIMIT
            ),
            BuildError::OverlappingCopy { entry } => {
                write!(
                    f,
                    "entry {entry} of the struct copy starts before the one in front ends, or has no end"
                )
            }
        }
    }
}

impl std::error::Error for BuildError {
    /// The text is that of an error inside, and so is the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Graph(error) => error.source(),
            _ => None,
        }
    }
}

impl From<GraphError> for BuildError {
    fn from(error: GraphError) -> Self {
        BuildError::Graph(error)
    }
}
