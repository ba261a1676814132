//! Rules `union` and `union-strict` against the naive definition, on random
//! universes.

use std::collections::BTreeMap;
use std::fmt;

use tbaa::{Access, AccessPath, ByteRange, Clause, Comparison, Explanation, Oracle, Rules};
use tbaa_tests::Rng;
use tbaa_tests::naive::Naive;
use tbaa_tests::universe::{self, Taste, Universe};

#[derive(Default)]
pub(super) struct Count {
    pairs: u64,
    /// `NoAlias` answers of rule `union`, and of `union-strict` alone.
    no: u64,
    strict_no: u64,
    /// Answers of rule `union` by the clause that gave them.
    clauses: BTreeMap<Clause, u64>,
}

impl fmt::Debug for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { pairs, no, strict_no, clauses } = self;
        write!(f, "{pairs} pairs, {no} NoAlias, {strict_no} more under union-strict: {clauses:?}")
    }
}

pub(super) fn compare(seed: u64, u: &Universe, sizes: &mut Rng, count: &mut Count) {
    let (graph, ids) = u.graph();
    let naive = Naive::new(u);
    let (union, strict) =
        (Oracle::new(&graph, Rules::Union), Oracle::new(&graph, Rules::UnionStrict));
    for (i, &a) in ids.iter().enumerate() {
        for (j, &b) in ids.iter().enumerate().skip(i) {
            let mut descriptions = [u.tags[i], u.tags[j]];
            let mut accesses = [Access::from(a), Access::from(b)];
            for (tag, access) in descriptions.iter_mut().zip(&mut accesses) {
                // A size of the access's own, in old-format universes too.
                if sizes.one_in(5) {
                    tag.size = *sizes.pick(&[0, 1, 2, 4, 7, 16, u64::MAX]);
                    *access = access.with_size(tag.size);
                } else if !u.sized {
                    tag.size = 0;
                }
            }
            let [of_a, of_b] = &descriptions;
            let mut expected = naive.alias(of_a, of_b);
            if a == b {
                // One tag, or two that became one.
                expected.union = true;
                expected.strict = true;
            }
            let [a, b] = accesses;
            for (oracle, expected) in [(&union, expected.union), (&strict, expected.strict)] {
                let answers = [oracle.may_alias(a, b), oracle.may_alias(b, a)];
                assert_eq!(
                    answers,
                    [expected, expected],
                    "seed {seed}, rule {}: {} and {}\n{u:?}{}",
                    oracle.rules(),
                    u.show_tag(of_a),
                    u.show_tag(of_b),
                    oracle.explain(a, b),
                );
            }
            let why = union.explain(a, b);
            assert_ne!(why.clause, Clause::Limit, "seed {seed}: a limit in a small universe");
            assert_eq!(why.answer, union.alias(a, b));
            if let Some(comparison) = &why.comparison {
                check_comparison(&why, comparison);
            }
            *count.clauses.entry(why.clause).or_default() += 1;
            count.pairs += 1;
            count.no += u64::from(!expected.union);
            count.strict_no += u64::from(expected.union && !expected.strict);
        }
    }
}

/// The paths of an explanation are connected, start from one type, and their
/// bytes meet or not as the clause says.
fn check_comparison(why: &Explanation, comparison: &Comparison) {
    for AccessPath { steps, to_base, .. } in [&comparison.a, &comparison.b] {
        assert!(steps.first().is_none_or(|step| step.ty == comparison.base), "{why}");
        assert!(steps.windows(2).all(|pair| pair[0].into == pair[1].ty), "{why}");
        assert!(*to_base <= steps.len(), "{why}");
    }
    let (Some(a), Some(b)) = (&comparison.a.bytes, &comparison.b.bytes) else { return };
    let meet = intervals(a)
        .iter()
        .any(|&(from, to)| intervals(b).iter().any(|&(start, end)| from < end && start < to));
    assert_eq!(meet, why.clause == Clause::Overlap, "{why}");
    assert!(!meet || comparison.apart.is_none(), "{why}");
}

/// The intervals of a range; of a flexible array's, those not too far out.
fn intervals(range: &ByteRange) -> Vec<(u64, u64)> {
    let mut starts = vec![range.start];
    for repeat in &range.repeats {
        let count = repeat.count.unwrap_or(4_000 / repeat.stride + 1);
        starts = starts
            .iter()
            .flat_map(|start| (0..count).map(move |element| start + element * repeat.stride))
            .collect();
        starts.sort_unstable();
        starts.dedup();
    }
    let len = range.end.map_or(u64::MAX, |end| end - range.start);
    starts.into_iter().map(|start| (start, start.saturating_add(len))).collect()
}

fn run(sized: bool, taste: Taste) -> Count {
    let mut count = Count::default();
    let mut seed = 0;
    while count.pairs < super::pairs() {
        seed += 1;
        let mut rng = Rng(seed);
        let u = universe::random(&mut rng, sized, taste);
        compare(seed, &u, &mut rng, &mut count);
    }
    println!("sized: {sized}, seeds 1 to {seed}, {count:?}");
    count
}

#[test]
fn sized_universes_equal_the_naive_definition() {
    let count = run(true, Taste::Wild);
    assert!(count.no > count.pairs / 50 && count.strict_no > count.pairs / 500, "{count:?}");
}

#[test]
fn old_universes_equal_the_naive_definition() {
    let count = run(false, Taste::Wild);
    assert!(count.no > count.pairs / 50 && count.strict_no > count.pairs / 500, "{count:?}");
}

#[test]
fn tame_universes_equal_the_naive_definition() {
    run(true, Taste::Tame);
    run(false, Taste::Tame);
}
