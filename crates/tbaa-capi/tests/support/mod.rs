//! Installs libtbaa as a user would, and builds C programs against it.

// Each test program uses only a part of this module.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns whether a missing tool is a failure, as in `tests/run.sh`, which installs all tools.
fn tools_are_required() -> bool {
    std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require")
}

/// Returns `Some` if all tools can be run. If one is missing, panics if tools are required;
/// otherwise prints the tool's name and returns `None`.
pub(crate) fn have(tools: &[&str]) -> Option<()> {
    let is_missing = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let Some(missing) = tools.iter().find(is_missing) else { return Some(()) };
    assert!(!tools_are_required(), "{missing} is required and cannot be run");
    eprintln!("skipped, for there is no {missing}");
    None
}

/// Returns a command's standard output. Panics if the command fails.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let Output { status, stdout, stderr } = &output;
    let said = String::from_utf8_lossy(stderr);
    assert!(status.success(), "{command:?}: {status}\n{said}{}", String::from_utf8_lossy(stdout));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the folder with the installed libtbaa. `install.sh` runs once for each test program.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libtbaa");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        let program = std::env::current_exe().unwrap();
        let built = program.parent().unwrap();
        run(Command::new("sh").arg(script).arg(&prefix).env("BUILT", built));
        prefix
    })
}

pub(crate) fn flags(of: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    let words = run(command.args(of).arg("tbaa").env("PKG_CONFIG_PATH", pkg_config_path()));
    words.split_whitespace().map(str::to_owned).collect()
}

fn pkg_config_path() -> PathBuf {
    prefix().join("lib/pkgconfig")
}

const STRICT: [&str; 6] = ["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"];

pub(crate) fn compile<S: AsRef<OsStr>>(
    compiler: &str,
    source: &Path,
    arguments: impl IntoIterator<Item = S>,
    name: &str,
) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let standard = if compiler.contains("++") { "-std=c++17" } else { "-std=c11" };
    let libraries = prefix().join("lib");
    let mut command = Command::new(compiler);
    command.arg(standard).args(STRICT).arg(source).arg("-o").arg(&program).args(arguments);
    command.arg(format!("-Wl,-rpath,{}", libraries.display()));
    run(&mut command);
    program
}

/// Returns the path of a C file of this crate's tests, or of `examples/c`.
pub(crate) fn source(name: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name);
    if own.exists() { own } else { repository().join("examples/c").join(name) }
}
