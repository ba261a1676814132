//! Writing a graph as `.ll` metadata.

use std::fmt::Write;

use super::cursor::escape;
use super::{COPIES, TAGS, TYPES};
use crate::graph::{Graph, NodeId, Operand};

/// Prints a graph's tags, copies and types as metadata that `llvm-as` accepts.
///
/// Nodes are numbered from 0 in the order in which LLVM itself would number
/// them: each before its operands, tags first. The named metadata `!tbaa.tags`
/// (and `!tbaa.structs`, `!tbaa.types`) lists them, so that tools keep them and
/// [`read`](super::read()) finds them again. An operand that is no node, string
/// or integer is printed as it was read.
///
/// ```
/// use tbaa::{Graph, text};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// b.struct_tag(int, int, 0, false)?;
/// assert_eq!(
///     text::write(&graph),
///     r#"!tbaa.tags = !{!0}
///
/// !0 = !{!1, !1, i64 0}
/// !1 = !{!"int", !2, i64 0}
/// !2 = !{!"R"}
/// "#
/// );
/// assert_eq!(text::read(text::write(&graph).as_bytes()).unwrap().into_graph(), graph);
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[must_use]
pub fn write(graph: &Graph) -> String {
    let mut numbers = Numbers { of: vec![None; graph.node_count()], order: Vec::new() };
    let tags: Vec<_> = graph.tags().map(|tag| graph.tag_node(tag)).collect();
    let copies: Vec<_> = graph.copies().map(|copy| copy.node()).collect();
    tags.iter().chain(&copies).for_each(|&node| numbers.number(graph, node));
    let mut rest = Vec::new();
    for ty in graph.types() {
        if numbers.of[ty.node().index()].is_none() {
            numbers.number(graph, ty.node());
            rest.push(ty.node());
        }
    }
    let mut out = String::new();
    for (name, nodes) in [(TAGS, tags), (COPIES, copies), (TYPES, rest)] {
        if !nodes.is_empty() {
            let list: Vec<_> = nodes.iter().map(|&node| numbers.reference(node)).collect();
            let _ = writeln!(out, "!{name} = !{{{}}}", list.join(", "));
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for (number, &node) in numbers.order.iter().enumerate() {
        let distinct = if graph.is_distinct(node) { "distinct " } else { "" };
        let _ = write!(out, "!{number} = {distinct}!{{");
        out.push_str(&write_operands(graph, node, |node| numbers.reference(node)));
        out.push_str("}\n");
    }
    out
}

/// Prints a node's operands, separated by commas, other nodes as `reference`
/// has it.
pub fn write_operands(
    graph: &Graph,
    node: NodeId,
    mut reference: impl FnMut(NodeId) -> String,
) -> String {
    let mut out = String::new();
    for (position, operand) in graph.operands(node).enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        match operand {
            Operand::Null => out.push_str("null"),
            Operand::String(bytes) => {
                out.push_str("!\"");
                escape(bytes, &mut out);
                out.push('"');
            }
            Operand::Int(int) => {
                let _ = write!(out, "{}", Literal(int));
            }
            Operand::Node(node) => out.push_str(&reference(node)),
            Operand::Raw(text) => out.push_str(text),
        }
    }
    out
}

/// An integer constant as LLVM prints it: signed, and `i1` as a word.
struct Literal(crate::graph::Int);

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let crate::graph::Int { bits, value } = self.0;
        match bits {
            1 => write!(f, "i1 {}", value != 0),
            2..=64 => {
                let unused = 64 - bits;
                write!(f, "i{bits} {}", (value << unused) as i64 >> unused)
            }
            _ => write!(f, "i{bits} {value}"),
        }
    }
}

/// The numbers of the nodes to be printed.
struct Numbers {
    of: Vec<Option<u32>>,
    order: Vec<NodeId>,
}

impl Numbers {
    /// Numbers a node and then its operands, depth first.
    ///
    /// LLVM: `SlotTracker::CreateMetadataSlot`.
    fn number(&mut self, graph: &Graph, node: NodeId) {
        let mut work = vec![node];
        while let Some(next) = work.pop() {
            let slot = &mut self.of[next.index()];
            if slot.is_none() {
                *slot = Some(self.order.len() as u32);
                self.order.push(next);
                work.extend(graph.operands(next).rev().filter_map(Operand::node));
            }
        }
    }

    fn reference(&self, node: NodeId) -> String {
        match self.of[node.index()] {
            Some(number) => format!("!{number}"),
            None => "null".to_owned(),
        }
    }
}
