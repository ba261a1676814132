//! Laws of the rules, on random universes (types and tags).

use tbaa::explain::Clause;
use tbaa::wellformed::Verifier;
use tbaa::{Access, AliasRule, Graph, Oracle, Size, Tag, TagId, TypeId, TypeKind};
use tbaa_tests::naive::Naive;
use tbaa_tests::universe::{self, Taste, Universe};
use tbaa_tests::{Rng, setting};

use crate::UNION_RULES;

/// Calls `check` with random universes until each format has `TBAA_PAIRS / share` pairs of tags.
fn each_universe(taste: Taste, share: u64, mut check: impl FnMut(u64, bool, &Universe, &mut Rng)) {
    for sized in [true, false] {
        let (mut seed, mut pairs) = (1_000_000, 0);
        while pairs < setting("TBAA_PAIRS", 20_000) as u64 / share {
            seed += 1;
            let mut rng = Rng(seed);
            let u = universe::random(&mut rng, sized, taste);
            check(seed, sized, &u, &mut rng);
            pairs += (u.tags.len() * (u.tags.len() + 1) / 2) as u64;
        }
    }
}

#[test]
fn a_whole_tag_of_a_roots_child_aliases_everything_under_it() {
    each_universe(Taste::Wild, 2, |seed, _, u, _| {
        let (mut graph, tags) = u.graph();
        let is_root = |ty: TypeId, graph: &Graph| graph.ty(ty).parent().is_none();
        let below: Vec<_> = graph.types().filter(|&ty| !is_root(ty, &graph)).collect();
        for ty in below {
            let node = graph.ty(ty);
            if node.kind() != TypeKind::Scalar || !is_root(node.parent().unwrap(), &graph) {
                continue;
            }
            let (size, format) = (node.size().map(Size::from), node.format());
            let whole = Tag { base: ty, access: ty, offset: 0, size, immutable: false, format };
            let whole = graph.insert_tag(whole).unwrap();
            for oracle in AliasRule::ALL.map(|rules| Oracle::new(&graph, rules)) {
                for &tag in &tags {
                    // Follows the parents of scalars up from the access type.
                    let mut up = graph.tag(tag).unwrap().access;
                    while up != ty && graph.ty(up).kind() == TypeKind::Scalar {
                        up = graph.ty(up).parent().unwrap();
                    }
                    if up == ty {
                        assert!(oracle.may_alias(whole, tag), "seed {seed}: {tag:?}\n{u:?}");
                    }
                }
            }
        }
    });
}

/// An access of a larger known size never aliases less. An access of unknown size never aliases
/// less than one that stays inside the base type. An instruction of any width never aliases less
/// than its tag, unless the tag's size is unknown.
#[test]
fn a_larger_access_aliases_no_less() {
    each_universe(Taste::Wild, 4, |seed, _, u, _| {
        let (graph, tags) = u.graph();
        for oracle in AliasRule::ALL.map(|rule| Oracle::new(&graph, rule)) {
            for &a in &tags {
                for &b in &tags {
                    let what = || format!("seed {seed}, {}: {a:?}, {b:?}\n{u:?}", oracle.rule());
                    let of_size = |size: u64| Access::from(a).with_size(size);
                    let unknown = oracle.may_alias(of_size(0), b);
                    assert_eq!(unknown, oracle.may_alias(of_size(u64::MAX), b), "{}", what());
                    let sizes = [1, 2, 3, 4, 6, 8, 12, 16, 40, 1 << 20, u64::MAX - 1];
                    let answers = sizes.map(|size| oracle.may_alias(of_size(size), b));
                    assert!(answers.is_sorted(), "{answers:?}, {}", what());
                    let of_width = |width| Access::of_width(&graph, a, width);
                    let widths = sizes.map(|width| oracle.may_alias(of_width(width), b));
                    let has_size = graph.tag(a).is_ok_and(|tag| tag.size != Some(Size::Unknown));
                    let least = has_size && oracle.may_alias(a, b);
                    assert!(widths.iter().all(|&may| least <= may), "{widths:?}, {}", what());
                    for (size, may) in std::iter::zip(sizes, answers) {
                        let leaves = oracle.explain(of_size(size), b).clause == Clause::Leaves;
                        assert!(unknown || !may || leaves, "{size} bytes, {}", what());
                    }
                }
            }
        }
    });
}

/// A tag, even one added later, that may alias one of two tags may alias their most generic tag.
#[test]
fn the_most_generic_tag_aliases_what_either_aliases() {
    let (mut some, mut none) = (0, 0);
    each_universe(Taste::Wild, 5, |seed, _, u, rng| {
        let mut grown = u.clone();
        universe::grow(rng, &mut grown, Taste::Wild);
        for rules in UNION_RULES {
            let (mut graph, tags) = grown.graph();
            let old = &tags[..u.tags.len()];
            let mut merged = Vec::new();
            for &a in old {
                for &b in old {
                    match Oracle::new(&graph, rules).most_generic_as_written(a, b) {
                        // `size` is the number to write: 0 stands for an unknown size.
                        Some((tag, size)) => {
                            let both = graph
                                .insert_tag(Tag { size: size.map(Size::Bytes), ..tag })
                                .unwrap();
                            merged.push((a, b, both));
                        }
                        None => none += 1,
                    }
                }
            }
            some += merged.len();
            let oracle = Oracle::new(&graph, rules);
            for (a, b, both) in merged {
                let touched = |&&c: &&TagId| oracle.may_alias(a, c) || oracle.may_alias(b, c);
                for &c in tags.iter().filter(touched) {
                    let shown = [a, b, both, c].map(|tag| graph.tag(tag));
                    let what = "the third is the first two's most generic, and misses the last";
                    let may = oracle.may_alias(both, c);
                    assert!(may, "seed {seed}, {rules}: {what}: {shown:?}\n{grown:?}");
                }
            }
        }
    });
    assert!(some > 1_000 && none > 1_000, "one-sided test: {some} {none}");
}

/// The rules agree if no fields overlap and all accesses are to scalars.
#[test]
fn without_overlap_the_rules_are_one() {
    let (mut no, mut all) = (0, 0);
    each_universe(Taste::Tame, 1, |seed, _, u, _| {
        let (graph, tags) = u.graph();
        let mut verifier = Verifier::new(&graph);
        let [llvm, union, strict] = AliasRule::ALL.map(|rules| Oracle::new(&graph, rules));
        for (i, &a) in tags.iter().enumerate() {
            verifier.check(a).unwrap();
            for &b in &tags[i..] {
                let expected = llvm.alias(a, b);
                for oracle in [&union, &strict] {
                    let why = || (graph.tag(a), graph.tag(b), oracle.explain(a, b).to_string());
                    assert_eq!(oracle.alias(a, b), expected, "seed {seed}: {:?}\n{u:?}", why());
                }
                all += 1;
                no += u64::from(!llvm.may_alias(a, b));
            }
        }
    });
    assert!(no > all / 20, "one-sided test: {no} of {all}");
}

/// LLVM ignores sizes: its rule answers `NoAlias` for some pairs of tags that its verifier accepts
/// and that share bytes. Programs with such tags are miscompiled.
#[test]
fn llvm_misses_shared_bytes_in_size_aware_graphs() {
    let (mut missed, mut accepted) = (0, 0);
    each_universe(Taste::Wild, 1, |_, sized, u, _| {
        let (graph, tags) = u.graph();
        let mut verifier = Verifier::new(&graph);
        let [llvm, union, _] = AliasRule::ALL.map(|rules| Oracle::new(&graph, rules));
        let tags: Vec<_> = tags.into_iter().filter(|&tag| verifier.check(tag).is_ok()).collect();
        for (i, &a) in tags.iter().enumerate().filter(|_| sized) {
            for &b in &tags[i..] {
                accepted += 1;
                let overlap = union.explain(a, b).clause == Clause::Overlap;
                missed += u64::from(overlap && !llvm.may_alias(a, b));
            }
        }
    });
    println!("{missed} of {accepted} accepted pairs are NoAlias, though bytes are shared");
    assert!(missed > accepted / 200, "{missed} of {accepted}");
}

/// Replaces each array by a member for each element. `None` if an array has no end.
fn spelled(u: &Universe) -> Option<Universe> {
    let mut spelled = u.clone();
    for ty in &mut spelled.types {
        let mut fields = Vec::new();
        for field in &ty.fields {
            let size = u.types[field.ty].size;
            if size != 0 && field.extent == 0 {
                return None;
            }
            let is_array = size != 0 && field.extent > size;
            let step = if is_array { size } else { field.extent.max(1) };
            fields.extend((0..field.extent.max(1)).step_by(step as usize).map(|start| {
                let extent = step.min(field.extent - start.min(field.extent));
                universe::Field { offset: field.offset + start, extent, ..*field }
            }));
        }
        fields.sort_by_key(|field| field.offset);
        ty.fields = fields;
    }
    Some(spelled)
}

/// Returns the tags in a [`spelled`] universe that together mean the same as `tag` in `u`. `None`
/// if `tag` means no bytes, or if one of the tags would also mean another member at its offset.
fn spelled_tags(u: &Universe, tag: &universe::Tag) -> Option<Vec<universe::Tag>> {
    let naive = Naive::new(u);
    let denoted = naive.displacements(tag);
    let end = naive.end(tag.base);
    let all = naive.places_of(tag.base, tag.access);
    let count = |list: &[u64], place| list.iter().filter(|&&other| other == place).count();
    let alone = |&place: &u64| count(&all, place) == count(&denoted, place);
    if denoted.is_empty() || !denoted.iter().all(alone) {
        return None;
    }
    let tag_at = |&offset| universe::Tag { offset, ..*tag };
    let mut tags: Vec<_> = denoted.iter().map(tag_at).collect();
    // Unless all tags extend past the end of the base type, they are cut off at that end.
    let known = !matches!(tag.size, 0 | u64::MAX);
    let leaves = |tag: &universe::Tag| known && tag.offset.saturating_add(tag.size) > end;
    if tags.iter().any(|tag| !leaves(tag)) {
        tags.retain(|tag| tag.offset < end || !known);
        for tag in tags.iter_mut().filter(|tag| leaves(tag)) {
            tag.size = end - tag.offset;
        }
    }
    tags.sort_by_key(|tag| tag.offset);
    tags.dedup_by_key(|tag| tag.offset);
    Some(tags)
}

#[test]
fn arrays_answer_as_their_elements_spelled_as_members() {
    let (mut worlds, mut pairs, mut wide, mut no) = (0, 0_u64, 0, [0_u64; 2]);
    let mut seed = 7_000_000;
    while pairs < setting("TBAA_PAIRS", 20_000) as u64 {
        seed += 1;
        let u = universe::random(&mut Rng(seed), true, Taste::Wild);
        let Some(mut other) = spelled(&u) else { continue };
        worlds += 1;
        let (graph, tags) = u.graph();
        other.tags.clear();
        let add = |tag| {
            let from = other.tags.len();
            other.tags.extend(spelled_tags(&u, tag)?);
            Some(from..other.tags.len())
        };
        let runs: Vec<Option<std::ops::Range<usize>>> = u.tags.iter().map(add).collect();
        let (spelled_graph, spelled) = other.graph();
        for (at, rule) in UNION_RULES.into_iter().enumerate() {
            let oracles = [Oracle::new(&graph, rule), Oracle::new(&spelled_graph, rule)];
            for (i, a) in runs.iter().enumerate() {
                for (j, b) in runs.iter().enumerate().skip(i + 1) {
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    if tags[i] == tags[j] {
                        continue;
                    }
                    let may = oracles[0].may_alias(tags[i], tags[j]);
                    let any = a
                        .clone()
                        .any(|x| b.clone().any(|y| oracles[1].may_alias(spelled[x], spelled[y])));
                    let [x, y] = [i, j].map(|at| u.show_tag(&u.tags[at]));
                    assert_eq!(may, any, "seed {seed}, {rule}: {x} and {y}\n{u:?}{other:?}");
                    pairs += 1;
                    no[at] += u64::from(!may);
                    wide += u64::from(a.len() > 1 || b.len() > 1);
                }
            }
        }
    }
    println!("{worlds} worlds, {pairs} pairs, {wide} of arrays, NoAlias {no:?}");
    assert!(wide > pairs / 50 && no[1] > no[0] && no[0] > pairs / 10, "one-sided test");
}
