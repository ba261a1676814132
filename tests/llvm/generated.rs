//! Compares the generated graphs of the corpus, and the regressions, with LLVM 22: many graphs in a
//! module, each under its own roots.

use std::fs;

use super::malformed::Tally;
use tbaa::Graph;
use tbaa_tests::llvm::Llvm;
use tbaa_tests::universe::{self, Taste};
use tbaa_tests::{Rng, files, random, setting};

#[test]
fn generated_graphs() {
    let Some(llvm) = Llvm::get() else { return };
    let seed = setting("TBAA_SEED", 1);
    let mut rng = Rng(seed as u64);
    let mut tally = Tally::default();
    for module in 0..setting("TBAA_MODULES", 12) {
        let mut graph = Graph::new();
        for number in 0..25 {
            let mut u = universe::random(&mut rng, number % 2 == 0, Taste::Mixed);
            for root in u.types.iter_mut().filter(|ty| ty.root) {
                root.name += &format!(" of {number}");
            }
            let nodes = u.add_types(&mut graph);
            u.tags.iter().for_each(|tag| _ = u.add_tag(&mut graph, &nodes, tag));
        }
        let what = format!("seed {seed}, module {module}");
        tally.compare(llvm, &what, &random::module(&graph));
    }
    tally.report("generated");
}

#[test]
fn regressions() {
    let Some(llvm) = Llvm::get() else { return };
    let files = files("specs/regressions", &["ll"]);
    assert!(!files.is_empty());
    for file in files {
        let graph = tbaa_ir::read(fs::read(&file).unwrap()).unwrap().into_graph();
        Tally::default().compare(llvm, "regression", &random::module(&graph));
    }
}
