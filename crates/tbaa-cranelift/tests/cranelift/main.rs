//! Tests of functions with alias regions: they are built, checked and run.

#![allow(missing_docs)]

mod effects;
mod fences;
mod globals;
mod growth;
mod jit;
mod random;
mod rules;
mod wasmtime;
