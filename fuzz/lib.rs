//! The bodies of the fuzz targets, which the tests run too.

#![allow(dead_code, unreachable_pub)]

#[path = "../tests/support"]
mod support {
    pub mod engines;
    pub mod naive;
    pub mod rng;
    pub mod strategy;
    pub mod universe;
}

#[path = "../crates/tbaa-capi/tests/support/calls.rs"]
pub mod calls;
#[path = "../tests/support/fuzz.rs"]
pub mod targets;
