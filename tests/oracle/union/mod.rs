//! Rules `union` and `union-strict`: against their definition, by their laws,
//! case by case, and at their limits.

mod copies;
mod corners;
mod laws;
mod limits;
mod random;

use tbaa::{Graph, Rules, TagId};

use tbaa_tests::universe::Universe;

const RULES: [Rules; 3] = [Rules::Llvm, Rules::Union, Rules::UnionStrict];

/// How many random pairs to try per rule and format: `TBAA_PAIRS`, or a number
/// that a debug build gets through in seconds.
fn pairs() -> u64 {
    let set = std::env::var("TBAA_PAIRS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(20_000)
}

/// The graph and the tags of a universe, for tests that ask about single pairs.
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
