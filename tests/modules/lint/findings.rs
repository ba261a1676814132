//! Tests the messages and the positions of findings.
//!
//! `TBAA_FINDINGS=overwrite cargo test --test modules findings` writes `fixtures/findings.txt`.

use std::fmt::Write as _;

use pretty_assertions::assert_eq;
use tbaa::AliasRule;
use tbaa_check::lint::{Options, lint};
use tbaa_check::verify::{verify, verify_graph};
use tbaa_check::{Code, Diagnostic, Findings, Label, Level};
use tbaa_ir::Keep;
use tbaa_tests::cases;

use super::pages::{examples, whole};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/findings.txt");

fn show(source: &str, finding: &Diagnostic, text: &mut String) {
    writeln!(text, "{finding}").unwrap();
    let mut label = |mark: char, Label { span, text: words, .. }: &Label| {
        let line = source[..span.start].matches('\n').count() + 1;
        writeln!(text, "  {mark} {line}: {:?} {words}", &source[span.clone()]).unwrap();
    };
    finding.primary.iter().for_each(|primary| label('>', primary));
    finding.secondary.iter().for_each(|secondary| label('-', secondary));
    for note in &finding.notes {
        writeln!(text, "  = note: {note}").unwrap();
    }
    if let Some(help) = &finding.help {
        writeln!(text, "  = help: {help}").unwrap();
    }
}

/// Appends the findings of `verify` by two rules (once if equal), and of `lint` with all lints on.
fn findings(source: &str, text: &mut String) {
    let bytes = source.as_bytes();
    let module = tbaa_ir::read_with(bytes, Keep::All).unwrap();
    let all = Code::all().filter_map(|code| match code {
        Code::Lint(lint) => Some(lint),
        _ => None,
    });
    let options = all.fold(Options::default(), |options, lint| {
        let level = lint.level().unwrap_or(Level::Warning);
        options.set(lint, Some(level))
    });
    let [llvm, union] = [AliasRule::Llvm, AliasRule::Union].map(|rules| verify(&module, rules));
    let linted = lint(&module, &options);
    let union = union.iter().filter(|&union_type| llvm.iter().all(|other| other != union_type));
    for finding in llvm.iter().chain(union).chain(linted.iter()) {
        show(source, finding, text);
    }
}

#[test]
fn long_names_are_cut_between_characters() {
    for before in ["", "a", "ab", "abc"] {
        let name = before.to_owned() + &"\u{1f980}".repeat(200);
        let source = whole(&format!("!0 = !{{!1, !1, i64 0}}\n!1 = !{{!\"{name}\", !1, i64 0}}\n"));
        let mut text = String::new();
        findings(&source, &mut text);
        let (shown, _) = text.split_once("... (").unwrap();
        assert!(shown.ends_with('\u{1f980}') && !text.contains('\u{fffd}'), "{text}");
    }
}

#[test]
fn findings_are_as_written_down() {
    let mut ours = String::new();
    for code in Code::all() {
        for (i, example) in examples(code).iter().enumerate() {
            writeln!(ours, "\n# {code}, example {}", i + 1).unwrap();
            findings(example, &mut ours);
        }
    }
    if std::env::var("TBAA_FINDINGS").is_ok_and(|wish| wish == "overwrite") {
        std::fs::write(FILE, &ours).unwrap();
    }
    let theirs = std::fs::read_to_string(FILE).unwrap();
    assert_eq!(theirs, ours, "findings have changed; TBAA_FINDINGS=overwrite writes {FILE}");
}

/// The cases have faults that the examples of the documentation lack, and similar correct code.
#[test]
fn more_findings_are_as_written_down() {
    cases::check("lint.txt", |_, parts| {
        let mut text = String::new();
        findings(parts[0], &mut text);
        text
    });
}

/// Without the module's text, a message refers to a named node by the node's name.
#[test]
fn a_type_written_in_a_tags_place() {
    let source = whole("!0 = !{!{!9, i64 4, !\"int\"}, !9}\n!9 = !{!\"root\"}\n");
    let source = source.replace("!tbaa !0", "!tbaa !{!9, i64 4, !\"int\"}");
    let module = tbaa_ir::read(source.as_bytes()).unwrap();
    let message = |found: Findings| found[0].message.clone();
    let said = |name| format!("the access type of tag {name} is no metadata node");
    let in_text = verify(&module, AliasRule::Llvm);
    assert_eq!(message(in_text), said("!{!9, i64 4, !\"int\"}"));
    assert_eq!(message(verify_graph(module.graph(), AliasRule::Llvm)), said("\"int\""));
}
