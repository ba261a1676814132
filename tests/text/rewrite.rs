//! Tests `Rewriter`: all bytes outside the changed parts of a text stay as they were.

use pretty_assertions::assert_eq;
use tbaa_ir::{Module, Rewriter, TextErrorKind};
use tbaa_tests::cases;

use super::{Rng, read};

const METADATA: &str = include_str!("../fixtures/text/rewrite.ll");

/// Each case has instructions unchanged, without tags, with tag `!5`, and with `!noalias !4` added.
const CASES: &str = "text/rewrite.txt";

fn module_text(body: &str) -> String {
    format!("define void @f(ptr %p, ptr %q) {{\n{body}  ret void\n}}\n{METADATA}")
}

/// Returns a function's `body` after `change` was called for each of its instructions.
fn rewritten(body: &str, change: impl Fn(&mut Rewriter<'_>, usize)) -> String {
    let eol = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let marked = module_text("\0").replace('\n', eol);
    let text = marked.replace('\0', body);
    let module = read(&text);
    let mut rewriter = Rewriter::new(&module);
    for instruction in 0..module.instructions().len() {
        change(&mut rewriter, instruction);
    }
    let new = String::from_utf8(rewriter.to_bytes().unwrap()).unwrap();
    read(&new);
    let (before, after) = marked.split_once('\0').unwrap();
    new.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

#[test]
fn a_tag_is_kept_replaced_or_dropped_and_another_added() {
    for eol in ["\n", "\r\n"] {
        for (_, case) in cases::all(CASES) {
            let parts: Vec<_> = case.iter().map(|text| text.replace('\n', eol)).collect();
            let [body, dropped, replaced, added] = &parts[..] else { panic!("{parts:?}") };
            let run = |change: &dyn Fn(&mut Rewriter<'_>, usize)| rewritten(body, change);
            assert_eq!(run(&|_, _| {}), *body);
            assert_eq!(run(&|it, i| it.set_metadata(i, "other", None)), *body);
            assert_eq!(run(&|it, i| it.set_metadata(i, "tbaa", None)), *dropped);
            assert_eq!(run(&|it, i| it.set_metadata(i, "tbaa", Some(5))), *replaced);
            assert_eq!(run(&|it, i| it.set_metadata(i, "noalias", Some(4))), *added);
        }
    }
}

/// Instructions without attachments; `§` marks where an attachment belongs.
const UNTAGGED: &str = "text/untagged.txt";

#[test]
fn an_instruction_without_attachments_gets_one() {
    for (_, case) in cases::all(UNTAGGED) {
        let (instruction, after) = case[0].split_once('§').unwrap();
        let body = format!("{instruction}{after}");
        let alone = after.starts_with('\n') || after.starts_with(" ;");
        let separator = if alone { "" } else { "\n" };
        let set = |it: &mut Rewriter<'_>, i| {
            if i == 0 {
                it.set_metadata(i, "alias.scope", Some(4));
                it.set_metadata(i, "noalias", Some(5));
            }
        };
        let expected = format!("{instruction}, !alias.scope !4, !noalias !5{separator}{after}");
        assert_eq!(rewritten(&body, set), expected);
    }
}

#[test]
fn the_last_change_of_a_kind_stands() {
    let body = "  store i32 0, ptr %p, !tbaa !0, !tbaa.struct !3\n";
    let new = rewritten(body, |it, i| {
        let attached = ["tbaa", "tbaa.struct", "x"].map(|kind| it.metadata(i, kind));
        assert_eq!(attached, [Some(&b"!0"[..]), Some(b"!3"), None]);
        it.set_metadata(i, "tbaa", None);
        it.set_metadata(i, "tbaa.struct", Some(4));
        it.set_metadata(i, "tbaa", Some(5));
        it.set_metadata(i, "tbaa.struct", None);
        it.set_metadata(i, "x", Some(5));
        it.set_metadata(i, "x", None);
    });
    assert_eq!(new, "  store i32 0, ptr %p, !tbaa !5\n");
}

#[test]
fn named_lists_are_replaced_wherever_they_stand() {
    for (text, some, none) in [
        ("!a.b = !{!1}\n", "!a.b = !{!0, !1}\n", "\n"),
        ("  !a.b = ; {\n  !{ !1 } !c = !{!1}", "  !a.b = !{!0, !1} !c = !{!1}", "   !c = !{!1}"),
        ("!a.b = !{!1}\n!\\61.b = !{!0}\n", "!a.b = !{!0, !1}\n\n", "\n\n"),
        ("!a = !{}\n", "!a = !{}\n!a.b = !{!0, !1}\n", "!a = !{}\n"),
        ("!a = !{}", "!a = !{}\n!a.b = !{!0, !1}\n", "!a = !{}"),
    ] {
        let nodes = "!0 = !{}\n!1 = !{!0}\n";
        let text = format!("{nodes}{text}");
        let module = read(&text);
        for (list, expected) in [(Some(vec![0, 1]), some), (None, none)] {
            let mut rewriter = Rewriter::new(&module);
            rewriter.set_named_metadata("a.b", Some(vec![1]));
            rewriter.set_named_metadata("a.b", list);
            let new = String::from_utf8(rewriter.to_bytes().unwrap()).unwrap();
            assert_eq!(new.strip_prefix(nodes).unwrap(), expected);
        }
    }
}

#[test]
fn definitions_are_numbered_after_all_others() {
    for (text, number, expected) in [
        ("", 0, "!0 = !{}\n!1 = !{!0}\n"),
        ("!7 = !{}\r\n!3 = !{}\r\n", 8, "!7 = !{}\r\n!3 = !{}\r\n!8 = !{}\r\n!9 = !{!8}\r\n"),
        ("\n", 0, "\n!0 = !{}\n!1 = !{!0}\n"),
        ("!2 = !DIFile()", 3, "!2 = !DIFile()\n!3 = !{}\n!4 = !{!3}\n"),
    ] {
        let module = read(text);
        let mut rewriter = Rewriter::new(&module);
        assert_eq!(rewriter.next_number(), Some(number));
        assert_eq!(rewriter.define("!{}"), Ok(number));
        assert_eq!(rewriter.define(format_args!("!{{!{number}}}")), Ok(number + 1));
        assert_eq!(rewriter.to_bytes().unwrap(), expected.as_bytes());
    }
    let text = format!("!{} = !{{}}", u32::MAX - 1);
    let module = read(&text);
    let mut rewriter = Rewriter::new(&module);
    assert_eq!(rewriter.define("!{}"), Ok(u32::MAX));
    assert_eq!(rewriter.next_number(), None);
    assert_eq!(rewriter.define("!{}").unwrap_err().kind, TextErrorKind::NumberOutOfRange);
}

#[test]
fn what_cannot_be_changed_is_said() {
    // Without a comma, LLVM does not read this as an attachment.
    let text = module_text("  %v = load <2 x i32> strange !tbaa !0\n");
    let module = read(&text);
    let mut rewriter = Rewriter::new(&module);
    rewriter.set_metadata(0, "tbaa", None);
    assert_eq!(rewriter.to_bytes().unwrap_err().kind, TextErrorKind::NoEnd);
    let text = module_text("  %v = load <2 x i32> strange\n  store i32 0, ptr %p, !tbaa !0\n");
    let module = read(&text);
    let mut rewriter = Rewriter::new(&module);
    rewriter.set_metadata(0, "tbaa", None);
    assert_eq!(rewriter.to_bytes().unwrap(), text.as_bytes());
    rewriter.set_metadata(0, "tbaa", Some(0));
    let error = rewriter.to_bytes().unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (TextErrorKind::NoEnd, 2, 3));
}

/// Returns facts about each instruction that do not depend on its attachments.
fn kinds(module: &Module<'_>) -> Vec<(u32, u32, tbaa_ir::Opcode, bool, bool, Vec<u8>)> {
    let all = module.instructions().iter();
    all.map(|i| {
        (i.function, i.index, i.opcode, i.volatile, i.atomic, module.access_type(i).to_owned())
    })
    .collect()
}

/// Returns, for each instruction, the name of its tag's access type.
fn tags(module: &Module<'_>) -> Vec<Option<String>> {
    let graph = module.graph();
    let name = |tag| {
        let access = graph.tag(tag).unwrap().access;
        String::from_utf8_lossy(graph.ty(access).name().unwrap()).into_owned()
    };
    module.instructions().iter().map(|i| i.tag.map(name)).collect()
}

/// Changes random attachments in random functions: reading the result gives the requested tags.
#[test]
fn what_is_read_again_is_what_was_set() {
    let mut rng = Rng(17);
    let (cases, untagged) = (cases::all(CASES), cases::all(UNTAGGED));
    let mut kinds_seen = [0; 4];
    for _ in 0..tbaa_tests::setting("TBAA_TEXTS", 400) {
        let mut body = String::new();
        for _ in 0..1 + rng.below(8) {
            if rng.one_in(2) {
                body += &rng.pick(&cases).1[rng.below(4)];
            } else {
                // Text on the same line after `§` is left out, unless it is a comment.
                let (instruction, after) = rng.pick(&untagged).1[0].split_once('§').unwrap();
                let alone = after.starts_with('\n') || after.starts_with(" ;");
                let after = if alone { after } else { "\n" };
                body += &format!("{instruction}{after}");
            }
        }
        // Some cases end the function and begin a function `@g`. Each `@g` gets its own number.
        let mut text = module_text(&body);
        for n in 0.. {
            let Some(at) = text.find("@g() {") else { break };
            text.replace_range(at..at + 2, &format!("@g{n}"));
        }
        if rng.one_in(2) {
            text = text.replace('\n', "\r\n");
        }
        let module = read(&text);
        let mut rewriter = Rewriter::new(&module);
        assert_eq!(rewriter.to_bytes().unwrap(), text.as_bytes());
        let mut expected = tags(&module);
        for (i, expected) in expected.iter_mut().enumerate() {
            let choice = rng.below(4);
            kinds_seen[choice] += 1;
            match choice {
                0 => {}
                1 => {
                    // Without a tag, the reader lists a call only if it copies or sets memory.
                    let listed = &module.instructions()[i];
                    if listed.opcode != tbaa_ir::Opcode::Call
                        || module.pointer_span(listed).is_some()
                    {
                        rewriter.set_metadata(i, "tbaa", None);
                        *expected = None;
                    }
                }
                2 => {
                    rewriter.set_metadata(i, "tbaa", Some(5));
                    *expected = Some("float".to_owned());
                }
                _ => rewriter.set_metadata(i, "alias.scope", Some(4)),
            }
        }
        let new = rewriter.to_bytes().unwrap();
        let again = read(std::str::from_utf8(&new).unwrap());
        let message = || format!("{text}\nbecame\n{}", String::from_utf8_lossy(&new));
        assert_eq!(kinds(&module), kinds(&again), "{}", message());
        assert_eq!(tags(&again), expected, "{}", message());
    }
    assert!(kinds_seen.iter().all(|&seen| seen > 100), "{kinds_seen:?}");
}
