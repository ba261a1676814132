//! Test cases in files: inputs and expected outputs.
//!
//! A line `=== TITLE` begins a case. Lines `---` separate several inputs, and a line `==>` precedes
//! the expected output. The text before the first case is for human readers. With
//! `TBAA_FIXTURES=overwrite`, [`check`] replaces the expected outputs by the actual ones.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of a file under `tests/fixtures`, the text before its first case, and the
/// title, inputs (as one text) and expected output of each case.
fn read(file: &str) -> (PathBuf, String, Vec<[String; 3]>) {
    let path = Path::new(crate::ROOT).join("tests/fixtures").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut cases = text.split("\n=== ");
    let before = cases.next().unwrap().to_owned();
    let case = |case: &str| {
        let (title, case) = case.split_once('\n').unwrap_or((case, ""));
        let (input, expected) = case.split_once("==>\n").unwrap_or((case, ""));
        [title, input, expected].map(str::to_owned)
    };
    (path, before, cases.map(case).collect())
}

/// Calls `run` with the title and the inputs of each case of a file under `tests/fixtures`, and
/// panics if an output is not the expected one.
pub fn check(file: &str, mut run: impl FnMut(&str, &[&str]) -> String) {
    let (path, before, cases) = read(file);
    let mut ours = before.trim_end().to_owned() + "\n";
    let mut wrong = Vec::new();
    for [title, input, expected] in &cases {
        let mut found = run(title, &input.split("---\n").collect::<Vec<_>>());
        if !found.is_empty() && !found.ends_with('\n') {
            found.push('\n');
        }
        let expected = expected.trim_end_matches('\n');
        if found.trim_end_matches('\n') != expected {
            wrong.push(format!("{title}\n{input}found:\n{found}expected:\n{expected}\n"));
        }
        ours += &format!("\n=== {title}\n{input}==>\n{found}");
    }
    if std::env::var("TBAA_FIXTURES").is_ok_and(|wish| wish == "overwrite") {
        fs::write(&path, ours).unwrap();
    } else {
        let what = "wrong; TBAA_FIXTURES=overwrite writes what is found";
        assert!(wrong.is_empty(), "{file}: {} cases {what}\n\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// Returns the title and the inputs of each case of a file.
pub fn all(file: &str) -> Vec<(String, Vec<String>)> {
    let parts = |input: String| input.split("---\n").map(str::to_owned).collect();
    read(file).2.into_iter().map(|[title, input, _]| (title, parts(input))).collect()
}

/// Returns the first input of a case.
pub fn input(file: &str, title: &str) -> String {
    let case = all(file).into_iter().find(|case| case.0 == title);
    case.unwrap_or_else(|| panic!("{file} has no case {title:?}")).1.swap_remove(0)
}
