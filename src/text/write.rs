//! Writing a graph as `.ll` metadata.

use std::fmt::Write;

use super::{COPIES, TAGS, TYPES};
use crate::graph::{Graph, NodeId, Operand, TypeId};
use tbaa_lex::lexer::Lexer;
use tbaa_lex::source::escape;

/// Prints a graph's tags, copies and types as metadata that `llvm-as` accepts.
///
/// Nodes are numbered from 0 in the order in which LLVM itself would number
/// them: each before its operands, tags first. The named metadata `!tbaa.tags`
/// (and `!tbaa.structs`, `!tbaa.types`) lists them, so that tools keep them and
/// `tbaa_ir::read` finds them again.
///
/// An operand that is no node, string or integer is printed as it was read if
/// it is a constant, such as `ptr null`. One that names something outside the
/// graph, such as `ptr @g` or `!DIFile(scope: !6)`, could not be assembled or
/// would name something else: `null` stands for it, which is as ill-formed, and
/// a comment at the end of the node's line says what it was.
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
#[must_use]
pub fn write(graph: &Graph) -> String {
    let mut numbers = Numbers { of: vec![None; graph.node_count()], order: Vec::new() };
    let tags: Vec<_> = graph.tags().map(|tag| graph.tag_node(tag)).collect();
    let copies: Vec<_> = graph.copies().map(|copy| copy.node()).collect();
    tags.iter().chain(&copies).for_each(|&node| numbers.number(graph, node));
    let rest = types_of_their_own(graph, &numbers.order);
    rest.iter().for_each(|&node| numbers.number(graph, node));
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
    numbers.write(graph, &mut out);
    out
}

/// Prints what two nodes, which become `!0` and `!1`, are made of, as [`write()`]
/// does.
#[doc(hidden)]
pub fn write_two(graph: &Graph, first: NodeId, second: NodeId) -> String {
    let mut numbers = Numbers { of: vec![None; graph.node_count()], order: Vec::new() };
    for (number, node) in [first, second].into_iter().enumerate() {
        numbers.of[node.index()] = Some(number as u32);
        numbers.order.push(node);
    }
    for node in [first, second] {
        let operands = graph.operands(node).filter_map(Operand::node);
        operands.for_each(|node| numbers.number(graph, node));
    }
    let mut out = String::new();
    numbers.write(graph, &mut out);
    out
}

impl Numbers {
    /// Writes the definitions of all nodes that have numbers.
    fn write(&self, graph: &Graph, out: &mut String) {
        for (number, &node) in self.order.iter().enumerate() {
            let distinct = if graph.is_distinct(node) { "distinct " } else { "" };
            let _ = write!(out, "!{number} = {distinct}!{{");
            let mut comment = String::new();
            for (position, operand) in graph.operands(node).enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                match operand {
                    Operand::Raw(text) if !is_constant(text) => {
                        out.push_str("null");
                        comment.push_str(if comment.is_empty() { " ; " } else { ", " });
                        let _ = write!(comment, "operand {position} was ");
                        write_shortened(text, &mut comment);
                    }
                    _ => write_operand(operand, out, |node| self.reference(node)),
                }
            }
            let _ = writeln!(out, "}}{comment}");
        }
    }
}

/// The types that are types although no tag and no other type makes them so:
/// first those among the nodes that tags and copies lead to, in that order.
fn types_of_their_own(graph: &Graph, reached: &[NodeId]) -> Vec<NodeId> {
    let mut implied = vec![false; graph.node_count()];
    let mut work: Vec<NodeId> = graph.tags().flat_map(|tag| graph.types_of_tag(tag)).collect();
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

/// Returns whether a text means the same in a module of its own: it names no
/// node, value or type, and does not run into what follows it.
fn is_constant(text: &str) -> bool {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    while let Some(byte) = lexer.peek() {
        match byte {
            b'!' | b'@' | b'%' | b'$' | b'#' | b';' | b'/' => return false,
            b'"' if lexer.quoted().is_err() => return false,
            b'"' => {}
            _ => lexer.at += 1,
        }
    }
    // A bracket that is not closed, or a comma, would end the operand elsewhere.
    let followed = format!("{text},");
    let mut end = Lexer::new(followed.as_bytes(), 0);
    !text.is_empty() && end.until(b",", "an operand").is_ok() && end.at == text.len()
}

/// How much of an operand a comment shows, in bytes.
const SHOWN: usize = 60;

/// Prints the beginning of an operand's text for a comment.
fn write_shortened(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    escape(&bytes[..bytes.len().min(SHOWN)], out);
    if bytes.len() > SHOWN {
        out.push_str("...");
    }
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
        Operand::Int(int) => {
            let _ = write!(out, "{int}");
        }
        Operand::Node(node) => out.push_str(&reference(node)),
        Operand::Raw(text) => out.push_str(text),
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

#[cfg(test)]
mod tests {
    use super::is_constant;

    #[test]
    fn what_a_dump_may_show() {
        for text in ["ptr null", "[2 x i8] c\"@,!\"", "<{ i8, [1 x i8] }> zeroinitializer", "undef"]
        {
            assert!(is_constant(text), "{text}");
        }
        for text in ["", "{ i8", "i8 0, i8", "i8 0}", "ptr @g", "%T undef", "!6", "c\"a", "x ; y"] {
            assert!(!is_constant(text), "{text}");
        }
    }
}
