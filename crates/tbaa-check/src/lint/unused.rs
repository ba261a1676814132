//! Nodes that nothing uses.

use super::{Lint, Report, Subject};
use tbaa::parts::encoding::{Form, TAG_BASE};
use tbaa::parts::table::HashSet;
use tbaa::{NodeId, Operand, TypeId};

/// Reports tags and types that no instruction uses, under the same roots as used ones.
///
/// A module read with `Keep::Used` has none. Metadata of other kinds is never under a root that a
/// tag reaches.
pub(super) fn lint(subject: &Subject, report: &mut Report) {
    let Some(module) = subject.module else { return };
    let graph = subject.graph;
    // A text without code uses no tag.
    if module.instructions().iter().all(|instruction| instruction.tag.is_none()) {
        return;
    }
    let roots: HashSet<TypeId> = graph.types().filter_map(|ty| graph.root_of(ty)).collect();
    let is_known = |node: NodeId| graph.tag_of(node).is_some() || graph.type_of(node).is_some();
    let mut nodes: Vec<_> = graph.nodes().filter(|&node| !is_known(node)).collect();
    nodes.sort_by_key(|&node| module.offset_of(node));
    // Nodes that the reader made have no place in the text.
    for node in nodes.into_iter().filter(|&node| module.offset_of(node).is_some()) {
        let form = Form::of(graph, node);
        let ty = match form {
            Some(Form::Tag) => graph.operand(node, TAG_BASE).and_then(Operand::node),
            _ => Some(node),
        };
        let root = ty.and_then(|ty| graph.root_of(TypeId::of_node(ty)));
        let is_under_one = root.is_some_and(|root| roots.contains(&root));
        let (lint, what, help) = match form.filter(|_| is_under_one) {
            Some(Form::Type) => {
                (Lint::UnusedType, "no tag reaches type", "remove it, or tag the accesses to it")
            }
            Some(Form::Tag) => {
                (Lint::UnusedTag, "no instruction has tag", "remove it, or attach it")
            }
            _ => continue,
        };
        let message = || format!("{what} {}", subject.type_name(node));
        let Some(found) = report.add(lint, message) else { continue };
        found.primary = subject.node_label(node, "");
        found.advise(help);
    }
}
