//! The nodes that the emitter passes to a *sink*, the receiver of nodes.

use pretty_assertions::assert_eq;
use std::fmt::Debug;
use std::fs;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::spec::Spec;
use tbaa::{Format, Graph, GraphError, Int, Operand};
use tbaa_lower::emit::{EmitError, Emitter, Sink, SinkOperand, Storage, TextSink};

use tbaa_tests::Rng;
use tbaa_tests::llvm::Llvm;
use tbaa_tests::random::{self, Shape, Universe};

fn graphs() -> Vec<(String, Graph)> {
    let mut graphs = Vec::new();
    for file in tbaa_tests::files("specs", &["ron"]) {
        let source = fs::read_to_string(&file).unwrap();
        graphs.push((file.display().to_string(), Spec::load(&source).unwrap().into_graph()));
    }
    assert!(graphs.len() > 8);
    for seed in 0..20 {
        let format = if seed % 2 == 0 { Format::Old } else { Format::New };
        let universe = Universe { format, structs: 20, tags: 60, shape: Shape::Any };
        graphs.push((format!("seed {seed}"), random::graph(&mut Rng(seed), &universe)));
    }
    graphs
}

/// Emits a graph's tags, `!tbaa.struct` nodes and types. Returns the nodes, in this order.
fn emit_all<S: Sink<Error: Debug>>(graph: &Graph, sink: S) -> (S, [Vec<S::Node>; 3]) {
    let mut emitter = Emitter::new(sink);
    let mut node = |node| emitter.node(graph, node).unwrap();
    let tags = graph.tags().map(|tag| node(graph.tag_node(tag))).collect();
    let copies = graph.copies().map(|copy| node(copy.node())).collect();
    let types = graph.types().map(|ty| node(ty.node())).collect();
    (emitter.into_sink(), [tags, copies, types])
}

#[test]
fn a_graph_gets_what_a_graph_holds() {
    for (name, graph) in graphs() {
        let (mut copy, [tags, copies, types]) = emit_all(&graph, Graph::new());
        tags.iter().for_each(|&tag| _ = copy.mark_tag(tag));
        copies.iter().for_each(|&node| _ = copy.mark_copy(node));
        types.iter().for_each(|&ty| _ = copy.mark_type(ty));
        assert_eq!(tbaa_ir::write(&copy), tbaa_ir::write(&graph), "{name}");
        assert_eq!(copy, graph, "{name}");
    }
}

#[test]
fn a_text_says_what_a_graph_holds() {
    for (number, (name, graph)) in graphs().into_iter().enumerate() {
        let (mut sink, [tags, copies, types]) = emit_all(&graph, TextSink::starting_at(7));
        let mut lines = sink.take();
        for (list, nodes) in [("tbaa.tags", tags), ("tbaa.structs", copies), ("tbaa.types", types)]
        {
            let nodes: Vec<_> = nodes.iter().map(|node| format!("!{node}")).collect();
            lines += &format!("!{list} = !{{{}}}\n", nodes.join(", "));
        }
        let again = tbaa_ir::read(lines.as_bytes()).unwrap().into_graph();
        assert_eq!(again, graph, "{name}:\n{lines}");
        if let Some(llvm) = Llvm::get() {
            llvm.assemble(&format!("emit-{number}.ll"), &lines);
        }
    }
}

#[test]
fn a_graph_that_grows_costs_what_is_new() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.anonymous_root().unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let tag = b.struct_tag(int, int, 0).unwrap();
    let mut emitter = Emitter::new(TextSink::default());
    assert_eq!(emitter.tag(&graph, tag), Ok(2));
    let lines = emitter.sink_mut().take();
    assert_eq!(lines, "!0 = distinct !{!0}\n!1 = !{!\"int\", !0, i64 0}\n!2 = !{!1, !1, i64 0}\n");

    let s = graph.builder().struct_type("S", &[(int, 0), (int, 4)]).unwrap();
    let field = graph.builder().struct_tag(s, int, 4).unwrap();
    assert_eq!(emitter.tag(&graph, tag), Ok(2));
    assert_eq!(emitter.sink_mut().take(), "");
    assert_eq!(emitter.tag(&graph, field), Ok(4));
    let lines = emitter.sink_mut().take();
    assert_eq!(lines, "!3 = !{!\"S\", !1, i64 0, !1, i64 4}\n!4 = !{!3, !1, i64 4}\n");

    // The nodes of another graph are emitted anew, even if they are equal.
    let mut other = Graph::new();
    let mut b = other.builder();
    let root = b.anonymous_root().unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let other_tag = b.struct_tag(int, int, 0).unwrap();
    assert_eq!(emitter.tag(&graph, other_tag), Err(EmitError::ForeignId));
    assert_eq!(emitter.tag(&other, other_tag), Ok(7));
    assert_eq!(emitter.tag(&graph, tag), Ok(2));
}

#[test]
fn deep_and_wide_graphs() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let mut ty = b.root("R").unwrap();
    for depth in 0..200_000 {
        ty = b.scalar_type(format!("{depth}"), ty).unwrap();
    }
    let mut emitter = Emitter::new(TextSink::default());
    emitter.node(&graph, ty.node()).unwrap();
    let lines = emitter.sink_mut().take();
    assert_eq!(lines.lines().count(), 200_001);

    let mut wide = Graph::new();
    let mut b = wide.builder();
    let root = b.root("R").unwrap();
    let fields: Vec<_> =
        (0..100_000).map(|at| (b.scalar_type(format!("{at}"), root).unwrap(), 8 * at)).collect();
    let s = b.struct_type("S", &fields).unwrap();
    emitter.node(&wide, s.node()).unwrap();
    assert_eq!(emitter.sink_mut().take().lines().count(), 100_002);
}

#[test]
fn nodes_that_no_sink_can_be_given() {
    let mut graph = Graph::new();
    let member = |at| Draft { distinct: false, operands: vec![DraftOperand::Member(at)] };
    let nodes = graph.insert_group(&[member(1), member(0)]).unwrap();
    let mut emitter = Emitter::new(Graph::new());
    for node in nodes {
        assert!(matches!(emitter.node(&graph, node), Err(EmitError::Cycle { .. })));
    }

    let raw = graph.insert(&[Operand::Null, Operand::Raw("ptr @g")]).unwrap();
    let error = emitter.node(&graph, raw).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operand 1 of node2, `ptr @g`, is no node, string, integer or null; \
         no node of types needs one"
    );
    assert_eq!(emitter.sink().node_count(), 0);

    // A node that a sink refused may be requested again.
    let mut emitter = Emitter::new(Refusing { left: 1, made: 0 });
    let leaf = graph.insert(&[Operand::String(b"a")]).unwrap();
    let node = graph.insert(&[Operand::Node(leaf), Operand::Int(Int::i64(1))]).unwrap();
    assert_eq!(emitter.node(&graph, node), Err(EmitError::Sink(GraphError::Full)));
    emitter.sink_mut().left = 1;
    assert_eq!(emitter.node(&graph, node), Ok(1));
    assert_eq!(emitter.sink().made, 2);
}

struct Refusing {
    left: u32,
    made: u32,
}

impl Sink for Refusing {
    type Node = u32;
    type Error = GraphError;

    fn node(&mut self, _: &[SinkOperand<'_, u32>], _: Storage) -> Result<u32, GraphError> {
        self.left = self.left.checked_sub(1).ok_or(GraphError::Full)?;
        self.made += 1;
        Ok(self.made - 1)
    }
}
