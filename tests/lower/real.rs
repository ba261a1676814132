//! Real runtimes' structs.

use tbaa::lower::{Lowering, Options};
use tbaa::spec::Spec;
use tbaa::{Oracle, Rules, TagId};

/// The tags of a spec.
fn tags(text: &str) -> (tbaa::Graph, Vec<TagId>) {
    let built = Spec::load(text).unwrap();
    let mut tags: Vec<TagId> = built.tags().values().copied().collect();
    tags.extend(built.expectations().flat_map(|one| [one.a, one.b]));
    tags.sort_unstable();
    tags.dedup();
    (built.into_graph(), tags)
}

#[test]
fn ravi() {
    let (graph, tags) = tags(include_str!("../../specs/ravi-declared.ron"));
    let oracle = Oracle::new(&graph, Rules::Union);
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, &tags).unwrap();
    assert_eq!(lowering.check(&oracle), []);
    let loss = lowering.lost();
    println!("{} tags, {loss:?}, kept {:.4}", tags.len(), loss.kept());
    assert!(loss.kept() >= 0.955 && loss.is_optimal(), "{loss:?}");
}
