//! Comparisons with the real LLVM 22, which `TBAA_LLVM=require` makes an error
//! to be without.

mod compare;
mod effects;
mod instrument;
mod malformed;
mod rewrite;
mod small;
mod specs;
mod taken;
mod verify;
