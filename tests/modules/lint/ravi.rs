//! Finds real defects of the compiler Ravi, in the code that its back end emits and in its spec.

use std::path::Path;

use tbaa::AliasRule;
use tbaa::spec::Spec;
use tbaa_check::Diagnostic;
use tbaa_check::lint::{Options, lint, lint_graph};
use tbaa_check::verify::verify;
use tbaa_ir::Keep;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(tbaa_tests::ROOT).join(name)).unwrap()
}

fn places(text: &[u8], found: &[Diagnostic]) -> Vec<(String, usize)> {
    let line = |diagnostic: &Diagnostic| {
        tbaa_ir::position(text, diagnostic.primary.as_ref().unwrap().span.start).0
    };
    found.iter().map(|found| (found.code.to_string(), line(found))).collect()
}

#[test]
fn in_the_code() {
    let text = file("tests/fixtures/lint/ravi.ll");
    let module = tbaa_ir::read_with(&text, Keep::All).unwrap();
    let found = lint(&module, &Options::default());
    let line = |start: &str| {
        let source = std::str::from_utf8(&text).unwrap();
        source.lines().position(|line| line.trim().starts_with(start)).unwrap() + 1
    };
    let expected = [
        ("TBAA101", line("%ci = load")),
        ("TBAA106", line("%code = load")),
        ("TBAA120", line("%word = load")),
        ("TBAA106", line("store i32* %pc")),
        ("TBAA106", line("%top = load")),
        ("TBAA116", line("!0 =")),
        ("TBAA107", line("!20 =")),
        ("TBAA107", line("!21 =")),
        ("TBAA107", line("!23 =")),
        ("TBAA107", line("!25 =")),
        ("TBAA107", line("!26 =")),
    ];
    let expected: Vec<_> = expected.map(|(code, line)| (code.to_owned(), line)).to_vec();
    assert_eq!(places(&text, &found), expected);

    let found = verify(&module, AliasRule::Llvm);
    assert_eq!(places(&text, &found), [("TBAA008".to_owned(), line("!20 ="))]);
}

#[test]
fn in_the_spec() {
    let spec = String::from_utf8(file("specs/ravi.ron")).unwrap();
    let built = Spec::load(&spec).unwrap();
    let found = lint_graph(built.graph(), &Options::default());
    let overlaps: Vec<_> = found
        .iter()
        .filter(|found| found.code.to_string() == "TBAA106")
        .map(|found| &found.message[..])
        .collect();
    assert_eq!(
        overlaps,
        [
            "fields of \"lua_State\" overlap: \"CallInfo\" at 48, of at least 47 bytes, and \
             \"any pointer\" at 92",
            "fields of \"lua_State\" overlap: \"int\" at 112, of at least 4 bytes, and \"short\" at 114",
        ]
    );
}
