//! Threads that ask while one adds.

#[path = "../../benches/src/heap.rs"]
#[allow(dead_code, unreachable_pub)]
mod heap;
#[path = "../support/soak.rs"]
mod soak;
#[path = "../support/splitmix.rs"]
#[allow(unreachable_pub)]
mod splitmix;

mod growth;

pub use splitmix::Rng;
