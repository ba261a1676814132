//! Reports metadata that LLVM's verifier rejects, and other ill-formed metadata.
//!
//! [`verify`] checks a whole module and reports everything that is ill formed, with positions in
//! the text. [`Verifier::check`] finds the first rule that a tag breaks, if any, as a newly made
//! `TBAAVerifier` of LLVM 22 does. `AliasRule::Llvm` answers `MayAlias` for every rejected tag.
//! LLVM: `TBAAVerifier::visitTBAAMetadata`, in `lib/IR/Verifier.cpp`.

mod diagnose;
mod faults;
mod tags;

pub use crate::diagnostic::Rule;
pub use diagnose::{Options, verify, verify_graph};
pub(crate) use faults::rules as type_faults;
pub use tbaa::wellformed::{Verifier, VerifyError};
