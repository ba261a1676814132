//! `examples/dask/summaries.py`: the summaries of many modules, merged as a tree by two workers, are
//! those that one merge of all makes. Where Python and Dask are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn workers_merge_what_one_process_merges() {
    let python = |arguments: &[&str]| {
        let mut python = Command::new("python3");
        python.args(arguments).env("TBAA", env!("CARGO_BIN_EXE_tbaa"));
        python
    };
    let import = python(&["-c", "import dask.distributed"]).output();
    if !import.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped, for python3 with dask.distributed is not there");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dask");
    fs::create_dir_all(&folder).unwrap();
    let out = folder.join("all.json");
    let names = ["fill", "shapes", "suspicious", "link_a", "link_b", "blocks", "sized", "types"];
    let mut modules: Vec<PathBuf> = Vec::new();
    // More than one layer of the tree: each module under two names.
    for (name, copy) in names.iter().flat_map(|name| [(name, 0), (name, 1)]) {
        let module = folder.join(format!("{name}{copy}.ll"));
        fs::copy(here.join("tests/inputs").join(name).with_extension("ll"), &module).unwrap();
        modules.push(module);
    }
    let script = here.join("../../examples/dask/summaries.py");
    let mut all = python(&[script.to_str().unwrap(), out.to_str().unwrap()]);
    let output = all.args(&modules).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut tbaa = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    let whole = tbaa.args(["link", "--format", "summary"]).args(&modules).output().unwrap();
    assert!(fs::read(&out).unwrap() == whole.stdout, "the summaries differ");
    let mut tbaa = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    let lint = tbaa.args(["lint", "--format", "json"]).args(&modules).output().unwrap();
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&lint.stdout).unwrap();
    assert!(!rows.is_empty());
    assert_eq!(printed.lines().count(), rows.len(), "{printed}");
}
