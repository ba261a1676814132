//! Threads that ask while one adds.

#[path = "../../benches/src/heap.rs"]
#[allow(dead_code)]
mod heap;
#[path = "../support/soak.rs"]
#[allow(unreachable_pub)]
mod soak;
#[path = "../support/splitmix.rs"]
#[allow(unreachable_pub)]
mod splitmix;

mod growth;

use splitmix::Rng;
