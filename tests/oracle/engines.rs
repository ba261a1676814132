//! One corpus, all engines: specs, what was once wrong, compiled C and C++, and
//! generated graphs, each through every engine; and what the union rules prove of
//! them, through the checker.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use tbaa::proof::Unproved;
use tbaa::{Graph, Oracle, Rules, TagId};
use tbaa_tests::check_proof::Checker;
use tbaa_tests::engines::{Compared, every_engine};
use tbaa_tests::llvm::{Llvm, WAYS};
use tbaa_tests::{setting, strategy};

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

/// Asks every engine, and checks every proof; says how much was compared, and how
/// many proofs there are.
fn all_of(graph: &Graph, tags: &[TagId]) -> Result<(Compared, usize), String> {
    Ok((every_engine(graph, tags)?, check_proofs(graph, tags)?))
}

fn all_tags(graph: &Graph) -> Result<(Compared, usize), String> {
    all_of(graph, &graph.tags().collect::<Vec<_>>())
}

/// Checks the proof of every `NoAlias`, and that it proves nothing of the next pair
/// that may alias; returns how many proofs there are.
fn check_proofs(graph: &Graph, tags: &[TagId]) -> Result<usize, String> {
    let (checker, mut proofs) = (Checker(graph), 0);
    for (rules, strict) in [(Rules::Union, false), (Rules::UnionStrict, true)] {
        let oracle = Oracle::new(graph, rules);
        let mut last = None;
        for (a, b) in tags.iter().flat_map(|&a| tags.iter().map(move |&b| (a, b))) {
            let confirm = |proof| checker.confirm(strict, a.into(), b.into(), proof);
            let error = |why: &str| Err(format!("{rules}: proof of {a:?}, {b:?}: {why}"));
            match oracle.prove(a, b) {
                Ok(proof) => match confirm(&proof) {
                    Ok(()) => last = Some(proof),
                    Err(why) => return error(&format!("{why}: {proof:#?}")),
                },
                Err(Unproved::MayAlias) if oracle.may_alias(a, b) => {
                    let sound = [a, b].into_iter().all(|tag| oracle.is_well_formed(tag));
                    if let Some(proof) = last.take_if(|_| sound)
                        && confirm(&proof).is_ok()
                    {
                        return error(&format!("it is another pair's: {proof:#?}"));
                    }
                    continue;
                }
                Err(unproved) => return error(&unproved.to_string()),
            }
            proofs += 1;
        }
    }
    Ok(proofs)
}

#[test]
fn specs_and_regressions() {
    let (mut compared, mut proofs, mut failures) = (Compared::default(), 0, Vec::new());
    let mut specs = files("specs", &["ron"]);
    specs.extend(files("specs/regressions", &["ron", "ll"]));
    specs.extend(files("tests/fixtures/specs", &["ron"]));
    for file in &specs {
        let source = fs::read(file).unwrap();
        let graph = if file.extension().is_some_and(|extension| extension == "ll") {
            tbaa_ir::read(&source).unwrap().into_graph()
        } else {
            let source = String::from_utf8(source).unwrap();
            tbaa::spec::Spec::load(&source).unwrap().into_graph()
        };
        match all_tags(&graph) {
            Ok((more, proved)) => {
                compared += more;
                proofs += proved;
            }
            Err(why) => failures.push(format!("{}: {why}", file.display())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{} files: {compared:?}, {proofs} proofs", specs.len());
    let Compared { no, naive, grown, .. } = compared;
    assert!(no > 1_000 && naive > 1_000 && grown > 1_000 && proofs > 1_000, "{compared:?}");
}

#[test]
fn compiled_programs() {
    let Some(llvm) = Llvm::get() else { return };
    let (mut compared, mut proofs) = (Compared::default(), 0);
    for source in files("tests/corpus", &["c", "cpp"]) {
        for (way, options) in WAYS {
            let module = tbaa_ir::read(&llvm.clang(&source, options)).unwrap();
            match all_tags(module.graph()) {
                Ok((more, proved)) => {
                    compared += more;
                    proofs += proved;
                }
                Err(why) => panic!("{}, {way}: {why}", source.display()),
            }
        }
    }
    println!("{compared:?}, {proofs} proofs");
    let Compared { no, naive, grown, .. } = compared;
    assert!(no > 1_000 && naive > 1_000 && grown > 1_000 && proofs > 1_000, "{compared:?}");
}

#[test]
fn generated_graphs() {
    generated(false);
}

/// Types of several roots that hold one another.
#[test]
fn generated_graphs_across_roots() {
    generated(true);
}

fn generated(across: bool) {
    let total = Cell::new((Compared::default(), 0));
    let universes = strategy::universes(across);
    strategy::check(universes, setting("TBAA_CASES", 300), setting("TBAA_SEED", 1), |u| {
        let (graph, mut tags) = u.graph();
        tags.sort_unstable();
        tags.dedup();
        let mut sum = total.get();
        let (more, proofs) = all_of(&graph, &tags)?;
        sum.0 += more;
        sum.1 += proofs;
        total.set(sum);
        Ok(())
    });
    let (compared, proofs) = total.get();
    println!("{compared:?}, {proofs} proofs");
    let Compared { pairs, no, naive, .. } = compared;
    assert!(no > pairs / 50 && naive > pairs / 10 && proofs > no / 4, "{compared:?}");
}
