//! `tbaa declare` on a C header, where there is a clang to ask.

use std::path::Path;
use std::process::Command;

fn declare(args: &[&str]) -> Option<String> {
    let clang = Command::new("clang-22").arg("--version").output();
    if let Err(why) = clang {
        let required = std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require");
        assert!(!required, "clang 22 is required and cannot be run: {why}");
        eprintln!("skipped, for clang 22 cannot be run: {why}");
        return None;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_tbaa"))
        .args(["declare", "--clang", "clang-22"])
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_header_is_laid_out() {
    let args = ["declare.h", "--record", "Node", "--target", "x86_64-linux-gnu"];
    let Some(layout) = declare(&args) else { return };
    let expected = "struct Node: 40 bytes, aligned to 8\n       \
        0      8  next: Node *\n     \
        8:0     3b  kind: Kind\n      \
        10      8  at: Node.at [2]\n      \
        18      4  struct last\n      \
        18      2    x: short\n      \
        20      2    y: short\n      \
        24      8  union word\n      \
        24      8    p: void *\n      \
        24      8    i: long\n      \
        32      8  visit: void (*)()\n      \
        40      0  values: double []\n";
    assert_eq!(layout, expected);
}

/// A spec made of a header says the same as the header.
#[test]
fn a_spec_of_a_header_is_the_header() {
    for target in ["x86_64-linux-gnu", "i686-linux-gnu", "x86_64-pc-windows-msvc"] {
        let base = ["declare.h", "--record", "Node", "--target", target];
        let Some(layout) = declare(&base) else { return };
        let spec = declare(&[&base[..], &["--format", "ron"]].concat()).unwrap();
        assert!(!spec.contains("at:"), "no offset is needed: {spec}");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}.ron"));
        std::fs::write(&file, &spec).unwrap();
        assert_eq!(declare(&[file.to_str().unwrap(), "--record", "Node"]).unwrap(), layout);
    }
}
