//! Writes a graph as `.ll` metadata. *Copies* are `!tbaa.struct` nodes.

use std::fmt::Write;

use super::{COPIES, TAGS, TYPES};
use crate::graph::{Graph, NodeId, Operand, TypeId};
use crate::table::HashSet;
use tbaa_lex::constant::is_constant;
use tbaa_lex::source::escape;

/// Returns a graph's tags, `!tbaa.struct` nodes and types as metadata that `llvm-as` accepts.
///
/// Nodes are numbered from 0 as LLVM numbers them: depth first from the tags, the `!tbaa.struct`
/// nodes and the remaining types, in turn. The named metadata `!tbaa.tags`, `!tbaa.structs` and
/// `!tbaa.types` list these nodes, so that tools keep them and `tbaa_ir::read` finds them again.
///
/// An operand that is not a node, string or integer is printed as it was read if LLVM accepts it in
/// every module, such as `ptr null`. Otherwise, as for `ptr @g` or `!DIFile(scope: !6)`, `null` is
/// printed, and a comment on the line shows the beginning of the original.
///
/// ```
/// use tbaa::{Graph, text};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// b.struct_tag(int, int, 0)?;
/// assert_eq!(
///     text::write(&graph),
///     r#"!tbaa.tags = !{!0}
///
/// !0 = !{!1, !1, i64 0}
/// !1 = !{!"int", !2, i64 0}
/// !2 = !{!"R"}
/// "#
/// );
/// # Ok::<(), tbaa::BuildError>(())
/// ```
pub fn write(graph: &Graph) -> String {
    write_numbered(graph, &Numbering::new(graph), |_| None)
}

/// Like [`write()`], but nodes have the numbers and the order of `numbering`. `remark` returns a
/// comment of one line for a node, or `None`.
pub fn write_numbered(
    graph: &Graph,
    numbering: &Numbering,
    remark: impl Fn(NodeId) -> Option<String>,
) -> String {
    let mut out = String::new();
    for (name, nodes) in [TAGS, COPIES, TYPES].iter().zip(&numbering.lists) {
        if !nodes.is_empty() {
            let list: Vec<_> = nodes.iter().map(|&node| numbering.reference(node)).collect();
            let _ = writeln!(out, "!{name} = !{{{}}}", list.join(", "));
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    numbering.write(graph, remark, &mut out);
    out
}

/// Returns the text of two nodes, as `!0` and `!1`, and of all nodes that they reach.
pub fn write_two(graph: &Graph, first: NodeId, second: NodeId) -> String {
    let mut numbering = Numbering::empty(graph);
    for node in [first, second] {
        numbering.set(node, numbering.nodes.len() as u32);
    }
    for node in [first, second] {
        let operands = graph.operands(node).filter_map(Operand::node);
        operands.for_each(|node| numbering.add(graph, node));
    }
    let mut out = String::new();
    numbering.write(graph, |_| None, &mut out);
    out
}

/// The numbers with which the nodes of a graph are printed. Nodes that no tag, `!tbaa.struct` node
/// or type reaches have none. LLVM: `SlotTracker`.
#[derive(Clone, Debug)]
pub struct Numbering {
    of: Vec<Option<u32>>,
    /// The numbered nodes, in the order of their numbers.
    nodes: Vec<(u32, NodeId)>,
    /// The nodes to list: tags, copies, and the result of [`types_of_their_own`].
    lists: [Vec<NodeId>; 3],
}

impl Numbering {
    /// Numbers a graph's nodes from 0 as LLVM does: depth first, starting with the tags.
    pub fn new(graph: &Graph) -> Numbering {
        let mut numbering = Numbering::empty(graph);
        let tags: Vec<_> = graph.tags().map(|tag| graph.tag_node(tag)).collect();
        let copies: Vec<_> = graph.copies().map(|copy| copy.node()).collect();
        tags.iter().chain(&copies).for_each(|&node| numbering.add(graph, node));
        let reached: Vec<NodeId> = numbering.nodes.iter().map(|&(_, node)| node).collect();
        let rest = types_of_their_own(graph, &reached);
        rest.iter().for_each(|&node| numbering.add(graph, node));
        numbering.lists = [tags, copies, rest];
        numbering
    }

    /// Numbers the nodes of [`Numbering::new`] by each function of `known` in turn, except those
    /// that already have a number, or whose number is taken. `free` numbers the remaining nodes.
    #[doc(hidden)]
    pub fn keeping(
        graph: &Graph,
        known: &[&dyn Fn(NodeId) -> Option<u32>],
        mut free: impl FnMut() -> u32,
    ) -> Numbering {
        let Numbering { nodes, lists, .. } = Numbering::new(graph);
        let mut numbering = Numbering { lists, ..Numbering::empty(graph) };
        let mut taken = HashSet::default();
        for known in known {
            for &(_, node) in &nodes {
                let number = known(node).filter(|_| numbering.get(node).is_none());
                if let Some(number) = number.filter(|&number| taken.insert(number)) {
                    numbering.set(node, number);
                }
            }
        }
        for &(_, node) in &nodes {
            if numbering.get(node).is_none() {
                numbering.set(node, free());
            }
        }
        numbering.nodes.sort_unstable_by_key(|&(number, _)| number);
        numbering
    }

    fn empty(graph: &Graph) -> Numbering {
        let of = vec![None; graph.node_count()];
        Numbering { of, nodes: Vec::new(), lists: Default::default() }
    }

    fn set(&mut self, node: NodeId, number: u32) {
        self.of[node.index()] = Some(number);
        self.nodes.push((number, node));
    }

    /// Numbers a node and then its operands, depth first. LLVM: `SlotTracker::CreateMetadataSlot`.
    fn add(&mut self, graph: &Graph, node: NodeId) {
        let mut work = vec![node];
        while let Some(next) = work.pop() {
            if self.of[next.index()].is_none() {
                self.set(next, self.nodes.len() as u32);
                work.extend(graph.operands(next).rev().filter_map(Operand::node));
            }
        }
    }

    /// Returns the number of a node; `None` if it is not printed.
    pub fn get(&self, node: NodeId) -> Option<u32> {
        *self.of.get(node.index())?
    }

    /// Returns the node with this number.
    pub fn node(&self, number: u32) -> Option<NodeId> {
        let at = self.nodes.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        Some(self.nodes[at].1)
    }

    fn reference(&self, node: NodeId) -> String {
        self.get(node).map_or("null".to_owned(), |number| format!("!{number}"))
    }

    fn write(&self, graph: &Graph, remark: impl Fn(NodeId) -> Option<String>, out: &mut String) {
        for &(number, node) in &self.nodes {
            let distinct = if graph.is_distinct(node) { "distinct " } else { "" };
            let _ = write!(out, "!{number} = {distinct}!{{");
            let mut comment = remark(node).map_or(String::new(), |remark| format!(" ; {remark}"));
            for (position, operand) in graph.operands(node).enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                match operand {
                    Operand::Raw(text) if is_constant(text) != Some(true) => {
                        out.push_str("null");
                        comment.push_str(if comment.is_empty() { " ; " } else { ", " });
                        let _ = write!(comment, "operand {position} was ");
                        let bytes = text.as_bytes();
                        escape(&bytes[..bytes.len().min(SHOWN)], &mut comment);
                        comment.push_str(if bytes.len() > SHOWN { "..." } else { "" });
                    }
                    _ => write_operand(operand, out, |node| self.reference(node)),
                }
            }
            let _ = writeln!(out, "}}{comment}");
        }
    }
}

/// Returns each type to which no tag and no earlier type of the result leads through operands.
/// Types in `reached` come first, in the order of `reached`.
fn types_of_their_own(graph: &Graph, reached: &[NodeId]) -> Vec<NodeId> {
    let mut implied = vec![false; graph.node_count()];
    let mut work: Vec<NodeId> =
        graph.tags().flat_map(|tag| graph.types_of_tag(graph.tag_node(tag))).collect();
    let mut own = Vec::new();
    let reached = reached.iter().filter_map(|&node| graph.type_of(node));
    let mut types = reached.chain(graph.types()).map(TypeId::node);
    loop {
        while let Some(next) = work.pop() {
            if !std::mem::replace(&mut implied[next.index()], true) {
                work.extend(graph.operands(next).filter_map(Operand::node));
            }
        }
        let Some(next) = types.find(|ty| !implied[ty.index()]) else { return own };
        own.push(next);
        work.push(next);
    }
}

/// The most bytes of an operand that a comment shows.
const SHOWN: usize = 60;

/// Returns a node's operands, separated by commas. `reference` prints an operand that is a node.
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
        write_operand(operand, &mut out, &mut reference);
    }
    out
}

fn write_operand(operand: Operand<'_>, out: &mut String, reference: impl FnOnce(NodeId) -> String) {
    match operand {
        Operand::Null => out.push_str("null"),
        Operand::String(bytes) => {
            out.push_str("!\"");
            escape(bytes, out);
            out.push('"');
        }
        Operand::Int(int) => _ = write!(out, "{int}"),
        Operand::Node(node) => out.push_str(&reference(node)),
        Operand::Raw(text) => out.push_str(text),
    }
}
