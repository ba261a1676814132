//! Declarations of a C header's types, with clang's help: the input for clang, and the reading of
//! its output.

mod accesses;
mod records;

pub use accesses::{ClangAccesses, ClangDifference};
pub use records::ClangRecords;
