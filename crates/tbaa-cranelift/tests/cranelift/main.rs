//! Tests of functions with alias regions, which are built, checked and run.

#![allow(missing_docs)]

mod effects;
mod fences;
mod globals;
mod growth;
mod jit;
mod random;
mod rules;
mod wasmtime;
