//! Tokens, places in a text and escapes, shared by all readers and writers of LLVM's text.
//!
//! This crate is a part of `tbaa` and may change in any version.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod constant;
pub mod lexer;
pub mod source;
