//! What lints find in texts that hide it, and what they say of it.

use tbaa_check::Diagnostic;
use tbaa_check::lint::{Options, lint};
use tbaa_ir::Keep;

/// The findings of a code, each with the text that it points at.
#[track_caller]
fn found(code: &str, source: &str) -> Vec<(String, Diagnostic)> {
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    let found = lint(&module, source.as_bytes(), &Options::default());
    let found = found.into_iter().filter(|it| it.code.to_string() == code);
    found.map(|it| (source[it.primary.as_ref().unwrap().span.clone()].to_owned(), it)).collect()
}

/// A function that stores through `!0`, and through these.
fn stores(attached: &[&str], types: &str) -> String {
    let more = attached.iter().map(|tag| format!("  store i32 1, ptr %q, !tbaa {tag}\n"));
    format!(
        "define void @f(ptr %p, ptr %q) {{\n  store i32 1, ptr %p, !tbaa !0\n{}  ret void\n}}\n\
         !0 = !{{!1, !1, i64 0}}\n{types}!9 = !{{!\"root\"}}\n",
        more.collect::<String>()
    )
}

const ANOTHER: &str = "answers NoAlias between the two";

/// LLVM makes a tag of a type with two operands by its own node, and another
/// type of one with an offset.
#[test]
fn a_type_as_a_tag_is_that_type_or_another() {
    for (types, attached, another) in [
        ("!1 = !{!\"int\", !9}\n", "!1", false),
        ("!1 = !{!\"int\", !9}\n", "!{!\"int\", !9}", false),
        ("!1 = !{!\"int\", !9, i64 0}\n", "!1", true),
        ("!1 = !{!\"int\", !9, i64 0}\n", "!{!\"int\", !9, i64 0}", true),
    ] {
        let found = found("TBAA101", &stores(&[attached], types));
        let [(at, diagnostic)] = &found[..] else { panic!("{attached}: {found:#?}") };
        assert_eq!(at, attached);
        assert_eq!(diagnostic.notes.iter().any(|note| note.contains(ANOTHER)), another, "{types}");
    }
}

/// The reader finds the tag that is made of it in the text.
#[test]
fn a_type_as_a_tag_is_seen_beside_that_tag() {
    let types = "!1 = !{!\"int\", !9}\n";
    for attached in [&["!0", "!1"][..], &["!1", "!0", "!1"]] {
        let found = found("TBAA101", &stores(attached, types));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].0, "!1");
        let label = &found[0].1.secondary[0];
        let source = stores(attached, types);
        assert_eq!(&source[label.span.clone()], "!1 = !{!\"int\", !9}");
    }
    assert!(found("TBAA101", &stores(&["!0"], types)).is_empty());
}

#[test]
fn a_tag_that_is_read_as_a_type_is_told_from_one() {
    let types = "!1 = !{!\"int\", !9, i64 0}\n!5 = !{!0, !1, i64 0}\n";
    let tag = found("TBAA102", &stores(&["!5"], types));
    assert_eq!(tag.len(), 1, "{tag:#?}");
    assert!(tag[0].1.notes[0].starts_with("!0 has the form of a tag"), "{tag:#?}");
    // A type is the better example.
    let types = types.to_owned() + "!6 = !{!7, !7, i64 0, i64 4}\n!7 = !{!9, i64 4, !\"int\"}\n";
    let both = found("TBAA102", &stores(&["!5", "!6"], &types));
    assert_eq!(both[0].0, "!7 = !{!9, i64 4, !\"int\"}");
    assert!(!both[0].1.notes[0].contains("form of a tag"), "{both:#?}");
}

/// `int cvt(float x) { int y; ...; return *(int *)&x; }`, as clang writes it.
#[test]
fn another_variable_begins_between_a_store_and_a_read() {
    let source = "\
define i32 @cvt(float %x) {
  %p = alloca float
  %y = alloca i32
  store float %x, ptr %p, align 4, !tbaa !2
  call void @llvm.lifetime.start.p0(ptr %y) #2
  %v = load i32, ptr %p, align 4, !tbaa !0
  call void @llvm.lifetime.end.p0(ptr %y) #2
  ret i32 %v
}
!0 = !{!1, !1, i64 0}
!1 = !{!\"int\", !9, i64 0}
!2 = !{!3, !3, i64 0}
!3 = !{!\"float\", !9, i64 0}
!9 = !{!\"root\"}
";
    let found = found("TBAA110", source);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "%v = load i32, ptr %p, align 4, !tbaa !0");
}

#[test]
fn a_call_may_have_parentheses_before_its_name() {
    let source = "\
define void @f(ptr %p) {
  call addrspace(1) void @llvm.lifetime.start.p0(ptr %p)
  call addrspace(1) void @llvm.lifetime.end.p0(ptr [[J]])
  ret void
}
";
    assert!(found("TBAA110", source).is_empty());
}

/// LLVM leaves out the bits that do not fit.
#[test]
fn an_integer_of_a_profile_may_be_too_large() {
    let source =
        stores(&["!1"], "!1 = !{!\"int\", !9}\n!7 = !{i64 99999999999999999999, i8 300}\n");
    assert_eq!(found("TBAA101", &source).len(), 1);
    // But not that of a type.
    let source = source.replace("!{!1, !1, i64 0}", "!{!1, !1, i64 99999999999999999999}");
    let error = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap_err();
    assert_eq!(error.kind, tbaa_ir::TextErrorKind::IntegerOutOfRange);
}
