//! The bodies of the fuzz targets, which the tests run too.

pub use tbaa_tests::fuzz as targets;

#[path = "../crates/tbaa-capi/tests/support/calls.rs"]
pub mod calls;
