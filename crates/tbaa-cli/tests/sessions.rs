//! Runs sessions: lines with `tbaa` commands in a shell. Each case in a file of
//! `tests/fixtures/command` is a session.
//!
//! The first part of a case has the lines, which `sh` runs in the case's own folder. Other parts
//! are files in this folder; the first line of such a part is the file's name. For each line, the
//! expected result has `$` and the line, its standard output, `!` and each line of its standard
//! error, and its status if it fails. `$INPUTS` is this package's `tests/inputs`, and `$PWD` is the
//! case's folder.

#![cfg(unix)]

mod tools;

use std::fs;

use tbaa_tests::cases;

/// Runs the sessions of a file, if the programs in `tools` are installed.
fn sessions(file: &str, tools: &[&str]) {
    let Some(()) = tools::find(tools) else { return };
    let inputs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inputs");
    cases::check(&format!("command/{file}.txt"), |title, parts| {
        let name = title.replace(|title: char| !title.is_alphanumeric(), "-");
        let folder = tools::emptied(&format!("sessions/{file}/{name}"));
        for part in &parts[1..] {
            let (name, text) = part.split_once('\n').unwrap();
            fs::write(folder.join(name), text).unwrap();
        }
        let mut said = String::new();
        for line in parts[0].lines() {
            let mut shell = tools::shell(line);
            shell.current_dir(&folder).env("INPUTS", inputs);
            shell.env_remove("CLANG").env_remove("LLVM_DIS").env_remove("NO_COLOR");
            shell.env("XDG_CACHE_HOME", tools::folder("plugin/cache"));
            let output = shell.output().unwrap();
            said += &format!("$ {line}\n{}", String::from_utf8_lossy(&output.stdout));
            let errors = String::from_utf8_lossy(&output.stderr);
            errors.lines().for_each(|error| said += &format!("! {error}\n"));
            if !output.status.success() {
                said += &format!("{}\n", output.status);
            }
        }
        said.replace(folder.to_str().unwrap(), "$PWD").replace(inputs, "$INPUTS")
    });
}

#[test]
fn plain() {
    sessions("plain", &["sh"]);
}

#[test]
fn inputs_that_are_converted() {
    sessions("convert", &["clang-22"]);
}

#[test]
fn headers_that_are_declared() {
    sessions("declare", &["clang-22"]);
}

#[test]
fn what_tags_are_worth() {
    sessions("worth", &["opt-22", "llvm-link-22", "clang-22", "llvm-config-22"]);
}

#[test]
fn the_plugins_folder() {
    sessions("plugin", &["clang-22", "llvm-config-22", "opt-22"]);
}

#[test]
fn records_that_llvm_reads() {
    sessions("records", &["llvm-remarkutil-22"]);
}
