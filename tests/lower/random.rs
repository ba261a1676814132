//! Random universes, rich in unions, lowered and checked pair by pair.

use tbaa::{Access, Format, Graph, Oracle, Rules, TagId};
use tbaa_lower::{Lowering, Options, Source};

use tbaa_tests::Rng;
use tbaa_tests::setting;
use tbaa_tests::universe::{self, Taste};

/// A random source graph, its lowering, and the sources.
pub(crate) struct Case {
    pub(crate) graph: Graph,
    pub(crate) rules: Rules,
    pub(crate) lowering: Lowering,
    pub(crate) accesses: Vec<Access>,
}

/// Lowers a random universe: in one call, or grown in several.
pub(crate) fn case(seed: u64, grown: bool) -> Case {
    let mut rng = Rng(seed);
    let taste = if rng.one_in(4) { Taste::Tame } else { Taste::Wild };
    let sized = !rng.one_in(3);
    let mut u = universe::random(&mut rng, sized, taste);
    for _ in 0..rng.below(4) {
        universe::grow(&mut rng, &mut u, taste);
    }
    let (graph, tags) = u.graph();
    let rules = *rng.pick(&[Rules::Union, Rules::Union, Rules::UnionStrict, Rules::Llvm]);
    let format = *rng.pick(&[Format::Old, Format::New]);
    let depth = *rng.pick(&[64, 64, 3, 1]);
    let mut options = Options::new().format(format).depth(depth);
    options.scopes = rng.one_in(2);
    let source = |rng: &mut Rng, tag: TagId| match rng.below(8) {
        0 => Source::sized(tag, *rng.pick(&[0, 1, 8, 16])),
        _ => tag.into(),
    };
    let sources: Vec<Source> = tags.iter().map(|&tag| source(&mut rng, tag)).collect();
    let oracle = Oracle::new(&graph, rules);
    let mut lowering = Lowering::new(if grown { options.lineage("test") } else { options });
    if grown {
        let mut given = Vec::new();
        let mut rest = &sources[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(1 + rng.below(9) as usize));
            lowering.lower(&oracle, now).unwrap();
            for &(access, tag) in &given {
                assert_eq!(lowering.tag(access), tag, "seed {seed}: a tag given out changed");
            }
            given = lowering.sources().map(|access| (access, lowering.tag(access))).collect();
            rest = later;
        }
    } else {
        lowering.lower(&oracle, &sources).unwrap();
    }
    let accesses = lowering.sources().collect();
    drop(oracle);
    Case { graph, rules, lowering, accesses }
}

/// Whether all scopes of `a` are in the list of those that `b` does not alias.
fn apart_by_scopes(lowering: &Lowering, a: Access, b: Access) -> bool {
    let (Some(a), Some(b)) = (lowering.scopes_of(a), lowering.scopes_of(b)) else { return false };
    b.noalias().any(|scope| scope == a.scope)
}

/// Every pair that the rule calls `MayAlias` is one for LLVM; what is lost is
/// counted right; and `check` agrees.
fn check(seed: u64, case: &Case) -> (u64, u64) {
    let grown = case.lowering.options().lineage.is_some();
    let Case { graph, rules, lowering, accesses } = case;
    let source = Oracle::new(graph, *rules);
    let llvm = Oracle::new(lowering.graph(), Rules::Llvm);
    let (mut pairs, mut no_alias, mut lost) = (0, 0, 0);
    let mut lost_pairs = lowering.lost_pairs(&source);
    for (i, &a) in accesses.iter().enumerate() {
        for &b in &accesses[i + 1..] {
            let (may, lowered) =
                (source.may_alias(a, b), llvm.may_alias(lowering.tag(a), lowering.tag(b)));
            assert!(lowered || !may, "seed {seed}: {a:?} and {b:?} may alias");
            let scoped = apart_by_scopes(lowering, a, b) || apart_by_scopes(lowering, b, a);
            assert!(!scoped || !may, "seed {seed}: scopes of {a:?} and {b:?}");
            match lowering.options().scopes {
                false => assert!(!scoped),
                // A class that is there is not parted.
                true => assert!(grown || scoped != may, "seed {seed}"),
            }
            pairs += 1;
            no_alias += u64::from(!may);
            if lowered && !may {
                lost += 1;
                assert_eq!(lost_pairs.next(), Some((a, b)), "seed {seed}");
            }
        }
    }
    assert_eq!(lost_pairs.next(), None, "seed {seed}");
    let loss = lowering.lost();
    assert_eq!((loss.no_alias, loss.pairs), (no_alias, lost), "seed {seed}: {loss:?}");
    assert_eq!(lowering.check(&source), [], "seed {seed}");
    for &access in accesses {
        let why = lowering.why(access).unwrap();
        assert_eq!(why.tag, lowering.tag(access));
        assert_eq!(why.tag.is_none(), why.node.is_none(), "seed {seed}: {why:?}");
        let immutable = access.tag.is_some_and(|tag| source.is_constant(tag));
        assert!(why.tag.is_none() || llvm.is_constant(why.tag) == immutable, "seed {seed}");
    }
    (pairs, lost)
}

fn run(grown: bool) {
    let wanted = setting("TBAA_PAIRS", 60_000) as u64;
    let mut seed = setting("TBAA_SEED", 1) as u64;
    let (mut pairs, mut lost) = (0, 0);
    while pairs < wanted {
        let (more, less) = check(seed, &case(seed, grown));
        pairs += more;
        lost += less;
        seed += 1;
    }
    println!("grown {grown}, to seed {seed}: {pairs} pairs, {lost} lost, none unsound");
}

#[test]
fn closed_is_sound() {
    run(false);
}

#[test]
fn growing_is_sound() {
    run(true);
}

#[test]
fn the_same_twice() {
    for seed in 1..40 {
        let texts = [(); 2].map(|()| tbaa_ir::write(case(seed, seed % 2 == 0).lowering.graph()));
        assert_eq!(texts[0], texts[1], "seed {seed}");
    }
}
