//! `tbaa cc`, `tbaa c++` and `tbaa run` as compilers, and `tbaa bisect --build` on what they
//! record.

mod tools;

use std::fs;
use std::path::Path;
use std::process::Command;

/// Each script of the folder states what it tests.
#[test]
fn scripts_pass() {
    if !tools::are_there(&["clang-22"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cc");
    // cargo builds the library into the folder of the tests.
    let tests = std::env::current_exe().unwrap();
    let mut failed = String::new();
    for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "sh") {
            continue;
        }
        let name = file.file_stem().unwrap().to_str().unwrap();
        let mut command = Command::new("bash");
        command.arg("-eux").arg(&file).env("HERE", &folder).env("TBAA", env!("CARGO_BIN_EXE_tbaa"));
        command.current_dir(tools::emptied(&format!("cc/{name}"))).env("CLANG", "clang-22");
        command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap()).env_remove("TBAA_RECORD");
        // cargo names the folder of a library that is older, maybe.
        command.env_remove("LD_LIBRARY_PATH");
        let output = command.output().unwrap();
        if !output.status.success() {
            failed += &format!("{name}: {}\n", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
