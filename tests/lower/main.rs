//! Lowering: soundness, growth, precision, and what LLVM makes of the result.
//!
//! `TBAA_PAIRS` is the number of random pairs, `TBAA_SEED` the first seed;
//! `TBAA_LLVM=require` makes a missing LLVM an error. `TBAA_PROGRAMS=fetch` adds
//! `SQLite` to the table of what is kept, which cargo downloads; `TBAA_HEADER` a C
//! file of any name.

mod growth;
mod lineages;
mod llvm;
mod precision;
mod random;
mod real;
mod run;
