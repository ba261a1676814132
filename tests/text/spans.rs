//! Where the parts of a module stand.

use pretty_assertions::assert_eq;
use tbaa_ir::{node_span, operand_span};
use tbaa_tests::cases;

use super::listing::FILE;
use super::read;

/// A text other than the module's own gives other answers, and no panic.
#[test]
fn spans_of_a_shorter_text_are_none() {
    let whole = cases::input(FILE, "An access says its pointer, its tag and its ordering");
    let module = read(&whole);
    for end in 0..whole.len() {
        let text = &whole.as_bytes()[..end];
        for instruction in module.instructions() {
            for span in [
                instruction.pointer_span(text),
                instruction.source_span(text),
                instruction.tag_span(text),
            ] {
                assert!(span.is_none_or(|span| span.end <= end));
            }
        }
        let node = whole.find("!1 = ").unwrap();
        assert!(node_span(text, node).is_none_or(|span| span.end <= end));
        assert!(operand_span(text, node, 1).is_none_or(|span| span.end <= end));
    }
}

#[test]
fn a_pointer_beyond_the_search_is_not_made_out() {
    let text = |n: usize| {
        let value = "i32 0, ".repeat(n);
        format!(
            "define void @f() {{\n  store {{ i32 }} {{ {value}i32 0 }}, ptr %p\n  ret void\n}}\n"
        )
    };
    for (n, found) in [(100, true), (1_000, false)] {
        let text = text(n);
        let module = read(&text);
        let span = module.instructions()[0].pointer_span(text.as_bytes());
        assert_eq!(span.map(|span| &text[span]), found.then_some("%p"));
    }
}

#[test]
fn a_node_and_its_operands_have_places() {
    let text = include_str!("../fixtures/text/operands.ll");
    let spans = |offset: usize| {
        let operands: Vec<_> =
            (0..9).map_while(|i| operand_span(text.as_bytes(), offset, i)).collect();
        operands.into_iter().map(|span| &text[span]).collect::<Vec<_>>()
    };
    let module = read(text);
    let place = |number| module.offset_of(module.node(number).unwrap()).unwrap();
    assert_eq!(spans(place(0)), ["!1", "! 2", "i64 0", "i1/**/true", "null"]);
    assert_eq!(spans(place(1)), ["!\"a, /*b*/\"", "!{!\"c}\"}", "!3"]);
    assert_eq!(spans(place(2)), [""; 0]);
    let inline = operand_span(text.as_bytes(), place(1), 1).unwrap();
    assert_eq!(spans(inline.start), ["!\"c}\""]);
    assert_eq!(node_span(text.as_bytes(), inline.start), Some(inline));
    for (start, end) in [("!0 =", ", null}"), ("!2 =", "{}"), ("!3 =", "\"b\")")] {
        let start = text.find(start).unwrap();
        let end = start + text[start..].find(end).unwrap() + end.len();
        assert_eq!(node_span(text.as_bytes(), start), Some(start..end));
    }
    assert_eq!(operand_span(text.as_bytes(), text.find("!3 =").unwrap(), 0), None);
    for offset in [text.len(), usize::MAX, 0] {
        assert_eq!(node_span(text.as_bytes(), offset), None);
    }
}
