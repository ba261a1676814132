//! Metadata nodes: kept, refused, written.

use pretty_assertions::assert_eq;
use tbaa::Graph;
use tbaa::raw::RawGraph;
use tbaa_check::verify::{Rule, Verifier};
use tbaa_ir::{Keep, Module};

use super::{grid, module_of, read};

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
