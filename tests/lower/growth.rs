//! The time that it takes to lower one more record (*shape*), that is, to make tags for LLVM.
//!
//! `TBAA_SHAPES=10000 cargo test --release -p tbaa-tests --test lower growth -- --nocapture` prints
//! mean times for a shape. `crates/tbaa-lower/src/batch.rs` tests how many accesses are examined.

use std::time::{Duration, Instant};

use tbaa::declare::{Declarations, Policy, Record, Target};
use tbaa::{AliasRule, Graph, Oracle};
use tbaa_lower::{Lowering, Options};

use tbaa_tests::programs::runtime;
use tbaa_tests::setting;

/// Returns a record and the paths of its accesses. Without `knot`, no two accesses overlap. With
/// it, `two.a`, `one.a`, `two.b`, `one.b` overlap in a chain, which tags cannot express.
fn shape(at: usize, knot: bool) -> (Record, Vec<String>) {
    let types = ["int", "double", "void *", "short", "float", "int *"];
    let mut record = Record::structure(format!("Shape{at}"));
    let mut paths = Vec::new();
    for member in 0..if knot { 6 } else { 10 } {
        record = record.field(format!("m{member}"), types[member % types.len()]);
        paths.push(format!("Shape{at}.m{member}"));
    }
    if knot {
        let one = Record::structure("").field("a", "int").field("b", "int");
        let two = Record::structure("").packed().field("a", "short").field("b", "float");
        record = record.field("u", Record::union("").field("one", one).field("two", two));
        paths
            .extend(["one.a", "one.b", "two.a", "two.b"].map(|path| format!("Shape{at}.u.{path}")));
    }
    (record, paths)
}

/// Adds shapes one by one. Returns the mean time for a shape in each tenth, and the lowering.
fn grow(shapes: usize, scopes: bool, knot: bool) -> (Vec<Duration>, Lowering) {
    let mut oracle = Oracle::new(Graph::new(), AliasRule::Union);
    let mut types = Declarations::new(Target::x86_64()).into_tagged(Policy::Rfc);
    let mut options = Options::new().lineage("growing");
    options.scopes = scopes;
    let mut lowering = Lowering::new(options);
    let bare = ["*char", "*int", "*double", "*void *"];
    let tags = oracle.update(|graph| types.tags(graph, &bare)).unwrap();
    lowering.lower(&oracle, &tags).unwrap();
    let mut times = Vec::new();
    for at in 0..shapes {
        let (record, paths) = shape(at, knot);
        types.types_mut().define(record).unwrap();
        let tags = oracle.update(|graph| types.tags(graph, &paths)).unwrap();
        let start = Instant::now();
        lowering.lower(&oracle, &tags).unwrap();
        times.push(start.elapsed());
    }
    let tenth = shapes.div_ceil(10);
    let mean = |times: &[Duration]| times.iter().sum::<Duration>() / times.len() as u32;
    (times.chunks(tenth).map(mean).collect(), lowering)
}

#[test]
fn shapes_one_by_one() {
    let shapes = setting("TBAA_SHAPES", 60);
    for knot in [false, true] {
        for scopes in [false, true] {
            let (times, lowering) = grow(shapes, scopes, knot);
            let lost = lowering.lost();
            let names = lowering.scopes().len();
            println!("{shapes} shapes, knot {knot}: {lost:?}, {names} scopes");
            println!("A shape of each tenth takes {times:?}.");
            assert_eq!(lost.pairs > 0, knot);
            assert_eq!((names > shapes, names > 0), (scopes, scopes));
        }
    }
}

/// Lowers the tags of `TBAA_CLASSES` / 4 records: first all but 20 at once, then the 20 one by one.
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
    let each = start.elapsed() / later.len() as u32;
    println!("{} tags in {lowered:?}, {batch_loss:?}; more in {each:?} each", batch.len());
    assert_eq!(lowering.check(&oracle), []);
    assert!(batch_loss.kept() > 0.9);
}
