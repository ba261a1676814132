//! Linking: its laws, what it may change of an answer, and a real program
//! against LLVM's linker.

#[path = "../support/mod.rs"]
mod support;

mod clashes;
mod laws;
mod program;
