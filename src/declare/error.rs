//! The errors of declarations and paths.

use super::DeclId;
use crate::builder::BuildError;
use crate::nearest::hint;

/// The reason why a declaration or a path was refused. The declarations are as they were,
/// but that types named in it as `struct X` may have been declared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// Text that is no type or path.
    #[error("expected {expected} at byte {offset} of {text:?}")]
    Syntax {
        /// The text.
        text: String,
        /// The offset of the error in the text, in bytes.
        offset: usize,
        /// The text that is required there.
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
        /// The nearest name, if one is near.
        nearest: Option<String>,
    },
    /// A name that no member has.
    #[error("no field {name:?} in {record:?}{}", hint(.nearest.as_deref(), "none is near in name"))]
    UnknownField {
        /// The record.
        record: String,
        /// The name.
        name: String,
        /// The nearest member, if one is near.
        nearest: Option<String>,
        /// The record.
        id: DeclId,
    },
    /// A second type of one name.
    #[error("a second type {name:?}: rename one")]
    Redefined {
        /// The name.
        name: String,
        /// The type that has it.
        first: DeclId,
    },
    /// A record that is declared already, with other contents.
    #[error("{name:?} is declared already, and {change}: rename one, or declare it once")]
    Changed {
        /// The name.
        name: String,
        /// The difference.
        change: String,
        /// The type that has the name.
        first: DeclId,
    },
    /// A second member of one name; members of anonymous ones count.
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
        /// The type.
        ty: String,
        /// The use that needs a size.
        place: String,
        /// The type.
        id: DeclId,
    },
    /// A member, an attribute or a type that cannot be so.
    #[error("{place}: {reason}")]
    Invalid {
        /// The name of a record or a type, with that of the member.
        place: String,
        /// The mistake and its remedy.
        reason: &'static str,
    },
    /// A step of a path that the type there does not have.
    #[error("{path:?} is of type {ty:?}: {reason}")]
    Step {
        /// The path up to the step.
        path: String,
        /// The type there.
        ty: String,
        /// The mistake and its remedy.
        reason: &'static str,
        /// The type.
        id: DeclId,
    },
    /// A constant index past the end of an array.
    #[error("index {index} into {path:?}, which has {len} elements")]
    OutOfBounds {
        /// The path up to the index.
        path: String,
        /// The index.
        index: u64,
        /// The number of elements.
        len: u64,
    },
    /// An access that the policy gives no tag.
    #[error("no tag for {path:?}: {reason}")]
    Untagged {
        /// The path.
        path: String,
        /// The reason and the remedy.
        reason: &'static str,
    },
    /// A member that has another type in a module that clang compiled.
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
    /// An impossible explicit offset.
    #[error("{place}: offset {offset} {reason}")]
    Offset {
        /// The record, with the member.
        place: String,
        /// The offset: in bytes, of a bit-field in bits.
        offset: u64,
        /// The mistake in it.
        reason: String,
    },
    /// An explicit size that cannot be.
    #[error("{place}: a size of {size} bytes, {reason}")]
    Size {
        /// The record.
        place: String,
        /// The size, in bytes.
        size: u64,
        /// The mistake in it.
        reason: String,
    },
    /// 2^32 declarations, or a type of 2^56 bytes or more.
    #[error("{place}: too large: types have less than 2^56 bytes")]
    TooLarge {
        /// The type, or the declarations.
        place: String,
    },
    /// An id that other declarations issued.
    #[error("an id that other declarations issued")]
    ForeignId,
    /// The builder's error.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The result of a step of a declaration.
pub(super) type Result<T, E = DeclareError> = std::result::Result<T, E>;

/// Returns [`DeclareError::Invalid`].
pub(super) fn invalid<T>(place: impl Into<String>, reason: &'static str) -> Result<T> {
    Err(DeclareError::Invalid { place: place.into(), reason })
}
