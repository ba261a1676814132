//! Checks TBAA metadata: reports what LLVM's verifier rejects, what is wrong although LLVM accepts it, and
//! what clashes when modules are linked.
//!
//! [`verify`] and [`lint`] report [`Findings`]; [`link`] merges the graphs of several modules.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod char_origin;
mod diagnostic;
pub mod link;
pub mod lint;
mod repair;
mod subject;
pub mod verify;

pub use diagnostic::{
    Code, Diagnostic, FindingLimits, Findings, Label, LeftOut, Level, UnknownCodeError,
};
