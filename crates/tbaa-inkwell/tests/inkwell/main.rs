//! Tests of attached metadata: LLVM 22's alias answers, and the code that LLVM 22 makes.

#![allow(unreachable_pub)]

mod answers;
mod attach;
mod bisect;
mod bytes;
mod cache;
mod hazards;
mod helpers;
mod instrument;
mod passes;
mod programs;
#[path = "../../examples/regions.rs"]
#[allow(dead_code)]
mod regions;
mod runtime;
mod support;
mod tag;
mod threads;
mod wrong;

use tbaa_tests::{Rng, random};
