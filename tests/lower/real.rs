//! Real runtimes' structs.

use std::time::Instant;

use tbaa::declare::{Declarations, Policy, Record, Target};
use tbaa::spec::Spec;
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_lower::{Lowering, Options};

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
    let mut types = Declarations::new(Target::x86_64());
    let mut paths = Vec::new();
    for at in 0..structs {
        let mut record = match at % 5 {
            0 => Record::union(format!("S{at}")),
            _ => Record::structure(format!("S{at}")),
        };
        for (field, ty) in ["int", "double", "void *", "int *"].into_iter().enumerate() {
            let before = format!("S{}", at - at.min(7));
            let ty = if field == 3 && at % 3 == 1 { before.as_str() } else { ty };
            record = record.field(format!("m{field}"), ty);
            if ty != before {
                paths.push(format!("S{at}.m{field}"));
            }
        }
        types.define(record).unwrap();
    }
    paths.extend(["*int", "*double", "*void *", "*char", "*int *"].map(str::to_owned));
    let (mut graph, mut types) = (Graph::new(), types.into_tagged(Policy::Rfc));
    let tags: Vec<TagId> = paths.iter().map(|path| types.tag(&mut graph, path).unwrap()).collect();
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
