//! Lowering (making tags for sound answers by LLVM): soundness, growth, precision, LLVM's answers.
//!
//! `TBAA_PAIRS` is the number of random pairs, `TBAA_SEED` the first seed; `TBAA_LLVM=require`
//! makes a missing LLVM an error. `TBAA_PROGRAMS=fetch` adds `SQLite`, which cargo downloads, to
//! the table of precision, and `TBAA_HEADER` any C file.

mod growth;
mod lineages;
mod llvm;
mod precision;
mod random;
mod run;
