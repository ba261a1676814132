//! Runs the bench with `--quick`, on tiny inputs, and checks the form of its report.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A user's build has cargo's default release profile, so the workspace must not set one.
#[test]
fn the_library_is_built_as_a_user_builds_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let manifest = fs::read_to_string(root).unwrap();
    assert!(!manifest.contains("[profile.release"), "the benches measure another build");
}

#[test]
fn quick_run_fills_every_table() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quick.md");
    let mut bench = Command::new(env!("CARGO_BIN_EXE_tbaa-bench"));
    let output = bench.args(["--quick", "--out"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report = fs::read_to_string(&file).unwrap();
    let llvm = !report.contains("no LLVM 22");
    if std::env::var("TBAA_LLVM").is_ok_and(|v| v == "require") {
        assert!(llvm, "LLVM 22 is required and not usable: {said}");
    }

    let mut sections = 0;
    for section in report.split("\n## ").skip(1) {
        sections += 1;
        let title = section.lines().next().unwrap();
        let table: Vec<_> = section.lines().filter(|line| line.starts_with('|')).collect();
        let cells = |line: &str| line.matches('|').count();
        assert!(table.iter().all(|line| cells(line) == cells(table[0])), "{title}: ragged");
        // The section on the method needs no table, and a table of targets may be empty.
        let has_rows = table.len() >= 3 || title.starts_with("Targets") || title.starts_with("How");
        assert!(has_rows || !llvm, "{title}: no rows");
        assert!(!section.contains("NaN") && !section.contains("inf"), "{title}: no number");
    }
    assert_eq!(sections, 16, "sections of the report");
    // A quick run lacks these inputs, so it does not measure the targets for them.
    let unmeasured = ["15,000 tags", "25 MB", "metadata alone", "1,000,000 tags", "10,000 classes"];
    for line in report.lines().filter(|line| llvm && line.contains("not measured")) {
        assert!(unmeasured.iter().any(|input| line.contains(input)), "{line}");
    }
}
