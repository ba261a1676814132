//! The bodies of the fuzz targets, which the tests run too.

#![allow(dead_code, unreachable_pub)]

pub mod support {
    #[path = "../../tests/support/engines.rs"]
    pub mod engines;
    #[path = "../../tests/support/naive.rs"]
    pub mod naive;
    #[path = "../../tests/support/rng.rs"]
    pub mod rng;
    #[path = "../../tests/support/strategy.rs"]
    pub mod strategy;
    #[path = "../../tests/support/universe.rs"]
    pub mod universe;
}

#[path = "../crates/tbaa-capi/tests/support/calls.rs"]
pub mod calls;
#[path = "../tests/support/fuzz.rs"]
pub mod targets;
