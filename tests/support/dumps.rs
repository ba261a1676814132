//! Checks the dump of a module: the text of its metadata.

use std::collections::HashSet;

use tbaa::parts::write_two;
use tbaa_ir::Module;

/// Panics unless a dump of a module has the module's node numbers, and reads back as the module's
/// metadata under the same numbers. Returns the dump.
pub fn check(module: &Module<'_>) -> String {
    let (graph, numbering) = (module.graph(), module.numbering());
    let dump = tbaa_ir::write_numbered(graph, &numbering, |_| None);
    let again = tbaa_ir::read(dump.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{dump}"));
    let second = tbaa_ir::write_numbered(again.graph(), &again.numbering(), |_| None);
    assert_eq!(second, dump, "a dump of the dump");
    let mut seen = HashSet::new();
    for node in graph.nodes() {
        let Some(number) = numbering.get(node) else { continue };
        assert!(seen.insert(number), "!{number} is two nodes\n{dump}");
        assert_eq!(numbering.node(number), Some(node));
        // A number that the module lacks is at least `next_number`, if there is a next number.
        match module.node(number) {
            Some(of_text) => assert_eq!(module.number_of(of_text), Some(number), "\n{dump}"),
            None => assert!(module.next_number().is_none_or(|next| number >= next), "\n{dump}"),
        }
        let of_dump = again.node(number).unwrap_or_else(|| panic!("!{number} is lost\n{dump}"));
        let whole = write_two(graph, node, node);
        // ` ; ` in `whole` begins a comment on an operand that the dump replaces by `null`.
        if !whole.contains(" ; ") {
            assert_eq!(write_two(again.graph(), of_dump, of_dump), whole, "!{number} in\n{dump}");
        }
        let is_own = module.number_of(node).filter(|&own| module.node(own) == Some(node));
        assert!(is_own.is_none_or(|own| own == number), "!{number} had another number\n{dump}");
    }
    for tag in graph.tags() {
        let number = numbering.get(graph.tag_node(tag)).expect("each tag is printed");
        let of_dump = again.node(number).and_then(|node| again.graph().tag_of(node));
        assert!(of_dump.is_some(), "!{number} is a tag no more\n{dump}");
    }
    dump
}
