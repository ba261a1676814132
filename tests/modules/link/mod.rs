//! Tests of linking: laws, the effect on answers, and a real program compared with LLVM's linker.

mod clashes;
mod completion;
mod laws;
mod program;
