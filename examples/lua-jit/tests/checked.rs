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

/// Ravi's table copies a slot's word as a number, and reads it as a table.
#[test]
fn ravi_s_mistake_is_reported() {
    let output = checked("tests/planted.lua", "ravi", "0");
    let text = stderr(&output);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5\n", "{text}");
    let report = text.split("tbaa-witness: contradiction ").find(|report| {
        report.contains("  write  8 bytes as \"long long\" at 0 of \"TValue\"\n         store i64")
            && report.contains("  read   8 bytes as \"any pointer\"\n         load ptr")
    });
    assert!(report.is_some_and(|it| it.contains("  rules  NoAlias by llvm")), "{text}");
    assert_eq!(output.status.code(), Some(66), "{text}");
}

/// Tags lowered from the declared structs fit what the programs do.
#[test]
fn lowered_tags_are_silent() {
    for program in ["tests/planted.lua", "tests/language.lua", "programs/trees.lua"] {
        let output = checked(program, "lowered", "5");
        assert_eq!(stderr(&output), "", "{program}");
        assert_eq!(output.status.code(), Some(0), "{program}");
    }
}
