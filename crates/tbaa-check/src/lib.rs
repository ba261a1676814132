//! Checks TBAA metadata: reports metadata that LLVM's verifier rejects, metadata that is wrong
//! although LLVM accepts it, and types of linked modules that differ under one name.
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

use subject::Subject;

pub use diagnostic::{
    Code, Diagnostic, FindingLimits, Findings, Label, LeftOut, Level, UnknownCodeError,
};
