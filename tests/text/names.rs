//! Tests the names of tags, with debug information and without.

use pretty_assertions::assert_eq;
use tbaa_ir::{DebugInfo, Names};
use tbaa_tests::cases;

use super::{module_of, read, text_of};

const FILE: &str = "text/names.txt";

fn debug() -> String {
    cases::all(FILE).swap_remove(0).1.swap_remove(1)
}

#[test]
fn names_are_as_written_down() {
    cases::check(FILE, |_, parts| {
        let tags: Vec<u32> =
            parts[0].trim().split(", ").map(|part| part.parse().unwrap()).collect();
        meanings(&tags, parts[1]).join("\n")
    });
}

/// Returns the names of the tags of a module that attaches the nodes `tags` of `metadata`.
fn meanings(tags: &[u32], metadata: &str) -> Vec<String> {
    let module = module_of(tags, metadata);
    let names = Names::of_module(&module);
    module.attached_tags().into_iter().map(|tag| names.tag(tag)).collect()
}

#[test]
fn two_structs_of_one_name_give_a_field_a_name_only_where_they_agree() {
    let other = "!80 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"V\", size: 64, elements: !81)\n\
        !81 = !{!82}\n\
        !82 = !DIDerivedType(tag: DW_TAG_member, name: \"b\", scope: !80, baseType: !57, size: 32)\n";
    let both = debug() + other;
    assert_eq!(meanings(&[1, 2], &both), ["V+0 (int)", "V.u.i (int at 8 of V)"]);
    let same = both.replace("name: \"b\", scope: !80", "name: \"a\", scope: !80");
    assert_eq!(meanings(&[1], &same), ["V.a (int at 0 of V)"]);
}

#[test]
fn a_field_may_be_an_enumeration_or_one_of_many_members() {
    let member = "name: \"a\", scope: !40, baseType: !";
    let enumeration = "!80 = !DICompositeType(tag: DW_TAG_enumeration_type, name: \"E\", size: 32, elements: !64)\n";
    let text = debug().replace(&format!("{member}57"), &format!("{member}80")) + enumeration;
    assert_eq!(meanings(&[1], &text), ["V.a (int at 0 of V)"]);
    for (list, names) in [("!62, !63}", "i|f|p|r"), ("!62, !63, !68}", "i|f|p|r|...")] {
        let seen = meanings(&[12], &debug().replace("!62}", list));
        assert_eq!(seen, [format!("V.u.{{{names}}} (omnipotent char at 8 of V)")]);
    }
}

#[test]
fn names_are_read_up_to_4096_bytes() {
    // `longest` and its demangled form (with "typeinfo name for ") have 4,096 bytes each.
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
    let array = "!43 = !DICompositeType(tag: DW_TAG_array_type, baseType: !43, size: 32)\n";
    let typedef = "!43 = !DIDerivedType(tag: DW_TAG_typedef, baseType: !43)\n";
    for base in [array, typedef, "!43 = !{}\n", ""] {
        assert_eq!(meanings(&[1], &format!("{cycle}{base}")), ["V+0 (int)"]);
    }
    let itself = cycle.replace("baseType: !43", "baseType: !40");
    assert_eq!(meanings(&[1], &itself), ["V+0 (int)"]);
    let debug = debug();
    let mut read = 0;
    for at in (debug.find("!40 =").unwrap()..debug.len() - 7).step_by(7) {
        let damaged = format!("{}       {}", &debug[..at], &debug[at + 7..]);
        let text = text_of(&[1, 2, 12, 13, 15], &damaged);
        let Ok(module) = tbaa_ir::read(text.as_bytes()) else { continue };
        let names = Names::of_module(&module);
        assert!(module.attached_tags().into_iter().all(|tag| !names.tag(tag).is_empty()));
        read += 1;
    }
    assert!(read > 100, "{read}");
}

#[test]
fn an_instruction_has_the_line_that_its_location_says() {
    let text = include_str!("../fixtures/text/locations.ll");
    let module = read(text);
    let debug = DebugInfo::new(&module);
    let seen: Vec<_> =
        module.instructions().iter().map(|instruction| debug.location(instruction)).collect();
    let said: Vec<_> =
        seen.iter().flatten().map(|at| (at.file.as_str(), at.line, at.column)).collect();
    assert_eq!(said, [("dir/f.c", 7, 3), ("f.h", 0, 0)]);
    assert_eq!([1, 3].map(|i: usize| seen[i].clone()), [None, None]);
}
