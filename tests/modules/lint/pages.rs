//! Each code of a finding has a page. The page's first example has the finding, the second has not.

use std::collections::HashSet;

use tbaa::AliasRule;
use tbaa_check::lint::{Options, lint};
use tbaa_check::verify::verify;
use tbaa_check::{Code, Findings, Level};
use tbaa_ir::Keep;

fn example<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("\n{heading}\n\n```llvm\n"))?;
    Some(rest.split_once("```")?.0)
}

/// Returns the subject of a line of an example: the text before `=`, or else its first word.
fn subject(line: &str) -> &str {
    let word = || line.split_whitespace().next().unwrap_or_default();
    line.split_once('=').map_or_else(word, |(name, _)| name)
}

/// Returns the examples of a code's page, with and without the finding. Each line under `Silent
/// with:` replaces the first example's line that has the same [`subject`], or is added.
pub(super) fn examples(code: Code) -> [String; 2] {
    let page = code.page();
    let fires =
        example(page, "Fires:").unwrap_or_else(|| panic!("{code} has no example that fires"));
    if let Some(silent) = example(page, "Silent:") {
        return [fires, silent].map(whole);
    }
    let changed =
        example(page, "Silent with:").unwrap_or_else(|| panic!("{code} has no silent example"));
    let mut lines: Vec<_> = fires.lines().collect();
    for line in changed.lines() {
        match lines.iter().position(|it| subject(it) == subject(line)) {
            Some(at) => lines[at] = line,
            None => lines.push(line),
        }
    }
    [whole(fires), whole(&(lines.join("\n") + "\n"))]
}

/// Returns an example as a module. If the example has neither a function nor `!llvm.errno.tbaa`, a
/// store with the tag `!0` is added.
pub(super) fn whole(example: &str) -> String {
    let lists = ["define", "!llvm.errno.tbaa"].iter().any(|word| example.contains(word));
    let store =
        "define void @f(ptr %p) {\n  store i32 1, ptr %p, align 4, !tbaa !0\n  ret void\n}\n";
    if lists { example.to_owned() } else { store.to_owned() + example }
}

fn findings(code: Code, source: &str) -> Findings {
    let bytes = source.as_bytes();
    let module = tbaa_ir::read_with(bytes, Keep::All)
        .unwrap_or_else(|error| panic!("{code}: {error}\n{source}"));
    match code {
        Code::Rule(_) if code.number() == 41 => verify(&module, AliasRule::Union),
        Code::Rule(_) => verify(&module, AliasRule::Llvm),
        Code::Lint(lint_of_page) => {
            let options = match lint_of_page.level() {
                Some(_) => Options::default(),
                None => Options::default().set(lint_of_page, Some(Level::Warning)),
            };
            lint(&module, &options)
        }
    }
}

#[test]
fn every_code_fires_and_is_silent() {
    for code in Code::all() {
        let [fires, silent] = examples(code);
        let found = findings(code, &fires);
        assert!(
            found.iter().any(|found| found.code == code),
            "{code} does not fire: {found:#?}\n{fires}"
        );
        // The example of code 101 may have findings of 110, and the example of 102 findings of 103.
        for other in found.iter().filter(|found| found.code != code) {
            let known = [(101, 110), (102, 103)];
            let pair = (code.number(), other.code.number());
            assert!(known.contains(&pair), "{code}'s example has {other}\n{fires}");
        }
        let found = findings(code, &silent);
        assert!(found.is_empty(), "{code} is not silent: {found:#?}\n{silent}");
    }
}

#[test]
fn findings_have_places_and_say_what_to_do() {
    for code in Code::all() {
        let [source, _] = examples(code);
        for finding in findings(code, &source) {
            let primary = finding.primary.as_ref().unwrap_or_else(|| panic!("{code}: no place"));
            for label in finding.secondary.iter().chain([primary]) {
                let shown = source.get(label.span.clone());
                assert!(shown.is_some_and(|shown| !shown.trim().is_empty()), "{finding:?}");
            }
            assert!(finding.help.is_some(), "{code}: no help");
            for text in finding.notes.iter().chain([&finding.message]).chain(&finding.help) {
                assert!(!text.ends_with('.') && !text.contains('\n'), "{code}: {text}");
            }
        }
    }
}

#[test]
fn pages_stand_in_order_under_their_titles() {
    let mut titles = HashSet::new();
    let mut last = 0;
    for code in Code::all() {
        let page = code.page();
        let heading = format!("## {code} {}", code.title());
        assert_eq!(page.lines().next(), Some(&heading[..]));
        assert!(code.number() > last && titles.insert(code.title()), "{code}");
        assert_eq!(code.to_string().parse(), Ok(code));
        last = code.number();
    }
    for book in [include_str!("../../../docs/verify.md"), include_str!("../../../docs/lints.md")] {
        for heading in book.lines().filter_map(|line| line.strip_prefix("## ")) {
            let code = heading.split(' ').next().unwrap();
            assert!(code.parse::<Code>().is_ok(), "{code} has a page and is no code");
        }
    }
    for text in ["TBAA000", "TBAA+13", "TBAA1", "tbaa001", "TBAA001 ", "", "TBAA0001"] {
        assert!(text.parse::<Code>().is_err(), "{text}");
    }
}
