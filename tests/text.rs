//! Reading text of every age and shape, and refusing what cannot be read.

use pretty_assertions::assert_eq;
use tbaa::text::{self, Keep, Module, Opcode, TextErrorKind};
use tbaa::verify::{Rule, Verifier};
use tbaa::{Graph, Oracle, Rules, TagId};

fn read(text: &str) -> Module {
    text::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The grid of a module's attached tags, as `aa grid` prints it.
fn grid(module: &Module) -> Vec<String> {
    let tags = module.attached_tags();
    let oracle = Oracle::new(module.graph(), Rules::Llvm);
    let letter = |a: TagId, b: TagId| if oracle.may_alias(a, b) { 'M' } else { 'N' };
    tags.iter().map(|&a| tags.iter().map(|&b| letter(a, b)).collect()).collect()
}

fn tag_names(module: &Module) -> Vec<String> {
    let graph = module.graph();
    let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or(b"?")).into_owned();
    module
        .attached_tags()
        .iter()
        .map(|&tag| {
            let tag = graph.tag(tag).unwrap();
            format!("{}+{} {}", name(tag.base), tag.offset, name(tag.access))
        })
        .collect()
}

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

#[test]
fn distinct_nodes_stay_apart_and_equal_ones_merge() {
    let module = read(
        r#"
define void @f(ptr %p) {
  store i32 0, ptr %p, !tbaa !1
  store i32 0, ptr %p, !tbaa !2
  store i32 0, ptr %p, !tbaa !3
  store i32 0, ptr %p, !tbaa !4
  ret void
}
!0 = !{!"root"}
!1 = !{!5, !5, i64 0}
!2 = !{!6, !6, i64 0}
!3 = !{!7, !7, i64 0}
!4 = !{!8, !8, i64 0}
!5 = !{!"int", !0, i64 0}
!6 = !{!"int", !0, i64 0}
!7 = distinct !{!"int", !0, i64 0}
!8 = distinct !{!"int", !0, i64 0}
"#,
    );
    // LLVM 22 says the same: two distinct ints do not alias.
    assert_eq!(grid(&module), ["MNN", "NMN", "NNM"]);
    assert_eq!(module.node(1), module.node(2));
}

/// A module with one store through each tag of `metadata` that `!tags` lists.
fn module_of(tags: &[u32], metadata: &str) -> Module {
    let stores: String =
        tags.iter().map(|tag| format!("  store i8 0, ptr %p, !tbaa !{tag}\n")).collect();
    read(&format!("define void @f(ptr %p) {{\n{stores}  ret void\n}}\n{metadata}"))
}

/// Each ill-formed tag is kept, breaks a rule of LLVM's verifier, and may alias
/// a good tag that a well-formed neighbour does not.
#[test]
fn ill_formed_tags_are_kept_and_may_alias() {
    const GOOD: &str = r#"
!1 = !{!10, !10, i64 0}
!2 = !{!11, !11, i64 0}
!10 = !{!"int", !12, i64 0}
!11 = !{!"float", !12, i64 0}
!12 = !{!"root"}
!13 = !{!"S", !10, i64 0, !11, i64 4}
!14 = !{!12, i64 4, !"sized"}
!15 = !{!12, i64 8, !"T", !14, i64 0, i64 4, !14, i64 4, i64 4}
"#;
    let cases = [
        ("!{}", Rule::TagEmpty),
        // Read as a tag of the scalar format, hence of the struct S as a whole.
        ("!{!13, !10}", Rule::AccessNotScalar),
        ("!{!13, !10, i64 0, i64 0, i64 0}", Rule::TagOperandCount),
        ("!{!15, !14, i64 0}", Rule::TagOperandCount),
        ("!{!15, !14, i64 0, !\"4\"}", Rule::TagSize),
        ("!{!13, !10, i64 0, !\"1\"}", Rule::TagImmutable),
        ("!{!13, !10, i64 0, i64 2}", Rule::TagImmutableRange),
        ("!{!13, null, i64 0}", Rule::TagTypes),
        ("!{!13, !13, i64 0}", Rule::AccessNotScalar),
        ("!{!13, !10, !\"0\"}", Rule::TagOffset),
        ("!{!20, !10, i64 0}", Rule::PathCycle),
        ("!{!13, !10, i64 2}", Rule::OffsetAtAccess),
        ("!{!13, !10, i32 0}", Rule::OffsetWidth),
        ("!{!13, !11, i64 0}", Rule::AccessNotOnPath),
        ("!{!21, !10, i64 0}", Rule::NoFieldAtOffset),
        ("!{!22, !10, i64 0}", Rule::TypeNotScalar),
        ("!{!23, !10, i64 0}", Rule::TypeOperandCount),
        ("!{!24, !14, i64 0, i64 4}", Rule::TypeSize),
        ("!{!25, !10, i64 0}", Rule::TypeName),
        ("!{!26, !10, i64 0}", Rule::FieldType),
        ("!{!27, !10, i64 0}", Rule::FieldOffset),
        ("!{!28, !10, i64 0}", Rule::FieldOffsetWidth),
        ("!{!29, !10, i64 0}", Rule::FieldOrder),
        ("!{!30, !14, i64 0, i64 4}", Rule::FieldSize),
    ];
    const BAD_TYPES: &str = r#"
!20 = distinct !{!"loop", !20, i64 0, !10, i64 8}
!21 = !{!"late", !10, i64 4, !10, i64 8}
!22 = !{!"under a struct", !13}
!23 = !{!"even", !10, i64 0, !10}
!24 = !{!12, !"8", !"no size", !14, i64 0, i64 4}
!25 = !{null, !10, i64 0, !10, i64 4}
!26 = !{!"S", !"int", i64 0, !10, i64 4}
!27 = !{!"S", !10, !"0", !10, i64 4}
!28 = !{!"S", !10, i64 0, !10, i32 4}
!29 = !{!"S", !10, i64 4, !10, i64 0}
!30 = !{!12, i64 8, !"S", !14, i64 0, null}
"#;
    for (tag, rule) in cases {
        let metadata = format!("!0 = {tag}\n{GOOD}{BAD_TYPES}");
        let module = module_of(&[0, 1, 2], &metadata);
        let tags = module.attached_tags();
        let verdict = Verifier::new(module.graph()).check(tags[0]);
        assert_eq!(verdict.map_err(|violation| violation.rule), Err(rule), "{tag}");
        assert_eq!(grid(&module), ["MMM", "MMN", "MNM"], "{tag}");
        let dumped = text::write(module.graph());
        assert_eq!(read(&dumped).graph(), module.graph(), "{tag} is not kept:\n{dumped}");
    }
}

/// The reader upgrades every tag of the scalar format; the raw door does not.
#[test]
fn a_type_marked_as_a_tag_is_rejected() {
    let mut graph = Graph::new();
    let root = graph.builder().root("R").unwrap();
    let int = graph.builder().scalar_type("int", root).unwrap();
    let tag = graph.mark_tag(int.node());
    let verdict = Verifier::new(&graph).check(tag).map_err(|violation| violation.rule);
    assert_eq!(verdict, Err(Rule::TagNotStructPath));
    assert_eq!(
        verdict.unwrap_err().llvm_message().split(',').next(),
        Some("Old-style TBAA is no longer allowed")
    );
}

#[test]
fn cycles_are_kept_warned_of_and_may_alias() {
    let module = module_of(
        &[0, 1, 2],
        r#"
!0 = !{!3, !3, i64 0}
!1 = !{!5, !5, i64 0}
!2 = !{!6, !6, i64 0}
!3 = !{!"a", !4, i64 0}
!4 = !{!"b", !3, i64 0}
!5 = !{!"int", !7, i64 0}
!6 = !{!"float", !7, i64 0}
!7 = !{!"root"}
"#,
    );
    assert_eq!(grid(&module), ["MMM", "MMN", "MNM"]);
    assert_eq!(module.warnings().len(), 1);
    assert!(module.warnings()[0].message.contains("refers back to itself"));
    let anonymous = module_of(&[0], "!0 = !{!1, !1, i64 0}\n!1 = !{!\"i\", !2}\n!2 = !{!2}\n");
    assert_eq!(anonymous.warnings(), [], "this is how an anonymous root looks");
}

/// LLVM's verifier takes the size of a size-aware scalar for the offset of its
/// parent, so it accepts the second tag; LLVM's analysis then runs off the end
/// of the path and crashes. The first tag's walk shares the cursor `s2` at 0.
#[test]
fn a_tag_on_which_llvm_crashes_may_alias() {
    let module = module_of(
        &[0, 1],
        r#"
!0 = !{!4, !3, i64 0, i64 1}
!1 = !{!5, !2, i64 3, i64 1}
!2 = !{!6, i64 1, !"s1"}
!3 = !{!2, i64 0, !"s2"}
!4 = !{!2, i64 1, !"S3", !3, i64 0, i64 0, !3, i64 0, i64 0}
!5 = !{!2, i64 9, !"S4", !3, i64 2, i64 0, !4, i64 3, i64 0, !3, i64 3, i64 0, !3, i64 8, i64 0}
!6 = !{!"root"}
"#,
    );
    let tags = module.attached_tags();
    let mut verifier = Verifier::new(module.graph());
    assert!(tags.iter().all(|&tag| verifier.check(tag).is_ok()));
    assert_eq!(grid(&module), ["MM", "MM"]);
}

#[test]
fn strings_are_bytes() {
    let mut names: Vec<u8> = Vec::new();
    for byte in 0..=255_u8 {
        names.extend(format!("\\{byte:02x}").bytes());
    }
    let mut text =
        b"define void @f(ptr %p) {\n store i8 0, ptr %p, !tbaa !0\n ret void\n}\n".to_vec();
    text.extend(b"!0 = !{!1, !1, i64 0}\n!1 = !{!\"");
    text.extend(&names);
    text.extend(b"raw \xff\n byte\", !{!\"root\"}}\n");
    let module = text::read(&text).unwrap();
    let tag = module.graph().tag(module.attached_tags()[0]).unwrap();
    let expected: Vec<u8> = (0..=255).chain(*b"raw \xff\n byte").collect();
    assert_eq!(module.graph().ty(tag.base).name(), Some(&expected[..]));
    let dumped = text::write(module.graph());
    assert!(dumped.is_ascii());
    assert_eq!(read(&dumped).graph(), module.graph());
}

#[test]
fn integers_of_every_width_survive() {
    let text = "!0 = !{i64 -1, i1 true, i8 -128, i8 200, i32 u0xFF, i64 s0x8, i65 7, \
                i128 340282366920938463463374607431768211455, i1 false, i64 18446744073709551615}";
    let module = read(text);
    let again = text::read_with(text::write(module.graph()).as_bytes(), Keep::All).unwrap();
    drop(again);
    let node = module.node(0).unwrap();
    let operands = text::write_operands(module.graph(), node, |_| unreachable!());
    assert_eq!(
        operands,
        "i64 -1, i1 true, i8 -128, i8 -56, i32 255, i64 -8, i65 7, \
         i128 340282366920938463463374607431768211455, i1 false, i64 -1"
    );
}

#[test]
fn unreadable_text_is_refused_with_its_place() {
    let use_of = |tag: &str, rest: &str| {
        format!(
            "define void @f(ptr %p) {{\n  store i8 0, ptr %p, !tbaa {tag}\n  ret void\n}}\n{rest}"
        )
    };
    let truncated = |inside: &str| TextErrorKind::Truncated { inside: inside.to_owned() };
    let cases: Vec<(String, (usize, usize), TextErrorKind)> = vec![
        (use_of("!7", ""), (2, 29), TextErrorKind::Undefined { number: 7 }),
        (
            use_of("!0", "!0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !22}\n"),
            (6, 16),
            TextErrorKind::Undefined { number: 22 },
        ),
        (
            "!0 = !{}\n\n!0 = !{i32 1}\n".to_owned(),
            (3, 1),
            TextErrorKind::DefinedTwice { number: 0, first_line: 1 },
        ),
        ("!4294967296 = !{}\n".to_owned(), (1, 2), TextErrorKind::NumberOutOfRange),
        (use_of("!99999999999999999999", ""), (2, 30), TextErrorKind::NumberOutOfRange),
        ("!0 = !{i8 300}\n".to_owned(), (1, 8), TextErrorKind::IntegerOutOfRange),
        ("!0 = !{i64 18446744073709551616}".to_owned(), (1, 8), TextErrorKind::IntegerOutOfRange),
        ("!0 = !{i8 -129}".to_owned(), (1, 8), TextErrorKind::IntegerOutOfRange),
        (
            "define void @f() {\n  ret void\n".to_owned(),
            (3, 1),
            truncated("the body of function @f"),
        ),
        ("define void @f(".to_owned(), (1, 16), truncated("a function header")),
        ("!0 = !{!\"int".to_owned(), (1, 13), truncated("a string")),
        ("!0 = !{i64 0, ".to_owned(), (1, 15), truncated("a metadata node")),
        ("!0 = ".to_owned(), (1, 6), truncated("a metadata definition")),
        ("!0".to_owned(), (1, 3), truncated("a metadata definition")),
        ("!0 = 5".to_owned(), (1, 6), TextErrorKind::Expected { wanted: "a metadata node, `!{`" }),
        (
            use_of("5", ""),
            (2, 29),
            TextErrorKind::Expected { wanted: "a metadata node after `!tbaa`" },
        ),
        (
            use_of("!0", "!0 = !DIFile(filename: \"x\")"),
            (2, 29),
            TextErrorKind::Expected { wanted: "a plain node, `!{...}`, as a tag" },
        ),
        (
            use_of(&format!("{}{}", "!{".repeat(70), "}".repeat(70)), ""),
            (2, 159),
            TextErrorKind::TooDeep,
        ),
    ];
    for (text, place, kind) in cases {
        let error = text::read(text.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!((&error.kind, (error.line, error.column)), (&kind, place), "{text}");
    }
}

/// A chain as long as the text is read without recursion; so is a cycle.
#[test]
fn long_chains_need_no_stack() {
    let n = 200_000;
    let chain: String =
        (1..n).map(|i| format!("!{i} = !{{!\"t{i}\", !{}, i64 0}}\n", i + 1)).collect();
    let module = module_of(&[0], &format!("!0 = !{{!1, !1, i64 0}}\n{chain}!{n} = !{{!\"R\"}}\n"));
    assert_eq!(grid(&module), ["M"]);
    let tag = module.attached_tags()[0];
    assert_eq!(Verifier::new(module.graph()).check(tag), Ok(()));
    let round =
        module_of(&[0], &format!("!0 = !{{!1, !1, i64 0}}\n{chain}!{n} = !{{!\"R\", !1}}\n"));
    assert!(Verifier::new(round.graph()).check(round.attached_tags()[0]).is_err());
    let dumped = text::write(module.graph());
    assert_eq!(read(&dumped).graph(), module.graph());
}

#[test]
fn mlir_attributes_stand_before_their_use() {
    let module = module_of(
        &[0, 1],
        r#"
!0 = !{!2, !3, i64 4, i64 1}
!1 = !{!3, !3, i64 0}
!2 = !{!"S\22", !3, i64 0, !3, i64 4}
!3 = !{!"int", !4, i64 0}
!4 = !{!"R"}
"#,
    );
    assert_eq!(
        text::write_mlir(module.graph()).unwrap(),
        r#"#tbaa_root0 = #llvm.tbaa_root<id = "R">
#tbaa_type_desc0 = #llvm.tbaa_type_desc<id = "int", members = {<#tbaa_root0, 0>}>
#tbaa_type_desc1 = #llvm.tbaa_type_desc<id = "S\22", members = {<#tbaa_type_desc0, 0>, <#tbaa_type_desc0, 4>}>
#tbaa_tag0 = #llvm.tbaa_tag<base_type = #tbaa_type_desc1, access_type = #tbaa_type_desc0, offset = 4, constant = true>
#tbaa_tag1 = #llvm.tbaa_tag<base_type = #tbaa_type_desc0, access_type = #tbaa_type_desc0, offset = 0>
"#
    );
    let sized = module_of(
        &[0],
        "!0 = !{!1, !1, i64 0, i64 4}\n!1 = !{!2, i64 4, !\"int\"}\n!2 = !{!\"R\"}\n",
    );
    assert_eq!(
        text::write_mlir(sized.graph()).unwrap_err().to_string(),
        "type \"int\" is size-aware, and MLIR knows the old format only"
    );
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
        let error = text::read(text.as_bytes()).map(|_| ()).unwrap_err();
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
        assert_eq!(text::read(text.as_bytes()).map(|_| ()).unwrap_err().kind, cut, "{text}");
    }
}

/// What `llvm-as-22 | llvm-dis-22` makes of them.
#[test]
fn signed_hexadecimals_take_their_first_bit_for_the_sign() {
    let module = read(
        "!0 = !{i64 s0x8, i64 s0x08, i64 s0x0, i64 s0x1, i64 s0x7, i64 s0x10, i64 s0x18, i64 s0xaB, \
         i8 s0x80, i8 s0x180, i8 s0x0FF, i4 s0xFF, i1 s0x1, i3 s0xC, i32 s0x7fffffff, \
         i64 s0x8000000000000000, i128 s0x8}",
    );
    let node = module.node(0).unwrap();
    assert_eq!(
        text::write_operands(module.graph(), node, |_| unreachable!()),
        "i64 -8, i64 -8, i64 0, i64 -1, i64 -1, i64 -16, i64 -8, i64 -85, \
         i8 -128, i8 -128, i8 -1, i4 -1, i1 true, i3 -4, i32 -1, \
         i64 -9223372036854775808, i128 s0x8"
    );
    let error = text::read(b"!0 = !{i8 s0x100}").map(|_| ()).unwrap_err();
    assert_eq!(error.kind, TextErrorKind::IntegerOutOfRange, "-256");
}

#[test]
fn the_tags_of_errno_are_not_upgraded() {
    let module = read(
        r#"
define void @f(ptr %p) {
  store i32 0, ptr %p, !tbaa !1
  ret void
}
!0 = !{!"R"}
!1 = !{!"int", !0}
!llvm.errno.tbaa = !{!1}
"#,
    );
    let mut verifier = Verifier::new(module.graph());
    assert_eq!(verifier.check(module.attached_tags()[0]), Ok(()));
    let verdict = verifier.check(module.errno_tags()[0]).map_err(|violation| violation.rule);
    assert_eq!(verdict, Err(Rule::TagNotStructPath));
}

/// What a dump cannot name is null in it, so that LLVM takes the dump and no
/// other node gets the name.
#[test]
fn a_dump_names_nothing_outside_it() {
    let module = module_of(
        &[0],
        r#"
!0 = !{!3, !3, i64 0, ptr @"g;
"}
!3 = !{!"S", !4, %T { ptr @g }, !DIDerivedType(tag: DW_TAG_typedef, baseType: !6), ptr null,
       [2 x i8] c"@!", { i8 } { i8 1 }, !5}
!4 = !DICompileUnit(language: DW_LANG_C11, file: !DIFile(filename: "a very long name", directory: ""))
!5 = !{!"R", i128 -1}
!6 = !{!"not in the dump"}
"#,
    );
    let dumped = text::write(module.graph());
    assert_eq!(
        dumped,
        r#"!tbaa.tags = !{!0}

!0 = !{!1, !1, i64 0, null} ; operand 3 was ptr @\22g;\0A\22
!1 = !{!"S", null, null, null, ptr null, [2 x i8] c"@!", { i8 } { i8 1 }, !2} ; operand 1 was !DICompileUnit(language: DW_LANG_C11, file: !DIFile(filename..., operand 2 was %T { ptr @g }, operand 3 was !DIDerivedType(tag: DW_TAG_typedef, baseType: !6)
!2 = !{!"R", i128 -1}
"#
    );
    let again = read(&dumped);
    assert_eq!(
        text::write(again.graph()),
        dumped
            .lines()
            .map(|line| { line.split(" ; ").next().unwrap().to_owned() + "\n" })
            .collect::<String>()
    );
    let rule = |module: &Module| {
        let tag = module.graph().tags().next().unwrap();
        Verifier::new(module.graph()).check(tag).map_err(|violation| violation.rule)
    };
    assert!(rule(&module).is_err());
    assert_eq!(rule(&again), rule(&module));
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
