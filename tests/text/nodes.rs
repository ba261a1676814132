//! Metadata nodes: which are read and refused, and how they are written.

use pretty_assertions::assert_eq;
use tbaa::Graph;
use tbaa::raw::RawGraph;
use tbaa_check::verify::{Rule, Verifier};
use tbaa_ir::Module;
use tbaa_tests::cases;

use super::{module_of, read};

/// If an instruction has a bare type as its tag, the reader makes a new tag; `RawGraph` does not.
#[test]
fn a_type_marked_as_a_tag_is_rejected() {
    let mut graph = Graph::new();
    let root = graph.builder().root("R").unwrap();
    let int = graph.builder().scalar_type("int", root).unwrap();
    let tag = graph.mark_tag(int.node());
    let verdict = Verifier::new(&graph).check(tag).map_err(|violation| violation.rule);
    assert_eq!(verdict, Err(Rule::TagNotStructPath));
    assert_eq!(
        verdict.unwrap_err().llvm_message().split(',').next(),
        Some("Old-style TBAA is no longer allowed")
    );
}

/// A case's output has the dump, the rules that tags break, and the text for MLIR. Without tags and
/// types, it has the operands of node `!0`. A dump read and written again loses only comments.
#[test]
fn nodes_are_written_as_written_down() {
    let verdicts = |module: &Module<'_>| -> Vec<_> {
        let mut verifier = Verifier::new(module.graph());
        let tags = module.graph().tags();
        tags.map(|tag| verifier.check(tag).map_err(|violation| violation.rule)).collect()
    };
    cases::check("text/nodes.txt", |title, parts| {
        let module = read(parts[0]);
        let graph = module.graph();
        if graph.tag_count() + graph.types().count() == 0 {
            let node = module.node(0).unwrap();
            return tbaa_ir::write_operands(graph, node, |_| unreachable!());
        }
        let dump = tbaa_ir::write(graph);
        let bare: String =
            dump.lines().map(|line| line.split(" ; ").next().unwrap().to_owned() + "\n").collect();
        let again = read(&dump);
        assert_eq!(tbaa_ir::write(again.graph()), bare, "{title}");
        assert_eq!(verdicts(&again), verdicts(&module), "{title}");
        let rejected: String = verdicts(&module)
            .into_iter()
            .flat_map(Result::err)
            .map(|verdict| format!("{verdict:?}\n"))
            .collect();
        dump + &rejected + &tbaa_ir::write_mlir(graph).unwrap_or_else(|error| error.to_string())
    });
}

#[test]
fn strings_are_bytes() {
    let mut names: Vec<u8> = Vec::new();
    for byte in 0..=255_u8 {
        names.extend(format!("\\{byte:02x}").bytes());
    }
    let mut text =
        b"define void @f(ptr %p) {\n store i8 0, ptr %p, !tbaa !0\n ret void\n}\n".to_vec();
    text.extend(b"!0 = !{!1, !1, i64 0}\n!1 = !{!\"");
    text.extend(&names);
    text.extend(b"raw \xff\n byte\", !{!\"root\"}}\n");
    let module = tbaa_ir::read(&text).unwrap();
    let tag = module.graph().tag(module.attached_tags()[0]).unwrap();
    let expected: Vec<u8> = (0..=255).chain(*b"raw \xff\n byte").collect();
    assert_eq!(module.graph().ty(tag.base).name(), Some(&expected[..]));
    let dumped = tbaa_ir::write(module.graph());
    assert!(dumped.is_ascii());
    assert_eq!(read(&dumped).graph(), module.graph());
}

#[test]
fn a_dump_shows_sixty_bytes_of_what_it_leaves_out() {
    for length in [59, 60, 61] {
        let operand = format!("ptr @{}", "g".repeat(length - 5));
        let module = module_of(
            &[0],
            &format!("!0 = !{{!1, !1, i64 0, {operand}}}\n!1 = !{{!\"int\", !{{!\"R\"}}}}\n"),
        );
        let (shown, rest) = operand.split_at(length.min(60));
        let dots = if rest.is_empty() { "" } else { "..." };
        let dumped = tbaa_ir::write(module.graph());
        assert!(dumped.contains(&format!(" ; operand 3 was {shown}{dots}\n")), "{dumped}");
    }
}
