//! `compile_commands.json`: how a build compiles each file.
//!
//! Source: Clang, "JSON Compilation Database Format Specification".

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::files::read_file;
use crate::printable::printable_path;
use crate::report::Failure;

/// How a file is compiled: one object of the database.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// What clang needs to compile a file as the build does.
pub(crate) struct Compilation {
    pub(crate) directory: PathBuf,
    /// Without the compiler, the source, and what says where output goes.
    pub(crate) flags: Vec<String>,
}

/// Reads the database of a folder, or the file itself.
fn read(build: &Path) -> Result<Vec<Entry>, Failure> {
    let in_folder = build.join("compile_commands.json");
    let path = if build.is_dir() { &in_folder } else { build };
    let (file, text) = read_file(path)?;
    serde_json::from_slice(&text).map_err(|error| {
        Failure::unusable(format!(
            "{file} is not a compilation database: {error}; CMake writes one with \
             -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
        ))
    })
}

/// Returns the files that a build compiles, each once.
pub(crate) fn sources(build: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut all: Vec<PathBuf> = Vec::new();
    for Entry { directory, file, .. } in read(build)? {
        let path = directory.join(file);
        if !all.contains(&path) {
            all.push(path);
        }
    }
    Ok(all)
}

/// Returns how a build compiles a file: as it does first, if it does so several times.
pub(crate) fn of(build: &Path, source: &Path) -> Result<Compilation, Failure> {
    let same = |a: &Path, b: &Path| a == b || a.canonicalize().ok() == b.canonicalize().ok();
    let all = read(build)?;
    let entry = all.into_iter().find(|it| same(&it.directory.join(&it.file), source));
    let entry = entry.ok_or_else(|| {
        let [source, build] = [source, build].map(printable_path);
        Failure::unusable(format!("the compile_commands.json of {build} does not name {source}"))
    })?;
    let words = match (entry.arguments, &entry.command) {
        (Some(words), _) => Some(words),
        (None, Some(command)) => shlex::split(command),
        (None, None) => None,
    };
    let words = words.ok_or_else(|| {
        let (source, build) = (printable_path(source), printable_path(build));
        Failure::unusable(format!(
            "the compile_commands.json of {build} has no readable command for {source}"
        ))
    })?;
    let is_source = |word: &str| same(&entry.directory.join(word), source);
    // Before the first flag stand the compiler, and perhaps a program that runs it.
    let words = words.into_iter().skip_while(|word| !word.starts_with('-'));
    Ok(Compilation { flags: without_output(words, is_source), directory: entry.directory })
}

/// Leaves out the source, and the flags that say what is written and where.
fn without_output(
    words: impl Iterator<Item = String>,
    is_source: impl Fn(&str) -> bool,
) -> Vec<String> {
    const ALONE: [&str; 12] =
        ["-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-emit-llvm", "-Werror", "--"];
    const WITH_VALUE: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "-MJ"];
    let mut flags = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !ALONE.contains(&word.as_str())
            && !WITH_VALUE.iter().any(|flag| word.starts_with(flag))
            && !is_source(&word)
        {
            flags.push(word);
        }
    }
    flags
}
