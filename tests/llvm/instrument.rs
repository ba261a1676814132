//! What is made of C and C++ that clang compiles, LLVM 22 accepts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa::instrument::instrument;
use tbaa::text;

use crate::support::llvm::{Llvm, WAYS, scratch};
use crate::support::lua;

/// Ways besides those of the corpus, with debug information: calls in a
/// function that has it need their places.
const DEBUG: [(&str, &[&str]); 3] = [
    ("O0", &["-O0", "-g"]),
    ("O1", &["-O1", "-g", "-Xclang", "-disable-llvm-passes"]),
    ("O2", &["-O2", "-g", "-march=x86-64-v4"]),
];

fn checked_is_accepted(llvm: &Llvm, sources: &[PathBuf], ways: &[(&str, &[&str])]) -> u32 {
    let mut sites = 0;
    for source in sources {
        let stem = source.file_stem().unwrap().to_string_lossy();
        for (way, options) in ways {
            let text = llvm.clang(source, options);
            let checked = instrument(&text, &text::read(&text).unwrap()).unwrap();
            assert_eq!(checked.skipped, [], "{stem} {way}");
            let file = scratch(&format!("{stem}-{way}.ll"), &checked.text);
            let mut opt = Command::new("opt-22");
            opt.args(["-disable-output", "-passes=verify"]).arg(&file);
            let output = opt.output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            // LLVM 22's verifier rejects what clang makes of a few of these,
            // with checks or without.
            let others: Vec<_> = errors.lines().filter(|line| line.contains("error")).collect();
            assert!(output.status.success(), "{}: {others:?} {errors}", file.display());
            sites += checked.sites;
        }
    }
    sites
}

#[test]
fn the_corpus_with_checks_is_accepted() {
    let Some(llvm) = Llvm::get() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|it| it.extension().is_some_and(|it| it == "c" || it == "cpp")).collect();
    files.sort();
    let sites =
        checked_is_accepted(llvm, &files, &WAYS) + checked_is_accepted(llvm, &files, &DEBUG);
    assert!(sites > 100, "{sites}");
}

#[test]
fn lua_with_checks_is_accepted() {
    let Some(llvm) = Llvm::get() else { return };
    let sites = checked_is_accepted(llvm, &lua::sources("lua-5.4.9"), &DEBUG);
    assert!(sites > 10_000, "{sites}");
}
