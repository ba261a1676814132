//! Declarations from what other tools print.

mod clang;
mod llvm;

pub use clang::ClangRecords;
