//! Functions, and where attachments belong.

use pretty_assertions::assert_eq;
use tbaa::wellformed::Verifier;
use tbaa_ir::{Opcode, TextErrorKind};

use super::{grid, read, tag_names};

/// The syntax of LLVM 3, in the words that the Ravi article prints: typed
/// pointers, loads that name the pointer type alone, `metadata` everywhere.
const LLVM_3: &str = r#"
%struct.CallInfo = type { %struct.TValue*, %struct.TValue* }
define void @f(%struct.CallInfo* %ci, double* %d) nounwind {
entry:
  %base2 = getelementptr inbounds %struct.CallInfo* %ci, i32 0, i32 0
  %1 = load %struct.TValue** %base2, align 4, !tbaa !12
  store double 1.000000e+00, double* %d, align 8, !tbaa !15
  %2 = load volatile i32 addrspace(1)* null, !tbaa !16
  ret void
}
!3 = metadata !{metadata !"any pointer", metadata !4, i64 0}
!4 = metadata !{metadata !"omnipotent char", metadata !5, i64 0}
!5 = metadata !{metadata !"Simple C / C++ TBAA"}
!12 = metadata !{metadata !13, metadata !3, i64 0}
!13 = metadata !{metadata !"CallInfo", metadata !3, i64 0, metadata !3, i64 4}
!15 = metadata !{metadata !14, metadata !14, i64 0}
!14 = metadata !{metadata !"double", metadata !4, i64 0}
!16 = metadata !{metadata !"int", metadata !4}
"#;

#[test]
fn llvm_3_reads() {
    let module = read(LLVM_3);
    assert_eq!(
        tag_names(&module),
        ["CallInfo+0 any pointer", "double+0 double", "int+0 int"],
        "the last is a tag of the scalar format"
    );
    assert_eq!(grid(&module), ["MNN", "NMN", "NNM"]);
    let types: Vec<_> = module
        .instructions()
        .iter()
        .map(|i| String::from_utf8_lossy(module.access_type(i)))
        .collect();
    assert_eq!(types, ["%struct.TValue*", "double", "i32"]);
    let places: Vec<_> = module.instructions().iter().map(|i| (i.index, i.opcode)).collect();
    assert_eq!(places, [(1, Opcode::Load), (2, Opcode::Store), (3, Opcode::Load)]);
}

#[test]
fn a_load_of_llvm_3_reads_what_its_pointer_points_to() {
    for (pointer, pointee) in [
        ("i32*", "i32"),
        ("i32 addrspace(1) *", "i32"),
        ("i8 addrspace(2)*addrspace( 11 )*", "i8 addrspace(2)*"),
        ("void (i32 addrspace(1)*)*", "void (i32 addrspace(1)*)"),
        ("%\"a addrspace(1)\" ; no\n *", "%\"a addrspace(1)\""),
        ("i32addrspace(1)*", "i32addrspace(1)"),
        ("i32", ""),
    ] {
        let module = read(&format!("define void @f() {{\n  load {pointer} %p\n  ret void\n}}\n"));
        assert_eq!(String::from_utf8_lossy(module.access_type(&module.instructions()[0])), pointee);
    }
}

/// Shapes that LLVM's own printer or a person may give a function.
const SHAPES: &str = r#"
; a comment with !tbaa !99 and an unclosed "quote
source_filename = "a;b.c"
@s = constant [9 x i8] c"!tbaa !98", align 1
define { i32, ptr } @"quoted } name"(ptr %p, metadata %m) #0 personality ptr @g prefix { i8 } { i8 1 } {
  %v = load <{ i32, i8 }>, ptr %p, align 1, !range !{i32 0, i32 2}, !tbaa !1, !dbg !7
  store [2 x { i8, ptr }] zeroinitializer, ptr %p, !nontemporal !8, !tbaa !{!2, !2, i64 0}
  %"a = load" = load i32, ptr %p, !tbaa !1 %b = load i64, ptr %p
  switch i32 %x, label %d [
    i32 0, label %a
    i32 1, label %b
  ]
"load i8":                                        ; preds = %0
  %r = invoke i32 @f(ptr %p, metadata !"x, !tbaa !97")
          to label %a unwind label %b, !tbaa !1
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !4
12: %c = tail call i32 @f(), !tbaa !1
    #dbg_value(ptr %p, !9, !DIExpression(), !10)
  %o = atomicrmw add ptr %p, i32 1 seq_cst, !tbaa !1
  %e = cmpxchg weak ptr %p, i16 0, i16 1 monotonic monotonic, !tbaa !1
  %w = va_arg ptr %p, double, !tbaa !1
  store atomic volatile ptr @"x,y", ptr %p unordered, align 8
  call void @h(i32 1,
               i32 2), !tbaa !1
  ret { i32, ptr } { i32 1, ptr null } }
declare void @g()
define void @second() { store i8 0, ptr null, !tbaa !1
ret void }
!1 = !{!2, !2, i64 0}
!2 = !{!"int", !3}
!3 = !{!"r\6Fot"}
!4 = !{i64 0, i64 8, !1}
!7 = !DILocation(line: 1, column: 2, scope: !7)
!8 = !{i32 1}
!"#;

#[test]
fn every_shape_of_instruction_reads() {
    let text = SHAPES.strip_suffix('!').unwrap();
    let module = read(text);
    let functions: Vec<_> = module.functions().map(String::from_utf8_lossy).collect();
    assert_eq!(functions, ["quoted } name", "second"]);
    let seen: Vec<_> = module
        .instructions()
        .iter()
        .map(|i| {
            let ty = String::from_utf8_lossy(module.access_type(i)).into_owned();
            (i.function, i.index, i.opcode, ty, i.tag.is_some(), i.copy.is_some())
        })
        .collect();
    let row = |function, index, opcode, ty: &str, tag| {
        (function, index, opcode, ty.to_owned(), tag, false)
    };
    use Opcode::*;
    let mut expected = vec![
        row(0, 0, Load, "<{ i32, i8 }>", true),
        row(0, 1, Store, "[2 x { i8, ptr }]", true),
        row(0, 2, Load, "i32", true),
        row(0, 3, Load, "i64", false),
        row(0, 5, Call, "", true),
        row(0, 6, Call, "", false),
        row(0, 7, Call, "", true),
        row(0, 8, AtomicRmw, "i32", true),
        row(0, 9, CmpXchg, "i16", true),
        row(0, 10, VaArg, "double", true),
        row(0, 11, Store, "ptr", false),
        row(0, 12, Call, "", true),
        row(1, 0, Store, "i8", true),
    ];
    expected[5].5 = true;
    assert_eq!(seen, expected);
    // The inline tag is equal to !1, so the two are one node.
    assert_eq!(tag_names(&module), ["int+0 int"]);
    let root = module.node(3).unwrap();
    assert_eq!(module.graph().operand(root, 0), Some(tbaa::Operand::String(b"root")));
}

#[test]
fn line_ends_of_any_kind_read() {
    let crlf = LLVM_3.replace('\n', "\r\n");
    assert_eq!(read(&crlf).graph(), read(LLVM_3).graph());
    assert_eq!(tag_names(&read(&crlf)), tag_names(&read(LLVM_3)));
    assert_eq!(read("").graph().node_count(), 0);
    assert_eq!(read("!0 = !{}").graph().node_count(), 1, "no line end at all");
}

/// LLVM 22 reads both kinds of comments wherever white space may stand.
#[test]
fn comments_stand_anywhere() {
    let module = read(
        r#"
@g = global i32 0 ; it's "open
/* "also /* open
define void @no() { */
@h = global i32 /* "a */ 0 ; "
define void @f(ptr %p ; {
  ) /* { @no */ {
  store i32 0, ptr %p, !tbaa !0 /* , !tbaa !98
  store i32 0, ptr %p */
  /* a label: */ store i32 0, ptr %p, !tbaa !0 ; !tbaa !99
  ret void /* } */
}
!0 = !{!1, !1, i64/**/0 ; "offset"
}
!1 = !{!"int;/*", /* parent */ !2, i64 0 ; offset
}
!2 = /* root */ !{!"R"}
!tbaa.types = !{!1 /* "int" */, ; and no other
  !2}
"#,
    );
    assert_eq!(module.functions().collect::<Vec<_>>(), [b"f"]);
    let seen: Vec<_> = module.instructions().iter().map(|i| (i.index, i.tag.is_some())).collect();
    assert_eq!(seen, [(0, true), (1, true)]);
    assert_eq!(tag_names(&module), ["int;/*+0 int;/*"]);
    assert_eq!(Verifier::new(module.graph()).check(module.attached_tags()[0]), Ok(()));
    for text in ["/* a", "@g = global i32 /* a", "!0 = !{/* a", "define void @f() {/* a"] {
        let error = tbaa_ir::read(text.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind, TextErrorKind::Truncated { inside: "a comment".to_owned() });
        assert_eq!(error.offset, text.len());
    }
}

#[test]
fn a_node_in_a_function_header_is_not_the_body() {
    let module = read(
        r#"
define void @f(ptr %p) prefix { i8 } { i8 1 } !foo !{!"x"} !bar ! {!{!"store"}} !baz !0 {
  store i32 0, ptr %p, !tbaa !0
  ret void
}
define void @g() { ret void }
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !{!"R"}}
"#,
    );
    assert_eq!(module.functions().collect::<Vec<_>>(), [b"f", b"g"]);
    assert_eq!(module.instructions().len(), 1);
    assert_eq!(tag_names(&module), ["int+0 int"]);
}

/// LLVM takes a line end for any other white space.
#[test]
fn an_instruction_may_go_on_over_lines() {
    let module = read(
        r#"
define void @f(ptr %p) {
  %v =
    load i32, ptr %p, !tbaa !0
  %w
    = /* its value */ load
    i64, ptr
    %p, !tbaa !0
  atomicrmw volatile
    add ptr %p, i32 1 seq_cst, !tbaa !0
  atomicrmw ; the operation:
    sub ptr
    %p, i16 1 seq_cst, !tbaa !0
  %n = opcode_of_tomorrow i32 0
  %c = tail
    call i32 @h(), !tbaa !0
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !{!"R"}}
"#,
    );
    use Opcode::*;
    let seen: Vec<_> = module
        .instructions()
        .iter()
        .map(|i| (i.index, i.opcode, i.tag.is_some(), module.access_type(i)))
        .collect();
    assert_eq!(
        seen,
        [
            (0, Load, true, &b"i32"[..]),
            (1, Load, true, b"i64"),
            (2, AtomicRmw, true, b"i32"),
            (3, AtomicRmw, true, b"i16"),
            (5, Call, true, b""),
        ]
    );
}

/// To LLVM, `!` is a token of its own before a number, a brace or a string.
#[test]
fn space_may_follow_an_exclamation_mark() {
    let module = read(
        r#"
define void @f(ptr %p) {
  store i32 0, ptr %p, !tbaa
    !0
  store i32 0, ptr %p, !tbaa /* which? */ ! 0 /* that */ store i8 0, ptr %p
  store i32 0, ptr %p, !tbaa ! {! 1,
    ! /* again */ 1, i64 0}, !nontemporal ! {i32 1}
  ret void
}
!0 = ! {! 1, !
  1, i64 0}
! 1 = distinct ! {! "int", ! {! "R"}}
!tbaa.types = ! {! 1}
"#,
    );
    let seen: Vec<_> = module.instructions().iter().map(|i| (i.index, i.tag.is_some())).collect();
    assert_eq!(seen, [(0, true), (1, true), (2, false), (3, true)]);
    assert_eq!(tag_names(&module), ["int+0 int"]);
    assert_eq!(Verifier::new(module.graph()).check(module.attached_tags()[0]), Ok(()));
}

#[test]
fn names_of_metadata_may_hold_escapes() {
    let module = read(
        r#"
define void @f(ptr %p) {
  store i32 0, ptr %p, !\74baa !0
  call void @g(), !tbaa\2estruct !2
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !{!"R"}}
!2 = !{i64 0, i64 4, !0}
!llvm\2Eerrno.tbaa = !{!0}
"#,
    );
    let seen: Vec<_> =
        module.instructions().iter().map(|i| (i.tag.is_some(), i.copy.is_some())).collect();
    assert_eq!(seen, [(true, false), (false, true)]);
    assert_eq!(module.errno_tags().len(), 1);
}

#[test]
fn attachments_of_globals_go_on_over_lines() {
    let module = read(
        r#"
@g = global i32 0,
 !foo !8
@h = global i32 0, !foo
 !8
@i = global i32 0, !foo !8,
 !bar ; which?
 !8, !f\6F !{!"a
 ", !8,
 !8}
!8 = !{}
"#,
    );
    assert_eq!(module.graph().node_count(), 1);
    let cut = TextErrorKind::Truncated { inside: "a metadata definition".to_owned() };
    for text in ["!8", "!8 =", "!foo", "!foo "] {
        assert_eq!(tbaa_ir::read(text.as_bytes()).map(|_| ()).unwrap_err().kind, cut, "{text}");
    }
}

#[test]
fn a_function_may_follow_another_on_its_line() {
    let module = read(
        r#"
define void @f(ptr %p) { store i32 0, ptr %p, !tbaa !0 ret void } define void @g(ptr %p) {
  store i32 0, ptr %p, !tbaa !0
  ret void } /* and */ define void @h() { ret void } !0 = !{!1, !1, i64 0} ; the tag
!1 = !{!"int", !{!"R"}}
"#,
    );
    assert_eq!(module.functions().collect::<Vec<_>>(), [b"f", b"g", b"h"]);
    assert_eq!(tag_names(&module), ["int+0 int"]);
    let seen: Vec<_> = module.instructions().iter().map(|i| (i.function, i.index)).collect();
    assert_eq!(seen, [(0, 0), (1, 0)]);
}

#[test]
fn several_instructions_may_stand_on_a_line() {
    let module = read(
        r#"
define i32 @f(ptr %p) {
  %q = getelementptr i8, ptr %p, i64 4  %v = load i32, ptr %q, !tbaa !0 %w=load i8, ptr %q
  call void asm "%x = load", "=r"(ptr %q) "k"="v" %r	= atomicrmw add ptr %q, i32 1 seq_cst ret i32 %v
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !{!"R"}}
"#,
    );
    let seen: Vec<_> = module
        .instructions()
        .iter()
        .map(|i| (i.index, i.opcode, module.access_type(i), i.tag.is_some()))
        .collect();
    let expected: [(u32, Opcode, &[u8], bool); 3] = [
        (1, Opcode::Load, b"i32", true),
        (2, Opcode::Load, b"i8", false),
        (4, Opcode::AtomicRmw, b"i32", false),
    ];
    assert_eq!(seen, expected);
    assert_eq!(Verifier::new(module.graph()).check(module.attached_tags()[0]), Ok(()));
}
