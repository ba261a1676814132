//! Comparisons with the real LLVM 22. `TBAA_LLVM=require` makes a missing LLVM an error.

mod compare;
mod effects;
mod instrument;
mod malformed;
mod rewrite;
mod small;
mod specs;
mod taken;
mod verify;
