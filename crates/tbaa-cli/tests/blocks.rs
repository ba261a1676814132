//! `tbaa blocks --prove`: what is blamed is what keeps LLVM from it.

mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tbaa_tests::lua;

fn llvm_is_there() -> bool {
    tools::are_there(&["opt-22", "clang-22", "llvm-link-22"])
}

fn prove(file: &Path, sample: usize) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_tbaa"))
        .args(["blocks", file.to_str().unwrap(), "--prove", "--format", "json"])
        .args(["--sample", &sample.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Compiles some of Lua's files and links them.
fn lua(name: &str, is_wanted: impl Fn(&str) -> bool) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blocks").join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut files = Vec::new();
    for source in lua::sources("lua-5.4.9") {
        let stem = source.file_stem().unwrap().to_str().unwrap().to_owned();
        if !is_wanted(&stem) {
            continue;
        }
        let file = folder.join(format!("{stem}.ll"));
        let clang = Command::new("clang-22")
            .args(["-O1", "-S", "-emit-llvm", "-o"])
            .args([&file, &source])
            .status();
        assert!(clang.unwrap().success(), "{}", source.display());
        files.push(file);
    }
    let linked = folder.join("all.ll");
    let link = Command::new("llvm-link-22").args(["-S", "-o"]).arg(&linked).args(&files).status();
    assert!(link.unwrap().success());
    linked
}

/// Of the loads that LLVM keeps and that stores alone are blamed for, the share
/// that it removes or hoists with these stores tagged apart; and of those that it
/// removes with all stores tagged apart, the share that the blame explains.
fn shares(figures: &Value) -> (f64, f64) {
    let figure = |name: &str| figures[name].as_f64().unwrap();
    (figure("gone") / figure("asked"), figure("found") / figure("gone_of_tried"))
}

/// Some files of Lua, as a small run of what `docs/blocks.md` reports.
#[test]
fn of_luas_tables_and_strings_what_is_blamed_is_to_blame() {
    if !llvm_is_there() {
        return;
    }
    let file = lua("some", |name| matches!(name, "ltable" | "lobject" | "lfunc" | "ldo" | "lcode"));
    let figures = &prove(&file, 60)["proof"];
    eprintln!("{figures}");
    let (precision, recall) = shares(figures);
    assert!(figures["asked"].as_u64().unwrap() >= 30, "{figures}");
    assert!(precision >= 0.95 && recall >= 0.6, "{figures}");
}

/// All of Lua; takes minutes.
#[test]
#[ignore = "asks LLVM about a thousand loads"]
fn of_lua_what_is_blamed_is_to_blame() {
    if !llvm_is_there() {
        return;
    }
    let figures = &prove(&lua("all", |_| true), 1000)["proof"];
    println!("{figures}");
    let (precision, recall) = shares(figures);
    assert!(precision >= 0.95 && recall >= 0.6, "{figures}");
}
