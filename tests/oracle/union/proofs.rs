//! Proofs that are wrong are refused, and those of large types stay small.

use tbaa::proof::{Apart, Proof, Unproved};
use tbaa::{Access, Oracle, Rules};

use super::World;
use tbaa_tests::check_proof::Checker;
use tbaa_tests::rng::Rng;
use tbaa_tests::universe::{self, Taste, Universe};

/// Every way to corrupt a proof in one place, so that it proves less or something
/// false.
fn corrupted(proof: &Proof) -> Vec<Proof> {
    let mut all = Vec::new();
    for (at, direction) in proof.directions.iter().enumerate() {
        let mut change = |how: &dyn Fn(&mut tbaa::proof::Direction)| {
            let mut proof = proof.clone();
            how(&mut proof.directions[at]);
            all.push(proof);
        };
        for gap in 0..direction.gaps.len() {
            change(&|d| drop(d.gaps.remove(gap)));
            change(&|d| d.gaps[gap].outer.start += 1);
            change(&|d| d.gaps[gap].inner.repeats.clear());
            change(&|d| match &mut d.gaps[gap].apart {
                Apart::Residue { modulus, .. } => *modulus += 1,
                Apart::Cases { runs, .. } => drop(runs.pop()),
                _ => unreachable!(),
            });
        }
        for part in 0..direction.partings.len() {
            change(&|d| _ = d.partings.remove(part));
            change(&|d| d.partings[part].inner += 1);
        }
    }
    all
}

#[test]
fn a_corrupted_proof_is_refused() {
    for sized in [true, false] {
        let (mut tried, mut accepted) = (0, 0);
        for seed in 1..150 {
            let u = universe::random(&mut Rng::new(seed), sized, Taste::Wild);
            let (graph, tags) = u.graph();
            let (oracle, checker) = (Oracle::new(&graph, Rules::Union), Checker(&graph));
            for (a, b) in tags.iter().flat_map(|&a| tags.iter().map(move |&b| (a, b))) {
                let (a, b) = (Access::from(a), Access::from(b));
                let Ok(proof) = oracle.prove(a, b) else { continue };
                assert_eq!(checker.confirm(false, a, b, &proof), Ok(()));
                for proof in corrupted(&proof) {
                    tried += 1;
                    accepted += u64::from(checker.confirm(false, a, b, &proof).is_ok());
                }
            }
        }
        println!("sized: {sized}, {tried} corrupted proofs, {accepted} of which still prove");
        // Bytes may be said to part for more reasons than one, and be covered by
        // others that are listed.
        assert!(tried > 300 && accepted * 10 < tried, "{accepted} of {tried}");
    }
}

/// No proof of one pair proves another that may alias.
#[test]
fn a_proof_of_another_pair_is_refused() {
    let mut refused = 0;
    for (seed, sized) in (1..100).flat_map(|seed| [(seed, true), (seed, false)]) {
        let u = universe::random(&mut Rng::new(seed), sized, Taste::Wild);
        let (graph, tags) = u.graph();
        for rules in [Rules::Union, Rules::UnionStrict] {
            let (oracle, checker) = (Oracle::new(&graph, rules), Checker(&graph));
            let pairs = || tags.iter().flat_map(|&a| tags.iter().map(move |&b| (a, b)));
            let Some(proof) = pairs().find_map(|(a, b)| oracle.prove(a, b).ok()) else { continue };
            for (a, b) in pairs().filter(|&(a, b)| oracle.may_alias(a, b)) {
                if !(oracle.is_well_formed(a) && oracle.is_well_formed(b)) {
                    continue;
                }
                let strict = rules == Rules::UnionStrict;
                let confirmed = checker.confirm(strict, a.into(), b.into(), &proof);
                assert!(confirmed.is_err(), "seed {seed}, {rules}: {u:?}{a:?} {b:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 1_000, "{refused}");
}

/// `union { struct { int x; float y; } a[n]; struct { float p; int q; } b[n]; }`.
#[test]
fn a_billion_elements_are_one_gap() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let (int, float) = (u.scalar("int", root, 4), u.scalar("float", root, 4));
    let xy = u.aggregate("xy", root, 8, &[(int, 0, 4), (float, 4, 4)]);
    let pq = u.aggregate("pq", root, 8, &[(float, 0, 4), (int, 4, 4)]);
    let size = 8_000_000_000;
    let arrays = u.aggregate("U", root, size, &[(xy, 0, size), (pq, 0, size)]);
    let (y, p) = (u.tag(arrays, float, 4, 4), u.tag(arrays, float, 0, 4));
    let World { graph, tags, .. } = World::new(u);
    for rules in [Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        let why = oracle.explain(tags[y], tags[p]).to_string();
        assert!(why.ends_with("\n  distances are 4 modulo 8, the bytes need -3..3"), "{why}");
        let proof = oracle.prove(tags[y], tags[p]).unwrap();
        let gaps: Vec<_> = proof.directions.iter().map(|direction| direction.gaps.len()).collect();
        assert_eq!(gaps, [1, 1], "{proof:#?}");
        Checker(&graph).confirm(false, tags[y].into(), tags[p].into(), &proof).unwrap();
        assert_eq!(oracle.prove(tags[y], tags[y]), Err(Unproved::MayAlias));
    }
    assert_eq!(Oracle::new(&graph, Rules::Llvm).prove(tags[y], tags[p]), Err(Unproved::Rules));
}
