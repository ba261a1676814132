//! Declares a C header's types: writes C code for clang to compile, and reads clang's output.

mod accesses;
mod records;

pub use accesses::{ClangAccesses, ClangDifference};
pub use records::ClangRecords;
