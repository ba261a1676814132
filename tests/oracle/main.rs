//! The oracle: the rules compared with their definitions, and the tables behind queries.

mod engines;
mod masks;
mod small;
mod tables;
mod union;
mod words;

use tbaa::{AliasRule, Graph, TagId};
use tbaa_tests::universe::Universe;

const UNION_RULES: [AliasRule; 2] = [AliasRule::Union, AliasRule::UnionStrict];

/// So many scalars under each of two roots, with a tag each.
fn two_roots(count: usize) -> (Graph, Vec<TagId>) {
    let mut u = Universe::new(false);
    for root in ["one", "two"] {
        let root = u.root(root);
        for number in 0..count {
            let ty = u.scalar(&format!("t{number}"), root, 0);
            u.tag(ty, ty, 0, 0);
        }
    }
    u.graph()
}
