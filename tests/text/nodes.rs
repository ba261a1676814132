//! Metadata nodes: kept, refused, written.

use pretty_assertions::assert_eq;
use tbaa::Graph;
use tbaa_check::verify::{Rule, Verifier};
use tbaa_ir::{Keep, Module, TextErrorKind, WarningKind};

use super::{grid, module_of, read};

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
        let dumped = tbaa_ir::write(module.graph());
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
    assert_eq!(module.warnings()[0].kind, WarningKind::Cycle);
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
    let module = tbaa_ir::read(&text).unwrap();
    let tag = module.graph().tag(module.attached_tags()[0]).unwrap();
    let expected: Vec<u8> = (0..=255).chain(*b"raw \xff\n byte").collect();
    assert_eq!(module.graph().ty(tag.base).name(), Some(&expected[..]));
    let dumped = tbaa_ir::write(module.graph());
    assert!(dumped.is_ascii());
    assert_eq!(read(&dumped).graph(), module.graph());
}

#[test]
fn integers_of_every_width_survive() {
    let text = "!0 = !{i64 -1, i1 true, i8 -128, i8 200, i32 u0xFF, i64 s0x8, i65 7, \
                i128 340282366920938463463374607431768211455, i1 false, i64 18446744073709551615}";
    let module = read(text);
    let again = tbaa_ir::read_with(tbaa_ir::write(module.graph()).as_bytes(), Keep::All).unwrap();
    drop(again);
    let node = module.node(0).unwrap();
    let operands = tbaa_ir::write_operands(module.graph(), node, |_| unreachable!());
    assert_eq!(
        operands,
        "i64 -1, i1 true, i8 -128, i8 -56, i32 255, i64 -8, i65 7, \
         i128 340282366920938463463374607431768211455, i1 false, i64 -1"
    );
}

#[test]
fn what_is_no_integer_is_kept_as_it_is_written() {
    let file = "!DIFile(filename: \"a)\", directory: \"\")";
    let module = read(&format!("!0 = !{{i64 , i64 1x, !1}}\n!1 = {file} ; a file\n!2 = !{{}}\n"));
    let node = module.node(0).unwrap();
    let operands = tbaa_ir::write_operands(module.graph(), node, |_| unreachable!());
    assert_eq!(operands, format!("i64, i64 1x, {file}"));
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
            "!\n0 = !{}\n!0 = !{i32 1}\n".to_owned(),
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
        let error = tbaa_ir::read(text.as_bytes()).map(|_| ()).unwrap_err();
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
    let dumped = tbaa_ir::write(module.graph());
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
        tbaa_ir::write_mlir(module.graph()).unwrap(),
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
        tbaa_ir::write_mlir(sized.graph()).unwrap_err().to_string(),
        "type \"int\" is size-aware, and MLIR knows the old format only"
    );
}

#[test]
fn what_mlir_would_merge_is_refused() {
    let apart = "must stay apart from equal ones, and MLIR would merge them";
    for (metadata, expected) in [
        ("{!0}\n!0 = distinct !{!0}", Ok("#tbaa_root0 = #llvm.tbaa_root\n".to_owned())),
        ("{!0, !1}\n!0 = distinct !{!0}\n!1 = distinct !{!1}", Err(format!("node 1 {apart}"))),
        ("{!0}\n!0 = distinct !{!\"R\"}", Err(format!("node 0 {apart}"))),
        (
            "{!0}\n!0 = !{!1, i64 4, !\"int\"}\n!1 = !{!\"R\"}",
            Err("type \"int\" is size-aware, and MLIR knows the old format only".to_owned()),
        ),
    ] {
        let module = read(&format!("!tbaa.types = !{metadata}\n"));
        let written = tbaa_ir::write_mlir(module.graph()).map_err(|error| error.to_string());
        assert_eq!(written, expected);
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
        tbaa_ir::write_operands(module.graph(), node, |_| unreachable!()),
        "i64 -8, i64 -8, i64 0, i64 -1, i64 -1, i64 -16, i64 -8, i64 -85, \
         i8 -128, i8 -128, i8 -1, i4 -1, i1 true, i3 -4, i32 -1, \
         i64 -9223372036854775808, i128 s0x8"
    );
    let error = tbaa_ir::read(b"!0 = !{i8 s0x100}").map(|_| ()).unwrap_err();
    assert_eq!(error.kind, TextErrorKind::IntegerOutOfRange, "-256");
}

#[test]
fn the_tags_of_errno_are_not_upgraded() {
    let mut module = read(
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
    let attached = module.attached_tags()[0];
    assert_eq!((module.tag(1), module.tag(2)), (Some(attached), None));
    let mut verifier = Verifier::new(module.graph());
    assert_eq!(verifier.check(module.attached_tags()[0]), Ok(()));
    let verdict = verifier.check(module.errno_tags()[0]).map_err(|violation| violation.rule);
    assert_eq!(verdict, Err(Rule::TagNotStructPath));
}

#[test]
fn a_dump_shows_sixty_bytes_of_what_it_leaves_out() {
    for length in [59, 60, 61] {
        let operand = format!("ptr @{}", "g".repeat(length - 5));
        let module = module_of(
            &[0],
            &format!("!0 = !{{!1, !1, i64 0, {operand}}}\n!1 = !{{!\"int\", !{{!\"R\"}}}}\n"),
        );
        let (shown, rest) = operand.split_at(length.min(60));
        let dots = if rest.is_empty() { "" } else { "..." };
        let dumped = tbaa_ir::write(module.graph());
        assert!(dumped.contains(&format!(" ; operand 3 was {shown}{dots}\n")), "{dumped}");
    }
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
    let dumped = tbaa_ir::write(module.graph());
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
        tbaa_ir::write(again.graph()),
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
