//! Masks: the oracle's answers as bits, and the answers that are lost if there are too few bits.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use tbaa::AccessKind::{Both, Read, Write};
use tbaa::spec::Spec;
use tbaa::{Access, AliasRule, Format, Graph, Masks, MasksError, MemoryEffect, Oracle};
use tbaa_tests::random::{self, Shape};
use tbaa_tests::universe::{self, Taste};
use tbaa_tests::{ROOT, Rng, files};

use crate::two_roots;

/// Compares the answers of masks with the oracle's, on pairs of accesses and of random calls.
fn compare(oracle: &Oracle<&Graph>, list: &[(Access, u64)], bits: usize, what: &str) -> Masks {
    let masks = oracle.masks(list.iter().copied(), bits).unwrap();
    let (exact, least) = (masks.exact_bits(), masks.least_bits());
    assert_eq!(masks.bits(), exact.min(bits), "{what}");
    assert!(exact * 9 <= least * 10 && least <= exact, "{what}: {exact}, {least}");
    let lost: HashSet<_> = masks.lost().collect();
    for (a, b) in (0..list.len()).flat_map(|b| (0..=b).map(move |a| (a, b))) {
        let may = oracle.may_alias(list[a].0, list[b].0);
        assert_eq!(masks.may_alias(a, b), may ^ lost.contains(&(a, b)), "{what}: {a}, {b}");
        assert_ne!(masks.mask(b), 0, "{what}");
    }
    let mut rng = Rng(list.len() as u64);
    let mut call = || -> Vec<_> {
        let mut access = || (rng.below(list.len()), *rng.pick(&[Read, Write, Both]));
        (0..4).map(|_| access()).collect()
    };
    for _ in 0..if list.is_empty() { 0 } else { 20 } {
        let calls = [call(), call()];
        let [first, second] = calls.each_ref().map(|accesses| {
            let effects = accesses.iter().map(|&(at, kind)| masks.effect(at, kind));
            effects.fold(MemoryEffect::NONE, MemoryEffect::union)
        });
        let conflict = |&(a, kind): &(usize, _), &(b, other): &(usize, _)| {
            let [x, y] = [list[a].0.with_kind(kind), list[b].0.with_kind(other)];
            let shared = masks.may_alias(a, b) && (kind, other) != (Read, Read);
            assert!(shared || oracle.may_conflict(x, y).is_none(), "{what}: {x:?}, {y:?}");
            shared
        };
        let any = calls[0].iter().any(|a| calls[1].iter().any(|b| conflict(a, b)));
        assert_eq!(first.conflicts(second), any, "{what}: {calls:?}");
        assert_eq!(second.conflicts(first), any, "{what}: {calls:?}");
    }
    masks
}

/// Masks of random accesses are exact if there are enough bits, and otherwise sound.
#[test]
fn masks_say_what_the_oracle_says_in_random_worlds() {
    let (mut runs, mut met, mut capped) = (0, 0, 0);
    for seed in 1..=24 {
        let mut rng = Rng(seed);
        let sized = seed % 2 == 0;
        let (graph, mut tags) = if seed % 3 == 0 {
            let format = if sized { Format::New } else { Format::Old };
            let of = random::Universe { format, structs: 20, tags: 60, shape: Shape::Any };
            let graph = random::graph(&mut rng, &of);
            let tags = graph.tags().collect();
            (graph, tags)
        } else {
            let taste = if seed % 4 == 1 { Taste::Mixed } else { Taste::Wild };
            let mut world = universe::random(&mut rng, sized, taste);
            (0..3).for_each(|_| universe::grow(&mut rng, &mut world, taste));
            world.graph()
        };
        tags.extend(tags.first().copied());
        let mut access = |tag| match rng.below(8) {
            0 => (Access::from(tag).with_size(1 + rng.below(12)), 1),
            weight => (Access::from(tag), weight),
        };
        let list: Vec<_> = tags.into_iter().map(&mut access).collect();
        for rule in AliasRule::ALL {
            let oracle = Oracle::new(&graph, rule);
            for bits in [64, 7, 1] {
                let masks = compare(&oracle, &list, bits, &format!("seed {seed}, {rule}, {bits}"));
                runs += 1;
                met += usize::from(masks.least_bits() == masks.exact_bits());
                capped += usize::from(masks.lost().next().is_some());
            }
        }
    }
    println!("{met} of {runs} met the lower bound, {capped} were capped");
    assert!(met > runs * 3 / 4 && capped > runs / 4, "{met} and {capped} of {runs}");
}

/// The table has the bits that exact masks need by each rule, and in brackets a lesser lower bound.
#[test]
fn masks_of_every_spec_are_in_the_table_of_the_page() {
    let mut table = String::new();
    for file in files("specs", &["ron"]) {
        let built = Spec::load(&fs::read_to_string(&file).unwrap()).unwrap();
        let list: Vec<_> = built.tags().values().map(|&tag| (Access::from(tag), 1)).collect();
        let name = file.file_name().unwrap().to_str().unwrap();
        table += &format!("| {name} | {} |", list.len());
        for rule in AliasRule::ALL {
            let oracle = Oracle::new(built.graph(), rule);
            let masks = compare(&oracle, &list, 64, &format!("{name}, {rule}"));
            compare(&oracle, &list, 4, &format!("{name}, {rule}, 4 bits"));
            let (bits, least) = (masks.exact_bits(), masks.least_bits());
            let bound = if least < bits { format!(" ({least})") } else { String::new() };
            table += &format!(" {bits}{bound} |");
        }
        table.push('\n');
    }
    let page = fs::read_to_string(Path::new(ROOT).join("docs/masks.md")).unwrap();
    assert!(page.contains(&table), "docs/masks.md needs this table:\n{table}");
}

#[test]
fn what_needs_too_much_is_refused_and_tables_do_not_meet() {
    let roots = |scalars| {
        let (graph, tags) = two_roots(scalars);
        (graph, tags.into_iter().map(|tag| (Access::from(tag), 1)).collect::<Vec<_>>())
    };
    let (graph, tags) = roots(80);
    let oracle = Oracle::new(&graph, AliasRule::Llvm);
    let masks = |bits| oracle.masks(tags.iter().copied(), bits).map(drop);
    assert_eq!(masks(64), Err(MasksError::TooManyBits), "80 squared");
    assert_eq!([0, 65].map(masks), [0, 65].map(|bits| Err(MasksError::Width(bits))));
    let refused = oracle.masks(vec![tags[0]; 4097], 64).map(drop);
    assert_eq!(refused, Err(MasksError::TooManyAccesses(4097)));

    // These tags need 24 * 24 = 576 bits, and the sum of their weights overflows.
    let (graph, mut tags) = roots(24);
    tags.iter_mut().for_each(|tag| tag.1 = u64::MAX);
    let oracle = Oracle::new(&graph, AliasRule::Llvm);
    let masks = compare(&oracle, &tags, 64, "two roots");
    assert_eq!((masks.exact_bits(), masks.least_bits(), masks.bits()), (576, 576, 64));

    let list = || tags[..2].iter().copied();
    let [one, two] = [(); 2].map(|()| oracle.masks(list(), 64).unwrap());
    assert_ne!(one.version(), two.version());
    assert!(!one.effect(0, Write).conflicts(one.effect(1, Both)));
    assert!(one.effect(0, Write).conflicts(two.effect(1, Read)));
    assert!(!one.effect(0, Read).conflicts(two.effect(0, Read)));
    let both = one.effect(0, Write).union(two.effect(0, Read));
    assert!(both.conflicts(one.effect(1, Read)) && both.conflicts(two.effect(1, Write)));
    assert!(both.union(MemoryEffect::UNKNOWN) == MemoryEffect::UNKNOWN);
}
