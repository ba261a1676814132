//! Tests of linking modules, some against LLVM's linker.

mod clashes;
mod completion;
mod laws;
mod program;
