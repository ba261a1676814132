//! Declarations of a C header's types: what to ask clang, and what it answers.

mod accesses;
mod records;

pub use accesses::{ClangAccesses, ClangDifference};
pub use records::ClangRecords;
