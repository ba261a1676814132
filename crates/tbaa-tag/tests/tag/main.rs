//! Tests which tags `tbaa_tag` adds, and what programs print when LLVM 22 compiles them with tags.

mod attacks;
mod places;
mod programs;

use std::path::PathBuf;
use std::process::Command;

use tbaa_tag::{Options, tag};
use tbaa_tests::llvm::scratch;
use tbaa_tests::process;

/// Flags with which clang writes a module without tags, before any LLVM pass has changed it.
const WITHOUT_TAGS: [&str; 6] =
    ["-O1", "-Xclang", "-disable-llvm-passes", "-fno-strict-aliasing", "-w", "-ffp-contract=off"];

fn tagged(text: &[u8], options: &Options) -> Vec<u8> {
    let module = tbaa_ir::read(text).unwrap();
    tag(&module, options).unwrap().to_bytes(&module).unwrap()
}

fn run(name: &str, module: &[u8], level: &str) -> String {
    let file = scratch(&format!("{name}{level}.ll"), module);
    let program = file.with_extension("out");
    let flags = ["-w", "-x", "ir", level, "-o"];
    let mut clang = Command::new("clang-22");
    process::run(clang.args(flags).arg(&program).arg(&file).args(["-x", "none", "-lm"])).unwrap();
    process::text_of(&mut Command::new(program)).unwrap()
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    tbaa_tests::files(&format!("crates/tbaa-tag/tests/{folder}"), &[extension])
}
