//! One corpus, all engines: specs, regressions, compiled C and C++, and generated graphs, each
//! through every engine.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use tbaa::Graph;
use tbaa_tests::engines::{Compared, every_engine};
use tbaa_tests::llvm::{Llvm, WAYS, corpus};
use tbaa_tests::universe::Taste;
use tbaa_tests::{files, setting, shrink};

fn all_tags(graph: &Graph) -> Result<Compared, String> {
    every_engine(graph, &graph.tags().collect::<Vec<_>>())
}

#[test]
fn specs() {
    let mut specs = files("specs", &["ron"]);
    specs.extend(files("tests/fixtures/specs", &["ron"]));
    let Compared { no, naive, grown, .. } = ask(&specs);
    assert!(no > 1_000 && naive > 1_000 && grown > 1_000, "{no} {naive} {grown}");
}

#[test]
fn regressions() {
    let Compared { no, naive, grown, .. } = ask(&files("specs/regressions", &["ron", "ll"]));
    assert!(no > 100 && naive > 100 && grown > 100, "{no} {naive} {grown}");
}

fn ask(files: &[PathBuf]) -> Compared {
    let (mut compared, mut failures) = (Compared::default(), Vec::new());
    for file in files {
        let source = fs::read(file).unwrap();
        let graph = if file.extension().is_some_and(|extension| extension == "ll") {
            tbaa_ir::read(&source).unwrap().into_graph()
        } else {
            let source = String::from_utf8(source).unwrap();
            tbaa::spec::Spec::load(&source).unwrap().into_graph()
        };
        match all_tags(&graph) {
            Ok(more) => compared += more,
            Err(why) => failures.push(format!("{}: {why}", file.display())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{} files: {compared:?}", files.len());
    compared
}

#[test]
fn compiled_programs() {
    let Some(llvm) = Llvm::get() else { return };
    let mut compared = Compared::default();
    for source in corpus() {
        // Optimized code has fewer tags, and no others.
        for (way, options) in &WAYS[..2] {
            let module = tbaa_ir::read(llvm.clang(&source, options)).unwrap();
            let tags: Vec<_> = module.graph().tags().take(60).collect();
            match every_engine(module.graph(), &tags) {
                Ok(more) => compared += more,
                Err(why) => panic!("{}, {way}: {why}", source.display()),
            }
        }
    }
    println!("{compared:?}");
    let Compared { no, naive, grown, .. } = compared;
    assert!(no > 1_000 && naive > 1_000 && grown > 1_000, "{compared:?}");
}

#[test]
fn generated_graphs() {
    generated(Taste::Wild);
}

/// Types of several roots that hold one another.
#[test]
fn generated_graphs_across_roots() {
    generated(Taste::Mixed);
}

fn generated(taste: Taste) {
    let total = Cell::new(Compared::default());
    shrink::check(taste, setting("TBAA_CASES", 300), setting("TBAA_SEED", 1), |u| {
        let (graph, mut tags) = u.graph();
        tags.sort_unstable();
        tags.dedup();
        let mut sum = total.get();
        sum += every_engine(&graph, &tags)?;
        total.set(sum);
        Ok(())
    });
    let compared = total.get();
    println!("{compared:?}");
    let Compared { pairs, no, naive, .. } = compared;
    assert!(no > pairs / 50 && naive > pairs / 10, "{compared:?}");
}
