//! LLVM-style types: text, layouts as LLVM 22 has them, equality; declarations.

mod context;
mod declare;
mod equal;
mod layouts;
mod listing;
