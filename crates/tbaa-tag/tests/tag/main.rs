//! Tests that tags do not change what programs print, when LLVM 22 compiles them.

mod attacks;
mod places;
mod programs;

use std::path::PathBuf;
use std::process::Command;

use tbaa_tag::{Options, tag};
use tbaa_tests::llvm::scratch;
use tbaa_tests::process;

/// Flags that make clang behave as a front end without tags, before LLVM's passes.
const WITHOUT_TAGS: [&str; 6] =
    ["-O1", "-Xclang", "-disable-llvm-passes", "-fno-strict-aliasing", "-w", "-ffp-contract=off"];

/// Adds tags to a module, and returns its text.
fn tagged(text: &[u8], options: &Options) -> Vec<u8> {
    let module = tbaa_ir::read(text).unwrap();
    tag(&module, options).unwrap().to_bytes(&module).unwrap()
}

/// Optimises a module at this level, runs it, and returns its output.
fn run(name: &str, module: &[u8], level: &str) -> String {
    let file = scratch(&format!("{name}{level}.ll"), module);
    let program = file.with_extension("out");
    let flags = ["-w", "-x", "ir", level, "-o"];
    let mut clang = Command::new("clang-22");
    process::run(clang.args(flags).arg(&program).arg(&file).args(["-x", "none", "-lm"])).unwrap();
    process::text_of(&mut Command::new(program)).unwrap()
}

/// Returns the files with this extension in a folder under `tests`, sorted.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    tbaa_tests::files(&format!("crates/tbaa-tag/tests/{folder}"), &[extension])
}
