//! Modules with tags, compiled by LLVM 22 and run: the tags change nothing that a program prints.

mod attacks;
mod places;
mod programs;

use std::path::PathBuf;
use std::process::Command;

use tbaa_tag::{Options, tag};
use tbaa_tests::llvm::scratch;
use tbaa_tests::process;

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
    let mut clang = Command::new("clang-22");
    process::run(clang.args(flags).arg(&program).arg(&file).args(["-x", "none", "-lm"])).unwrap();
    process::text_of(&mut Command::new(program)).unwrap()
}

/// Returns the files with this extension in a folder next to this file, sorted.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    tbaa_tests::files(&format!("crates/tbaa-tag/tests/{folder}"), &[extension])
}
