//! Every way to get a spec wrong: what is said, and where it points.

use tbaa::spec::Spec;

/// Stands in front of the culprit in the texts below, and is taken out.
const MARK: char = '§';

/// Loads a marked text, and returns what is wrong with the error, if anything.
fn misreported(marked: &str, message: &str) -> Option<String> {
    let at = marked.find(MARK).unwrap_or_else(|| panic!("no mark in {marked}"));
    let line = marked[..at].matches('\n').count() + 1;
    let column = marked[..at].rsplit('\n').next().unwrap().chars().count() + 1;
    let text = marked.replacen(MARK, "", 1);
    let expected = format!("{line}:{column}: {message}");
    match Spec::load(&text) {
        Ok(_) => Some(format!("accepted: {marked}")),
        Err(error) if error.to_string() == expected => None,
        Err(error) => Some(format!("of     {marked}\nwanted {expected}\ngot    {error}")),
    }
}

#[track_caller]
fn all_reported<'a>(cases: impl IntoIterator<Item = (String, &'a str)>) {
    let wrong: Vec<String> =
        cases.into_iter().filter_map(|(text, message)| misreported(&text, message)).collect();
    assert!(wrong.is_empty(), "{} misreported\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn the_form_is_checked() {
    let cases = [
        ("§", "expected `Spec(...)`, found the end of the text"),
        ("// nothing\n§", "expected `Spec(...)`, found the end of the text"),
        ("§{\"name\": \"x\"}", "expected `Spec(...)`, found '{'"),
        ("§Sepc(name: \"x\", types: [])", "expected `Spec(...)`, found `Sepc`"),
        ("\n §(types: [])", "Spec lacks the field `name`"),
        ("Spec(name: \"x\", types: []) §Spec()", "expected nothing after the spec, found 'S'"),
        (
            "Spec(name: \"x\",\n  §naem: \"y\", types: [])",
            "no field `naem` in Spec: did you mean \"name\"?",
        ),
        (
            "Spec(name: \"x\", §wat: 1, types: [])",
            "no field `wat` in Spec: it has name, about, source, rules, confirmed, declare, types, tags, copies, expect",
        ),
        ("Spec(name: \"x\", types: [], §name: \"y\")", "a second field `name` in Spec: keep one"),
        (
            "Spec(name: \"x\", rules: §unoin, types: [])",
            "unknown word `unoin`: did you mean \"union\"?",
        ),
        (
            "Spec(name: \"x\", rules: §gcc, types: [])",
            "unknown word `gcc`: write one of llvm, union, union_strict",
        ),
        ("Spec(name: §x, types: [])", "expected a string in quotes, found 'x'"),
        ("Spec(name: §\"x, types: [])", "a string that does not end: expected `\"`"),
        ("Spec(name: \"aé§\\q\", types: [])", "unknown escape character"),
        ("Spec(name: \"§\\xFF\", types: [])", "not a valid byte-escaped Unicode character"),
        ("Spec(name: \"§\\u{d800}\", types: [])", "not a valid Unicode-escaped character"),
        ("Spec(name: \"x\", §\0types: [])", "expected a word, found '\\0'"),
        ("Spec(name: \"x\" §types: [])", "expected `,` or a closing bracket, found 't'"),
        ("Spec(name §\"x\", types: [])", "expected `:`, found '\"'"),
        ("Spec(name: \"x\", types: §{})", "expected `[`, found '{'"),
        (
            "Spec(name: \"x\", types: []§",
            "expected `,` or a closing bracket, found the end of the text",
        ),
        ("Spec(name: \"x\", types: [], /* §", "a comment that does not end: expected `*/`"),
        ("#![enable(§magic)]\nSpec(name: \"x\", types: [])", "no RON extension named `magic`"),
    ];
    all_reported(cases.map(|(text, message)| (text.to_owned(), message)));
}

#[test]
fn the_form_of_types_is_checked() {
    let cases = [
        ("§Rot(name: \"R\")", "unknown word `Rot`: did you mean \"Root\"?"),
        (
            "§Class(name: \"R\")",
            "unknown word `Class`: write one of Root, AnonymousRoot, EmptyRoot, Scalar, Struct, Type",
        ),
        ("Root(name: \"R\", §kye: \"r\")", "no field `kye` in Root: did you mean \"key\"?"),
        ("Root(name: \"R\"), §Scalar(name: \"int\")", "Scalar lacks the field `parent`"),
        ("§AnonymousRoot()", "AnonymousRoot lacks the field `key`"),
        ("AnonymousRoot(§name: \"R\")", "no field `name` in AnonymousRoot: it has key"),
        ("Root§", "expected `(`, found ']'"),
        ("§\"int\"", "expected a word, found '\"'"),
        (
            "Scalar(name: \"int\", parent: \"R\", §size: 4)",
            "no field `size` in Scalar: it has name, key, parent",
        ),
        (
            "Struct(name: \"S\", fields: [§(\"x\", \"int\")])",
            "too few values: a field of a Struct is (name, type, offset), of a Type (name, type, offset, size), an entry of a Copy (offset, size, tag); under declare a Field is (name, type), Bits are (name, type, width)",
        ),
        (
            "Struct(name: \"S\", fields: [(\"x\", \"int\", 0, §4)])",
            "expected `)`, found '4': a field of a Struct is (name, type, offset), of a Type (name, type, offset, size), an entry of a Copy (offset, size, tag); under declare a Field is (name, type), Bits are (name, type, width)",
        ),
        (
            "Type(name: \"S\", parent: \"R\", size: 4, fields: [§(\"x\", \"int\", 0)])",
            "too few values: a field of a Struct is (name, type, offset), of a Type (name, type, offset, size), an entry of a Copy (offset, size, tag); under declare a Field is (name, type), Bits are (name, type, width)",
        ),
        ("Struct(name: \"S\", fields: [(\"x\", §4, 0)])", "expected a string in quotes, found '4'"),
        (
            "Struct(name: \"S\", fields: [(\"x\", \"int\", §\"0\")])",
            "expected a number of bytes, found '\"'",
        ),
        (
            "Struct(name: \"S\", fields: [(\"x\", \"int\", -§1)])",
            "a number out of range: bytes are counted from 0 to 18446744073709551615",
        ),
        (
            "Struct(name: \"S\", fields: [(\"x\", \"int\", §18446744073709551616)])",
            "a number out of range: bytes are counted from 0 to 18446744073709551615",
        ),
    ];
    all_reported(
        cases.map(|(types, message)| (format!("Spec(name: \"x\",\n types: [{types}])"), message)),
    );
}

/// Enough types to get the rest wrong.
const TYPES: &str = r#"
    Root(name: "R"),
    Scalar(name: "char", parent: "R"),
    Scalar(name: "int", parent: "char"),
    Struct(name: "Pair", fields: [("a", "int", 0), ("b", "int", 4)]),
    Root(name: "New"),
    Type(name: "byte", parent: "New", size: 1),
    Type(name: "word", parent: "byte", size: 4),"#;

#[test]
fn the_content_of_types_is_checked() {
    let cases = [
        (
            "Scalar(name: §\"int\", parent: \"char\")",
            "a second type \"int\": tell them apart with `key: \"...\"` (the other is on line 4)",
        ),
        (
            "Scalar(name: \"x\", key: §\"int\", parent: \"char\")",
            "a second type \"int\": tell them apart with `key: \"...\"` (the other is on line 4)",
        ),
        (
            "EmptyRoot(key: §\"R\")",
            "a second type \"R\": give another key (the other is on line 2)",
        ),
        ("Scalar(name: \"x\", parent: §\"chr\")", "no type \"chr\": did you mean \"char\"?"),
        ("Scalar(name: \"x\", parent: §\"zzz\")", "no type \"zzz\": declare it under `types`"),
        (
            "Struct(name: \"x\", fields: [(\"a\", \"int\", 0), (\"b\", §\"itn\", 4)])",
            "no type \"itn\": did you mean \"int\"?",
        ),
        (
            "Struct(name: \"x\", fields: [(\"a\", \"int\", 0), (\"b\", §\"x\", 4)])",
            "type \"x\" contains itself: no type can",
        ),
        (
            "Struct(name: \"x\", fields: [(\"a\", §\"y\", 0)]),\nStruct(name: \"y\", fields: [(\"a\", \"x\", 0)])",
            "type \"y\" is declared later: declare before use, a type cannot contain itself (the other is on line 9)",
        ),
        (
            "Struct(name: \"x\", fields: [(\"a\", \"int\", 0), (\"\", \"int\", 4), (\"\", \"int\", 8), (§\"a\", \"int\", 12)])",
            "a second field \"a\" in \"x\": rename one",
        ),
        (
            "Struct(name: §\"x\", fields: [])",
            "struct \"x\" has no fields: its old-format node would read as a root; leave it out, or make it a scalar",
        ),
        (
            "Struct(name: \"x\", fields: [(\"a\", \"int\", 4), (\"b\", \"int\", §0)])",
            "field 1 of \"x\" at offset 0 follows one at 4: offsets must not descend, sort the fields",
        ),
        (
            "Struct(name: \"x\", fields: [(\"a\", §\"R\", 4)])",
            "field 0 of \"x\" is of root type: give a scalar or a struct",
        ),
        (
            "Scalar(name: \"x\", parent: §\"Pair\")",
            "parent \"Pair\" is a struct: a scalar's parent is a scalar or a root",
        ),
        (
            "Scalar(name: \"x\", parent: §\"byte\")",
            "parent: an old-format node under a root that has size-aware nodes; keep to one format per root",
        ),
        (
            "Type(name: \"x\", parent: §\"char\", size: 4)",
            "parent: a size-aware node under a root that has old-format nodes; keep to one format per root",
        ),
        (
            "Struct(name: \"x\", fields: [(\"a\", \"int\", 0), (\"b\", §\"word\", 4)])",
            "field 1 of \"x\": an old-format node under a root that has size-aware nodes; keep to one format per root",
        ),
        (
            "Root(name: \"Q\"), Scalar(name: \"q\", parent: \"Q\"),\nStruct(name: \"x\", fields: [(\"a\", \"int\", 0), (\"b\", §\"q\", 4)])",
            "field 1 of \"x\": of another root than what stands before it",
        ),
    ];
    all_reported(
        cases.map(|(types, message)| {
            (format!("Spec(name: \"x\", types: [{TYPES} {types}])"), message)
        }),
    );
}

#[test]
fn declared_types_are_checked() {
    let declare = |types: &str, rest: &str| {
        format!(
            "Spec(name: \"x\", declare: Declare(target: \"x86-64\", policy: rfc,\n types: [{types}]){rest})"
        )
    };
    let types = [
        (
            "§Record(name: \"S\")",
            "unknown word `Record`: write one of Scalar, Enum, Alias, Struct, Union",
        ),
        ("§Struct(name: \"S\")", "Struct lacks the field `members`"),
        (
            "Struct(name: \"S\", members: [§Field(\"x\")])",
            "too few values: a field of a Struct is (name, type, offset), of a Type (name, type, offset, size), an entry of a Copy (offset, size, tag); under declare a Field is (name, type), Bits are (name, type, width)",
        ),
        (
            "§Struct(name: \"S\", members: [Field(\"x\", \"itn\")])",
            "no type \"itn\": did you mean \"int\"?",
        ),
        (
            "Alias(name: \"t\", ty: \"int\"), §Alias(name: \"t\", ty: \"char\")",
            "a second type \"t\": rename one",
        ),
        (
            "§Scalar(name: \"t\", size: 3)",
            "t: an alignment must be a power of two, of 2^28 bytes at most",
        ),
        (
            "§Struct(name: \"S\", size: 8, members: [Member(name: \"x\", ty: \"int\", at: 6)])",
            "S.x: offset 6 is no multiple of the alignment of its type, 4: declare the record packed if it is so",
        ),
    ];
    let pair = "Struct(name: \"Pair\", members: [Field(\"first\", \"int\")])";
    let rest = [
        (
            ", tags: [], expect: [(a: §\"Pair.frist\", b: \"Pair\", union: MayAlias, why: \"x\")]",
            "no field \"frist\" in \"Pair\": did you mean \"first\"?",
        ),
        (
            ", expect: [(a: §\"Piar.first\", b: \"Pair\", union: MayAlias, why: \"x\")]",
            "no type \"Piar\": did you mean \"Pair\"?",
        ),
        (
            ", types: [Root(name: \"R\")], tags: [Tag(name: \"x\", base: §\"Pair\", access: \"R\", offset: 0)]",
            "no type \"Pair\": declare it under `types`",
        ),
    ];
    let mut cases: Vec<_> = types.map(|(types, says)| (declare(types, ""), says)).into();
    cases.extend(rest.map(|(rest, says)| (declare(pair, rest), says)));
    cases.push((
        "Spec(name: \"x\", declare: Declare(target: §\"x86_46\", policy: rfc, types: []))"
            .to_owned(),
        "no target \"x86_46\": did you mean \"x86-64\"?",
    ));
    cases.push((
        "Spec(name: \"x\", declare: Declare(target: \"i686\", policy: rfc, types: [], tags: [§\"__int128\"]))".to_owned(),
        "no type \"__int128\": declare it, or write `struct` before it behind a pointer",
    ));
    all_reported(cases);
}

#[test]
fn tags_and_copies_are_checked() {
    let cases = [
        (
            "Tag(name: \"t\", base: \"Pair\", access: \"int\", §ofset: 0)",
            "no field `ofset` in Tag: did you mean \"offset\"?",
        ),
        ("§Tag(name: \"t\", base: \"Pair\", access: \"int\")", "Tag lacks the field `offset`"),
        ("§Tga(name: \"t\")", "expected `Tag(...)`, found `Tga`"),
        (
            "Tag(name: \"t\", base: \"int\", access: \"int\", offset: 0, immutable: §1)",
            "expected `true` or `false`, found '1'",
        ),
        (
            "Tag(name: \"t\", base: \"int\", access: \"int\", offset: 0),\nTag(name: §\"t\", base: \"char\", access: \"char\", offset: 0)",
            "a second tag \"t\": rename one (the other is on line 9)",
        ),
        (
            "Tag(name: \"t\", base: §\"Piar\", access: \"int\", offset: 0)",
            "no type \"Piar\": did you mean \"Pair\"?",
        ),
        (
            "Tag(name: \"t\", base: \"Pair\", access: §\"\", offset: 0)",
            "no type \"\": declare it under `types`",
        ),
        (
            "Tag(name: §\"t\", base: \"Pair\", access: \"int\", offset: 8)",
            "no path from \"Pair\" ends at \"int\" at offset 8: give the offset of a field of that type",
        ),
        (
            "Tag(name: \"t\", base: \"int\", access: \"int\", offset: §4)",
            "offset 4 into scalar \"int\": a scalar has offset 0 only",
        ),
        (
            "Tag(name: \"t\", base: \"Pair\", access: §\"Pair\", offset: 0)",
            "access type \"Pair\" is a struct: an old-format tag must end at a scalar; tag each field, or use the size-aware format",
        ),
        (
            "Tag(name: \"t\", base: §\"R\", access: \"int\", offset: 0)",
            "base: a root is no type of any memory; give a type under it",
        ),
        (
            "Tag(name: \"t\", base: \"int\", access: §\"R\", offset: 0)",
            "access: a root is no type of any memory; give a type under it",
        ),
        (
            "Tag(name: \"t\", base: \"int\", access: §\"word\", offset: 0)",
            "access: an old-format node under a root that has size-aware nodes; keep to one format per root",
        ),
        (
            "Tag(name: \"t\", base: \"int\", access: \"int\", offset: 0, size: §4)",
            "a size in an old-format tag: only tags of size-aware types (`Type`) have one, leave it out",
        ),
        ("], copies: [Copy(entries: [(0, 4, §\"t\")])", "no tag \"t\": declare it under `tags`"),
        (
            "Tag(name: \"t\", base: \"int\", access: \"int\", offset: 0)], copies: [Copy(entries: [(0, 4, \"t\"), §(2, 4, \"t\")])",
            "entry 1 of the struct copy starts before the one in front ends, or has no end",
        ),
    ];
    all_reported(cases.map(|(tags, message)| {
        (format!("Spec(name: \"x\", types: [{TYPES}\n], tags: [{tags}])"), message)
    }));
}

#[test]
fn expectations_are_checked() {
    let cases = [
        (
            "(a: \"i\", b: §\"j\", llvm: MayAlias, why: \"x\")",
            "no tag \"j\": declare it under `tags`",
        ),
        (
            "(a: §\"int\", b: \"i\", llvm: MayAlias, why: \"x\")",
            "no tag \"int\": declare it under `tags`",
        ),
        ("§(a: \"i\", b: \"i\", llvm: MayAlias)", "an expectation lacks the field `why`"),
        ("(a: \"i\", b: \"i\", llvm: MayAlias, why: §\" \")", "an empty reason: say what decides"),
        (
            "§(a: \"i\", b: \"i\", why: \"x\")",
            "an expectation without an answer: give llvm, union or union_strict",
        ),
        (
            "(a: \"i\", b: \"i\", llvm: §Maybe, why: \"x\")",
            "unknown word `Maybe`: write one of MayAlias, NoAlias",
        ),
        (
            "(a: \"i\", b: \"i\", llvm: §noalias, why: \"x\")",
            "unknown word `noalias`: did you mean \"NoAlias\"?",
        ),
        (
            "(a: \"i\", b: \"i\", §lvm: NoAlias, why: \"x\")",
            "no field `lvm` in an expectation: did you mean \"llvm\"?",
        ),
        (
            "(a: \"i\", b: \"c\", llvm: NoAlias, why: \"x\"),\n(a: \"c\", b: \"c\", llvm: NoAlias, why: \"x\"),\n(a: §\"c\", b: \"i\", union: NoAlias, why: \"x\")",
            "a second expectation for \"c\" and \"i\": keep one, the order does not matter (the other is on line 12)",
        ),
    ];
    let tags = "Tag(name: \"i\", base: \"int\", access: \"int\", offset: 0),
        Tag(name: \"c\", base: \"char\", access: \"char\", offset: 0),";
    all_reported(cases.map(|(expect, message)| {
        let text =
            format!("Spec(name: \"x\", types: [{TYPES}\n], tags: [{tags}],\n\nexpect: [{expect}])");
        (text, message)
    }));
}

#[test]
fn columns_are_in_characters_and_lines_may_end_as_on_windows() {
    let text = "Spec(name: \"日本語\",\r\n  about: \"日本語\", types: [Rot()])";
    let error = Spec::load(text).unwrap_err();
    assert_eq!((error.line(), error.column()), (2, 25));
}

#[test]
fn a_spec_built_from_data_names_the_place() {
    let text = "Spec(name: \"x\", types: [Root(name: \"R\"), Scalar(name: \"i\", parent: \"Q\")])";
    let error = Spec::parse(text).unwrap().build().unwrap_err();
    assert_eq!(error.place().unwrap().to_string(), "types[1].parent");
    assert_eq!(error.to_string(), "types[1].parent: no type \"Q\": declare it under `types`");
}

#[test]
fn hostile_texts_are_errors() {
    let many = |text: &str| text.repeat(100_000);
    let texts = [
        many("("),
        many("["),
        many("/*"),
        many("Spec("),
        many("\""),
        many("r#"),
        format!("r{}\"", many("#")),
        format!("Spec(name: {}", many("[")),
        format!("Spec(name: \"x\", about: {}", many("Some(")),
        format!("Spec(name: \"x\", types: [{}", many("Root(name: \"x\"),")),
        format!("Spec(name: \"x\", types: [{}", many("Struct(name: \"x\", fields: [")),
        format!("Spec(name: \"x\", types: [{}])", many("Root(name: \"x\"),")),
        format!("Spec(name: \"{}\", wat: 1)", many("é")),
        "\u{feff}Spec()".to_owned(),
        "\0".to_owned(),
    ];
    for text in texts {
        let error = Spec::load(&text).expect_err("hostile");
        assert!(error.line() >= 1 && error.column() >= 1);
    }
}

/// Cuts and single changes of a good text: whatever they do, no panic.
#[test]
fn damaged_specs_do_not_panic() {
    let good = include_str!("../fixtures/specs/everything.ron");
    // All that a good text may lose is the newline at its end.
    let starts = || good.char_indices().map(|(at, _)| at);
    assert_eq!(starts().step_by(7).filter(|&end| Spec::load(&good[..end]).is_ok()).count(), 0);
    assert!(Spec::load(good.trim_end()).is_ok());
    // Every seventh place is enough to damage each kind of token.
    for at in starts().step_by(7) {
        for replacement in ["", "(", "\"", "0", "/*", "\\"] {
            let length = good[at..].chars().next().map_or(0, char::len_utf8);
            let damaged = [&good[..at], replacement, &good[at + length..]].concat();
            if let Err(error) = Spec::load(&damaged) {
                assert!(error.line() <= damaged.lines().count() + 1, "{error}");
            }
        }
    }
}
