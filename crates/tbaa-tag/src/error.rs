//! The reasons why a module gets no tags, or an access has none.

use tbaa::BuildError;
use tbaa_ir::TextError;
use tbaa_ir::types::ParseError;

/// The reason why a module gets no tags.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The module does not determine the offsets of members.
    #[error(
        "no `target datalayout`, without which nobody knows where members stand: set the module's \
         data layout to that of the target machine"
    )]
    NoLayout,
    /// The module is of a language that allows what tags forbid.
    #[error("made from {0}, which allows memory to be accessed as any type: tags would be wrong")]
    Language(&'static str),
    /// A definition of a struct type cannot be read.
    #[error(transparent)]
    Type(ParseError),
    /// A struct type of the module has another layout than the declared record of its name.
    #[error(
        "%{ty} is not {record:?} as declared: {contradiction}; declare the members and the padding \
         that the module has, or give one of the two another name"
    )]
    Layout {
        /// The name of the struct type.
        ty: String,
        /// The declared record.
        record: String,
        /// The difference.
        contradiction: String,
    },
    /// The nodes do not fit into a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The tags cannot be put into the text.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// The reason why an access has no tag of ours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untagged {
    /// It has a tag already, which stays.
    #[error("has a tag already")]
    Tagged,
    /// It directly accesses a stack slot, which LLVM promotes to registers.
    #[error("a stack slot itself: LLVM keeps it in registers")]
    Slot,
    /// Its pointer does not address a member of a struct.
    #[error("no member of a struct")]
    NoMember,
    /// A `getelementptr` counts bytes.
    #[error("behind a getelementptr that counts bytes")]
    Bytes,
    /// An index may lead out of its member.
    #[error("an index may lead out of the member")]
    Index,
    /// A type differs from the one at its place: a cast, or a union.
    #[error("another type than the one at its place: a cast or a union")]
    Type,
    /// An element of an array of bytes, which may contain anything.
    #[error("an element of an array of bytes")]
    ByteArray,
    /// A pointer into an object from a `phi`, `select` or `freeze`.
    #[error("a pointer into an object that phi, select or freeze made")]
    Joined,
    /// An atomic access.
    #[error("an atomic access")]
    Atomic,
    /// A vector or an aggregate is accessed.
    #[error("a vector or an aggregate")]
    NotScalar,
    /// [`Options::opaque`](crate::Options::opaque) names a type on the path, or
    /// [`Options::union`](crate::Options::union) does and
    /// [`Options::elements`](crate::Options::elements) is set.
    #[error("through a type that was declared opaque or, with elements, a union")]
    Opaque,
    /// One function uses one pointer as two types with different members.
    #[error("one pointer is used as two types with different members")]
    Overlap,
    /// No type on the way is a declared one.
    #[error("through no declared struct or union")]
    Undeclared,
    /// No declared member has the offset and the size of the access.
    #[error("no declared member has this offset and size")]
    NoDeclared,
    /// Members of a declared union have the offset and the size of the access, but other tags.
    #[error("members of a declared union fit that have different tags")]
    Several,
    /// A store to a declared member that never changes.
    #[error("a store to a member that is declared immutable")]
    Constant,
    /// A pointer or type that cannot be read, or whose size nobody knows.
    #[error("a pointer or type that cannot be read or has no size")]
    Unread,
}
