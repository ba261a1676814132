//! Why a JIT does not get what it asks for.

use std::convert::Infallible;
use std::fmt;

use super::super::emitter::EmitError;
use super::TagForm;
use crate::{FixError, LowerError, Why};
use tbaa::declare::DeclareError;

/// Why a JIT does not get what it asks for. What was given out before stays.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JitError {
    /// A path or a declaration that is wrong, or a path whose accesses have no
    /// tag.
    Declare(DeclareError),
    /// The tag cannot be lowered.
    Lower(LowerError),
    /// The tags of the shared records cannot be fixed.
    Fix(FixError),
    /// The tag is not for LLVM.
    Emit(EmitError<Infallible>),
    /// No tag stands for the access.
    NoTag {
        /// What was asked for.
        path: String,
        /// Why.
        why: Why,
    },
    /// The types' policy is not the one that the form of tags needs.
    Form(TagForm),
    /// A record that is to be shared and is not declared.
    NotDeclared {
        /// The name.
        record: String,
    },
    /// C code accesses a declared record that is not shared.
    NotShared {
        /// The record.
        record: String,
    },
    /// C code has a node of another content than clang 22 gives to the declared
    /// types.
    OtherNode {
        /// The node's name.
        ty: String,
    },
    /// Another lowering of the same lineage made a node: see [`Lowering::stranger`](crate::Lowering::stranger).
    OtherLineage {
        /// The node's name.
        ty: String,
    },
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JitError::Declare(error) => error.fmt(f),
            JitError::Lower(error) => error.fmt(f),
            JitError::Fix(error) => error.fmt(f),
            JitError::Emit(error) => error.fmt(f),
            JitError::NoTag { path, why } => {
                write!(f, "`{path}`: {why}; leave its accesses without a tag")
            }
            JitError::Form(TagForm::Clang) => f.write_str(
                "`TagForm::Clang` attaches tags as they are, and those of policy `rfc` are not \
                 for LLVM: declare the types with policy `clang`, or choose a form that lowers",
            ),
            JitError::Form(form) => write!(
                f,
                "`TagForm::{form:?}` lowers tags of policy `rfc`, and the types have another: \
                 choose `TagForm::Clang`, or policy `rfc`"
            ),
            JitError::NotDeclared { record } => {
                write!(f, "the shared record `{record}` is not declared: define it first")
            }
            JitError::NotShared { record } => write!(
                f,
                "the C code accesses the declared record `{record}`, which is not shared: name it \
                 in `JitOptions::shared`"
            ),
            JitError::OtherLineage { ty } => write!(
                f,
                "the module has the type `{ty}` of this lineage, which another JIT of the same lineage made, so LLVM \
                 would take the types of both for one system: give each JIT a lineage of its own, or load a fork of \
                 the saved state"
            ),
            JitError::OtherNode { ty } => write!(
                f,
                "the C code's node of `{ty}` is not the one that clang 22 gives to the declared \
                 type, so LLVM would take the two for strangers: declare the type as the header \
                 has it, and compile with clang 20 or later, without `-no-pointer-tbaa`"
            ),
        }
    }
}

impl std::error::Error for JitError {
    /// The text is that of an error inside, and so is the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            JitError::Declare(error) => error.source(),
            JitError::Lower(error) => error.source(),
            JitError::Fix(error) => error.source(),
            JitError::Emit(error) => error.source(),
            _ => None,
        }
    }
}

impl From<DeclareError> for JitError {
    fn from(error: DeclareError) -> Self {
        JitError::Declare(error)
    }
}

impl From<LowerError> for JitError {
    fn from(error: LowerError) -> Self {
        JitError::Lower(error)
    }
}

impl From<EmitError<Infallible>> for JitError {
    fn from(error: EmitError<Infallible>) -> Self {
        JitError::Emit(error)
    }
}
