//! What is found, word by word and place by place.
//!
//! `TBAA_FINDINGS=overwrite cargo test --test modules findings` writes the file anew.

use std::fmt::Write as _;

use pretty_assertions::assert_eq;
use tbaa::Rules;
use tbaa_check::lint::{Options, lint};
use tbaa_check::verify::verify;
use tbaa_check::{Code, Diagnostic, Label, Level};
use tbaa_ir::Keep;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/findings.txt");

/// Faults that the examples of the pages do not have, or not at these places. `!0` is
/// the tag of a store where there is no function.
const MORE: &[&str] = &[
    // A field past the first of a type, one fault each.
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 0, !\"no type\", i64 4, !2, i64 8}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 0, !2, !\"four\"}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 0, !2, i32 4}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 8, !2, i64 4}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 4, !2, i64 4}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 4, !2, i64 8}\n",
    // Two faults in one type, and one in a type further down.
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, !\"zero\", !\"no type\", i64 4}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !3, i64 0}\n!3 = !{!\"T\", !2, i64 0, !2, !\"four\"}\n",
    // The offset meets no field, one field, and several.
    "!0 = !{!1, !2, i64 2}\n!1 = !{!\"S\", !2, i64 0}\n",
    "!0 = !{!1, !2, i64 2}\n!1 = !{!\"S\", !2, i64 0, !2, i64 4}\n",
    "!0 = !{!1, !2, i64 2}\n!1 = !{!\"S\", !3, i64 0}\n!3 = !{!\"T\", !2, i64 0}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !3, i64 0}\n!3 = !{!\"float\", !9, i64 0}\n",
    "!0 = !{!1, !3, i64 0}\n!1 = !{!\"S\", !2, i64 0}\n!3 = !{!\"float\", !4, i64 0}\n!4 = !{!\"other\"}\n",
    // Offsets of 32 bits: what remains of one, and one that wraps around.
    "!0 = !{!1, !2, i32 6}\n!1 = !{!\"S\", !2, i32 0, !2, i32 4}\n!2 = !{!\"int\", !9, i32 0}\n",
    "!0 = !{!1, !2, i32 4}\n!1 = !{!\"S\", !2, i32 0, !2, i32 4}\n!2 = !{!\"int\", !9, i32 0}\n",
    "!0 = !{!1, !2, i32 0}\n!1 = !{!\"S\", !2, i32 0}\n!2 = !{!\"int\", !3, i32 1}\n!3 = !{!\"char\", !9, i32 0}\n",
    // No scalar: a struct, what has a struct above it, what is in a circle.
    "!0 = !{!1, !1, i64 0}\n!1 = !{!\"S\", !2, i64 0, !2, i64 4}\n",
    "!0 = !{!1, !3, i64 0}\n!1 = !{!\"S\", !3, i64 0}\n!3 = !{!\"T\", !2, i64 0, !2, i64 4}\n",
    "!0 = !{!3, !3, i64 0}\n!1 = !{!\"S\", !2, i64 0, !2, i64 4}\n!3 = !{!\"int\", !1, i64 0}\n",
    "!0 = !{!3, !3, i64 0}\n!3 = !{!\"int\", !3, i64 0}\n",
    "!0 = !{!3, !3, i64 0}\n!3 = !{!\"int\", !2, i64 1}\n",
    // The size-aware format.
    "!0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 0, i64 4, !3, i64 4, !\"size\"}\n",
    "!0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 4, i64 4, !3, i64 0, i64 4}\n",
    "!0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 4, i64 4, !3, i32 8, i64 4}\n",
    "!0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 4, i64 4}\n",
    "!0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, !\"eight\", !\"S\", !3, i64 0, i64 4}\n",
    "!0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 0}\n",
    "!0 = !{!1, !3, i64 2, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 0, i64 4, !3, i64 4, i64 4}\n",
    "!0 = !{!3, !3, i64 0, i64 8}\n",
    "!0 = !{!1, !3, i64 0, i64 8, i64 1}\n!1 = !{!9, i64 8, !\"S\", !3, i64 0, i64 4, !3, i64 4, i64 4}\n",
    // Offsets of a size-aware type that do not fit its struct: inside a pointer, behind the
    // end, the second field; a struct that ends open.
    "target datalayout = \"e-p:64:64\"\n%struct.S = type { ptr, double }\ndefine void @f(ptr %p) {\n  \
     %q = getelementptr %struct.S, ptr %p, i32 0, i32 1\n  store i32 1, ptr %q, !tbaa !0\n  ret void\n}\n\
     !0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 16, !\"S\", !3, i64 0, i64 4, !3, i64 12, i64 4}\n",
    "target datalayout = \"e-p:64:64\"\n%struct.S = type { ptr, double }\ndefine void @f(ptr %p) {\n  \
     %q = getelementptr %struct.S, ptr %p, i32 0, i32 1\n  store i32 1, ptr %q, !tbaa !0\n  ret void\n}\n\
     !0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 16, !\"S\", !3, i64 0, i64 4, !3, i64 16, i64 4}\n",
    "target datalayout = \"e-p:64:64\"\n%struct.S = type { ptr, [0 x i32] }\ndefine void @f(ptr %p) {\n  \
     %q = getelementptr %struct.S, ptr %p, i32 0, i32 1\n  store i32 1, ptr %q, !tbaa !0\n  ret void\n}\n\
     !0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 0, !2, i64 40}\n",
    "target datalayout = \"e-p:64:64\"\n%struct.S = type { [4 x float], i32 }\ndefine void @f(ptr %p) {\n  \
     %q = getelementptr %struct.S, ptr %p, i32 0, i32 1\n  store i32 1, ptr %q, !tbaa !0\n  ret void\n}\n\
     !0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 8, !2, i64 14}\n",
    // Widths: of pointers by the data layout, of neighbours, by the tag's own size.
    "target datalayout = \"e-p0:32:32\"\ndefine void @f(ptr %p) {\n  store i64 1, ptr %p, !tbaa !0\n  \
     %v = load i96, ptr %p, !tbaa !0\n  ret void\n}\n\
     !0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, i64 0}\n!2 = !{!\"any pointer\", !9, i64 0}\n\
     !9 = !{!\"Simple C/C++ TBAA\"}\n",
    "target datalayout = \"e-p1:32:32\"\ndefine void @f(ptr %p) {\n  store i128 1, ptr %p, !tbaa !0\n  \
     %v = load i96, ptr %p, !tbaa !0\n  ret void\n}\n\
     !0 = !{!2, !2, i64 0}\n!2 = !{!\"any pointer\", !9, i64 0}\n!9 = !{!\"Simple C/C++ TBAA\"}\n",
    "define void @f(ptr %p) {\n  store i64 1, ptr %p, !tbaa !0\n  ret void\n}\n\
     !0 = !{!1, !3, i64 0, i64 4}\n!1 = !{!9, i64 8, !\"S\", !3, i64 0, i64 4, !3, i64 4, i64 4}\n",
    // Volatile and atomic accesses are looked at by no lint that compares accesses.
    "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !0\n  \
     %v = load volatile float, ptr %p, !tbaa !4\n  ret void\n}\n\
     !0 = !{!2, !2, i64 0}\n!4 = !{!5, !5, i64 0}\n!5 = !{!\"float\", !9, i64 0}\n",
    "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !0\n  \
     %v = load atomic float, ptr %p unordered, align 4, !tbaa !4\n  ret void\n}\n\
     !0 = !{!2, !2, i64 0}\n!4 = !{!5, !5, i64 0}\n!5 = !{!\"float\", !9, i64 0}\n",
    // A bad tag on one, two, three instructions, on none, and as errno's.
    "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !0\n  store i32 1, ptr %p, !tbaa !0\n  ret void\n}\n!0 = !{!2, !2, i64 4}\n",
    "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !0\n  store i32 1, ptr %p, !tbaa !0\n  store i32 1, ptr %p, !tbaa !0\n  ret void\n}\n!0 = !{!2, !2, i64 4}\n",
    "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !4\n  ret void\n}\n!4 = !{!2, !2, i64 0}\n!tags = !{!0}\n!0 = !{!2, !2, i64 4}\n",
    "!llvm.errno.tbaa = !{!0}\n!0 = !{!2, !2, i64 4}\n",
    // Lists of errno's tags: empty, spread over lines, in a comment.
    "!llvm.errno.tbaa = !{}\n",
    "!llvm.errno.tbaa =\n  !{ }\n",
    "; !llvm.errno.tbaa = !{}\n!llvm.errno.tbaa = !{!0}\n!0 = !{!2, !2, i64 0}\n",
    // Instructions that take a tag, and some that do not.
    "declare i32 @g()\ndefine void @f(ptr %p) personality ptr null {\n  %s = fadd float 1.0, 2.0, !tbaa !0\n  %c = call i32 @g(), !tbaa !0\n  call i32 @g(), !tbaa !0\n  %r = invoke i32 @g() to label %ok unwind label %bad, !tbaa !0\nok:\n  invoke i32 @g() to label %end unwind label %bad, !tbaa !0\nend:\n  ret void\nbad:\n  %l = landingpad { ptr, i32 } cleanup\n  ret void\n}\n!0 = !{!2, !2, i64 0}\n",
    // Why an access type is no scalar.
    "!0 = !{!2, !4, i64 0}\n!4 = !{!9, !9, i64 0}\n",
    "!0 = !{!4, !4, i64 0}\n!4 = !{!\"int\", !\"parent\", i64 0}\n",
    "!0 = !{!9, !9, i64 0}\n",
    "!0 = !{!4, !4, i64 0}\n!4 = !{!\"int\"}\n",
    "!0 = !{!4, !4, i64 0}\n!4 = !{!\"int\", !3}\n",
    "!0 = !{!4, !4, i64 0}\n!4 = !{!\"int\", !5, i64 0}\n!5 = !{!\"char\", !\"parent\", i64 0}\n",
    // More faults than are reported of one node, and of a copy.
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\"}\n",
    "!0 = !{!1, !2, i64 0}\n!1 = !{!\"S\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\", !2, !\"x\"}\n",
    "define void @f(ptr %p, ptr %q) {\n  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !0\n  ret void\n}\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n!0 = !{i64 0, i64 4, !4, i64 2, i64 4, !4, !\"x\", i64 4, !4, i64 12, !\"x\", !4, i64 16, i64 4, !2}\n!4 = !{!2, !2, i64 0}\n",
];

/// What the sources above have in common.
const REST: &str =
    "!2 = !{!\"int\", !9, i64 0}\n!3 = !{!9, i64 4, !\"size-aware\"}\n!9 = !{!\"root\"}\n";

fn whole(source: &str) -> String {
    let listed = ["define", "!llvm.errno.tbaa"].iter().any(|word| source.contains(word));
    let store =
        "define void @f(ptr %p) {\n  store i32 1, ptr %p, align 4, !tbaa !0\n  ret void\n}\n";
    if listed { source.to_owned() } else { store.to_owned() + source }
}

fn show(source: &str, finding: &Diagnostic, text: &mut String) {
    writeln!(text, "{finding}").unwrap();
    let mut label = |mark: char, Label { span, text: words, .. }: &Label| {
        let line = source[..span.start].matches('\n').count() + 1;
        writeln!(text, "  {mark} {line}: {:?} {words}", &source[span.clone()]).unwrap();
    };
    finding.primary.iter().for_each(|it| label('>', it));
    finding.secondary.iter().for_each(|it| label('-', it));
    for note in &finding.notes {
        writeln!(text, "  = note: {note}").unwrap();
    }
    if let Some(help) = &finding.help {
        writeln!(text, "  = help: {help}").unwrap();
    }
}

/// The findings of `verify` by two rules, where they differ, and of `lint` with all lints on.
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
    let [llvm, union] = [Rules::Llvm, Rules::Union].map(|rules| verify(&module, bytes, rules));
    let linted = lint(&module, bytes, &options);
    let union = union.iter().filter(|&it| llvm.iter().all(|other| other != it));
    for finding in llvm.iter().chain(union).chain(linted.iter()) {
        show(source, finding, text);
    }
}

/// A name is cut between two characters, wherever the first of them begins.
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
        let examples = code.page().split("```llvm\n").skip(1);
        for (i, example) in examples.filter_map(|rest| rest.split_once("```")).enumerate() {
            let (example, _) = example;
            writeln!(ours, "\n# {code}, example {}", i + 1).unwrap();
            findings(&whole(example), &mut ours);
        }
    }
    for source in MORE {
        let rest = REST.lines().filter(|line| {
            let (node, _) = line.split_once(' ').unwrap();
            let missing = !source.contains(&format!("{node} ="));
            missing
                && (node == "!9"
                    || [",", "}"].iter().any(|end| source.contains(&(node.to_owned() + end))))
        });
        let source = rest.fold((*source).to_owned(), |source, line| source + line + "\n");
        writeln!(ours, "\n# more\n{source}").unwrap();
        findings(&whole(&source), &mut ours);
    }
    if std::env::var("TBAA_FINDINGS").is_ok_and(|wish| wish == "overwrite") {
        std::fs::write(FILE, &ours).unwrap();
    }
    let theirs = std::fs::read_to_string(FILE).unwrap();
    assert_eq!(theirs, ours, "findings have changed; TBAA_FINDINGS=overwrite writes {FILE}");
}
