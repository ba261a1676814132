//! The reasons why a module gets no tags, and why an access gets none.

use tbaa::BuildError;
use tbaa_ir::TextError;
use tbaa_ir::types::ParseError;

/// The reason why a module gets no tags.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The module has no data layout, so the offsets of members are unknown.
    #[error(
        "no `target datalayout`, without which nobody knows where members stand: set the module's \
         data layout to that of the target machine"
    )]
    NoLayout,
    /// The module's language allows memory to be accessed as any type.
    #[error("made from {0}, which allows memory to be accessed as any type: tags would be wrong")]
    Language(&'static str),
    /// A definition of a struct type cannot be read.
    #[error(transparent)]
    Type(ParseError),
    /// A struct type of the module differs from the declared record with the same name.
    #[error(
        "%{ty} is not {record:?} as declared: {contradiction}; declare the members and the padding \
         that the module has, or give one of the two another name"
    )]
    Layout {
        /// The name of the struct type.
        ty: String,
        /// The name of the declared record.
        record: String,
        /// The difference between the two layouts.
        contradiction: String,
    },
    /// The tags do not fit into a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The tags cannot be written into the text.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// The reason why an access gets no tag. Its *path* is the `getelementptr`s behind its pointer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untagged {
    /// The access already has a tag, which is not changed.
    #[error("has a tag already")]
    Tagged,
    /// The access is to a stack slot itself, and LLVM promotes such slots to registers.
    #[error("a stack slot itself: LLVM keeps it in registers")]
    Slot,
    /// The access's pointer does not address a member of a struct.
    #[error("no member of a struct")]
    NoMember,
    /// A `getelementptr` is on `i8`, or a byte is accessed as another type, or vice versa.
    #[error("behind a getelementptr that counts bytes")]
    Bytes,
    /// An index may lead out of the member: a `getelementptr`'s first index, or, if something may
    /// follow an array, an index past its end, or a variable index at length 0 or 1.
    #[error("an index may lead out of the member")]
    Index,
    /// The access's type differs from the type in memory: a cast, or a union.
    #[error("another type than the one at its place: a cast or a union")]
    Type,
    /// The access is to an element of a byte array, which may contain anything.
    #[error("an element of an array of bytes")]
    ByteArray,
    /// The pointer comes from `phi`, `select` or `freeze`, and may be to the middle of an object.
    #[error("a pointer into an object that phi, select or freeze made")]
    Joined,
    /// The access is atomic.
    #[error("an atomic access")]
    Atomic,
    /// The access is to a vector or an aggregate.
    #[error("a vector or an aggregate")]
    NotScalar,
    /// A type on the path is named by [`Options::opaque`](crate::Options::opaque), or by
    /// [`Options::union`](crate::Options::union) while
    /// [`Options::elements`](crate::Options::elements) is set.
    #[error("through a type that was declared opaque or, with elements, a union")]
    Opaque,
    /// One function uses the same pointer as two types with different members.
    #[error("one pointer is used as two types with different members")]
    Overlap,
    /// No type on the path is declared.
    #[error("through no declared struct or union")]
    Undeclared,
    /// No declared member has the path, the offset and the size of the access.
    #[error("no declared member has this offset and size")]
    NoDeclared,
    /// Several members of a declared union fit the access, and they have different tags.
    #[error("members of a declared union fit that have different tags")]
    Several,
    /// The access is a store to a member that is declared immutable.
    #[error("a store to a member that is declared immutable")]
    Constant,
    /// A pointer or type on the path cannot be read, or has no known size.
    #[error("a pointer or type that cannot be read or has no size")]
    Unread,
}
