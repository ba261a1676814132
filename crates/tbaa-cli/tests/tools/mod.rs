//! Helpers that the test programs share: folders, files, and running programs.

#![allow(dead_code, reason = "no test program needs all of it")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the folder `name` for temporary files. Creates it if it does not exist.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the folder `name` for temporary files after removing its contents.
pub(crate) fn emptied(name: &str) -> PathBuf {
    let _ = fs::remove_dir_all(folder(name));
    folder(name)
}

/// Writes a file into a folder for temporary files, and returns the file's path.
pub(crate) fn scratch(folder: &str, name: &str, content: &str) -> String {
    let file = self::folder(folder).join(name);
    fs::write(&file, content).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Returns the absolute path of `name`, which is relative to the package's folder.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the files with one of the extensions in a folder of the package, sorted by path.
pub(crate) fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let files = fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path());
    let has = |file: &PathBuf| {
        file.extension().is_some_and(|extension| extensions.iter().any(|of| extension == *of))
    };
    let mut files: Vec<_> = files.filter(has).collect();
    files.sort();
    files
}

pub(crate) fn tbaa(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    command.args(args);
    command
}

/// Returns the standard output of a program that must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Writing fails if the program does not read its input: ignore the error.
        scope.spawn(move || pipe.write_all(input));
        child.wait_with_output().unwrap()
    })
}

/// Returns a command that runs a shell line. The line can call `tbaa` by its name.
pub(crate) fn shell(line: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_tbaa")).parent().unwrap().display();
    let mut command = Command::new("sh");
    // Use the runtime library that cargo built for this test. Another library may be older.
    let tests = std::env::current_exe().unwrap();
    command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap());
    command.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()));
    command.args(["-c", line]);
    command
}

/// Returns whether all tools run. If not, prints a missing one; panics if `TBAA_LLVM` is `require`.
pub(crate) fn are_there(tools: &[&str]) -> bool {
    let cannot_run = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let Some(tool) = tools.iter().find(cannot_run) else { return true };
    let required = std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require");
    assert!(!required, "{tool} is required and cannot be run");
    eprintln!("skipped, for {tool} cannot be run");
    false
}

/// Like [`are_there`], for use in `let Some(()) = ... else { return }`.
pub(crate) fn find(tools: &[&str]) -> Option<()> {
    are_there(tools).then_some(())
}

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|var| var.parse().ok()).unwrap_or(default)
}

pub(crate) fn plugin() -> String {
    static MADE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let make = || {
        let mut tbaa = tbaa(&["plugin"]);
        printed(tbaa.env("XDG_CACHE_HOME", folder("plugin/cache"))).trim().to_owned()
    };
    MADE.get_or_init(make).clone()
}
