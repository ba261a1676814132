//! Tests `tbaa cc`, `tbaa c++` and `tbaa run`, and `tbaa bisect --build` on recorded builds.

mod tools;

use std::process::Command;

/// Runs the shell scripts in `tests/cc`. Each begins with a comment on what it tests.
#[test]
fn scripts_pass() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    // cargo builds the runtime library into the folder of this test program.
    let tests = std::env::current_exe().unwrap();
    let mut failed = String::new();
    for file in tools::files("tests/cc", &["sh"]) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let mut command = Command::new("bash");
        command.arg("-eux").arg(&file).env("HERE", file.parent().unwrap());
        command.env("TBAA", env!("CARGO_BIN_EXE_tbaa"));
        command.current_dir(tools::emptied(&format!("cc/{name}"))).env("CLANG", "clang-22");
        command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap()).env_remove("TBAA_RECORD");
        // cargo sets this variable to a folder that may contain an older runtime library.
        command.env_remove("LD_LIBRARY_PATH");
        let output = command.output().unwrap();
        if !output.status.success() {
            failed += &format!("{name}: {}\n", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
