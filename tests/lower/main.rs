//! Lowering: soundness, growth, precision, and what LLVM makes of the result.
//!
//! `TBAA_PAIRS` is the number of random pairs, `TBAA_SEED` the first seed;
//! `TBAA_LLVM=require` makes a missing LLVM an error.

#[path = "../support/mod.rs"]
mod support;

#[path = "../union/rng.rs"]
mod rng;
#[path = "../union/universe.rs"]
#[allow(dead_code, reason = "the union rules' tests use the rest")]
mod universe;

mod llvm;
mod random;
mod real;
