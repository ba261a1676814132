//! Findings about accesses that follow one another.

use tbaa_check::lint::{Lint, Options, lint};
use tbaa_check::{Code, Level};
use tbaa_ir::Keep;
use tbaa_tests::cases;

/// The tags `!0` (an `int`), `!3` (a `float`) and `!5` (a pointer).
const TAGS: &str = include_str!("../../fixtures/lint/sequence.ll");

/// Returns the number of findings of one lint in a function, with the lints in `on` switched on.
fn count(lint_of: Lint, on: &[Lint], body: &str) -> usize {
    let source = format!("define void @f(ptr %p, ptr %q) {{\n{body}  ret void\n}}\n{TAGS}");
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    let level = |lint: &Lint| on.contains(lint).then_some(Level::Warning);
    let options =
        Lint::ALL.iter().fold(Options::default(), |options, lint| options.set(*lint, level(lint)));
    let found = lint(&module, &options);
    found.iter().filter(|found| found.code == Code::Lint(lint_of)).count()
}

const STORE_FLOAT: &str = "  store float 1.0, ptr %p, align 4, !tbaa !3\n";
const LOAD_FLOAT: &str = "  %w = load float, ptr %p, align 4, !tbaa !3\n";
const LOAD_INT: &str = "  %v = load i32, ptr %p, align 4, !tbaa !0\n";
const PUNS: [Lint; 2] = [Lint::ReadUnderOtherTag, Lint::PointerUnderTwoTags];

#[test]
fn each_of_two_lints_alone() {
    for (lint, first) in PUNS.into_iter().zip([STORE_FLOAT, LOAD_FLOAT]) {
        assert_eq!(count(lint, &[lint], &format!("{first}{LOAD_INT}")), 1, "{lint:?}");
    }
}

/// A read is reported if an earlier access to its memory had another tag, unless an instruction in
/// between may have written that memory, or the memory from which both pointers are loaded.
#[test]
fn what_is_between_tells() {
    cases::check("lint/sequence.txt", |_, parts| {
        let lines: String = parts[0].lines().map(|line| format!("  {line}\n")).collect();
        match parts.get(1) {
            None => {
                let stored = format!("{STORE_FLOAT}{lines}{LOAD_INT}");
                let loaded = format!("{LOAD_FLOAT}{lines}{LOAD_INT}");
                let [stored, loaded] = [(PUNS[0], stored), (PUNS[1], loaded)]
                    .map(|(lint, body)| count(lint, &PUNS, &body));
                format!("stored {stored}, loaded {loaded}")
            }
            Some(pointers) => {
                let (a, b) = pointers.trim_end().rsplit_once(" %").unwrap();
                let (first, second) =
                    (LOAD_FLOAT.replace("%p", a), LOAD_INT.replace("%p", &format!("%{b}")));
                let told = count(PUNS[1], &PUNS, &format!("{lines}{first}{second}"));
                format!("loaded {told}")
            }
        }
    });
    // A pointer whose name is too long to read may equal any pointer.
    let far = format!("  store i32 1, ptr @{}, align 4, !tbaa !0\n", "g".repeat(5000));
    assert_eq!(count(PUNS[1], &PUNS, &format!("{LOAD_FLOAT}{far}{LOAD_INT}")), 0);
    // A store before the first read is not in between.
    let before = "  store i32 1, ptr %q, align 4, !tbaa !0\n";
    assert_eq!(count(PUNS[1], &PUNS, &format!("{before}{LOAD_FLOAT}{LOAD_INT}")), 1);
}

/// Comments in `reads.ll` state which function has which finding.
#[test]
fn accesses_of_all_kinds() {
    const TEXT: &str = include_str!("../../fixtures/lint/reads.ll");
    let heads = TEXT.lines().filter_map(|line| line.strip_prefix("define ")?.rsplit_once(" ; "));
    let expected: Vec<(&str, &str)> = heads
        .filter(|(_, code)| *code != "silent")
        .filter_map(|(head, code)| Some((head.split(['@', '(']).nth(1)?, code)))
        .collect();
    let module = tbaa_ir::read(TEXT.as_bytes()).unwrap();
    let found = lint(&module, &Options::default());
    let mut found: Vec<_> = found.iter().collect();
    found.sort_by_key(|found| found.primary.as_ref().map(|primary| primary.span.start));
    let found: Vec<(&str, String)> = found
        .iter()
        .map(|found| (found.message.rsplit('@').next().unwrap(), found.code.to_string()))
        .collect();
    let found: Vec<(&str, &str)> = found.iter().map(|(name, code)| (*name, &code[..])).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_pair_is_told_once() {
    let twice = format!("{LOAD_FLOAT}{LOAD_INT}").repeat(2).replace("%w =", "%w0 =");
    let other = "  %x = load ptr, ptr %p, align 8, !tbaa !5\n";
    assert_eq!(count(PUNS[1], &PUNS, &twice), 2, "float then int, int then float");
    assert_eq!(count(PUNS[1], &PUNS, &format!("{twice}{other}")), 3);
}

/// A load or store without a tag is reported if it is not volatile and another access has a tag.
#[test]
fn some_have_no_tag() {
    let untagged = |body: &str| count(Lint::Untagged, &[Lint::Untagged], body);
    let bare = "  %x = load i32, ptr %q, align 4\n";
    assert_eq!(untagged(&format!("{LOAD_INT}{bare}")), 1);
    assert_eq!(untagged(LOAD_INT), 0);
    assert_eq!(untagged(bare), 0, "none has one");
    assert_eq!(untagged(&format!("{bare}{}", bare.replace("%x", "%y"))), 0);
    for other in [
        "  call void @g(ptr %q)\n",
        "  %x = load volatile i32, ptr %q, align 4\n",
        "  fence seq_cst\n",
        "  %x = atomicrmw add ptr %q, i32 1 monotonic, align 4\n",
    ] {
        assert_eq!(untagged(&format!("{LOAD_INT}{other}")), 0, "{other}");
    }
}
