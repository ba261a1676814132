//! The errors of declarations and paths.

use super::DeclId;
use crate::builder::BuildError;
use crate::nearest::hint;

/// The reason why a declaration or a path was refused. After an error, some types may be
/// declared already: types inside the declaration, and types that a text calls `struct X`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// Text that is not a type or path.
    #[error("expected {expected} at byte {offset} of {text:?}")]
    Syntax {
        /// The text.
        text: String,
        /// The offset of the error in the text, in bytes.
        offset: usize,
        /// A description of what was expected there.
        expected: &'static str,
    },
    /// A name that no type has.
    #[error(
        "no type {name:?}{}",
        hint(.nearest.as_deref(), "declare it, or write `struct` before it behind a pointer")
    )]
    UnknownType {
        /// The name.
        name: String,
        /// The most similar name, if there is one.
        nearest: Option<String>,
    },
    /// A name that no member has.
    #[error("no field {name:?} in {record:?}{}", hint(.nearest.as_deref(), "none is near in name"))]
    UnknownField {
        /// The record's name.
        record: String,
        /// The name.
        name: String,
        /// The most similar member, if there is one.
        nearest: Option<String>,
        /// The record's id.
        id: DeclId,
    },
    /// A name that another type has already.
    #[error("a second type {name:?}: rename one")]
    Redefined {
        /// The name.
        name: String,
        /// The type that has the name.
        first: DeclId,
    },
    /// A record that is already declared, with different contents.
    #[error("{name:?} is declared already, and {change}: rename one, or declare it once")]
    Changed {
        /// The name.
        name: String,
        /// The difference to the first declaration.
        change: String,
        /// The first declaration.
        first: DeclId,
    },
    /// A second member with the same name. Members of anonymous members count too.
    #[error("a second field {name:?} in {record:?}: rename one")]
    DuplicateField {
        /// The record.
        record: String,
        /// The name.
        name: String,
    },
    /// A type without a size where one is needed.
    #[error("{place}: {ty:?} has no size here: define it first, or point to it")]
    Incomplete {
        /// The type, as text.
        ty: String,
        /// The use that needs the size.
        place: String,
        /// The type's id.
        id: DeclId,
    },
    /// A member, an attribute or a type that is not allowed.
    #[error("{place}: {reason}")]
    Invalid {
        /// The type, member or path with the mistake.
        place: String,
        /// The mistake.
        reason: &'static str,
    },
    /// A path with a step that the type before the step does not have.
    #[error("{path:?} is of type {ty:?}: {reason}")]
    Step {
        /// The path up to the step.
        path: String,
        /// The type before the step, as text.
        ty: String,
        /// The mistake.
        reason: &'static str,
        /// The type's id.
        id: DeclId,
    },
    /// A constant index past the end of an array or vector.
    #[error("index {index} into {path:?}, which has {len} elements")]
    OutOfBounds {
        /// The path up to the index.
        path: String,
        /// The index.
        index: u64,
        /// The number of elements.
        len: u64,
    },
    /// An access for which the policy allows no tag.
    #[error("no tag for {path:?}: {reason}")]
    Untagged {
        /// The path.
        path: String,
        /// The reason.
        reason: &'static str,
    },
    /// A member with another type than in a module that clang compiled.
    #[error(
        "{member}: declared as {ours:?}, and the compiled code accesses {theirs:?} there, which \
         LLVM would take for unrelated: declare the type that the header has"
    )]
    OtherType {
        /// The record and the member's offset.
        member: String,
        /// The declared type.
        ours: String,
        /// clang's type.
        theirs: String,
    },
    /// An explicit offset that is impossible.
    #[error("{place}: offset {offset} {reason}")]
    Offset {
        /// The record and the member.
        place: String,
        /// The offset in bytes; in bits for a bit-field.
        offset: u64,
        /// The mistake.
        reason: String,
    },
    /// An explicit size that is impossible.
    #[error("{place}: a size of {size} bytes, {reason}")]
    Size {
        /// The record or the Rust type.
        place: String,
        /// The size, in bytes.
        size: u64,
        /// The mistake.
        reason: String,
    },
    /// Too many declarations, or a type or path with a size or offset that is too large.
    #[error("{place}: too large: types have less than 2^56 bytes")]
    TooLarge {
        /// The type or path; "declarations" if there are too many.
        place: String,
    },
    /// An id of other declarations.
    #[error("an id that other declarations issued")]
    ForeignId,
    /// An error of the builder, which makes the nodes and tags.
    #[error(transparent)]
    Build(#[from] BuildError),
}

pub(super) type Result<T, E = DeclareError> = std::result::Result<T, E>;

pub(super) fn invalid<T>(place: impl Into<String>, reason: &'static str) -> Result<T> {
    Err(DeclareError::Invalid { place: place.into(), reason })
}
