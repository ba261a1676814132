//! Declarations: layouts and tags as clang has them, rule `union` on policy
//! `rfc` against its definition, and what is refused.

mod clang;
mod exact;
mod generate;
mod import;
mod layout;
#[path = "../union/naive.rs"]
mod naive;
mod paths;
#[path = "../union/rng.rs"]
mod rng;
#[cfg(feature = "spec")]
mod rust;
#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code)]
#[path = "../union/universe.rs"]
mod universe;
#[cfg(feature = "spec")]
mod written;
