//! Tests `tbaa blocks`, which lists the stores and calls that keep LLVM from removing a load.
//! `--prove` asks LLVM whether it would remove the load if these touched other memory.

mod tools;

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tbaa_tests::lua;
use tools::printed;

fn llvm() -> Option<()> {
    tools::find(&["opt-22", "clang-22", "llvm-link-22"])
}

fn prove(file: &Path, sample: usize) -> Value {
    let file = file.to_str().unwrap();
    let mut tbaa = tools::tbaa(&["blocks", file, "--prove", "--format", "json", "--sample"]);
    serde_json::from_str(&printed(tbaa.arg(sample.to_string()))).unwrap()
}

/// Compiles the files of Lua that `is_wanted` accepts by name without extension, and links them.
fn lua(name: &str, is_wanted: impl Fn(&str) -> bool) -> PathBuf {
    let (folder, mut files) = (tools::folder(&format!("blocks/{name}")), Vec::new());
    for source in lua::sources("lua-5.4.9") {
        let stem = source.file_stem().unwrap().to_str().unwrap().to_owned();
        if !is_wanted(&stem) {
            continue;
        }
        let file = folder.join(format!("{stem}.ll"));
        let mut clang = Command::new("clang-22");
        printed(clang.args(["-O1", "-S", "-emit-llvm", "-o"]).args([&file, &source]));
        files.push(file);
    }
    let linked = folder.join("all.ll");
    printed(Command::new("llvm-link-22").args(["-S", "-o"]).arg(&linked).args(&files));
    linked
}

/// Returns precision: the share of the sampled loads that LLVM removes or hoists if the listed
/// blockers touch other memory. Also returns recall: this share for the loads that LLVM removes or
/// hoists if all accesses to other addresses touch other memory.
fn shares(figures: &Value) -> (f64, f64) {
    let figure = |name: &str| figures[name].as_f64().unwrap();
    (figure("gone") / figure("asked"), figure("found") / figure("gone_of_tried"))
}

/// Repeats the measurement of `docs/blocks.md` on five files of Lua.
#[test]
fn of_luas_tables_and_strings_what_is_blamed_is_to_blame() {
    let Some(()) = llvm() else { return };
    let file = lua("some", |name| matches!(name, "ltable" | "lobject" | "lfunc" | "ldo" | "lcode"));
    let figures = &prove(&file, 60)["proof"];
    eprintln!("{figures}");
    let (precision, recall) = shares(figures);
    assert!(figures["asked"].as_u64().unwrap() >= 30, "{figures}");
    // LLVM may move a load to some paths of its loop. Such a load does not count as removed.
    assert!(precision >= 0.7 && recall >= 0.6, "{figures}");
}

/// Like the test before this one, on all of Lua. It takes minutes.
#[test]
#[ignore = "asks LLVM about a thousand loads"]
fn of_lua_what_is_blamed_is_to_blame() {
    let Some(()) = llvm() else { return };
    let figures = &prove(&lua("all", |_| true), 1000)["proof"];
    println!("{figures}");
    let (precision, recall) = shares(figures);
    assert!(precision >= 0.7 && recall >= 0.6, "{figures}");
}

/// Returns the names of the blocked loads that `program`, a build of `tbaa`, lists: all, and those
/// without a blocker whose cause `stays` accepts. Leaves out stores, which could sink.
fn listed(program: &str, file: &str) -> [HashSet<String>; 2] {
    let output =
        Command::new(program).args(["blocks", file, "--all", "--format", "json"]).output().unwrap();
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows["loads"].as_array().unwrap().iter().filter(|row| row["could"] != "sink");
    let name = |row: &Value| row["load"]["access"].as_str().map(str::to_owned);
    let is_apart = |row: &&Value| {
        let stays =
            |cause: &Value| ["same place", "order", "may not return"].iter().any(|&of| cause == of);
        !row["blockers"].as_array().unwrap().iter().any(|blocker| stays(&blocker["cause"]))
    };
    [rows.clone().filter_map(name).collect(), rows.filter(is_apart).filter_map(name).collect()]
}

/// Compares the list of blocked loads with a sample of the loads that LLVM's passes keep. A load is
/// kept by memory if LLVM removes or hoists it once all accesses to other addresses touch other
/// memory. `TBAA_MODULES` names the modules, `TBAA_BEFORE` a second `tbaa` to compare with, and
/// `TBAA_SAMPLE` the sample's size. Template instances may share a load's name.
#[test]
#[ignore = "asks LLVM about thousands of loads of the modules that TBAA_MODULES names"]
fn recall_and_precision_of_real_modules() {
    let sample = env::var("TBAA_SAMPLE").map_or(300, |var| var.parse().unwrap());
    for file in env::var("TBAA_MODULES").unwrap_or_default().split_whitespace() {
        let figures = &prove(Path::new(file), sample)["proof"];
        let names = |key: &str| -> HashSet<String> {
            let all = figures[key].as_array().unwrap().iter();
            all.map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let [kept, stay] = [names("kept_by_memory"), names("stay")];
        let ([all, of_memory], missed) =
            ([kept.len() + stay.len(), kept.len()], &figures["missed"]);
        println!("{file}: of {all} loads, memory keeps {of_memory}; missed {missed}");
        let own = env!("CARGO_BIN_EXE_tbaa").to_owned();
        for program in env::var("TBAA_BEFORE").into_iter().chain([own]) {
            for (what, all) in ["listed", "of types and calls"].iter().zip(listed(&program, file)) {
                let count =
                    |of: &HashSet<_>| format!("{} of {}", all.intersection(of).count(), of.len());
                println!("  {program} {what}: {} kept, {} others", count(&kept), count(&stay));
            }
        }
    }
}
