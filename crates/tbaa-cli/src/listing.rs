//! A text of metadata alone, such as an article prints: which nodes are what.

use tbaa::raw::RawGraph;
use tbaa::{Graph, NodeId, Operand};
use tbaa_ir::Module;

/// What a node's operands make it.
enum Role {
    Tag,
    Copy,
    Type,
    Unknown,
}

/// Gives the nodes of a text in which nothing says what they are for the roles
/// that their operands suggest, in file order. Returns how many became tags.
pub(crate) fn guess_roles(module: &mut Module) -> usize {
    let mut nodes: Vec<NodeId> = module.graph().nodes().collect();
    nodes.sort_by_key(|&node| module.offset_of(node));
    let mut roles: Vec<_> = nodes.iter().map(|&node| (node, role(module.graph(), node))).collect();
    // A copy makes tags of its entries; those that stand on their own come first.
    roles.sort_by_key(|(_, role)| matches!(role, Role::Copy));
    let graph = module.graph_mut();
    for (node, role) in roles {
        match role {
            Role::Tag => drop(graph.mark_tag(node)),
            Role::Copy => drop(graph.mark_copy(node)),
            Role::Type => drop(graph.mark_type(node)),
            Role::Unknown => {}
        }
    }
    graph.tag_count()
}

fn role(graph: &Graph, node: NodeId) -> Role {
    let operands: Vec<_> = graph.operands(node).collect();
    let is_int = |operand: &Operand<'_>| matches!(operand, Operand::Int(_));
    match &operands[..] {
        [Operand::Node(_), Operand::Node(_), Operand::Int(_), rest @ ..]
            if rest.len() <= 2 && rest.iter().all(is_int) =>
        {
            Role::Tag
        }
        [Operand::String(_), Operand::Node(_), ..]
        | [Operand::Node(_), Operand::Int(_), Operand::String(_), ..] => Role::Type,
        [_, _, _, ..] if operands.len().is_multiple_of(3) => {
            let is_entry = |entry: &[Operand<'_>]| match entry {
                [Operand::Int(_), Operand::Int(_), Operand::Node(tag)] => {
                    matches!(role(graph, *tag), Role::Tag)
                }
                _ => false,
            };
            if operands.chunks(3).all(is_entry) { Role::Copy } else { Role::Unknown }
        }
        _ => Role::Unknown,
    }
}
