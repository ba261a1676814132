//! What tags are called: by debug information, by offset, by a union's types.

use pretty_assertions::assert_eq;
use tbaa_ir::{DebugInfo, Names};

use super::{module_of, read};

/// What clang 22 makes of this with `-g`, cut to what counts, and with tags for
/// members of the union, which clang leaves to `char`:
///
/// ```c
/// struct In { long q; };
/// typedef struct In Inner;
/// struct V { int a; union { int i; float f; void *p; } u; struct { long r; };
///            Inner e[3]; unsigned b : 3, c : 5; const char *s; };
/// ```
const DEBUG: &str = r#"
!1 = !{!3, !5, i64 0}
!2 = !{!3, !5, i64 8}
!3 = !{!"V", !5, i64 0, !4, i64 8, !6, i64 8, !7, i64 16, !8, i64 24, !5, i64 48, !5, i64 48, !9, i64 56}
!4 = !{!"float", !10, i64 0}
!5 = !{!"int", !10, i64 0}
!6 = !{!"any pointer", !10, i64 0}
!7 = !{!"long", !10, i64 0}
!8 = !{!"In", !7, i64 0}
!9 = !{!"p1 omnipotent char", !6, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C/C++ TBAA"}
!12 = !{!3, !10, i64 8}
!13 = !{!3, !6, i64 8}
!14 = !{!3, !7, i64 16}
!15 = !{!3, !7, i64 24}
!16 = !{!3, !8, i64 24}
!17 = !{!3, !5, i64 48}
!18 = !{!3, !9, i64 56}
!19 = !{!3, !5, i64 4}
!20 = !{!10, !10, i64 0}
!21 = !{!8, !7, i64 0, i64 1}
!22 = !{!3, !7, i64 40}
!40 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "V", file: !60, line: 3, size: 512, elements: !41)
!41 = !{!42, !43, !47, !50, !54, !55, !56}
!42 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !40, baseType: !57, size: 32)
!43 = !DIDerivedType(tag: DW_TAG_member, name: "u", scope: !40, baseType: !44, size: 64, offset: 64)
!44 = distinct !DICompositeType(tag: DW_TAG_union_type, scope: !40, size: 64, elements: !45)
!45 = !{!46, !61, !62}
!46 = !DIDerivedType(tag: DW_TAG_member, name: "i", scope: !44, baseType: !57, size: 32)
!47 = !DIDerivedType(tag: DW_TAG_member, scope: !40, baseType: !48, size: 64, offset: 128)
!48 = distinct !DICompositeType(tag: DW_TAG_structure_type, scope: !40, size: 64, elements: !49)
!49 = !{!63}
!50 = !DIDerivedType(tag: DW_TAG_member, name: "e", scope: !40, baseType: !51, size: 192, offset: 192)
!51 = !DICompositeType(tag: DW_TAG_array_type, baseType: !52, size: 192, elements: !64)
!52 = !DIDerivedType(tag: DW_TAG_typedef, name: "Inner", baseType: !53)
!53 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "In", size: 64, elements: !65)
!54 = !DIDerivedType(tag: DW_TAG_member, name: "b", scope: !40, baseType: !58, size: 3, offset: 384, flags: DIFlagBitField, extraData: i64 384)
!55 = !DIDerivedType(tag: DW_TAG_member, name: "c", scope: !40, baseType: !58, size: 5, offset: 387, flags: DIFlagBitField, extraData: i64 384)
!56 = !DIDerivedType(tag: DW_TAG_member, name: "s", scope: !40, baseType: !59, size: 64, offset: 448)
!57 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!58 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!59 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !57, size: 64)
!60 = !DIFile(filename: "v.c", directory: "/")
!61 = !DIDerivedType(tag: DW_TAG_member, name: "f", scope: !44, baseType: !66, size: 32)
!62 = !DIDerivedType(tag: DW_TAG_member, name: "p", scope: !44, baseType: !59, size: 64)
!63 = !DIDerivedType(tag: DW_TAG_member, name: "r", scope: !48, baseType: !67, size: 64)
!64 = !{!DISubrange(count: 3)}
!65 = !{!68}
!66 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!67 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!68 = !DIDerivedType(tag: DW_TAG_member, name: "q", scope: !53, baseType: !67, size: 64)
"#;

/// The meanings of the tags that a text attaches, in order.
fn meanings(tags: &[u32], metadata: &str) -> Vec<String> {
    let module = module_of(tags, metadata);
    // The metadata is all that names are read from.
    let names = Names::of_module(&module, metadata.as_bytes());
    module.attached_tags().into_iter().map(|tag| names.tag(tag)).collect()
}

const TAGS: [u32; 13] = [1, 2, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22];

#[test]
fn fields_have_the_names_that_debug_information_gives_them() {
    let union = "of union";
    let seen = meanings(&TAGS, DEBUG);
    assert!(seen.iter().all(|name| !name.contains(union)), "V is no union");
    assert_eq!(
        seen,
        [
            "V.a (int at 0 of V)",
            "V.u.i (int at 8 of V)",
            "V.u.{i|f|p} (omnipotent char at 8 of V)",
            "V.u.p (any pointer at 8 of V)",
            "V.r (long at 16 of V)",
            "V.e.q (long at 24 of V)",
            "V.e (In at 24 of V)",
            "V.{b|c} (int at 48 of V)",
            "V.s (p1 omnipotent char at 56 of V)",
            // Between two fields.
            "V+4 (int)",
            "omnipotent char",
            "In.q (long at 0 of In, immutable)",
            "V.e.q (long at 40 of V)",
        ]
    );
}

#[test]
fn without_debug_information_the_offset_stands_for_the_field() {
    let end = DEBUG.find("!40 =").unwrap();
    let seen = meanings(&TAGS, &DEBUG[..end]);
    assert_eq!(seen[..3], ["V+0 (int)", "V+8 (int)", "V+8 (omnipotent char)"]);
    assert_eq!(seen[10..12], ["omnipotent char", "In+0 (long, immutable)"]);
}

#[test]
fn two_structs_of_one_name_give_a_field_a_name_only_where_they_agree() {
    let other = "!80 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"V\", size: 64, elements: !81)\n\
        !81 = !{!82}\n\
        !82 = !DIDerivedType(tag: DW_TAG_member, name: \"b\", scope: !80, baseType: !57, size: 32)\n";
    let both = format!("{DEBUG}{other}");
    assert_eq!(meanings(&[1, 2], &both), ["V+0 (int)", "V.u.i (int at 8 of V)"]);
    let same = both.replace("name: \"b\", scope: !80", "name: \"a\", scope: !80");
    assert_eq!(meanings(&[1], &same), ["V.a (int at 0 of V)"]);
}

#[test]
fn a_field_may_be_an_enumeration_or_one_of_many_members() {
    let member = "name: \"a\", scope: !40, baseType: !";
    let enumeration = "!80 = !DICompositeType(tag: DW_TAG_enumeration_type, name: \"E\", size: 32, elements: !64)\n";
    let text = DEBUG.replace(&format!("{member}57"), &format!("{member}80")) + enumeration;
    assert_eq!(meanings(&[1], &text), ["V.a (int at 0 of V)"]);
    for (list, names) in [("!62, !63}", "i|f|p|r"), ("!62, !63, !68}", "i|f|p|r|...")] {
        let seen = meanings(&[12], &DEBUG.replace("!62}", list));
        assert_eq!(seen, [format!("V.u.{{{names}}} (omnipotent char at 8 of V)")]);
    }
}

#[test]
fn a_union_is_named_with_the_types_of_its_members() {
    let metadata = r#"
!1 = !{!4, !6, i64 4}
!2 = !{!4, !5, i64 4}
!3 = !{!5, !6, i64 0}
!4 = !{!"Q", !6, i64 0, !5, i64 4}
!5 = !{!"U", !6, i64 0, !7, i64 0, !6, i64 0}
!6 = !{!"int", !8, i64 0}
!7 = !{!"float", !8, i64 0}
!8 = !{!"R"}
!9 = !{!4, !6, i64 0}
!10 = !{!5, !5, i64 0}
!11 = !{!12, !6, i64 0}
!12 = !{!"W", !5, i64 0, !6, i64 4}
"#;
    assert_eq!(
        meanings(&[1, 2, 3, 9, 10, 11], metadata),
        [
            "Q+4 (int, of union U: int, float)",
            "Q+4 (U, of union U: int, float)",
            "U+0 (int, of union U: int, float)",
            "Q+0 (int)",
            "U (of union U: int, float)",
            "W+0 (int, of union U: int, float)",
        ]
    );
}

#[test]
fn a_class_goes_by_its_own_name() {
    let metadata = r#"
!1 = !{!2, !5, i64 0}
!2 = !{!"_ZTSN3foo3vecE", !5, i64 0}
!3 = !{!4, !5, i64 0}
!4 = !{!"_ZTS1AIiE", !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"Simple C++ TBAA"}
!7 = !{!8, !5, i64 0}
!8 = !{!"_ZTS99x", !5, i64 0}
!9 = !{!10, !5, i64 0}
!10 = !{!"", !5, i64 0}
!40 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "vec", size: 32, elements: !41, identifier: "_ZTSN3foo3vecE")
!41 = !{!42, !44}
!42 = !DIDerivedType(tag: DW_TAG_inheritance, scope: !40, baseType: !45, extraData: i32 0)
!43 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!44 = !DIDerivedType(tag: DW_TAG_member, name: "all", scope: !40, baseType: !43, size: 32, flags: DIFlagStaticMember)
!45 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "base", size: 32, elements: !46, identifier: "_ZTS4base")
!46 = !{!47}
!47 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !45, baseType: !43, size: 32)
"#;
    assert_eq!(
        meanings(&[1, 3, 7, 9], metadata),
        [
            "foo::vec.x (int at 0 of foo::vec)",
            "A<int>+0 (int)",
            "_ZTS99x+0 (int)",
            "unnamed+0 (int)"
        ]
    );
}

#[test]
fn names_are_read_up_to_4096_bytes() {
    // 4,096 bytes mangled, and as many demangled, "typeinfo name for " included.
    let name = "n".repeat(406);
    let longest = format!("_ZTSN{}E", format!("406{name}").repeat(10));
    let longer = longest.replacen("406", "407n", 1);
    let own = [name.as_str(); 10].join("::");
    for (mangled, expected) in
        [(&longest[..], &own[..]), (&longer, &longer), ("__ZTS1S", "__ZTS1S")]
    {
        let module = module_of(
            &[1],
            &format!(
                "!1 = !{{!2, !2, i64 0}}\n!2 = !{{!\"{mangled}\", !3, i64 0}}\n!3 = distinct !{{!3}}\n"
            ),
        );
        let (names, tag) = (Names::of_graph(module.graph()), module.attached_tags()[0]);
        assert_eq!(names.place(tag), expected);
        let root = module.graph().ty(module.graph().tag(tag).unwrap().base).parent().unwrap();
        assert_eq!(names.ty(root), "an unnamed root");
    }
}

#[test]
fn no_cycle_and_no_end_of_the_text_keeps_a_name_from_being_found() {
    let cycle = "!1 = !{!3, !5, i64 0}\n!3 = !{!\"V\", !5, i64 0}\n!5 = !{!\"int\", !6, i64 0}\n!6 = !{!\"R\"}\n\
        !40 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"V\", size: 32, elements: !41)\n\
        !41 = !{!42}\n\
        !42 = !DIDerivedType(tag: DW_TAG_member, name: \"v\", scope: !40, baseType: !43, size: 32)\n";
    for base in ["!43 = !DIDerivedType(tag: DW_TAG_typedef, baseType: !43)\n", "!43 = !{}\n", ""] {
        assert_eq!(meanings(&[1], &format!("{cycle}{base}")), ["V+0 (int)"]);
    }
    let itself = cycle.replace("baseType: !43", "baseType: !40");
    assert_eq!(meanings(&[1], &itself), ["V+0 (int)"]);
    let module = module_of(&TAGS, &DEBUG[..DEBUG.find("!40 =").unwrap()]);
    for end in (0..DEBUG.len()).step_by(7) {
        let names = Names::of_module(&module, &DEBUG.as_bytes()[..end]);
        assert!(module.attached_tags().into_iter().all(|tag| !names.tag(tag).is_empty()));
    }
}

#[test]
fn an_instruction_has_the_line_that_its_location_says() {
    let text = r#"
define void @f(ptr %p) !dbg !3 {
  store i8 0, ptr %p, align 1, !dbg !1, !tbaa !9
  store i8 1, ptr %p, align 1, !tbaa !9
  store i8 2, ptr %p, align 1, !tbaa !9, !dbg !2
  store i8 2, ptr %p, align 1, !dbg !7
  ret void
}
!0 = !DIFile(filename: "dir/f.c", directory: "/")
!1 = !DILocation(line: 7, column: 3, scope: !4)
!2 = !DILocation(line: 0, scope: !3)
!3 = distinct !DISubprogram(name: "f", scope: !5, file: !5, line: 6)
!4 = distinct !DILexicalBlock(scope: !3, file: !0, line: 6)
!5 = !DIFile(filename: "f.h", directory: "/")
!7 = !DILocation(line: 8, scope: !7)
!9 = !{!10, !10, i64 0}
!10 = !{!"c", !{!"R"}}
"#;
    let module = read(text);
    let debug = DebugInfo::new(text.as_bytes());
    let seen: Vec<_> = module.instructions().iter().map(|it| debug.location(it)).collect();
    let said: Vec<_> =
        seen.iter().flatten().map(|at| (at.file.as_str(), at.line, at.column)).collect();
    assert_eq!(said, [("dir/f.c", 7, 3), ("f.h", 0, 0)]);
    assert_eq!([1, 3].map(|i: usize| seen[i].clone()), [None, None]);
}
