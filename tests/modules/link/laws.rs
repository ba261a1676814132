//! Linking is associative, commutative and idempotent. If modules give one name different bodies
//! (a *clash*), answers may change from `NoAlias` to `MayAlias`.

use std::collections::HashSet;
use tbaa::raw::RawGraph;
use tbaa::types::{Context, MergedTypes};
use tbaa::{AliasRule, Format, Graph, NodeId, Oracle, TagId, TypeId, TypeKind};
use tbaa_check::link::{Linked, NodeMap, Summary};

use tbaa_ir::types::ReadTypes;
use tbaa_tests::engines::copy_node;
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, cases, setting};

/// Returns a module with some tags of each of `sources`, and often two types under an unnamed root.
fn module(rng: &mut Rng, sources: &[&Graph]) -> Graph {
    let mut graph = Graph::new();
    for source in sources {
        let mut ids: Vec<NodeId> = Vec::new();
        source.nodes().for_each(|node| copy_node(source, node, &mut graph, &mut ids));
        for tag in source.tags() {
            if rng.one_in(3) {
                graph.mark_tag(ids[source.tag_node(tag).index()]);
            }
        }
    }
    if rng.one_in(2) {
        let mut b = graph.builder();
        let root = if rng.one_in(2) { b.anonymous_root() } else { b.empty_root() }.unwrap();
        for name in ["int", "float"] {
            let ty = b.scalar_type(name, root).unwrap();
            b.struct_tag(ty, ty, 0).unwrap();
        }
    }
    graph
}

/// Returns modules, each made of one or two of three random graphs. The graphs use the same names
/// for different types.
pub(crate) fn modules(seed: u64, count: usize) -> Vec<(String, Graph)> {
    let mut rng = Rng(seed);
    let universe = |rng: &mut Rng| {
        let format = if rng.one_in(2) { Format::Old } else { Format::New };
        let structs = 1 + rng.below(8);
        random::graph(rng, &Universe { format, structs, tags: 30, shape: Shape::Any })
    };
    let graphs = [universe(&mut rng), universe(&mut rng), universe(&mut rng)];
    (0..count)
        .map(|at| {
            let mut sources = vec![&graphs[rng.below(2)]];
            if rng.one_in(4) {
                sources.push(&graphs[2]);
            }
            (format!("m{at}"), module(&mut rng, &sources))
        })
        .collect()
}

fn rounds() -> u64 {
    setting("TBAA_ROUNDS", 100) as u64
}

fn linked(modules: &[(String, Graph)]) -> Linked {
    let named: Vec<_> = modules.iter().map(|(name, graph)| (&name[..], graph)).collect();
    Linked::new(&named).unwrap()
}

fn link(parts: &[&Summary]) -> Summary {
    Summary::link(parts).0
}

#[test]
fn linking_is_associative_commutative_and_idempotent() {
    for seed in 0..rounds() {
        let modules = modules(seed, 4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| Summary::of(&modules[at].0, &modules[at].1).0);
        let all = link(&[&a, &b, &c, &d]);
        assert_eq!(link(&[&link(&[&a, &b]), &link(&[&c, &d])]), all, "seed {seed}");
        assert_eq!(link(&[&a, &link(&[&b, &link(&[&c, &d])])]), all, "seed {seed}");
        assert_eq!(link(&[&link(&[&d, &b]), &link(&[&c, &a])]), all, "seed {seed}");
        assert_eq!(link(&[&all, &a, &all, &d]), all, "seed {seed}");
        assert_eq!(link(&[&a]), a, "seed {seed}");
        assert_eq!(link(&[]), link(&[&link(&[])]));
        assert!(all.node_count() >= a.node_count());
    }
}

#[test]
fn places_follow_from_link_to_link() {
    for seed in 0..rounds() {
        let modules = modules(seed, 3);
        let parts: Vec<(Summary, NodeMap)> =
            modules.iter().map(|(name, graph)| Summary::of(name, graph)).collect();
        let (half, first) = Summary::link(&[&parts[2].0, &parts[0].0]);
        let (all, second) = Summary::link(&[&half, &parts[1].0]);
        let at_once = linked(&modules);
        assert_eq!(*at_once.summary(), all);
        let maps = [
            parts[0].1.then(&first[1]).then(&second[0]),
            parts[1].1.then(&second[1]),
            parts[2].1.then(&first[0]).then(&second[0]),
        ];
        for (at, (_, graph)) in modules.iter().enumerate() {
            for node in graph.nodes() {
                let place = maps[at].place(node).and_then(|place| at_once.node_at(place));
                assert_eq!(place, at_once.node(at, node), "seed {seed}");
            }
        }
    }
}

#[test]
fn a_summary_survives_serialisation() {
    for seed in 0..20 {
        let modules = modules(seed, 2);
        let [a, b] = [0, 1].map(|at| Summary::of(&modules[at].0, &modules[at].1).0);
        let all = link(&[&a, &b]);
        let text = ron::to_string(&all).unwrap();
        assert_eq!(ron::from_str::<Summary>(&text).unwrap(), all);
    }
    let fits = "(modules:[\"a\"],strings:[],nodes:[(0,0,None,[Int((bits:8,value:255))])])";
    assert_eq!(ron::from_str::<Summary>(fits).unwrap().node_count(), 1);
    for wrong in include_str!("../../fixtures/link_refused.txt").lines() {
        assert!(ron::from_str::<Summary>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn old_answers_are_kept_or_widened_by_a_clash() {
    let mut counts = [0_usize; 3];
    for seed in 0..rounds() {
        let modules = modules(seed, 3);
        let linked = linked(&modules);
        for rules in AliasRule::ALL {
            let after = linked.oracle(rules);
            for (at, (_, graph)) in modules.iter().enumerate() {
                let before = Oracle::new(graph, rules);
                let tags: Vec<TagId> = graph.tags().collect();
                for &a in &tags {
                    for &b in &tags {
                        let (x, y) = (linked.tag(at, a), linked.tag(at, b));
                        let was = before.may_alias(a, b);
                        let is = after.alias(x, y) == tbaa::AliasResult::MayAlias;
                        assert!(is || !was, "seed {seed}: narrowed");
                        let clash = x.zip(y).is_some_and(|(x, y)| after.clash(x, y));
                        if let (Some(x), Some(y)) = (x, y) {
                            let clear = after.is_clear(x) && after.is_clear(y);
                            assert!(!clear || !clash, "seed {seed}");
                        }
                        // Rules other than `llvm` may say `MayAlias` if a root has both formats.
                        let merged = after.merged().may_alias(x, y);
                        assert!(is == was || clash || rules != AliasRule::Llvm && merged);
                        counts[0] += usize::from(!was && !is);
                        counts[1] += usize::from(!was && is);
                    }
                }
            }
            counts[2] += linked.clashes().len();
        }
    }
    assert!(counts.iter().all(|&count| count > 300), "{counts:?}");
}

#[test]
fn different_bodies_of_one_name_may_alias_by_every_rule() {
    let mut pairs = 0;
    for seed in 0..rounds() {
        let modules = modules(seed, 3);
        let linked = linked(&modules);
        let graph = linked.graph();
        let own: Vec<HashSet<NodeId>> = modules
            .iter()
            .enumerate()
            .map(|(at, (_, graph))| {
                graph.types().filter_map(|ty| linked.node(at, ty.node())).collect()
            })
            .collect();
        // Two scalars of one module are meant to be different.
        let told_apart = |a: TypeId, b: TypeId| {
            [a, b].iter().all(|&ty| graph.ty(ty).kind() == TypeKind::Scalar)
                && own.iter().any(|own| own.contains(&a.node()) && own.contains(&b.node()))
        };
        for rules in AliasRule::ALL {
            let oracle = linked.oracle(rules);
            let based = |ty| {
                graph.tags().filter(move |&tag| {
                    graph.tag(tag).is_ok_and(|tag| tag.base == ty || tag.access == ty)
                })
            };
            for clash in linked.clashes() {
                for (at, one) in clash.bodies.iter().enumerate() {
                    let others = clash.bodies[..at].iter();
                    for other in others.filter(|other| !told_apart(one.ty, other.ty)) {
                        for (a, b) in
                            based(one.ty).flat_map(|a| based(other.ty).map(move |b| (a, b)))
                        {
                            assert_eq!(oracle.alias(a, b), tbaa::AliasResult::MayAlias);
                            assert_eq!(oracle.alias(b, a), tbaa::AliasResult::MayAlias);
                            pairs += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(pairs > 1_000, "{pairs}");
}

fn lines(types: &MergedTypes) -> Vec<String> {
    let mut text = String::new();
    types.context().write_definitions(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn random_body(rng: &mut Rng, names: &[String]) -> String {
    let element = |rng: &mut Rng| match rng.below(4) {
        0 => "i32".to_owned(),
        1 => "float".to_owned(),
        _ => format!("%{}*", rng.pick(names)),
    };
    let elements: Vec<_> = (0..=rng.below(2)).map(|_| element(rng)).collect();
    format!("{{ {} }}", elements.join(", "))
}

/// Returns the types `a`, `b` and `c` of three modules. Some names have a number at the end. If
/// `one_body`, a module has each name once, and a name's bodies are opaque or differ only in such
/// numbers.
fn random_types(rng: &mut Rng, one_body: bool) -> [Context; 3] {
    let common: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    let bodies = [(); 3].map(|()| random_body(rng, &common));
    [(); 3].map(|()| {
        let mut names = common.clone();
        if one_body {
            names.iter_mut().filter(|_| rng.one_in(2)).for_each(|name| *name += ".1");
        } else {
            names.extend(["a.1", "b.2", "c.7"].map(str::to_owned));
        }
        let mut text = String::new();
        for (at, name) in names.iter().enumerate() {
            let body = match rng.below(3) {
                0 => "opaque".to_owned(),
                _ if one_body => common.iter().zip(&names).fold(bodies[at].clone(), |body, it| {
                    body.replace(&format!("%{}*", it.0), &format!("%{}*", it.1))
                }),
                _ => random_body(rng, &names),
            };
            text += &format!("%{name} = type {body}\n");
        }
        context(&text)
    })
}

fn context(text: &str) -> Context {
    let mut context = Context::new();
    context.read_definitions(text.as_bytes()).unwrap();
    context
}

/// Linking types in any order gives the same text, including the numbers at the end of names.
#[test]
fn merged_types_are_canonical() {
    let (mut several, mut completed) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng(seed);
        let one_body = rng.one_in(2);
        let [a, b, c] = random_types(&mut rng, one_body);
        let part = |parts: &[&Context]| MergedTypes::part(parts).unwrap();
        let whole = |parts: &[&Context]| MergedTypes::new(parts).unwrap();
        let all = part(&[&a, &b, &c]);
        several += all.clashes().len();
        let of_modules = whole(&[&a, &b, &c]);
        let of_parts = whole(&[all.context()]);
        let said = format!("seed {seed}");
        for order in [[&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]] {
            assert_eq!(lines(&whole(&order)), lines(&of_modules), "{said}");
            assert_eq!(lines(&part(&order)), lines(&all), "{said}");
            let (first, last) = (part(&order[..2]), part(&order[2..]));
            for pair in [[first.context(), last.context()], [last.context(), first.context()]] {
                assert_eq!(lines(&part(&pair)), lines(&all), "{said}");
                assert_eq!(lines(&whole(&pair)), lines(&of_parts), "{said}");
            }
            assert_eq!(lines(&part(&[first.context(), order[2]])), lines(&all), "{said}");
        }
        assert_eq!(lines(&part(&[all.context(), all.context(), &a])), lines(&all), "{said}");
        assert_eq!(lines(&whole(&[&a, &b, &a, &c])), lines(&of_modules), "{said}");
        if one_body {
            assert_eq!(lines(&of_parts), lines(&of_modules), "{said}");
            let context = of_modules.context();
            assert_eq!(context.structs().len(), 3, "{said}");
            let is_opaque = |line: &&String| line.ends_with("opaque");
            let opaque = |types| lines(types).iter().filter(is_opaque).count();
            completed += opaque(&all) - opaque(&of_modules);
        }
    }
    assert!(several > 300 && completed > 100, "{several} {completed}");
}

#[test]
fn opaque_structs_are_completed() {
    cases::check("types/merged.txt", |_, texts| {
        let modules: Vec<Context> = texts.iter().map(|text| context(text)).collect();
        let modules: Vec<&Context> = modules.iter().collect();
        let merge = |contexts: &[&Context]| lines(&MergedTypes::new(contexts).unwrap()).join("\n");
        let found = merge(&modules);
        assert_eq!(merge(&modules.iter().rev().copied().collect::<Vec<_>>()), found);
        let by_part = merge(&[MergedTypes::part(&modules).unwrap().context()]);
        if by_part == found { found } else { format!("{found}\nby a part:\n{by_part}") }
    });
}

/// Each struct contains the next one, and the last one has two bodies. The linker needs a round for
/// each struct to find which types differ. After too many rounds, all opaque structs stay opaque.
#[test]
fn long_doubts_leave_all_opaque() {
    for (length, is_completed) in [(10, true), (20, false)] {
        let mut texts = vec![String::new(), format!("%n{length} = type {{ float }}")];
        for at in 0..length {
            let next = at + 1;
            texts[0] += &format!("%n{at} = type {{ %n{next} }}\n");
            texts.push(format!("%n{at} = type {{ %n{next} }} %n{next} = type opaque"));
        }
        texts[0] += &format!("%n{length} = type {{ i32 }} %X = type {{ i8 }}");
        texts.push("%X = type opaque".to_owned());
        let contexts: Vec<Context> = texts.iter().map(|text| context(text)).collect();
        let merged = MergedTypes::new(&contexts.iter().collect::<Vec<_>>()).unwrap();
        let of_x = lines(&merged).iter().filter(|line| line.starts_with("%X")).count();
        assert_eq!(of_x, if is_completed { 1 } else { 2 }, "{length}");
    }
}
