//! Reports metadata that LLVM's verifier rejects, and what else is ill formed.
//!
//! [`verify`] checks a whole module and reports everything that is ill formed, with its
//! places. [`Verifier::check`] returns the first rule that a tag breaks, or none, as LLVM 22's
//! `TBAAVerifier` does if it has checked nothing before. Rule `llvm` answers `MayAlias` for
//! every tag that is rejected here.
//!
//! LLVM: `TBAAVerifier::visitTBAAMetadata`, in `lib/IR/Verifier.cpp`.

mod diagnose;
mod faults;
mod tags;

pub use crate::diagnostic::Rule;
pub use diagnose::{Options, verify, verify_graph};
pub(crate) use faults::rules as type_faults;
pub use tbaa::wellformed::{Verifier, VerifyError};
