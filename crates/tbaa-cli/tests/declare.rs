//! `tbaa declare` on a C header, where there is a clang to ask.

mod tools;

use std::path::Path;
use std::process::{Command, Output};

fn declare(args: &[&str]) -> Option<String> {
    if !tools::are_there(&["clang-22"]) {
        return None;
    }
    let output = run(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tbaa"))
        .args(["declare", "--clang", "clang-22"])
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs"))
        .output()
        .unwrap()
}

/// What tags depend on beside layouts: clang is asked about each member, and a
/// record that it tags otherwise is left out by name.
#[test]
fn records_that_clang_tags_otherwise_are_refused() {
    if declare(&["declare.h"]).is_none() {
        return;
    }
    let shared = ["attributes.h", "--target", "x86_64-linux-gnu"];
    for policy in ["clang", "rfc"] {
        let output = run(&[&shared[..], &["--policy", policy]].concat());
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        for (record, what) in [
            ("Scalar", "clang tags Scalar.a as (Scalar, omnipotent char, 0)"),
            ("Whole", "clang tags Whole.x as (omnipotent char, omnipotent char, 0)"),
            ("Pointee", "clang tags *Pointee.p as (omnipotent char, omnipotent char, 0)"),
            ("Through", "clang tags Through.p->a as (omnipotent char, omnipotent char, 0)"),
        ] {
            let start = format!("warning: {record} is left out: {what}");
            assert!(said.lines().any(|line| line.starts_with(&start)), "{start}: {said}");
        }
        assert!(said.contains("Hidden is left out: clang cannot be asked about it: "), "{said}");
        assert_eq!(said.lines().count(), 5, "{said}");
        let layout = String::from_utf8(output.stdout).unwrap();
        assert!(layout.contains("struct Packed: 5 bytes, aligned to 1"), "{layout}");
        for (record, there) in [("Plain", true), ("Macro", true), ("Scalar", false)] {
            assert_eq!(layout.contains(&format!("struct {record}:")), there, "{layout}");
        }
    }
    // The language's version renames `_Bool`.
    let output = run(&[&shared[..], &["--record", "Plain", "--", "-std=gnu2x"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Plain is left out: clang tags Plain.yes as (bool, bool, "), "{said}");
    let output = run(&[&shared[..], &["--", "-x", "c++"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("C++ is not read"));
}

/// A tag of clang's that leads to no field, and a node of clang's that is none
/// here, cost the records that have them and no others.
#[test]
fn records_of_nothing_are_left_out_alone() {
    if declare(&["declare.h"]).is_none() {
        return;
    }
    let holder = "warning: Holder is left out: clang tags Holder.a as (Holder, int, 0), but means \
                  another type by one of these names\n";
    for target in ["x86_64-linux-gnu", "i686-linux-gnu", "x86_64-pc-windows-msvc"] {
        let output = run(&["nothing.h", "--target", target, "--policy", "clang"]);
        assert_eq!(output.status.code(), Some(1), "{target}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), holder, "{target}");
        let layout = String::from_utf8(output.stdout).unwrap();
        for record in ["Tail", "None", "Within"] {
            assert!(layout.contains(&format!("struct {record}:")), "{layout}");
        }
    }
}

/// Clang's first dump has the sizes before attributes, which a header may not
/// accept.
#[test]
fn a_header_may_assert_sizes() {
    let args = ["asserts.h", "--target", "x86_64-linux-gnu"];
    let Some(layout) = declare(&args) else { return };
    assert!(layout.starts_with("struct Packed: 5 bytes, aligned to 1\n"), "{layout}");
    let output = run(&[&args[..], &["--", "-DWRONG"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("static assertion failed"));
}

/// Clang's dump names an enum without a name after what it is written in.
#[test]
fn enums_without_a_name_are_integers() {
    if declare(&["declare.h"]).is_none() {
        return;
    }
    for target in ["x86_64-linux-gnu", "i686-linux-gnu", "wasm32-wasi"] {
        let output = run(&["enums.h", "--target", target]);
        assert_eq!(output.status.code(), Some(1), "{target}");
        let said = String::from_utf8(output.stderr).unwrap();
        for left in [
            "Wide is left out: clang tags Wide.far",
            "Narrow is left out: Narrow.near: offset 0 lets it end past the 2",
        ] {
            assert!(said.contains(left), "{left}: {said}");
        }
        assert_eq!(said.lines().count(), 2, "{said}");
        let layout = String::from_utf8(output.stdout).unwrap();
        for member in [
            "  func: int\n",
            "  sides: int [2][3]\n",
            " 2b  flag: int\n",
            "  way: void *\n",
            "  port: void (*)()\n",
            "    joint: int\n",
        ] {
            assert!(layout.contains(member), "{member}: {layout}");
        }
    }
}

#[test]
fn a_header_is_laid_out() {
    let args = ["declare.h", "--record", "Node", "--target", "x86_64-linux-gnu"];
    let Some(layout) = declare(&args) else { return };
    let expected = include_str!("inputs/node.layout");
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

/// Where no `clang` is, `clang-22` is asked without being named; `$CLANG` goes
/// before both.
#[cfg(unix)]
#[test]
fn a_clang_is_found() {
    if declare(&["declare.h"]).is_none() {
        return;
    }
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clang-22-alone");
    std::fs::create_dir_all(&tools).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join("clang-22"));
    let clang = folders.find(|it| it.is_file()).unwrap().canonicalize().unwrap();
    let link = tools.join("clang-22");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(clang, &link).unwrap();
    let run = |named: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
        command.args(["declare", "declare.h", "--record", "Node"]);
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs"));
        command.env("PATH", &tools).env("CLANG", named).output().unwrap()
    };
    assert!(run("").stdout.starts_with(b"struct Node: 40 bytes"));
    let said = String::from_utf8(run("no-such-clang").stderr).unwrap();
    assert!(said.contains("cannot run no-such-clang"), "{said}");
}

/// A macro writes several unnamed records in one place. Where they are alike,
/// it does not matter which of them is meant.
#[test]
fn unnamed_records_in_one_place_are_told_apart() {
    let base = ["group.h", "--target", "x86_64-linux-gnu"];
    let Some(layout) = declare(&[&base[..], &["--", "-DALIKE"]].concat()) else { return };
    let expected = include_str!("inputs/packet.layout");
    assert_eq!(layout, expected);
    let output = run(&base);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Packet is left out: "), "{said}");
    assert!(said.contains("clang calls another unnamed record the same: name one"), "{said}");
}
