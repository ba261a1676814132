//! The oracle: its rules compared with their definitions, and the tables that make it fast.

mod engines;
mod masks;
mod small;
mod tables;
mod union;
mod words;

use tbaa::{AliasRule, Graph, TagId};
use tbaa_tests::universe::Universe;

const UNION_RULES: [AliasRule; 2] = [AliasRule::Union, AliasRule::UnionStrict];

/// Returns a graph with two roots, `count` scalar types under each, and a tag for each scalar.
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
