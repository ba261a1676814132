//! Compares the answers of all engines (ways to compute answers) on specs, regressions, compiled C
//! and C++, and generated graphs.

use std::fs;
use std::path::PathBuf;

use tbaa_tests::engines::Compared;
use tbaa_tests::llvm::{Llvm, WAYS, corpus};
use tbaa_tests::universe::Taste;
use tbaa_tests::{files, setting, shrink};

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
    let mut compared = Compared::default();
    for file in files {
        let source = fs::read_to_string(file).unwrap();
        let graph = if file.extension().is_some_and(|extension| extension == "ll") {
            tbaa_ir::read(source.as_bytes()).unwrap().into_graph()
        } else {
            tbaa::spec::Spec::load(&source).unwrap().into_graph()
        };
        let tags: Vec<_> = graph.tags().collect();
        compared.every_engine(&file.display().to_string(), &graph, &tags);
    }
    println!("{} files: {compared:?}", files.len());
    compared
}

#[test]
fn compiled_programs() {
    let Some(llvm) = Llvm::get() else { return };
    let mut compared = Compared::default();
    for source in corpus() {
        // The other ways optimise, which removes tags.
        for (way, options) in &WAYS[..2] {
            let module = tbaa_ir::read(llvm.clang(&source, options)).unwrap();
            let tags: Vec<_> = module.graph().tags().take(60).collect();
            let what = format!("{}, {way}", source.display());
            compared.every_engine(&what, module.graph(), &tags);
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

/// A struct may contain types of another root.
#[test]
fn generated_graphs_across_roots() {
    generated(Taste::Mixed);
}

fn generated(taste: Taste) {
    let mut compared = Compared::default();
    shrink::check(taste, setting("TBAA_CASES", 300), setting("TBAA_SEED", 1), |u| {
        let (graph, mut tags) = u.graph();
        tags.sort_unstable();
        tags.dedup();
        compared.every_engine("a generated graph", &graph, &tags);
    });
    println!("{compared:?}");
    let Compared { pairs, no, naive, .. } = compared;
    assert!(no > pairs / 50 && naive > pairs / 10, "{compared:?}");
}
