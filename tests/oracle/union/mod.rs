//! Rules `union` and `union-strict`: by their laws, case by case, and at their limits.

mod copies;
mod corners;
mod laws;
mod limits;

use tbaa::{Graph, TagId};
use tbaa_tests::universe::Universe;

/// The graph and the tags of a universe, for tests that query single pairs.
struct World {
    graph: Graph,
    tags: Vec<TagId>,
}

impl World {
    fn new(u: Universe) -> World {
        let (graph, tags) = u.graph();
        World { graph, tags }
    }
}
