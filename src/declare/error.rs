//! What is wrong with a declaration or a path.

use std::fmt;

use super::id::DeclId;
use crate::builder::BuildError;

/// Why a declaration or a path was refused. The declarations are as they were,
/// but that types named in it as `struct X` may have been declared.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DeclareError {
    /// Text that is no type or path.
    Syntax {
        /// The text.
        text: String,
        /// Where it is wrong: bytes from its start.
        offset: usize,
        /// What must stand there.
        expected: &'static str,
    },
    /// A name that no type has.
    UnknownType {
        /// The name.
        name: String,
        /// The nearest name, if one is near.
        nearest: Option<String>,
    },
    /// A name that no member has.
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
    Redefined {
        /// The name.
        name: String,
        /// The type that has it.
        first: DeclId,
    },
    /// A record that is declared already, with other contents.
    Changed {
        /// The name.
        name: String,
        /// What differs.
        change: String,
        /// The type that has the name.
        first: DeclId,
    },
    /// A second member of one name, those of anonymous members included.
    DuplicateField {
        /// The record.
        record: String,
        /// The name.
        name: String,
    },
    /// A type that has no size, where one is needed.
    Incomplete {
        /// The type.
        ty: String,
        /// What it was needed for.
        place: String,
        /// The type.
        id: DeclId,
    },
    /// A member, an attribute or a type that cannot be so.
    Invalid {
        /// What: a record's or a type's name, with that of the member.
        place: String,
        /// What is wrong and what to do.
        reason: &'static str,
    },
    /// A step of a path that the type there does not have.
    Step {
        /// The path up to the step.
        path: String,
        /// The type there.
        ty: String,
        /// What is wrong and what to do.
        reason: &'static str,
        /// The type.
        id: DeclId,
    },
    /// A constant index past the end of an array.
    OutOfBounds {
        /// The path up to the index.
        path: String,
        /// The index.
        index: u64,
        /// The number of elements.
        len: u64,
    },
    /// An access that the policy gives no tag.
    Untagged {
        /// The path.
        path: String,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// A member that has another type in a module that clang compiled.
    OtherType {
        /// The record and the member's offset.
        member: String,
        /// The declared type.
        ours: String,
        /// The type that clang says.
        theirs: String,
    },
    /// An explicit offset that cannot be.
    Offset {
        /// The record, with the member.
        place: String,
        /// The offset: in bytes, of a bit-field in bits.
        offset: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// An explicit size that cannot be.
    Size {
        /// The record.
        place: String,
        /// The size, in bytes.
        size: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// 2^32 declarations, or a type of 2^56 bytes or more.
    TooLarge {
        /// What.
        place: String,
    },
    /// An id that other declarations issued.
    ForeignId,
    /// What the builder refused.
    Build(BuildError),
}

impl fmt::Display for DeclareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near =
            |f: &mut fmt::Formatter<'_>, nearest: &Option<String>, otherwise: &str| match nearest {
                Some(nearest) => write!(f, ": did you mean {nearest:?}?"),
                None => write!(f, ": {otherwise}"),
            };
        match self {
            DeclareError::Syntax { text, offset, expected } => {
                write!(f, "expected {expected} at byte {offset} of {text:?}")
            }
            DeclareError::UnknownType { name, nearest } => {
                write!(f, "no type {name:?}")?;
                near(f, nearest, "declare it, or write `struct` before it behind a pointer")
            }
            DeclareError::UnknownField { record, name, nearest, .. } => {
                write!(f, "no field {name:?} in {record:?}")?;
                near(f, nearest, "none is near in name")
            }
            DeclareError::Redefined { name, .. } => {
                write!(f, "a second type {name:?}: rename one")
            }
            DeclareError::Changed { name, change, .. } => {
                write!(
                    f,
                    "{name:?} is declared already, and {change}: rename one, or declare it once"
                )
            }
            DeclareError::DuplicateField { record, name } => {
                write!(f, "a second field {name:?} in {record:?}: rename one")
            }
            DeclareError::Incomplete { ty, place, .. } => {
                write!(f, "{place}: {ty:?} has no size here: define it first, or point to it")
            }
            DeclareError::Invalid { place, reason } => write!(f, "{place}: {reason}"),
            DeclareError::Step { path, ty, reason, .. } => {
                write!(f, "{path:?} is of type {ty:?}: {reason}")
            }
            DeclareError::OutOfBounds { path, index, len } => {
                write!(f, "index {index} into {path:?}, which has {len} elements")
            }
            DeclareError::Untagged { path, reason } => write!(f, "no tag for {path:?}: {reason}"),
            DeclareError::OtherType { member, ours, theirs } => write!(
                f,
                "{member}: declared as {ours:?}, and the compiled code accesses {theirs:?} there, \
                 which LLVM would take for unrelated: declare the type that the header has"
            ),
            DeclareError::Offset { place, offset, reason } => {
                write!(f, "{place}: offset {offset} {reason}")
            }
            DeclareError::Size { place, size, reason } => {
                write!(f, "{place}: a size of {size} bytes, {reason}")
            }
            DeclareError::TooLarge { place } => {
                write!(f, "{place}: too large: types have less than 2^56 bytes")
            }
            DeclareError::ForeignId => f.write_str("an id that other declarations issued"),
            DeclareError::Build(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for DeclareError {
    /// The text is that of an error inside, and so is the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DeclareError::Build(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BuildError> for DeclareError {
    fn from(error: BuildError) -> Self {
        DeclareError::Build(error)
    }
}
