//! One corpus, all engines: specs, regressions, compiled C and C++, and generated graphs, each
//! through every engine.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use tbaa::Graph;
use tbaa_tests::engines::{Compared, every_engine};
use tbaa_tests::llvm::{Llvm, WAYS, corpus};
use tbaa_tests::universe::{self, Taste, Universe};
use tbaa_tests::{Rng, setting, shrink};

/// The files of a folder of the repository that end in one of these.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let folder = Path::new(tbaa_tests::ROOT).join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted))
    });
    files.sort();
    files
}

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

/// A failing universe is shrunk: here, one with a tag of an aggregate of two fields.
#[test]
fn what_fails_is_made_small() {
    let fails = |u: &Universe| {
        let fields = |tag: &universe::Tag| u.types[tag.base].fields.len();
        u.graph().1.len() == u.tags.len() && u.tags.iter().any(|tag| fields(tag) >= 2)
    };
    for seed in 0..20 {
        let u = universe::random(&mut Rng(seed), seed % 2 == 0, Taste::Mixed);
        if fails(&u) {
            let u = shrink::smallest(u, &fails);
            let most = u.types.iter().map(|ty| ty.fields.len()).max();
            assert!(u.tags.len() == 1 && most == Some(2) && u.types.len() <= 12, "{u:?}");
        }
    }
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
