//! Rules `union` and `union-strict`: against their definition, by their laws,
//! case by case, and at their limits.

mod cases;
mod copies;
mod corners;
mod laws;
mod limits;
mod random;
mod table;

use tbaa::{Graph, Oracle, Rules, TagId};

use tbaa_tests::universe::Universe;

const RULES: [Rules; 3] = [Rules::Llvm, Rules::Union, Rules::UnionStrict];

/// How many random pairs to try per rule and format: `TBAA_PAIRS`, or a number
/// that a debug build gets through in seconds.
fn pairs() -> u64 {
    let set = std::env::var("TBAA_PAIRS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(100_000)
}

/// A universe with its graph, for tests that ask about single pairs.
struct World {
    u: Universe,
    graph: Graph,
    tags: Vec<TagId>,
}

impl World {
    fn new(u: Universe) -> World {
        let (graph, tags) = u.graph();
        World { u, graph, tags }
    }

    /// Asserts the answers of the three rules, in the order llvm, union,
    /// union-strict: `M` may, `N` no, `-` anything.
    #[track_caller]
    fn expect(&self, a: usize, b: usize, answers: &str) {
        for (rules, expected) in RULES.into_iter().zip(answers.chars()) {
            let oracle = Oracle::new(&self.graph, rules);
            for (a, b) in [(a, b), (b, a)] {
                let why = oracle.explain(self.tags[a], self.tags[b]);
                let letter = if why.clause.is_no_alias() { 'N' } else { 'M' };
                assert!(
                    expected == '-' || letter == expected,
                    "{} and {}: {why}\n{:?}",
                    self.u.show_tag(&self.u.tags[a]),
                    self.u.show_tag(&self.u.tags[b]),
                    self.u,
                );
            }
        }
    }
}
