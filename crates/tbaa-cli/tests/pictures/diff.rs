//! `tbaa diff` beside other commands; what it prints is in `tests/cases`.

use crate::support::{run, stdin};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn what_tags_buy_is_every_no_alias() {
    for file in ["shapes.ll", "fill.ll", "many.ll"] {
        let pairs = run(&["matrix", file, "--format", "pairs"]).text;
        let apart = pairs.lines().filter(|line| line.ends_with("\tNoAlias")).count();
        let found = json(&run(&["diff", "--format", "json", file, "--without-tags"]).text);
        assert_eq!(found["counts"]["lost"]["pairs"], apart, "{file}");
    }
}

/// What is lowered by a rule is sound by it: nothing is gained.
#[test]
fn lowering_gains_nothing() {
    let lowered = run(&["lower", "lower.ll"]);
    let out = stdin(
        &["diff", "lower.ll", "-", "--rules", "union", "--rules-b", "llvm", "--format", "json"],
        lowered.text.as_bytes(),
    );
    assert_eq!(json(&out.text)["counts"]["gained"]["pairs"], 0);
}

#[test]
fn few_or_all_pairs_are_printed() {
    let limited = run(&["diff", "many.ll", "--without-tags", "--limit", "1"]).text;
    let all = run(&["diff", "many.ll", "--without-tags", "--limit", "0"]).text;
    assert!(limited.len() <= all.len() && !all.contains(" more"));
}
