//! Tests lints and the verifier on texts of all kinds, and the pages about them.

mod clang;
mod findings;
mod hostile;
mod pages;
mod ravi;
mod sequence;
mod unions;
