//! `tbaa diff`: what differs between two builds, and what does not.

use crate::support::{run, stdin};

/// Two loads and a store of two types in one function, with any tags.
fn module(tags: [&str; 3], types: &str) -> String {
    let tag = |at: usize| match tags[at] {
        "" => String::new(),
        tag => format!(", !tbaa {tag}"),
    };
    format!(
        "define void @f(ptr %p, ptr %q) {{\n  %a = load i32, ptr %p{}\n  store float 1.0, ptr %q{}\n  \
         %b = load i32, ptr %p{}\n  ret void\n}}\n{types}",
        tag(0),
        tag(1),
        tag(2)
    )
}

const TYPES: &str = r#"!0 = !{!"root"}
!1 = !{!"char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"float", !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = !{!3, !3, i64 0}
!6 = !{!"S", !2, i64 0, !3, i64 4}
!7 = !{!6, !2, i64 0}
"#;

/// Writes a module for the command to read.
fn file(name: &str, text: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(args: &[&str]) -> (i32, serde_json::Value) {
    let out = run(&[&["diff", "--format", "json"], args].concat());
    (out.code, serde_json::from_str(&out.text).unwrap_or_else(|_| panic!("{}", out.errors)))
}

#[test]
fn the_same_under_other_numbers_is_no_difference() {
    let a = file("same-a.ll", &module(["!4", "!5", "!4"], TYPES));
    // Every number is moved by a hundred, and the nodes stand in another order.
    let moved = TYPES.replace('!', "!10").replace("!10{", "!{").replace("!10\"", "!\"");
    let moved: String = moved.lines().rev().map(|line| format!("{line}\n")).collect();
    let b = file("same-b.ll", &module(["!104", "!105", "!104"], &moved));
    let (code, found) = json(&[&a, &b]);
    assert_eq!((code, &found["functions"]), (0, &serde_json::json!([])), "{found}");
    assert_eq!(found["tags"]["alike"], 2);
    assert_eq!(found["counts"]["pairs"], 3);
}

#[test]
fn roots_without_a_name_are_the_same_in_two_builds() {
    let types = TYPES.replace("!{!\"root\"}", "distinct !{!0}");
    assert!(types != TYPES);
    let a = file("unnamed.ll", &module(["!4", "!5", "!7"], &types));
    let (code, found) = json(&[&a, &a]);
    assert_eq!((code, &found["tags"]["alike"]), (0, &serde_json::json!(3)), "{found}");
}

#[test]
fn a_pair_is_lost_and_gained() {
    let a = file("lost-a.ll", &module(["!4", "!5", "!4"], TYPES));
    let b = file("lost-b.ll", &module(["!4", "", "!4"], TYPES));
    let (code, found) = json(&[&a, &b]);
    assert_eq!(code, 1);
    // The store with either load; the two loads may alias in both.
    assert_eq!(found["counts"]["lost"], serde_json::json!({"pairs": 2, "with_a_write": 2}));
    assert_eq!(found["counts"]["gained"]["pairs"], 0);
    assert_eq!(found["tags"]["only_a"][0]["meaning"], "float");
    let pair = &found["functions"][0]["pairs"][0];
    assert!(pair["first"]["place"].as_str().unwrap().ends_with("lost-a.ll:2"), "{pair}");
    assert!(pair["second"]["place"].as_str().unwrap().ends_with("lost-a.ll:3"), "{pair}");
    assert_eq!(pair["second"]["b"], "store without a tag");
    // The other way round they are gained.
    let (code, turned) = json(&[&b, &a]);
    assert_eq!((code, &turned["counts"]["gained"]), (1, &found["counts"]["lost"]));
    assert_eq!(turned["counts"]["lost"]["pairs"], 0);
    let text = run(&["diff", &a, &b]).text;
    assert!(text.contains("@f: 2 lost, 0 gained\n  lost   2 pairs: "), "{text}");
}

#[test]
fn what_tags_buy_is_every_no_alias() {
    let a = file("buy.ll", &module(["!4", "!5", "!7"], TYPES));
    let (code, found) = json(&[&a, "--without-tags"]);
    assert_eq!((code, &found["counts"]["lost"]["pairs"]), (0, &serde_json::json!(2)));
    // `matrix` writes the same pairs.
    for file in ["shapes.ll", "fill.ll", "many.ll"] {
        let pairs = run(&["matrix", file, "--format", "pairs"]).text;
        let apart = pairs.lines().filter(|line| line.ends_with("\tNoAlias")).count();
        let (_, found) = json(&[file, "--without-tags"]);
        assert_eq!(found["counts"]["lost"]["pairs"], apart, "{file}");
    }
}

#[test]
fn a_type_that_changed_is_named() {
    let a = file("changed-a.ll", &module(["!7", "!5", "!4"], TYPES));
    let types = TYPES.replace("!3, i64 4}", "!3, i64 8}");
    let b = file("changed-b.ll", &module(["!7", "!5", "!4"], &types));
    let (code, found) = json(&[&a, &b]);
    assert_eq!(code, 1);
    let changed = &found["tags"]["changed"];
    assert_eq!(changed.as_array().unwrap().len(), 1);
    assert_eq!(changed[0]["meaning"], "S+0 (int)");
    assert_eq!(changed[0]["a"], "{int @0, float @4}");
    assert_eq!(changed[0]["b"], "{int @0, float @8}");
    assert_eq!(found["tags"]["alike"], 2);
}

#[test]
fn code_that_moved_is_matched_by_what_it_does() {
    let a = module(["!4", "!5", "!4"], TYPES);
    let b = a
        .replace("  store float", "  store i8 0, ptr %q\n  store float")
        .replace("!tbaa !5", "!tbaa !4");
    let (a, b) = (file("moved-a.ll", &a), file("moved-b.ll", &b));
    let (code, found) = json(&[&a, &b]);
    assert_eq!(code, 1);
    assert_eq!(found["counts"]["accesses"], 3);
    assert_eq!(found["counts"]["accesses_only_b"], 1);
    assert_eq!(found["counts"]["lost"]["pairs"], 2);
}

#[test]
fn one_file_by_two_rules_and_specs() {
    let spec = "union.ron";
    let (code, found) = json(&[spec, spec]);
    assert_eq!((code, &found["counts"]["pairs"]), (0, &serde_json::json!(6)));
    let (code, found) = json(&[spec, spec, "--rules", "union-strict", "--rules-b", "union"]);
    assert_eq!(code, 1);
    assert!(found["counts"]["lost"]["pairs"].as_u64().unwrap() > 0);
    assert_eq!(found["counts"]["gained"]["pairs"], 0, "union-strict has every NoAlias of union");
    // What is lowered by a rule is sound by it: nothing is gained.
    let lowered = run(&["lower", "lower.ll"]);
    let out = stdin(
        &["diff", "lower.ll", "-", "--rules", "union", "--rules-b", "llvm", "--format", "json"],
        lowered.text.as_bytes(),
    );
    let found: serde_json::Value = serde_json::from_str(&out.text).unwrap();
    assert_eq!(found["counts"]["gained"]["pairs"], 0);
}

#[test]
fn bad_arguments_and_inputs() {
    assert_eq!(run(&["diff", "shapes.ll"]).code, 2);
    assert_eq!(run(&["diff", "shapes.ll", "sized.ll", "--without-tags"]).code, 2);
    assert_eq!(run(&["diff", "shapes.ll", "missing.ll"]).code, 2);
    let limited = run(&["diff", "many.ll", "--without-tags", "--limit", "1"]).text;
    let all = run(&["diff", "many.ll", "--without-tags", "--limit", "0"]).text;
    assert!(limited.len() <= all.len() && !all.contains(" more"));
}
