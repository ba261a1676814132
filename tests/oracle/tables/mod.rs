//! The tables behind queries.
//!
//! `--cfg tbaa_self_check` compares every answer from a table with the rule's definition. Here the
//! answers must also be independent of how the graph grew, and of how many are queried at once.

mod accepted;
mod cases;
mod growth;
mod many;

use tbaa::{Format, Graph};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// The graphs of the comparisons with LLVM, of all shapes and both formats.
fn each_graph(mut test: impl FnMut(&mut Rng, &str, &Graph)) {
    let first_seed = setting("TBAA_SEED", 1);
    for seed in first_seed..first_seed + setting("TBAA_GRAPHS", 2) {
        for format in [Format::Old, Format::New] {
            for shape in [Shape::Any, Shape::PlainScalars, Shape::PlainAggregates] {
                let mut rng = Rng(seed as u64);
                let universe = Universe { format, structs: 2 + rng.below(30), tags: 90, shape };
                let graph = random::graph(&mut rng, &universe);
                test(&mut rng, &format!("seed {seed}, {format:?}"), &graph);
            }
        }
    }
}
