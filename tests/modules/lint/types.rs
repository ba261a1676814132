//! What lints say of types, their names, fields and layouts, each lint alone.

use tbaa_check::Level;
use tbaa_check::lint::{Lint, Options, lint};
use tbaa_ir::Keep;

/// What the findings of one lint point at, each followed by what it points at beside that.
#[track_caller]
fn told(lint_of: Lint, source: &str) -> Vec<&str> {
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    let level = |lint: &Lint| (*lint == lint_of).then_some(Level::Warning);
    let options =
        Lint::ALL.iter().fold(Options::default(), |options, lint| options.set(*lint, level(lint)));
    let found = lint(&module, source.as_bytes(), &options);
    let labels = found.iter().flat_map(|it| it.primary.iter().chain(&it.secondary));
    labels.map(|label| &source[label.span.clone()]).collect()
}

/// Types under the root `!9`, each accessed as a whole through a tag that stands inline.
fn accessed(types: &str) -> String {
    let numbers = types.lines().filter_map(|line| Some(line.split_once(" =")?.0));
    let store = |ty| format!("  store i32 1, ptr %p, !tbaa !{{{ty}, {ty}, i64 0}}\n");
    let stores: String = numbers.map(store).collect();
    format!("define void @f(ptr %p) {{\n{stores}  ret void\n}}\n{types}!9 = !{{!\"root\"}}\n")
}

#[test]
fn an_inline_tag_is_no_type() {
    assert!(told(Lint::TypeAsTag, &accessed("!1 = !{!\"int\", !9, i64 0}\n")).is_empty());
}

#[test]
fn names_that_differ_in_case_or_space() {
    for (types, is_told) in [
        ("!1 = !{!\"my type\", !9, i64 0}\n!2 = !{!\"My Type\", !9, i64 0}\n", true),
        // Identifiers, and the names of structs.
        ("!1 = !{!\"mytype\", !9, i64 0}\n!2 = !{!\"MyType\", !9, i64 0}\n", false),
        (
            "!3 = !{!\"t\", !9, i64 0}\n!1 = !{!\"a b\", !3, i64 0, !3, i64 4}\n\
             !2 = !{!\"A b\", !3, i64 0, !3, i64 4}\n",
            false,
        ),
    ] {
        let expected: Vec<_> = types.lines().rev().take(if is_told { 2 } else { 0 }).collect();
        assert_eq!(told(Lint::NameTypo, &accessed(types)), expected, "{types}");
    }
}

/// One slip in a name that front ends share, and two.
#[test]
fn names_that_are_misspelled() {
    for (name, is_slip) in [("any opinter", true), ("any oxinter", false), ("any xpinter", false)] {
        let source = accessed(&format!("!1 = !{{!\"{name}\", !9, i64 0}}\n"));
        assert_eq!(told(Lint::NameTypo, &source).len(), usize::from(is_slip), "{name}");
    }
}

/// Which lint tells of the last of some types that it is there twice.
#[test]
fn types_of_one_name() {
    use Lint::{ConflictingTypes, DuplicateTypes, TwoSpellings};
    let int = "!1 = !{!\"int\", !9, i64 0}\n!2 = !{!\"char\", !9, i64 0}\n";
    let structs = |name| {
        format!(
            "{int}!3 = !{{!\"{name}\", !1, i64 0, !1, i64 4}}\n!4 = !{{!\"{name}\", !1, i64 0, !1, i64 8}}\n"
        )
    };
    let scalars = format!("{int}!3 = !{{!\"i8\", !1, i64 0}}\n!4 = !{{!\"i8\", !2, i64 0}}\n");
    let field = "!1, i64 0, i64 4";
    let sized = format!(
        "!1 = !{{!9, i64 4, !\"int\"}}\n!3 = !{{!9, i64 8, !\"S\", {field}}}\n\
         !4 = !{{!9, i64 16, !\"S\", {field}}}\n"
    );
    for (types, expected) in [
        (structs("S"), Some(ConflictingTypes)),
        (sized, Some(ConflictingTypes)),
        (structs(""), None),
        (structs("_ZTSN12_GLOBAL__N_11SE"), None),
        // A scalar is known by what is above it.
        (scalars, None),
    ] {
        for lint in [ConflictingTypes, DuplicateTypes, TwoSpellings] {
            let count = if expected == Some(lint) { 2 } else { 0 };
            let both: Vec<_> = types.lines().rev().take(count).collect();
            assert_eq!(told(lint, &accessed(&types)), both, "{lint:?}");
        }
    }
}

/// Fields of `S`, of types that a C front end has, and no code.
#[test]
fn declared_fields_that_overlap() {
    let rest = "!tbaa.tags = !{!0}\n!2 = !{!\"int\", !9, i64 0}\n!3 = !{!\"short\", !9, i64 0}\n\
                !9 = !{!\"Simple C/C++ TBAA\"}\n";
    let of = |fields| format!("!0 = !{{!1, !2, i64 0}}\n!1 = !{{!\"S\", {fields}}}\n{rest}");
    let overlapping = of("!2, i64 0, !2, i64 4, !3, i64 6");
    assert_eq!(told(Lint::OverlappingFields, &overlapping), ["i64 6", "i64 4"]);
    // A union's members.
    assert!(told(Lint::OverlappingFields, &of("!2, i64 0, !3, i64 0")).is_empty());
    // With sizes a field may be a part of its type.
    let sized = "!tbaa.tags = !{!0}\n!0 = !{!1, !2, i64 0, i64 2}\n\
                 !1 = !{!9, i64 8, !\"S\", !2, i64 0, i64 2, !3, i64 2, i64 2}\n\
                 !2 = !{!9, i64 4, !\"int\"}\n!3 = !{!9, i64 2, !\"short\"}\n!9 = !{!\"root\"}\n";
    assert!(told(Lint::OverlappingFields, sized).is_empty());
}

/// A store of 8 bytes to an `int` before a `float`, by the bytes of its tag and of
/// the `int`; 0 and -1 are unknown.
#[test]
fn widths_of_sized_tags() {
    let of = |size: &str, int: u64| {
        format!(
            "define void @f(ptr %p, ptr %q) {{\n  store i64 1, ptr %p, !tbaa !0\n  \
             store float 1.0, ptr %q, !tbaa !4\n  ret void\n}}\n\
             !0 = !{{!1, !2, i64 0, i64 {size}}}\n!4 = !{{!1, !3, i64 4, i64 4}}\n\
             !1 = !{{!9, i64 8, !\"S\", !2, i64 0, i64 4, !3, i64 4, i64 4}}\n\
             !2 = !{{!9, i64 {int}, !\"int\"}}\n!3 = !{{!9, i64 4, !\"float\"}}\n!9 = !{{!\"root\"}}\n"
        )
    };
    for (size, int, wide) in [("4", 4, true), ("-1", 4, true), ("0", 4, true), ("0", 0, false)] {
        let source = of(size, int);
        let found = told(Lint::WidthMismatch, &source);
        assert_eq!(
            found.first().copied(),
            wide.then_some("store i64 1, ptr %p, !tbaa !0"),
            "{size} {int}"
        );
        // That it runs into the `float` is not told beside it.
        assert!(told(Lint::OverlappingFields, &source).is_empty());
    }
}

/// A pointer to another address space, stored to a field of 4 bytes.
#[test]
fn widths_of_pointers() {
    let layout = |it: &str| format!("target datalayout = \"{it}\"\n");
    for (layout, is_told) in [
        (layout("e-p1:64:64"), true),
        (layout("e-p:64:64-p1:32:32"), false),
        (String::new(), false),
    ] {
        let source = format!(
            "{layout}define void @f(ptr %p, ptr addrspace(1) %q) {{\n  \
             store ptr addrspace(1) %q, ptr %p, !tbaa !0\n  ret void\n}}\n\
             !0 = !{{!1, !2, i64 0, i64 4}}\n!1 = !{{!9, i64 8, !\"S\", !2, i64 0, i64 4}}\n\
             !2 = !{{!9, i64 4, !\"int\"}}\n!9 = !{{!\"root\"}}\n"
        );
        assert_eq!(!told(Lint::WidthMismatch, &source).is_empty(), is_told, "{source}");
    }
}

/// The second field of `S`, of the type `int`, at an offset, and the named struct types.
#[test]
fn offsets_in_layouts() {
    let float = "%struct.S = type { float }\n";
    for (types, offset, is_told) in [
        (float, 2, true),
        // Padding behind a number, and where a field begins.
        ("%struct.S = type { float, i64 }\n", 4, false),
        ("%struct.S = type { [2 x { float, double }], <4 x float> }\n", 32, false),
        ("%struct.S = type { [2 x { float, double }], <4 x float> }\n", 20, true),
        // What has no bytes.
        ("%struct.S = type { i64, i32, [4 x {}] }\n", 12, false),
        // Two types of one name, as after linking; another name.
        (&format!("{float}%struct.S.1 = type {{ double }}\n"), 2, false),
        (&format!("{float}%\"struct.S.\" = type {{ double }}\n"), 2, true),
        (&format!("{float}%\"a\\22\\5Cb\" = type {{ i32 }}\n"), 2, true),
    ] {
        let layout = "target datalayout = \"e-p:32:32-i64:64-f64:32\"\n";
        let meta = format!(
            "!1 = !{{!\"S\", !2, i64 0, !2, i64 {offset}}}\n!2 = !{{!\"int\", !9, i64 0}}\n"
        );
        let source = format!("{layout}{types}{}", accessed(&meta));
        let found = told(Lint::LayoutMismatch, &source);
        let offset = format!("i64 {offset}");
        assert_eq!(found.first().copied(), is_told.then_some(&offset[..]), "{types}{offset}");
    }
}
