//! Declares a C header's types with clang's help: writes C for clang to compile, and reads clang's
//! output.

mod accesses;
mod records;

pub use accesses::{ClangAccesses, ClangDifference};
pub use records::ClangRecords;
