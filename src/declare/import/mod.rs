//! Declarations from what other tools print.

mod check;
mod clang;
mod llvm;

pub use check::{ClangAccesses, ClangDifference};
pub use clang::ClangRecords;
