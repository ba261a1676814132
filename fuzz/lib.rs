//! The functions that the fuzz targets call. The tests call them too.

pub use tbaa_tests::fuzz as targets;

#[path = "../crates/tbaa-capi/tests/support/calls.rs"]
pub mod calls;
