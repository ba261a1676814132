//! Tests the messages about mistakes in specs, and their positions.

use tbaa::spec::Spec;
use tbaa_tests::cases;

/// Marks the position of the error in a text. The mark is removed before the text is read.
const MARK: char = '§';

/// Returns the whole spec of a case; `kind` says which part of it `text` is.
fn spec(kind: &str, text: &str) -> String {
    let types = |types: &str| format!("Spec(name: \"x\",\n types: [{types}])");
    let declare = |types: &str, rest: &str| {
        let declare = format!("target: \"x86-64\", policy: rfc,\n types: [{types}]");
        format!("Spec(name: \"x\", declare: Declare({declare}){rest})")
    };
    match kind {
        "types" => types(text),
        "more-types" => types(&format!("{TYPES} {text}")),
        "tags" => types(&format!("{TYPES}\n], tags: [{text}")),
        "expect" => types(&format!("{TYPES}\n], tags: [{TAGS}],\n\nexpect: [{text}")),
        "declare" => declare(text, ""),
        "class" => declare(text, "").replace("policy", "cplusplus: true, policy"),
        "declared-pair" => declare(PAIR, text),
        _ => text.to_owned(),
    }
}

/// Correct types, which stand before the mistake in some specs.
const TYPES: &str = include_str!("../fixtures/graph/types.ron");

const TAGS: &str = r#"Tag(name: "i", base: "int", access: "int", offset: 0),
        Tag(name: "c", base: "char", access: "char", offset: 0),"#;

const PAIR: &str = r#"Struct(name: "Pair", members: [Field("first", "int")])"#;

/// Returns the message about a marked text, without the position if that is the mark's.
fn said(marked: &str) -> String {
    let at = marked.find(MARK).unwrap_or_else(|| panic!("no mark in {marked}"));
    let line = marked[..at].matches('\n').count() + 1;
    let column = marked[..at].rsplit('\n').next().unwrap().chars().count() + 1;
    let error = Spec::load(&marked.replacen(MARK, "", 1)).expect_err(marked).to_string();
    let place = format!("{line}:{column}: ");
    error.strip_prefix(&place).map_or(error.clone(), str::to_owned)
}

#[test]
fn every_mistake_is_explained_where_it_is_made() {
    cases::check("specs/bad.txt", |title, parts| {
        said(&spec(title.split(' ').next().unwrap(), parts[0].trim_end_matches('\n')))
    });
    let zero = said("Spec(name: \"x\", §\0types: [])");
    assert_eq!(zero, "expected a word, found '\\0'");
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
    let array =
        |lens| format!("Struct(name: \"S\", members: [Struct(array: [{lens}], members: [])])");
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
        spec("declare", &array(many("1,"))),
        "\u{feff}Spec()".to_owned(),
        "\0".to_owned(),
    ];
    for text in texts {
        let error = Spec::load(&text).expect_err("hostile");
        assert!(error.line() >= 1 && error.column() >= 1);
    }
}

#[test]
fn damaged_specs_do_not_panic() {
    let good = include_str!("../fixtures/specs/everything.ron");
    // A good text that is cut off does not load, unless only its last newline is missing.
    let starts = || good.char_indices().map(|(at, _)| at);
    assert_eq!(starts().step_by(7).filter(|&end| Spec::load(&good[..end]).is_ok()).count(), 0);
    assert!(Spec::load(good.trim_end()).is_ok());
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
