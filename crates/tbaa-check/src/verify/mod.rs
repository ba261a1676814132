//! What LLVM's verifier says of a tag, and what else is ill formed.
//!
//! [`verify`] looks over a whole module and reports everything that is ill
//! formed, with its places. [`Verifier::check`] gives the verdict that LLVM 22's `TBAAVerifier` gives on
//! a fresh start: the first rule that a tag breaks, or none. Rule `llvm`
//! answers `MayAlias` for every tag that is rejected here.
//!
//! LLVM: `TBAAVerifier::visitTBAAMetadata`, in `lib/IR/Verifier.cpp`.

mod copies;
mod diagnose;
mod tags;
mod types;

pub use crate::diagnostic::Rule;
pub use diagnose::{Options, verify, verify_graph};
pub use tbaa::wellformed::{Verifier, Violation};
pub(crate) use types::rules as type_faults;
