//! Tests that build, check and run functions with alias regions.

#![allow(missing_docs)]

mod effects;
mod fences;
mod globals;
mod growth;
mod jit;
mod random;
mod rules;
mod wasmtime;
