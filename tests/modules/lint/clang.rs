//! Verification and lints find nothing in correct C and C++ from clang, and lints find type puns.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tbaa::AliasRule;
use tbaa_check::Diagnostic;
use tbaa_check::lint::{Options, lint};
use tbaa_check::verify::verify;
use tbaa_ir::Keep;
use tbaa_tests::llvm::{Llvm, WAYS, corpus};
use tbaa_tests::lua;

fn findings(
    llvm: &Llvm,
    sources: &[PathBuf],
    ways: &[(&str, &[&str])],
) -> Vec<(String, Diagnostic)> {
    let mut all = Vec::new();
    for source in sources {
        for (way, options) in ways {
            let text = llvm.clang(source, options);
            let module = tbaa_ir::read_with(&text, Keep::All).unwrap();
            let mut found: Vec<_> = verify(&module, AliasRule::Llvm).into_iter().collect();
            found.extend(lint(&module, &Options::default()));
            let what = format!("{} {way}", source.file_name().unwrap().display());
            all.extend(found.into_iter().map(|found| (what.clone(), found)));
        }
    }
    all
}

#[test]
fn the_corpus_is_quiet() {
    let Some(llvm) = Llvm::get() else { return };
    let mut sources = corpus();
    // This file reuses memory, as C++ containers do.
    sources.push(Path::new(tbaa_tests::ROOT).join("tests/fixtures/lint/reuse.cpp"));
    let mut found = findings(llvm, &sources, &WAYS[..2]);
    let some: Vec<_> = sources.into_iter().rev().step_by(3).collect();
    found.extend(findings(llvm, &some, &WAYS[2..]));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn lua_is_quiet() {
    let Some(llvm) = Llvm::get() else { return };
    let sources = lua::sources("lua-5.4.9");
    // All files as `link::program` compiles them, and every fourth file optimised.
    let mut found = findings(llvm, &sources, &WAYS[..1]);
    let some: Vec<_> = sources.into_iter().step_by(4).collect();
    found.extend(findings(llvm, &some, &WAYS[3..]));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn punning_through_pointers_is_found() {
    let Some(llvm) = Llvm::get() else { return };
    let source = Path::new(tbaa_tests::ROOT).join("tests/fixtures/lint/punning.c");
    for (way, options) in &WAYS[..2] {
        let text = llvm.clang(&source, options);
        let module = tbaa_ir::read(&text).unwrap();
        let found = lint(&module, &Options::default());
        let functions: Vec<_> = found
            .iter()
            .map(|found| (found.code.to_string(), found.message.rsplit('@').next().unwrap()))
            .collect();
        let expected = [("TBAA110", "stored"), ("TBAA109", "loaded"), ("TBAA110", "field")];
        assert_eq!(functions, expected.map(|(code, name)| (code.to_owned(), name)), "{way}");
    }
}

/// Comments in `reads.c` say in which functions a store and the later read are reported.
#[test]
fn a_store_and_the_read_that_always_follows() {
    let Some(llvm) = Llvm::get() else { return };
    let source = Path::new(tbaa_tests::ROOT).join("tests/fixtures/lint/reads.c");
    let written = std::fs::read_to_string(&source).unwrap();
    let verdicts = written.lines().filter_map(|line| line.rsplit_once("// "));
    let reported: BTreeSet<&str> = verdicts
        .clone()
        .filter(|(_, verdict)| *verdict == "reported")
        .filter_map(|(line, _)| line.split('(').next()?.rsplit([' ', '*']).next())
        .collect();
    let called: Vec<_> = verdicts.filter(|verdict| verdict.1 == "called").collect();
    assert!(reported.len() > 15 && called.len() > 3, "{reported:?}");
    for (way, options) in &WAYS[..2] {
        let text = llvm.clang(&source, options);
        let module = tbaa_ir::read(&text).unwrap();
        let found = lint(&module, &Options::default());
        let found: Vec<&str> = found.iter().map(|found| &found.message[..]).collect();
        let names = found.iter().flat_map(|found| found.split('@').skip(1));
        let names = names.filter_map(|name| name.split([' ', ',']).next());
        let is_called =
            |name: &&str| called.iter().any(|(line, _)| line.contains(&format!(" {name}(")));
        let names: BTreeSet<&str> = names.filter(|name| !is_called(name)).collect();
        assert_eq!(names, reported, "{way}: {found:#?}");
    }
}
