//! Real runtimes' structs.

use std::time::Instant;

use tbaa::spec::Spec;
use tbaa::{AliasRule, Oracle, TagId};
use tbaa_lower::{Lowering, Options};

use tbaa_tests::programs::runtime;
use tbaa_tests::setting;

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
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, &tags).unwrap();
    assert_eq!(lowering.check(&oracle), []);
    let loss = lowering.lost();
    println!("{} tags, {loss:?}, kept {:.4}", tags.len(), loss.kept());
    assert!(loss.kept() >= 0.955, "{loss:?}");
}

/// Many classes at once, and then some more: `TBAA_CLASSES` is their number.
#[test]
fn many() {
    let structs = setting("TBAA_CLASSES", 2_000) / 4;
    let (graph, tags) = runtime(structs);
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new().lineage("many"));
    let (batch, later) = tags.split_at(tags.len() - 20);
    let start = Instant::now();
    lowering.lower(&oracle, batch).unwrap();
    let lowered = start.elapsed();
    let batch_loss = lowering.lost();
    let start = Instant::now();
    for &tag in later {
        lowering.lower(&oracle, [tag]).unwrap();
    }
    println!(
        "{} tags in {lowered:?}, kept {:.4}, {} lost; {} more in {:?} each",
        batch.len(),
        batch_loss.kept(),
        batch_loss.pairs,
        later.len(),
        start.elapsed() / later.len() as u32
    );
    assert_eq!(lowering.check(&oracle), []);
    assert!(batch_loss.kept() > 0.9);
}
