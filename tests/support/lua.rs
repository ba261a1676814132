//! Lua's C sources in the crate `lua-src`, in cargo's folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the library's files in a version such as `lua-5.4.9`.
pub fn sources(version: &str) -> Vec<PathBuf> {
    // Without a platform, cargo downloads the crates of all of them.
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata = String::from_utf8(output.stdout).unwrap();
    let manifest = metadata
        .split('"')
        .find(|word| word.contains("/lua-src-") && word.ends_with("/Cargo.toml"))
        .expect("the crate lua-src");
    let folder = Path::new(manifest).parent().unwrap().join(version);
    let mut sources: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // These have main functions of their own.
    let programs = ["lua.c", "luac.c", "print.c"];
    sources.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".c") && !programs.contains(&&*name)
    });
    sources.sort();
    sources
}
