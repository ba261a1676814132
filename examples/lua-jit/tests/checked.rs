//! Programs that are checked as they run, under tags that are right and under
//! Ravi's, which are not.

use std::process::{Command, Output};

/// Runs a program under a switch, with checks.
fn checked(program: &str, tags: &str, argument: &str) -> Output {
    let library = std::env::current_exe().unwrap().with_file_name("libtbaa_witness.so");
    assert!(library.is_file(), "{}", library.display());
    let file = format!("{}/{program}", env!("CARGO_MANIFEST_DIR"));
    Command::new(env!("CARGO_BIN_EXE_tbaa-lua-jit"))
        .args(["--checked", "--tags", tags, &file, argument])
        .env("LD_PRELOAD", library)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
