//! What the verifier says by rule `llvm`, and where.

use tbaa::Rules;
use tbaa_check::verify::{Rule, verify, verify_graph};
use tbaa_check::{Code, Diagnostic, Findings};
use tbaa_ir::Keep;

fn found(source: &str) -> Findings {
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    verify(&module, source.as_bytes(), Rules::Llvm)
}

/// A store by a tag, which may be the number of one of these nodes.
fn store(tag: &str, nodes: &str) -> String {
    let store =
        format!("define void @f(ptr %p) {{\n  store i32 1, ptr %p, !tbaa {tag}\n  ret void\n}}\n");
    store + nodes + "!8 = !{!\"int\", !9, i64 0}\n!9 = !{!\"root\"}\n"
}

/// What a finding points at.
fn place<'s>(source: &'s str, finding: &Diagnostic) -> &'s str {
    &source[finding.primary.as_ref().unwrap().span.clone()]
}

/// Without a text, a node that has a name is called by it.
#[test]
fn a_type_written_in_a_tags_place() {
    let source = store("!{!9, i64 4, !\"int\"}", "");
    let module = tbaa_ir::read(source.as_bytes()).unwrap();
    let message = |found: Findings| found[0].message.clone();
    let said = |name| format!("the access type of tag {name} is no metadata node");
    let in_text = verify(&module, source.as_bytes(), Rules::Llvm);
    assert_eq!(message(in_text), said("!{!9, i64 4, !\"int\"}"));
    assert_eq!(message(verify_graph(module.graph(), Rules::Llvm)), said("\"int\""));
}

#[test]
fn the_last_entry_of_a_copy_is_judged() {
    let source = "define void @f(ptr %p) {\n  call void @g(ptr %p), !tbaa.struct !0\n  ret void\n}\n\
                  !0 = !{i64 0, i64 4, !1, i64 4, i64 4, !1, i64 8, i64 4, !1, i64 11, i64 4, !1}\n\
                  !1 = !{!2, !2, i64 0}\n!2 = !{!\"int\", !9, i64 0}\n!9 = !{!\"root\"}\n";
    let found = found(source);
    assert_eq!(found.len(), 1);
    assert_eq!(place(source, &found[0]), "i64 11");
}

/// That LLVM does not look at a tag is said where there is code that might have it.
#[test]
fn a_listing_attaches_nothing() {
    let listing = "!tbaa.tags = !{!0}\n!0 = !{!8, !8, i64 4}\n\
                   !8 = !{!\"int\", !9, i64 0}\n!9 = !{!\"root\"}\n";
    let code = store("!1", "!tbaa.tags = !{!0}\n!0 = !{!8, !8, i64 4}\n!1 = !{!8, !8, i64 0}\n");
    for (source, said) in [(listing, false), (&code, true)] {
        let found = found(source);
        assert_eq!(found.len(), 1);
        let note = |note: &String| note.starts_with("no instruction has this tag");
        assert_eq!(found[0].notes.iter().any(note), said, "{source}");
    }
}

/// The list of errno's tags at the start of a line, and texts that look like it.
#[test]
fn empty_lists_of_errno_tags() {
    for (line, is_list) in [
        ("!llvm.errno.tbaa = !{}", true),
        ("  !llvm.errno.tbaa = !{}", true),
        ("; !llvm.errno.tbaa = !{}", false),
        (";!llvm.errno.tbaa = !{}", false),
        ("!llvm.errno.tbaa.of.old = !{}", false),
    ] {
        let source = store("!0", &format!("!0 = !{{!8, !8, i64 0}}\n{line}\n"));
        let found = found(&source);
        let places: Vec<_> = found.iter().map(|it| place(&source, it)).collect();
        assert_eq!(places, if is_list { vec!["!llvm.errno.tbaa = !{}"] } else { vec![] }, "{line}");
    }
}

#[test]
fn faults_beyond_those_of_one_node_that_are_shown() {
    for (faults, more) in [(16, None), (17, Some(1)), (19, Some(3))] {
        let nodes =
            format!("!0 = !{{!1, !8, i64 0}}\n!1 = !{{!\"S\"{}}}\n", ", !8, !\"x\"".repeat(faults));
        let found = found(&store("!0", &nodes));
        assert_eq!(found.len(), 16);
        let said = more.map(|more| format!("this node has {more} more faults than are reported"));
        let notes = found[0].notes.iter().filter(|note| note.contains("more faults"));
        assert!(notes.eq(&said), "{faults}: {:?}", found[0]);
    }
}

/// Which type keeps an access type from being a scalar, and why.
#[test]
fn why_a_type_is_no_scalar() {
    for (nodes, message, why) in [
        (
            "!1 = !{i64 1, !9}\n",
            "tag !0 accesses !1, which is no scalar type",
            "its name is no string",
        ),
        (
            "!1 = !{!\"a\", !2, i64 0}\n!2 = !{!\"b\", !3, i64 0}\n!3 = !{!\"S\", !8, i64 0, !8, i64 4}\n",
            "tag !0 accesses !1 \"a\", which is no scalar type",
            "this is a struct type",
        ),
    ] {
        let source = store("!0", &format!("!0 = !{{!1, !1, i64 0}}\n{nodes}"));
        let found = found(&source);
        assert_eq!(found[0].code, Code::Rule(Rule::AccessNotScalar));
        assert_eq!(found[0].message, message);
        let labels = found[0].secondary.iter().chain(&found[0].primary);
        let places: Vec<_> =
            labels.filter(|it| it.text == why).map(|it| &source[it.span.clone()]).collect();
        let last = nodes.lines().last().unwrap();
        assert_eq!(places, [if nodes.lines().count() == 1 { "!1" } else { last }], "{found:#?}");
    }
}
