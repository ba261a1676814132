//! Comparisons with the real LLVM 22, which `TBAA_LLVM=require` makes an error
//! to be without.

#[path = "../support/mod.rs"]
mod support;

mod compare;
mod generated;
mod instrument;
mod malformed;
mod rewrite;
mod small;
#[cfg(feature = "spec")]
mod specs;
mod union;
mod verify;
