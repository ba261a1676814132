//! Linking is associative, commutative and idempotent, and widens answers only
//! where names clash.

use std::collections::HashSet;
use tbaa::raw::RawGraph;
use tbaa::types::{Context, MergedTypes};
use tbaa::{AliasRule, Format, Graph, NodeId, Oracle, TagId, TypeId, TypeKind};
use tbaa_check::link::{Linked, NodeMap, Summary};

use tbaa_ir::types::ReadTypes;
use tbaa_tests::engines::{RULES, copy_node};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// A module that uses some tags of each of some graphs, and a type system of
/// its own under a root without a name.
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

/// Modules of which some nodes are equal, and some have one name and two
/// bodies: types of all random graphs have the same names.
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
        let at_once: Vec<(&str, &Graph)> =
            modules.iter().map(|(name, graph)| (&name[..], graph)).collect();
        let at_once = Linked::new(&at_once).unwrap();
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
        let named: Vec<(&str, &Graph)> =
            modules.iter().map(|(name, graph)| (&name[..], graph)).collect();
        let linked = Linked::new(&named).unwrap();
        for rules in RULES {
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
                        // Two formats under one root are a clash of another kind.
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
        let named: Vec<(&str, &Graph)> =
            modules.iter().map(|(name, graph)| (&name[..], graph)).collect();
        let linked = Linked::new(&named).unwrap();
        let graph = linked.graph();
        let own: Vec<HashSet<NodeId>> = modules
            .iter()
            .enumerate()
            .map(|(at, (_, graph))| {
                graph.types().filter_map(|ty| linked.node(at, ty.node())).collect()
            })
            .collect();
        // A module's front end means what it says of its own scalars.
        let told_apart = |a: TypeId, b: TypeId| {
            [a, b].iter().all(|&ty| graph.ty(ty).kind() == TypeKind::Scalar)
                && own.iter().any(|own| own.contains(&a.node()) && own.contains(&b.node()))
        };
        for rules in RULES {
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

/// Structs of few names, over each other.
fn random_types(rng: &mut Rng) -> Context {
    const NAMES: [&str; 6] = ["a", "a.1", "b", "b.2", "c", "c.7"];
    let mut text = String::new();
    for name in NAMES {
        let element = |rng: &mut Rng| match rng.below(4) {
            0 => "i32".to_owned(),
            1 => "float".to_owned(),
            _ => format!("%{}*", rng.pick(&NAMES)),
        };
        match rng.below(5) {
            0 => text += &format!("%{name} = type opaque\n"),
            _ => {
                let elements: Vec<_> = (0..=rng.below(2)).map(|_| element(rng)).collect();
                text += &format!("%{name} = type {{ {} }}\n", elements.join(", "));
            }
        }
    }
    let mut context = Context::new();
    context.read_definitions(text.as_bytes()).unwrap();
    context
}

/// Byte for byte, the numbers behind names and the order included.
#[test]
fn merged_types_are_canonical() {
    let mut several = 0;
    for seed in 0..300 {
        let mut rng = Rng(seed);
        let [a, b, c] = [(); 3].map(|()| random_types(&mut rng));
        let merge = |parts: &[&Context]| MergedTypes::new(parts).unwrap();
        let all = merge(&[&a, &b, &c]);
        several += all.clashes().len();
        for order in [[&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]] {
            assert_eq!(lines(&merge(&order)), lines(&all), "seed {seed}");
            let first = merge(&order[..2]);
            assert_eq!(lines(&merge(&[first.context(), order[2]])), lines(&all), "seed {seed}");
            assert_eq!(lines(&merge(&[order[2], first.context()])), lines(&all), "seed {seed}");
        }
        assert_eq!(lines(&merge(&[all.context(), all.context(), &a])), lines(&all), "seed {seed}");
    }
    assert!(several > 300, "{several}");
}

#[test]
fn merging_types_is_associative_commutative_and_idempotent() {
    let read = |text: &str| {
        let mut context = Context::new();
        context.read_definitions(text.as_bytes()).unwrap();
        context
    };
    let a = read(
        "%struct.Point = type { i32, i32 } %struct.Tuple = type { i32, i32 }
         %list = type { %list*, %struct.Point } %struct.O = type opaque %o = type { %struct.O* }",
    );
    let b = read(
        "%struct.Point.7 = type { i32, i32 } %list = type { %list*, %struct.Point.7 }
         %struct.O = type { float } %o = type { %struct.O* } %0 = type { %0* }",
    );
    let c = read("%struct.Tuple.1 = type { i32, i32 } %1 = type { %0* } %0 = type { %1* }");
    let merge = |parts: &[&Context]| MergedTypes::new(parts).unwrap();
    let all = merge(&[&a, &b, &c]);
    assert_eq!(
        lines(&all),
        [
            "%0 = type { %0* }",
            "%list = type { %list*, %struct.Point }",
            "%o = type { %struct.O* }",
            "%o.0 = type { %struct.O.1* }",
            "%struct.O = type { float }",
            "%struct.Point = type { i32, i32 }",
            "%struct.Tuple = type { i32, i32 }",
            "%struct.O.1 = type opaque",
        ]
    );
    assert_eq!(all.clashes().len(), 1, "%o, over two %struct.O");
    assert_eq!(all.clashes()[0].name, b"o");
    let ab = merge(&[&a, &b]);
    let bc = merge(&[&b, &c]);
    assert_eq!(lines(&merge(&[ab.context(), &c])), lines(&all));
    assert_eq!(lines(&merge(&[&a, bc.context()])), lines(&all));
    assert_eq!(lines(&merge(&[all.context(), &b, all.context()])), lines(&all));
    let count = |types: &MergedTypes| types.context().structs().len();
    assert_eq!(count(&merge(&[&c, &b, &a])), count(&all));
    for context in [&a, &b, &c] {
        for ty in context.structs() {
            let name = |name: Option<&[u8]>| {
                tbaa::types::canonical_name(name.unwrap_or_default()).to_vec()
            };
            let merged = all.ty(ty);
            assert_eq!(name(all.context().name(merged)), name(context.name(ty)));
            assert_eq!(all.context().parts(merged).len(), context.parts(ty).len());
        }
    }
}
