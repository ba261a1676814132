//! Tests lints, the verifier, and the documentation of findings.

mod clang;
mod findings;
mod hostile;
mod pages;
mod ravi;
mod sequence;
mod unions;
