//! The lexer, text positions and escapes for readers and writers of LLVM assembly.
//!
//! This crate is a part of `tbaa` and may change in any version.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod constant;
pub mod lexer;
pub mod source;
