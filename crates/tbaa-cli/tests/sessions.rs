//! Runs sessions of the command in a shell, under `tests/fixtures/command`.
//!
//! `sh` runs each line of a case in the case's own folder. The line is followed by its expected
//! result: the output, each line of standard error after a `!`, and the status if it is not 0. The
//! other parts of a case are files, named by their first lines. `$INPUTS` is `tests/inputs`. In the
//! output, this path and the case's folder are written as `$INPUTS` and `$PWD`.

#![cfg(unix)]

mod tools;

use std::fs;

use tbaa_tests::cases;

/// Runs the sessions of a file, if the tools are installed.
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
