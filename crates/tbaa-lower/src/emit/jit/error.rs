//! The errors of a [`Jit`](super::Jit).

use std::convert::Infallible;

use super::super::emitter::EmitError;
use super::TagForm;
use crate::{FixError, LowerError, Why};
use tbaa::declare::DeclareError;

/// The reason why a request to a JIT fails. Earlier results stay valid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JitError {
    /// A path or declaration is wrong, or accesses to the path have no tag.
    #[error(transparent)]
    Declare(#[from] DeclareError),
    /// Lowering to tags of stock LLVM failed.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// Clang's tags for the shared records cannot be used.
    #[error(transparent)]
    Fix(FixError),
    /// LLVM must not be given the tag, or a node cannot be made.
    #[error(transparent)]
    Emit(#[from] EmitError<Infallible>),
    /// No tag of stock LLVM can describe the access.
    #[error("`{path}`: {why}; leave its accesses without a tag")]
    NoTag {
        /// The requested path, or the name of the tag's base type.
        path: String,
        /// The reason.
        why: Why,
    },
    /// The form of tags does not match the policy of the types.
    #[error("{}", wrong_policy(.0))]
    Form(TagForm),
    /// A record named in [`JitOptions::shared`](super::JitOptions::shared) is not declared.
    #[error("the shared record `{record}` is not declared: define it first")]
    NotDeclared {
        /// The name.
        record: String,
    },
    /// C code accesses a declared record that is not shared.
    #[error(
        "the C code accesses the declared record `{record}`, which is not shared: name it in \
         `JitOptions::shared`"
    )]
    NotShared {
        /// The record.
        record: String,
    },
    /// A node in the C code differs from the one that clang 22 gives to the declared type.
    #[error(
        "the C code's node of `{ty}` is not the one that clang 22 gives to the declared type, so \
         LLVM would take the two for strangers: declare the type as the header has it, and compile \
         with clang 20 or later, without `-no-pointer-tbaa`"
    )]
    OtherNode {
        /// The node's name.
        ty: String,
    },
    /// The module has a node of another JIT of the same [lineage](super::JitOptions::lineage): see
    /// [`Lowering::stranger`](crate::Lowering::stranger).
    #[error(
        "the module has the type `{ty}` of this lineage, which another JIT of the same lineage \
         made, so LLVM would take the types of both for one system: give each JIT a lineage of its \
         own, or load a fork of the saved state"
    )]
    OtherLineage {
        /// The node's name.
        ty: String,
    },
}

fn wrong_policy(form: &TagForm) -> String {
    match form {
        TagForm::Clang => "`TagForm::Clang` attaches tags as they are, and those of policy `rfc` are not for \
                           LLVM: declare the types with policy `clang`, or choose a form that lowers"
            .to_owned(),
        form => format!(
            "`TagForm::{form:?}` lowers tags of policy `rfc`, and the types have another: choose \
             `TagForm::Clang`, or policy `rfc`"
        ),
    }
}
