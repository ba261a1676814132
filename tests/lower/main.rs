//! Tests lowering, which makes tags for which LLVM's `NoAlias` answers are right.
//!
//! `TBAA_PAIRS` sets how many pairs of accesses are checked, `TBAA_SEED` the first random seed.
//! `TBAA_LLVM=require` makes a missing LLVM an error. `TBAA_PROGRAMS=fetch` adds `SQLite`, which
//! cargo downloads, to the table that `precision.rs` prints. `TBAA_HEADER` adds a C file to it.

mod growth;
mod lineages;
mod llvm;
mod precision;
mod random;
mod run;
