//! What several test programs share.

// Each test program uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod engines;
pub mod hostile;
pub mod llvm;
pub mod lua;
pub mod naive;
pub mod random;
pub mod rng;
pub mod small;
mod splitmix;
pub mod strategy;
pub mod universe;

pub use splitmix::Rng;

/// A number that the environment sets, so that a longer run needs no new build.
pub fn setting(name: &str, default: usize) -> usize {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")),
        Err(_) => default,
    }
}
