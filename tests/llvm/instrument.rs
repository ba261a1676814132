//! LLVM 22 accepts modules of C and C++ compiled by clang, after `instrument` has added checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa_instrument::{Form, instrument};

use tbaa_tests::llvm::{Llvm, WAYS, corpus, scratch};
use tbaa_tests::lua;
use tbaa_tests::process::run;

/// Ways to compile with debug information: LLVM then requires calls to have a location.
const DEBUG: [(&str, &[&str]); 3] = [
    ("O0", &["-O0", "-g"]),
    ("O1", &["-O1", "-g", "-Xclang", "-disable-llvm-passes"]),
    ("O2", &["-O2", "-g", "-march=x86-64-v4"]),
];

fn is_accepted(name: &str, text: &[u8], options: &[&str]) {
    let file = scratch(name, text);
    run(Command::new("opt-22").arg("-disable-output").args(options).arg(file)).unwrap();
}

/// Compiles each source in the next of the `ways`, instruments it, and checks that LLVM accepts it.
/// Returns the number of instrumented accesses.
fn checked_is_accepted(llvm: &Llvm, sources: &[PathBuf], ways: &[(&str, &[&str])]) -> u32 {
    let mut sites = 0;
    let forms = [Form::Assembly, Form::Calls].into_iter().cycle();
    for ((source, (way, options)), form) in sources.iter().zip(ways.iter().cycle()).zip(forms) {
        let stem = source.file_stem().unwrap().to_string_lossy();
        let text = llvm.clang(source, options);
        let checked = instrument(&tbaa_ir::read(&text).unwrap(), form).unwrap();
        assert_eq!(checked.skipped, [], "{stem} {way}");
        is_accepted(&format!("{stem}-{way}.ll"), &checked.text, &["-passes=verify"]);
        sites += checked.sites;
    }
    sites
}

#[test]
fn the_corpus_with_checks_is_accepted() {
    let Some(llvm) = Llvm::get() else { return };
    let files = corpus();
    let sites =
        checked_is_accepted(llvm, &files, &WAYS) + checked_is_accepted(llvm, &files, &DEBUG);
    assert!(sites > 100, "{sites}");
}

#[test]
fn lua_with_checks_is_accepted() {
    let Some(llvm) = Llvm::get() else { return };
    let sites = checked_is_accepted(llvm, &lua::sources("lua-5.4.9"), &DEBUG);
    assert!(sites > 2_000, "{sites}");
}

/// `musttail` and `deoptimize` calls, which only a `ret` may follow, and operand bundles.
#[test]
fn last_calls_with_checks_are_accepted() {
    let Some(_) = Llvm::get() else { return };
    let source = Path::new(tbaa_tests::ROOT).join("tests/llvm/last_calls.ll");
    let text = fs::read(source).unwrap();
    for form in [Form::Calls, Form::Assembly] {
        let checked = instrument(&tbaa_ir::read(&text).unwrap(), form).unwrap();
        assert_eq!((checked.sites, checked.skipped), (6, vec![]));
        is_accepted("last_calls.ll", &checked.text, &["-passes=verify"]);
        is_accepted("last_calls.ll", &checked.text, &["-O2", "-verify-each"]);
    }
}
