//! What a module says besides its metadata, and where the parts stand.

use pretty_assertions::assert_eq;
use tbaa_ir::{Opcode, TextErrorKind, TypeDefinition, node_span, operand_span};

use super::read;

const ACCESSES: &str = r#"
define void @f(ptr %p, ptr addrspace(1) %"q, r") {
  %a = load i32, ptr %p, !tbaa !0
  %b = load volatile <2 x i32>, ptr addrspace(1) %"q, r", align 8, !tbaa !{!1, !1, i64 0}
  %c = load atomic volatile i32* bitcast (i8* @x to i32*) seq_cst, align 4, !tbaa !0
  %d = load i32, ptr getelementptr inbounds nuw inrange(-8, 8) ({ i32, ptr }, ptr @g, i64 0, i32 1)
  store { i32, i32 } { i32 1, i32 2 }, ptr @"a b", !tbaa ! /* the tag */ 0
  store atomic ptr @x, ptr null unordered, align 8
  store i32 0, ptr addrspace(2)
    dso_local_equivalent @f
  %e = atomicrmw volatile
    add ptr %p, i32 1 seq_cst, !tbaa !0
  %g = cmpxchg weak volatile ptr %e.p, i16 0, i16 1 monotonic monotonic, !tbaa !0
  %h = va_arg ptr %va, double
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 4 dereferenceable(8) %p, ptr align 1 @g, i64 8, i1 false)
  tail call void @llvm.memmove.p0.p0.i64(ptr captures(none) inttoptr (i64 8 to ptr), ptr poison, i64 8, i1 true), !tbaa !0
  call void @llvm.memset.p0i8.i64(i8* %p, i8 0, i64 8, i32 4, i1 true)
  call void @llvm.memcpy.element.unordered.atomic.p0.p0.i64(ptr %p, ptr %q, i64 8, i32 4)
  call void @memcpy(ptr %p, ptr %q, i64 8)
  %i = call ptr @llvm.memcpy(ptr %p), !tbaa !0
  fence seq_cst, !tbaa !0
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !{!"R"}}
"#;

#[test]
fn an_access_says_its_pointer_its_tag_and_its_ordering() {
    use Opcode::*;
    for text in [ACCESSES.to_owned(), ACCESSES.replace('\n', "\r\n")] {
        let module = read(&text);
        let word = |span: Option<std::ops::Range<usize>>| span.map_or("-", |span| &text[span]);
        let seen: Vec<_> = module
            .instructions()
            .iter()
            .map(|i| {
                let (pointer, tag) = (i.pointer_span(text.as_bytes()), i.tag_span(text.as_bytes()));
                assert_eq!(tag.is_some(), i.tag.is_some());
                (i.opcode, i.volatile, i.atomic, word(pointer), word(tag))
            })
            .collect();
        let expression =
            "getelementptr inbounds nuw inrange(-8, 8) ({ i32, ptr }, ptr @g, i64 0, i32 1)";
        assert_eq!(
            seen,
            [
                (Load, false, false, "%p", "!0"),
                (Load, true, false, "%\"q, r\"", "!{!1, !1, i64 0}"),
                (Load, true, true, "bitcast (i8* @x to i32*)", "!0"),
                (Load, false, false, expression, "-"),
                (Store, false, false, "@\"a b\"", "! /* the tag */ 0"),
                (Store, false, true, "null", "-"),
                (Store, false, false, "dso_local_equivalent @f", "-"),
                (AtomicRmw, true, true, "%p", "!0"),
                (CmpXchg, true, true, "%e.p", "!0"),
                (VaArg, false, false, "%va", "-"),
                (Call, false, false, "%p", "-"),
                (Call, true, false, "inttoptr (i64 8 to ptr)", "!0"),
                (Call, true, false, "%p", "-"),
                (Call, false, true, "%p", "-"),
                (Call, false, false, "-", "!0"),
                (Other, false, false, "-", "!0"),
            ]
        );
        let sources: Vec<_> = module
            .instructions()
            .iter()
            .filter_map(|i| i.source_span(text.as_bytes()))
            .map(|span| &text[span])
            .collect();
        assert_eq!(sources, ["@g", "poison", "%q"]);
        let body = module.function_span(0);
        assert_eq!((&text[body.start - 1..body.start], &text[body.end..=body.end]), ("{", "}"));
    }
}

/// A text other than the module's own gives other answers, and no panic.
#[test]
fn spans_of_a_shorter_text_are_none() {
    let module = read(ACCESSES);
    for end in 0..ACCESSES.len() {
        let text = &ACCESSES.as_bytes()[..end];
        for instruction in module.instructions() {
            for span in [
                instruction.pointer_span(text),
                instruction.source_span(text),
                instruction.tag_span(text),
            ] {
                assert!(span.is_none_or(|span| span.end <= end));
            }
        }
        let node = ACCESSES.find("!1 = ").unwrap();
        assert!(node_span(text, node).is_none_or(|span| span.end <= end));
        assert!(operand_span(text, node, 1).is_none_or(|span| span.end <= end));
    }
}

#[test]
fn a_pointer_beyond_the_search_is_not_made_out() {
    let text = |n: usize| {
        let value = "i32 0, ".repeat(n);
        format!(
            "define void @f() {{\n  store {{ i32 }} {{ {value}i32 0 }}, ptr %p\n  ret void\n}}\n"
        )
    };
    for (n, found) in [(100, true), (1_000, false)] {
        let text = text(n);
        let module = read(&text);
        let span = module.instructions()[0].pointer_span(text.as_bytes());
        assert_eq!(span.map(|span| &text[span]), found.then_some("%p"));
    }
}

#[test]
fn a_node_and_its_operands_have_places() {
    let text = r#"
!0 = distinct !{!1, ! 2 , i64 0 ; the offset }
 , i1/**/true, null}
!1 = metadata !{metadata !"a, /*b*/", metadata !{!"c}"}, metadata !3}
!2 = ! {}
!3 = !DIFile(filename: "a)", directory: "b") ; a file
"#;
    let spans = |offset: usize| {
        let operands: Vec<_> =
            (0..9).map_while(|i| operand_span(text.as_bytes(), offset, i)).collect();
        operands.into_iter().map(|span| &text[span]).collect::<Vec<_>>()
    };
    let module = read(text);
    let place = |number| module.offset_of(module.node(number).unwrap()).unwrap();
    assert_eq!(spans(place(0)), ["!1", "! 2", "i64 0", "i1/**/true", "null"]);
    assert_eq!(spans(place(1)), ["!\"a, /*b*/\"", "!{!\"c}\"}", "!3"]);
    assert_eq!(spans(place(2)), [""; 0]);
    let inline = operand_span(text.as_bytes(), place(1), 1).unwrap();
    assert_eq!(spans(inline.start), ["!\"c}\""]);
    assert_eq!(node_span(text.as_bytes(), inline.start), Some(inline));
    for (start, end) in [("!0 =", ", null}"), ("!2 =", "{}"), ("!3 =", "\"b\")")] {
        let start = text.find(start).unwrap();
        let end = start + text[start..].find(end).unwrap() + end.len();
        assert_eq!(node_span(text.as_bytes(), start), Some(start..end));
    }
    assert_eq!(operand_span(text.as_bytes(), text.find("!3 =").unwrap(), 0), None);
    for offset in [text.len(), usize::MAX, 0] {
        assert_eq!(node_span(text.as_bytes(), offset), None);
    }
}

#[test]
fn a_header_says_its_layout_and_its_types() {
    let text = r#"; ModuleID
source_filename = "target datalayout = "
target datalayout = "e-p:32:32"
target triple = "x86_64-unknown-linux-gnu"
%struct.S = type { i32, %"a b" * } ; a pointer
%"a \22b\22" = type opaque
%0 = type <{ i8,
  /* padding } */ i32 }>
%old = type void (%struct.S*, ...)*
%half = type
  [4 x i8]
%alias = type %"a \22b\22"
%strange = typ { i8 }
%stranger = type ,
%
@g = global %struct.S
  zeroinitializer
target datalayout = "e\2Dp:64:64"
define void @f() {
%x = type { i8 }
  ret void
}
"#;
    let module = read(text);
    let layout = text.rfind("e\\2D").unwrap();
    assert_eq!(module.data_layout(), Some((&b"e-p:64:64"[..], layout)));
    assert_eq!(module.triple().unwrap().0, b"x86_64-unknown-linux-gnu");
    let definitions: Vec<_> = module
        .type_definitions()
        .iter()
        .map(|TypeDefinition { name, body, offset, .. }| {
            assert_eq!(&text.as_bytes()[*offset as usize..][..body.len()], &body[..]);
            (str::from_utf8(name).unwrap(), str::from_utf8(body).unwrap())
        })
        .collect();
    assert_eq!(
        definitions,
        [
            ("struct.S", "{ i32, %\"a b\" * }"),
            ("a \"b\"", "opaque"),
            ("0", "<{ i8,\n  /* padding } */ i32 }>"),
            ("old", "void (%struct.S*, ...)*"),
            ("half", "[4 x i8]"),
            ("alias", "%\"a \\22b\\22\""),
        ]
    );
    assert_eq!(read("define void @f() { ret void }").data_layout(), None);
    let error = tbaa_ir::read(b"%s = type { i32,").map(|_| ()).unwrap_err();
    assert_eq!(error.kind, TextErrorKind::Truncated { inside: "a type".to_owned() });
}
