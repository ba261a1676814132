//! Corner cases of a graph's answers about its nodes.

use tbaa::petgraph::visit::EdgeRef;
use tbaa::raw::RawGraph;
use tbaa::{Edge, Graph, GraphError, Int, Operand, SizedField, Tag};

fn read(listing: &str) -> Graph {
    tbaa_ir::read(listing.as_bytes()).unwrap().into_graph()
}

/// Graphs are equal only if their nodes correspond one to one.
#[test]
fn two_nodes_are_not_one() {
    let one = "!0 = !{!\"R\"} !1 = distinct !{!\"int\", !0, i64 0}
               !2 = !{!\"S\", !1, i64 0, !1, i64 4} !3 = !{!2, !1, i64 0} !tbaa.tags = !{!3}";
    let two =
        "!0 = !{!\"R\"} !1 = distinct !{!\"int\", !0, i64 0} !4 = distinct !{!\"int\", !0, i64 0}
               !2 = !{!\"S\", !1, i64 0, !4, i64 4} !3 = !{!2, !1, i64 0} !tbaa.tags = !{!3}";
    assert!(read(one) == read(one) && read(two) == read(two));
    assert!(read(one) != read(two) && read(two) != read(one));
}

#[test]
fn what_a_node_is_and_is_not() {
    let mut graph = read(
        "!0 = !{!\"R\"} !1 = !{!\"int\", !0, i64 0} !2 = !{!1, !1, i64 0}
         !3 = !{i64 0, i64 4, !2} !tbaa.tags = !{!2}",
    );
    let tag = graph.tag_node(graph.tags().next().unwrap());
    let copy = [Operand::Int(Int::i64(0)), Operand::Int(Int::i64(4)), Operand::Node(tag)];
    let copy = graph.insert(&copy).unwrap();
    assert_eq!(graph.copy_of(copy), None, "nobody uses it as one yet");
    let used = graph.mark_copy(copy);
    assert_eq!(graph.copy_of(copy), Some(used));
    assert_eq!(graph.copy_of(tag), None);
    let count = graph.node_count();
    assert_eq!(graph.nth_node(count - 1), graph.nodes().last());
    assert_eq!(graph.nth_node(count), None);
}

#[test]
fn a_tag_of_anothers_type_is_refused() {
    let other = read(
        "!0 = !{!\"R\"} !1 = !{!\"a\", !0} !2 = !{!\"b\", !1} !3 = !{!\"c\", !2} !4 = !{!3, !3, i64 0}
         !tbaa.tags = !{!4}",
    );
    let mut graph =
        read("!0 = !{!\"R\"} !1 = !{!\"int\", !0, i64 0} !2 = !{!1, !1, i64 0} !tbaa.tags = !{!2}");
    let said = graph.tag(graph.tags().next().unwrap()).unwrap();
    let foreign = other.types().last().unwrap();
    let count = graph.node_count();
    for tag in [
        Tag { base: foreign, ..said },
        Tag { access: foreign, ..said },
        Tag { base: foreign, access: foreign, ..said },
    ] {
        assert_eq!(graph.insert_tag(tag), Err(GraphError::ForeignId));
    }
    assert_eq!(graph.node_count(), count);
}

/// Types whose fields form a cycle have the root that their parents lead to, in whatever order the
/// text lists them.
#[test]
fn roots_in_a_cycle() {
    for [a, b, c] in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
        // C's parent is A, A's is B, B's is the root. A contains B, B contains C, C contains A.
        let mut types = [
            format!("!{a} = !{{!{b}, i64 8, !\"A\", !{b}, i64 0, i64 8}}"),
            format!("!{b} = !{{!0, i64 8, !\"B\", !{c}, i64 0, i64 8}}"),
            format!("!{c} = !{{!{a}, i64 8, !\"C\", !{a}, i64 0, i64 8}}"),
        ];
        types.sort_unstable();
        let text = format!("!0 = !{{!\"R\"}} {} !tbaa.types = !{{!0}}", types.join(" "));
        let module = tbaa_ir::read_with(text.as_bytes(), tbaa_ir::Keep::All).unwrap();
        let nodes = [0, 1, 2, 3].map(|number| module.node(number).unwrap());
        let mut graph = module.into_graph();
        let [root, types @ ..] = nodes.map(|node| graph.mark_type(node));
        assert_eq!(types.map(|ty| graph.root_of(ty)), [Some(root); 3], "{a} {b} {c}");
    }
}

/// A type has an edge to its parent if it names one: scalars and size-aware aggregates do.
#[test]
fn edges_of_the_dag() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    b.sized_type(int, 8, "S", &[SizedField { ty: int, offset: 4, size: 4 }]).unwrap();
    let old = b.root("old").unwrap();
    let long = b.scalar_type("long", old).unwrap();
    b.struct_type("T", &[(long, 0), (long, 8)]).unwrap();
    let dag = graph.type_dag();
    let name = |at| String::from_utf8_lossy(graph.ty(dag[at]).name().unwrap()).into_owned();
    let mut edges: Vec<_> = dag
        .edge_references()
        .map(|edge| (name(edge.source()), name(edge.target()), *edge.weight()))
        .collect();
    edges.sort_by_key(|(from, to, edge)| (from.clone(), to.clone(), format!("{edge:?}")));
    let edge = |from: &str, to: &str, edge| (from.to_owned(), to.to_owned(), edge);
    let field = |offset, extent| Edge::Field { offset, extent };
    assert_eq!(
        edges,
        [
            edge("S", "int", field(4, Some(4))),
            edge("S", "int", Edge::Parent),
            edge("T", "long", field(0, None)),
            edge("T", "long", field(8, None)),
            edge("int", "R", Edge::Parent),
            edge("long", "old", Edge::Parent),
        ]
    );
}
