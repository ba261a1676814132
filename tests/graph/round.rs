//! Graphs stay equal when they are written as `.ll` text or RON and read again.

use crate::groups::{unmarked, wild_nodes};
use tbaa::Graph;
use tbaa::raw::RawGraph;
use tbaa_tests::{Rng, setting};

fn check(graph: &Graph) {
    let written = tbaa_ir::write(graph);
    let read = tbaa_ir::read(written.as_bytes()).unwrap().into_graph();
    assert!(read == *graph, "{graph:?}\n{written}{read:?}");
    assert_eq!(tbaa_ir::write(&read), written);
}

#[test]
fn wild_graphs_survive() {
    let (mut cyclic, mut unequal) = (0, 0);
    for seed in 0..setting("TBAA_GRAPHS", 6) * 50 {
        let mut rng = Rng(seed as u64);
        let nodes = wild_nodes(&mut rng);
        let order = rng.shuffled(nodes.len());
        let mut graph = unmarked(&nodes, &order).0;
        graph.insert(&[]).unwrap();
        let all: Vec<_> = graph.nodes().collect();
        for _ in 0..rng.below(30) {
            let node = *rng.pick(&all);
            let before = graph.clone();
            let new = match rng.below(3) {
                0 => graph.tag_of(node).is_none().then(|| _ = graph.mark_tag(node)),
                1 => graph.copy_of(node).is_none().then(|| _ = graph.mark_copy(node)),
                _ => graph.type_of(node).is_none().then(|| _ = graph.mark_type(node)),
            };
            assert_eq!(graph != before, new.is_some(), "seed {seed}");
            unequal += usize::from(new.is_some());
        }
        check(&graph);
        let back: Graph = ron::from_str(&ron::to_string(&graph).unwrap()).unwrap();
        assert!(back == graph, "seed {seed}");
        cyclic += usize::from(graph.types().any(|ty| graph.root_of(ty).is_none()));
    }
    assert!(cyclic > 10 && unequal > 1_000, "{cyclic} {unequal}");
}
