//! Which types may have to do with one another: a quick no, where most pairs of
//! a module get one.

use std::collections::HashMap;

use tbaa::{Graph, TagId, TypeId};

/// The types that are reached from some types by fields and parents, in any
/// order.
pub(super) struct Related {
    /// For each base type asked about, a bit for each node.
    reached: HashMap<TypeId, Vec<u64>>,
}

impl Related {
    /// Follows the base types of some tags.
    pub(super) fn of(graph: &Graph, tags: impl Iterator<Item = TagId>) -> Related {
        let mut reached = HashMap::new();
        for base in tags.filter_map(|tag| graph.tag(tag).ok()).map(|tag| tag.base) {
            reached.entry(base).or_insert_with(|| reach(graph, base));
        }
        Related { reached }
    }

    /// Returns whether one tag's base type may lead to the other's, or to a type
    /// below it; a doubt is a yes.
    pub(super) fn may_meet(&self, graph: &Graph, a: TagId, b: TagId) -> bool {
        let (Ok(a), Ok(b)) = (graph.tag(a), graph.tag(b)) else { return true };
        let leads = |from: TypeId, to: TypeId| {
            let at = to.node().index();
            self.reached.get(&from).is_none_or(|bits| bits[at / 64] >> (at % 64) & 1 != 0)
        };
        leads(a.base, b.base) || leads(b.base, a.base)
    }
}

fn reach(graph: &Graph, base: TypeId) -> Vec<u64> {
    let mut bits = vec![0; graph.node_count().div_ceil(64)];
    let mut pending = vec![base];
    while let Some(ty) = pending.pop() {
        let (at, node) = (ty.node().index(), graph.ty(ty));
        if bits[at / 64] >> (at % 64) & 1 != 0 {
            continue;
        }
        bits[at / 64] |= 1 << (at % 64);
        pending.extend(node.fields().map(|field| field.ty).chain(node.parent()));
    }
    bits
}
