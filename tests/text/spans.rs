//! The positions of a module's parts in its text.

use pretty_assertions::assert_eq;

use super::read;

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
        let span = module.pointer_span(&module.instructions()[0]);
        assert_eq!(span.map(|span| &text[span]), found.then_some("%p"));
    }
}

#[test]
fn a_node_and_its_operands_have_places() {
    let text = include_str!("../fixtures/text/operands.ll");
    let module = read(text);
    let spans = |offset: usize| {
        let operands: Vec<_> = (0..9).map_while(|i| module.operand_span(offset, i)).collect();
        operands.into_iter().map(|span| &text[span]).collect::<Vec<_>>()
    };
    let place = |number| module.offset_of(module.node(number).unwrap()).unwrap();
    assert_eq!(spans(place(0)), ["!1", "! 2", "i64 0", "i1/**/true", "null"]);
    assert_eq!(spans(place(1)), ["!\"a, /*b*/\"", "!{!\"c}\"}", "!3"]);
    assert_eq!(spans(place(2)), [""; 0]);
    let inline = module.operand_span(place(1), 1).unwrap();
    assert_eq!(spans(inline.start), ["!\"c}\""]);
    assert_eq!(module.node_span(inline.start), Some(inline));
    for (start, end) in [("!0 =", ", null}"), ("!2 =", "{}"), ("!3 =", "\"b\")")] {
        let start = text.find(start).unwrap();
        let end = start + text[start..].find(end).unwrap() + end.len();
        assert_eq!(module.node_span(start), Some(start..end));
    }
    assert_eq!(module.operand_span(text.find("!3 =").unwrap(), 0), None);
    for offset in [text.len(), usize::MAX, 0] {
        assert_eq!(module.node_span(offset), None);
    }
}
