//! Modules with tags, compiled by LLVM 22 and run: the tags change nothing that a program prints.

mod attacks;
mod places;
mod programs;

use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa_tag::{Options, tag};
use tbaa_tests::llvm::scratch;

/// C as a front end has it that knows no tags, before LLVM's passes.
const WITHOUT_TAGS: [&str; 6] =
    ["-O1", "-Xclang", "-disable-llvm-passes", "-fno-strict-aliasing", "-w", "-ffp-contract=off"];

/// Gives a module tags, and returns its text.
fn tagged(text: &[u8], options: &Options) -> Vec<u8> {
    let module = tbaa_ir::read(text).unwrap();
    tag(&module, options).unwrap().to_bytes(&module).unwrap()
}

/// Optimises a module at a level, runs it, and returns its output.
fn run(name: &str, module: &[u8], level: &str) -> String {
    let file = scratch(&format!("{name}{level}.ll"), module);
    let program = file.with_extension("out");
    let flags = ["-w", "-x", "ir", level, "-o"];
    tool("clang-22", |it| it.args(flags).arg(&program).arg(&file).args(["-x", "none", "-lm"]));
    let ran = tool(program.to_str().unwrap(), |it| it);
    String::from_utf8(ran).unwrap()
}

fn tool(name: &str, arguments: impl Fn(&mut Command) -> &mut Command) -> Vec<u8> {
    let mut command = Command::new(name);
    let output = arguments(&mut command).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    output.stdout
}

/// Returns the files with this extension in a folder next to this file, sorted.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|it| it.extension().is_some_and(|it| it == extension)).collect();
    files.sort();
    files
}
