//! A text of metadata alone, such as an article prints: which nodes are what.

use tbaa::NodeId;
use tbaa::parts::encoding::Form;
use tbaa::raw::RawGraph;
use tbaa_ir::Module;

/// Gives the nodes of a text in which nothing says what they are for the roles
/// that their operands suggest, in file order. Returns how many became tags.
pub(crate) fn guess_roles(module: &mut Module<'_>) -> usize {
    let mut nodes: Vec<NodeId> = module.graph().nodes().collect();
    nodes.sort_by_key(|&node| module.offset_of(node));
    let mut roles: Vec<_> =
        nodes.iter().map(|&node| (node, Form::of(module.graph(), node))).collect();
    // A copy makes tags of its entries; those that stand on their own come first.
    roles.sort_by_key(|(_, role)| *role == Some(Form::Copy));
    let graph = module.graph_mut();
    for (node, role) in roles {
        match role {
            Some(Form::Tag) => drop(graph.mark_tag(node)),
            Some(Form::Copy) => drop(graph.mark_copy(node)),
            Some(Form::Type) => drop(graph.mark_type(node)),
            None => {}
        }
    }
    graph.tag_count()
}
