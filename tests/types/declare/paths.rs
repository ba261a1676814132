//! Paths: what they mean, and what is said of mistakes.

use tbaa::declare::{Declarations, Member, Policy, Record, TaggedTypes, Target};
use tbaa::{Graph, TagId};

fn runtime(policy: Policy) -> TaggedTypes {
    let mut types = Declarations::new(Target::x86_64());
    types
        .define(Record::structure("Header").field("next", "Header *").field("mark", "char"))
        .unwrap();
    let value = Record::union("").field("gc", "Header *").field("n", "double").field("i", "long");
    types
        .define(Record::structure("TValue").field("value", value).field("tt", "unsigned short"))
        .unwrap();
    let flags = Record::structure("").bits("a", "int", 3).bits("b", "int", 9).field("c", "int");
    let table = Record::structure("Table")
        .base("Header")
        .member(Member::new("size", "int").immutable())
        .field("array", "TValue *")
        .field("inline", "TValue [3][4]")
        .anonymous(flags)
        .field("v", "<4 x float>")
        .field("z", "double _Complex")
        .field("rest", "TValue []");
    types.define(table).unwrap();
    types.define(Record::structure("Other").field("mark", "int").may_alias()).unwrap();
    types.lower(policy)
}

/// Base, access, offset and size of a tag.
fn show(graph: &Graph, tag: TagId) -> String {
    let tag = graph.tag(tag).unwrap();
    let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap()).into_owned();
    let size = tag.size.map_or(String::new(), |size| format!(" {size}"));
    let constant = if tag.immutable { " const" } else { "" };
    format!("{} {} {}{size}{constant}", name(tag.base), name(tag.access), tag.offset)
}

#[track_caller]
fn tags(policy: Policy, cases: &[(&str, &str)]) {
    let mut types = runtime(policy);
    let mut graph = Graph::new();
    for &(path, expected) in cases {
        let tag = types.tag(&mut graph, path);
        let found = tag.map_or_else(|error| error.to_string(), |tag| show(&graph, tag));
        assert_eq!(found, expected, "{path}");
    }
}

/// Before a byte inside a letter nothing is cut.
#[test]
fn names_of_any_letters() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("é::λ").field("ж", "int").field("ü", "int")).unwrap();
    assert_eq!(types.offset_of("é::λ.ü").unwrap(), 4);
    let error = types.ty("Ƙ ").unwrap_err().to_string();
    assert!(error.contains("Ƙ"), "{error}");
}

#[test]
fn paths_under_clang() {
    tags(
        Policy::Clang,
        &[
            ("TValue.tt", "TValue short 8"),
            ("TValue.value.n", "omnipotent char omnipotent char 0"),
            // Table has a flexible array, so its members' tags start at none.
            ("Table.array", "p1 _ZTS6TValue p1 _ZTS6TValue 0"),
            ("Table.array[*].tt", "TValue short 8"),
            ("Table.array[3]  .tt", "TValue short 8"),
            ("Table.array->tt", "TValue short 8"),
            (
                "*Table.array->value.gc",
                "no tag for \"*Table.array->value.gc\": the old format has \
              no tag of a whole struct; use a size-aware policy, or the copy's tbaa.struct",
            ),
            ("Table.next->next->mark", "Header omnipotent char 8"),
            ("Table.Header::mark", "Header omnipotent char 8"),
            ("Table.mark", "Header omnipotent char 8"),
            ("Table.size", "int int 0 const"),
            ("immutable TValue.tt", "TValue short 8 const"),
            ("volatile  immutable TValue.tt", "TValue short 8 const"),
            ("*int", "int int 0"),
            ("unsigned", "int int 0"),
            ("*TValue *", "p1 _ZTS6TValue p1 _ZTS6TValue 0"),
            ("*void **", "any p2 pointer any p2 pointer 0"),
            ("Table.rest[7].tt", "TValue short 8"),
            ("Table.v[2]", "omnipotent char omnipotent char 0"),
            ("Table.z[1]", "double double 0"),
            ("Other.mark", "omnipotent char omnipotent char 0"),
        ],
    );
}

#[test]
fn paths_under_rfc() {
    tags(
        Policy::Rfc,
        &[
            ("TValue.tt", "TValue short 8 2"),
            ("TValue.value.n", "TValue double 0 8"),
            ("TValue.value", "TValue TValue.value 0 8"),
            ("TValue", "TValue TValue 0 16"),
            ("Table.array[*].value.i", "TValue long 0 8"),
            ("Table.inline[2][i].tt", "Table short 40 2"),
            ("Table.inline[2]", "Table TValue 32 64"),
            ("Table.inline", "Table TValue 32 192"),
            ("Table.rest[*].value.n", "Table double 272 8"),
            ("Table.mark", "Table omnipotent char 8 1"),
            ("Table.a", "Table omnipotent char 224 2"),
            ("Table.b", "Table omnipotent char 224 2"),
            ("Table.v", "Table <4 x float> 240 16"),
            ("Table.v[1]", "Table float 240 4"),
            ("Table.z[*]", "Table double 256 8"),
            ("Other.mark", "omnipotent char omnipotent char 0 4"),
        ],
    );
}

#[test]
fn places_say_where_and_how() {
    let mut types = runtime(Policy::ClangNew);
    let mut graph = Graph::new();
    let mut place = |path: &str| types.place(&mut graph, path).unwrap();
    let tt = place("volatile Table.inline[2][3].tt");
    assert_eq!((tt.offset, tt.size, tt.align), (32 + 11 * 16 + 8, 2, 8));
    assert!(tt.volatile && !tt.immutable && tt.tag.is_some());
    let any = place("Table.inline[*][3].tt");
    assert_eq!((any.offset, any.align), (32 + 3 * 16 + 8, 8));
    assert_eq!(any.tag, tt.tag);
    assert_eq!(place("Table.b").bits, Some((224 * 8 + 3, 9)));
    assert_eq!(place("Table.array[5].tt").offset, 88);
    assert_eq!(place("Table.rest").size, 0);
}

#[test]
fn mistakes_are_explained() {
    let cases = [
        ("Table.aray", r#"no field "aray" in "Table": did you mean "array"?"#),
        ("Tabel.array", r#"no type "Tabel": did you mean "Table"?"#),
        (
            "Table.array.tt",
            r#""Table.array" is of type "TValue *": write `->` after a pointer, or `[*]`"#,
        ),
        ("Table.size->x", r#""Table.size" is of type "int": only a pointer can be followed"#),
        ("Table.size.x", r#""Table.size" is of type "int": only a struct or union has members"#),
        (
            "Table.size[0]",
            r#""Table.size" is of type "int": only arrays and pointers have elements"#,
        ),
        ("Table.inline[3]", r#"index 3 into "Table.inline", which has 3 elements"#),
        ("Table.inline[", r#"expected `]` at byte 13 of "Table.inline[""#),
        (
            "Table.inline[-1]",
            r#"expected an index: a number, a name or `*` at byte 13 of "Table.inline[-1]""#,
        ),
        (
            "Table.inline[99999999999999999999]",
            r#"expected a 64-bit index at byte 13 of "Table.inline[99999999999999999999]""#,
        ),
        ("Table.", r#"expected a member's name at byte 6 of "Table.""#),
        ("Table.size x", r#"expected `.`, `->` or `[` at byte 11 of "Table.size x""#),
        ("", r#"expected a type at byte 0 of """#),
        ("*", r#"expected a type at byte 1 of "*""#),
        ("Table.Haeder::mark", r#"no field "Haeder::" in "Table": did you mean "Header::"?"#),
        ("*void", r#"no tag for "*void": it has no value; give the path of what has one"#),
        (
            "Table.a",
            r#"no tag for "Table.a": clang gives bit-fields none: leave the access without one, or use policy rfc"#,
        ),
        (
            "Table.z",
            r#"no tag for "Table.z": clang tags the parts of a complex number, not the whole; index it with [0] or [1]"#,
        ),
    ];
    tags(Policy::Clang, &cases);
    // Nothing was added to the declarations by asking.
    let mut types = runtime(Policy::Clang);
    let before = types.types().types().len();
    for (path, _) in cases {
        types.tag(&mut Graph::new(), path).unwrap_err();
    }
    assert_eq!(types.types().types().len(), before);
}

/// One lowering speaks to one graph: its ids mean nothing in another.
#[test]
fn a_second_graph_is_noticed() {
    let mut types = runtime(Policy::Clang);
    let mut graph = Graph::new();
    types.tag(&mut graph, "TValue.tt").unwrap();
    let error = types.tag(&mut Graph::new(), "TValue.tt").unwrap_err();
    assert!(error.to_string().contains("issued by another graph"), "{error}");
}

/// Types are displayed as they are written.
#[test]
fn types_read_back() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("S").field("x", "int")).unwrap();
    for (text, shown) in [
        ("unsigned long int", "long"),
        ("S *const *", "S **"),
        ("struct S[3][4]", "S [3][4]"),
        ("int *[3]", "int *[3]"),
        ("int (*)[3]", "int (*)[3]"),
        ("int (**)[3][4]", "int (**)[3][4]"),
        ("int (*)(void *, int (*)(int))", "void (*)()"),
        ("int (*[2])(void)", "void (*[2])()"),
        ("double _Complex *", "double _Complex *"),
        ("<4 x float>[2]", "<4 x float> [2]"),
        ("_Atomic int *", "int _Atomic*"),
        ("int *_Atomic *", "int *_Atomic*"),
        ("signed char []", "char []"),
        ("void **", "void **"),
    ] {
        let ty = types.ty(text).unwrap();
        assert_eq!(types.display(ty), shown, "{text}");
        assert_eq!(types.ty(shown), Ok(ty), "{text}");
    }
}
