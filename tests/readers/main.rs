//! Queries on threads while another thread adds types and tags to the graph.

#[path = "../../benches/src/heap.rs"]
#[allow(dead_code)]
mod heap;

mod growth;

use tbaa_tests::{Rng, soak};
