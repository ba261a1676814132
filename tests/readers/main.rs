//! Queries on threads while another thread adds.

#[path = "../../benches/src/heap.rs"]
#[allow(dead_code)]
mod heap;

mod growth;

use tbaa_tests::{Rng, soak};
