//! Linking: its laws, what it may change of an answer, and a real program
//! against LLVM's linker.

mod clashes;
mod completion;
mod laws;
mod program;
