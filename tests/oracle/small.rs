//! Compares rules `union` and `union-strict` with [`Naive`] on small *universes* (types and tags).
//!
//! The tests take every 1,499th graph (size-aware: 499th) from index `TBAA_SMALL_FROM` on. This
//! command takes all:
//! `TBAA_SMALL=1 cargo test --release -p tbaa-tests --test oracle small -- --nocapture`.

use tbaa::{AliasResult, Oracle};
use tbaa_tests::naive::Naive;
use tbaa_tests::small::{field_lists, graphs, orders, share, universe};
use tbaa_tests::universe::Universe;

use crate::UNION_RULES;

/// Compares all pairs of well-formed tags. Returns the numbers of answers and of `NoAlias`.
fn compare(u: &Universe) -> (u64, u64) {
    let naive = Naive::new(u);
    let (graph, tags) = u.graph();
    let oracles = UNION_RULES.map(|rules| Oracle::new(&graph, rules));
    let good: Vec<_> = (0..tags.len()).filter(|&at| oracles[0].is_well_formed(tags[at])).collect();
    for (at, tag) in u.tags.iter().enumerate() {
        let denotes = naive.denotes(tag);
        assert_eq!(good.binary_search(&at).is_ok(), denotes, "{}\n{u:?}", u.show_tag(tag));
        // A malformed tag may alias everything.
        for oracle in oracles.iter().filter(|_| !denotes) {
            assert!(good.first().is_none_or(|&other| oracle.may_alias(tags[at], tags[other])));
        }
    }
    let (mut pairs, mut no) = (0, 0);
    for (i, &a) in good.iter().enumerate() {
        for &b in &good[i..] {
            let answers = naive.alias(&u.tags[a], &u.tags[b]);
            for (oracle, may) in oracles.iter().zip(answers) {
                let may = may || a == b;
                let ours = oracle.alias(tags[a], tags[b]) == AliasResult::MayAlias;
                let shown = || [a, b].map(|at| u.show_tag(&u.tags[at]));
                assert_eq!(ours, may, "{}: {:?}\n{u:?}", oracle.rule(), shown());
                pairs += 1;
                no += u64::from(!may);
            }
        }
    }
    (pairs, no)
}

fn all(types: usize, sized: bool, step: usize) {
    let graphs = share(types, sized, step);
    let (mut tags, mut pairs, mut no) = (0, 0, 0);
    for shapes in &graphs {
        let u = universe(shapes, sized);
        let (more, apart) = compare(&u);
        (tags, pairs, no) = (tags + u.tags.len(), pairs + more, no + apart);
    }
    let graphs = graphs.len();
    println!("sized {sized}: {graphs} graphs, {tags} tags, {pairs} pairs, {no} NoAlias");
    assert!(pairs > 1000 && no > 0 && no < pairs);
}

#[test]
fn old_format() {
    all(4, false, 1_499);
}

#[test]
fn size_aware() {
    all(3, true, 499);
}

#[test]
fn no_graph_is_left_out() {
    // The first type is a scalar. The second is a scalar under the root or under the first, or has
    // one of 19 lists of fields.
    assert_eq!(graphs(1, false, 1, 0).len(), 1);
    assert_eq!(graphs(2, false, 1, 0).len(), 2 + 19);
    assert_eq!(orders(4).len(), 24);
    assert_eq!(field_lists(2).len(), 3 * 2 + 6 * 4 + 10 * 8);
}
