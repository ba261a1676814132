//! Reads `compile_commands.json`, which records how a build compiles each file.
//!
//! Source: Clang, "JSON Compilation Database Format Specification".

use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use serde::Deserialize;

use crate::files::read_file;
use crate::printable::printable_path;
use crate::report::{Failure, Result, bail};

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Reads a database. `build` is the file, or the folder that contains it.
fn read(build: &Path) -> Result<Vec<Entry>> {
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
pub(crate) fn sources(build: &Path) -> Result<Vec<PathBuf>> {
    let all = read(build)?.into_iter().map(|read| read.directory.join(read.file));
    Ok(all.collect::<IndexSet<_>>().into_iter().collect())
}

/// Returns the folder and flags of the first command that compiles a file. The compiler, the source
/// and flags such as `-o` and `-Werror` are removed.
pub(crate) fn of(build: &Path, source: &Path) -> Result<(PathBuf, Vec<String>)> {
    let same = |a: &Path, b: &Path| a == b || a.canonicalize().ok() == b.canonicalize().ok();
    let [file, folder] = [source, build].map(printable_path);
    let mut entries = read(build)?.into_iter();
    let Some(entry) = entries.find(|of| same(&of.directory.join(&of.file), source)) else {
        bail!("the compile_commands.json of {folder} does not name {file}");
    };
    let words = entry.arguments.or_else(|| shlex::split(entry.command.as_deref()?));
    let Some(words) = words else {
        bail!("the compile_commands.json of {folder} has no readable command for {file}");
    };
    let is_source = |word: &str| same(&entry.directory.join(word), source);
    // Before the first flag are the compiler, and perhaps a launcher.
    let mut words = words.into_iter().skip_while(|word| !word.starts_with('-'));
    let mut flags = Vec::new();
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
    Ok((entry.directory, flags))
}

/// Flags that are removed: `ALONE` without a value, `WITH_VALUE` with one.
const ALONE: [&str; 12] =
    ["-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-emit-llvm", "-Werror", "--"];
const WITH_VALUE: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "-MJ"];
