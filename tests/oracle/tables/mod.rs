//! The tables behind queries.
//!
//! Feature `self-check` compares every answer from a table with the rule's definition.
//! Here the answers must also not depend on how the graph grew, nor on how many
//! are asked for at once.

mod accepted;
mod cases;
mod growth;
mod many;

use std::borrow::Borrow;

use pretty_assertions::assert_eq;
use tbaa::{Draft, DraftOperand, Format, Graph, Operand, Oracle, Rules, TagId};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

const RULES: [Rules; 3] = [Rules::Llvm, Rules::Union, Rules::UnionStrict];

/// The graphs of the comparisons with LLVM, of all shapes and both formats.
fn each_graph(mut test: impl FnMut(&mut Rng, &str, &Graph)) {
    let first_seed = setting("TBAA_SEED", 1);
    for seed in first_seed..first_seed + setting("TBAA_GRAPHS", 2) {
        for format in [Format::Old, Format::New] {
            for shape in [Shape::Any, Shape::PlainScalars, Shape::PlainAggregates] {
                let mut rng = Rng(seed as u64);
                let universe = Universe { format, structs: 2 + rng.below(30), tags: 90, shape };
                let graph = random::graph(&mut rng, &universe);
                test(&mut rng, &format!("seed {seed}, {format:?}"), &graph);
            }
        }
    }
}

/// Copies node after node of a graph into another, where they get the same
/// indices.
fn copy_node(from: &Graph, index: usize, to: &mut Graph) -> Option<TagId> {
    let node = from.nodes().nth(index).unwrap();
    let there: Vec<_> = to.nodes().collect();
    let refers_to_itself = from.operands(node).any(|operand| operand.node() == Some(node));
    let new = if refers_to_itself {
        let operands = from.operands(node).map(|_| DraftOperand::Member(0)).collect();
        to.insert_group(&[Draft { distinct: true, operands }]).unwrap()[0]
    } else {
        let operands: Vec<_> = from
            .operands(node)
            .map(|operand| match operand {
                Operand::Node(id) => Operand::Node(there[id.index()]),
                other => other,
            })
            .collect();
        to.insert(&operands).unwrap()
    };
    assert_eq!(new.index(), index);
    from.tag_of(node).map(|_| to.mark_tag(new))
}

fn check<G: Borrow<Graph>>(what: &str, oracle: &Oracle<G>, tags: &[TagId]) {
    let matrix = oracle.matrix(tags);
    let classes = oracle.classes(tags);
    let rows: Vec<Vec<bool>> =
        tags.iter().map(|&a| tags.iter().map(|&b| oracle.may_alias(a, b)).collect()).collect();
    let mut pairs = 0;
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(&oracle.row(tags[i], tags), row, "{what}");
        for (j, &may) in row.iter().enumerate() {
            assert_eq!(matrix.may_alias(i, j), may, "{what}: matrix, {i} and {j}");
            let alike = classes.as_slice()[i] == classes.as_slice()[j];
            assert_eq!(alike, rows[i] == rows[j], "{what}: classes, {i} and {j}");
            pairs += usize::from(i < j && may);
        }
    }
    assert_eq!(matrix.count_may_alias(), pairs, "{what}");
    assert_eq!(matrix.len(), tags.len());
    // Classes are numbered by their first tags.
    let mut seen = 0;
    for (i, &class) in classes.as_slice().iter().enumerate() {
        assert!(class as usize <= seen, "{what}");
        if class as usize == seen {
            assert_eq!(classes.representatives()[seen] as usize, i, "{what}");
            seen += 1;
        }
    }
    assert_eq!(classes.len(), seen, "{what}");
}
