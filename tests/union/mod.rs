//! Shared by the tests of rules `union` and `union-strict`.

pub mod naive;
pub mod rng;
pub mod universe;

/// How many random pairs to try per rule and format: `TBAA_PAIRS`, or a number
/// that a debug build gets through in seconds.
pub fn pairs() -> u64 {
    let set = std::env::var("TBAA_PAIRS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(100_000)
}
