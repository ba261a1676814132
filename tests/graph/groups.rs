//! Groups: nodes that refer to one another and are added together, in any order.

use pretty_assertions::assert_eq;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::wellformed::Verifier;
use tbaa::{AliasResult, AliasRule, Graph, GraphError, Int, NodeId, Operand, Oracle, TypeId};
use tbaa_tests::{Rng, setting};

/// An operand of a [`Wild`] node; `Node` is an index into the list of nodes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Name(String),
    Int(u64),
    Node(usize),
}

/// The description of a node, from which a test adds it to a graph.
#[derive(Clone)]
pub(crate) struct Wild {
    pub(crate) distinct: bool,
    pub(crate) parts: Vec<Part>,
}

/// The number of types among [`wild_nodes`]; the tags follow them.
pub(crate) const TYPES: usize = 24;

/// Returns random types and tags. Some are equal, and some refer to later ones.
pub(crate) fn wild_nodes(rng: &mut Rng) -> Vec<Wild> {
    let mut nodes = vec![Wild { distinct: false, parts: vec![Part::Name("root".to_owned())] }];
    let (cyclic, mixed, sized) = (rng.one_in(3), rng.one_in(6), rng.one_in(2));
    for number in 1..TYPES {
        if number > 3 && rng.one_in(4) {
            // An equal node, or one that becomes equal when others do.
            let mut copy = nodes[1 + rng.below(number - 1)].clone();
            if let (Part::Node(other), true) = (rng.pick(&copy.parts).clone(), cyclic) {
                let parts = nodes.get(other).map(|other: &Wild| &other.parts);
                let twins = (0..number).filter(|&twin| Some(&nodes[twin].parts) == parts);
                let twins: Vec<_> = twins.chain([other]).collect();
                let twin = *rng.pick(&twins);
                copy.parts.iter_mut().filter(|part| **part == Part::Node(other)).for_each(|part| {
                    *part = Part::Node(twin);
                });
            }
            nodes.push(copy);
            continue;
        }
        let later = cyclic && rng.one_in(6);
        let other = |rng: &mut Rng| {
            Part::Node(match () {
                () if later && rng.one_in(2) => rng.below(TYPES),
                () => number - 1 - rng.below(number.min(4)),
            })
        };
        let name = Part::Name(format!("t{}", number % 16));
        let new = if mixed { rng.one_in(2) } else { sized };
        let fields = if rng.one_in(2) { 0 } else { 1 + rng.below(3) };
        let mut parts = match (new, fields) {
            // The size-aware format allows any operand in the place of the name.
            (true, _) if later => vec![other(rng), Part::Int(8), other(rng)],
            (true, _) => vec![other(rng), Part::Int(8), name],
            (false, 0) => vec![name, other(rng), Part::Int(0)],
            (false, _) => vec![name],
        };
        for field in 0..fields as u64 {
            let offset = if rng.one_in(8) { 0 } else { 8 * field };
            parts.extend([other(rng), Part::Int(offset)]);
            parts.extend(new.then_some(Part::Int(8)));
        }
        nodes.push(Wild { distinct: rng.one_in(6), parts });
    }
    for _ in 0..40 {
        let base = rng.below(TYPES);
        let (mut access, mut offset) = (base, 0);
        for _ in 0..rng.below(12) {
            let parts = &nodes[access].parts;
            let below = parts.iter().enumerate().filter_map(|(at, part)| match part {
                Part::Node(node) if *node != 0 => Some((at, *node)),
                _ => None,
            });
            let below: Vec<_> = below.collect();
            if below.is_empty() {
                break;
            }
            let (at, next) = *rng.pick(&below);
            if let Some(Part::Int(start)) = parts.get(at + 1).filter(|_| at > 0) {
                offset += start;
            }
            access = next;
        }
        let mut parts = vec![Part::Node(base), Part::Node(access), Part::Int(offset)];
        let new = matches!(nodes[access].parts[0], Part::Node(_));
        parts.extend(new.then_some(Part::Int(8)));
        nodes.push(Wild { distinct: rng.one_in(6), parts });
    }
    nodes
}

/// Returns a graph of the nodes, added in the given order, and each node's id.
pub(crate) fn unmarked(nodes: &[Wild], order: &[usize]) -> (Graph, Vec<NodeId>) {
    let mut place = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
    let drafts = order.iter().map(|&node| {
        let operands = nodes[node].parts.iter().map(|part| match part {
            Part::Name(name) => Operand::String(name.as_bytes()).into(),
            Part::Int(value) => Operand::Int(Int::i64(*value)).into(),
            Part::Node(node) => DraftOperand::Member(place[*node]),
        });
        Draft { distinct: nodes[node].distinct, operands: operands.collect() }
    });
    let mut graph = Graph::new();
    let ids = graph.insert_group(&drafts.collect::<Vec<_>>()).unwrap();
    (graph, place.iter().map(|&at| ids[at]).collect())
}

/// Like [`unmarked`], but also marks the tags and types as such.
fn graph_of(nodes: &[Wild], order: &[usize]) -> (Graph, Vec<NodeId>) {
    let (mut graph, ids) = unmarked(nodes, order);
    ids[TYPES..].iter().for_each(|&tag| _ = graph.mark_tag(tag));
    ids[..TYPES].iter().for_each(|&ty| _ = graph.mark_type(ty));
    (graph, ids)
}

/// Returns, for each node, the index of the first node that is equal to it. Two uniqued nodes that
/// do not refer to themselves are equal if their operands are.
pub(crate) fn equal_nodes(nodes: &[Wild]) -> Vec<usize> {
    let mut class: Vec<usize> = (0..nodes.len()).collect();
    loop {
        let before = class.clone();
        for (at, node) in nodes.iter().enumerate() {
            if node.distinct || node.parts.contains(&Part::Node(at)) {
                continue;
            }
            let key = |node: &Wild| -> Vec<Part> {
                let parts = node.parts.iter().map(|part| match part {
                    Part::Node(node) => Part::Node(class[*node]),
                    other => other.clone(),
                });
                parts.collect()
            };
            let equal = (0..at).find(|&other| {
                let own = nodes[other].distinct || nodes[other].parts.contains(&Part::Node(other));
                !own && key(&nodes[other]) == key(node)
            });
            class[at] = equal.map_or(at, |other| class[other]);
        }
        if class == before {
            return class;
        }
    }
}

fn root_above(graph: &Graph, mut ty: TypeId) -> Option<TypeId> {
    for _ in 0..=graph.node_count() {
        match graph.ty(ty).parent() {
            Some(parent) => ty = parent,
            None => return Some(ty),
        }
    }
    None
}

/// The same nodes, added in two orders, merge alike and get the same answers. With `--cfg
/// tbaa_self_check`, answers and most generic tags are also compared with the rule's definition.
#[test]
fn graphs_do_not_depend_on_the_order_of_a_group() {
    let (mut no, mut generic, mut merged, mut unlike) = (0, 0, 0, 0);
    for seed in 0..setting("TBAA_GRAPHS", 6) * 50 {
        let mut rng = Rng(seed as u64);
        let nodes = wild_nodes(&mut rng);
        let in_order: Vec<usize> = (0..nodes.len()).collect();
        let (whole, ids) = graph_of(&nodes, &in_order);
        let order = rng.shuffled(nodes.len());
        let (other, other_ids) = graph_of(&nodes, &order);
        let equal = equal_nodes(&nodes);
        let earlier: Vec<_> =
            (0..nodes.len()).map(|at| ids[..at].iter().position(|&id| id == ids[at])).collect();
        let expected: Vec<_> =
            (0..nodes.len()).map(|at| (equal[at] != at).then_some(equal[at])).collect();
        assert_eq!(earlier, expected, "seed {seed}");
        for (ids, graph) in [(&ids, &whole), (&other_ids, &other)] {
            assert_eq!(graph.tag_count(), whole.tag_count(), "seed {seed}");
            assert_eq!(graph.node_count(), whole.node_count(), "seed {seed}");
            for at in 0..nodes.len() {
                assert_eq!(ids[at], ids[equal[at]], "seed {seed}, node {at}");
            }
            for ty in graph.types() {
                assert_eq!(graph.root_of(ty), root_above(graph, ty), "seed {seed}: {ty:?}");
            }
        }
        merged += nodes.len() - whole.node_count();
        unlike += usize::from(whole.nodes().zip(other.nodes()).any(|(a, b)| {
            whole.operands(a).map(|o| format!("{o:?}")).collect::<Vec<_>>()
                != other.operands(b).map(|o| format!("{o:?}")).collect::<Vec<_>>()
        }));
        let tags: Vec<_> = whole.tags().zip(other.tags()).collect();
        for rules in AliasRule::ALL {
            let (of_whole, of_other) = (Oracle::new(&whole, rules), Oracle::new(&other, rules));
            let mut verifier = Verifier::new(&whole);
            for (i, &(a, of_a)) in tags.iter().enumerate() {
                if rules == AliasRule::Llvm {
                    assert_eq!(
                        of_whole.is_well_formed(a),
                        verifier.check(a).is_ok(),
                        "seed {seed}"
                    );
                }
                assert_eq!(of_whole.alias(a, a), AliasResult::MayAlias, "seed {seed}, {rules}");
                for &(b, of_b) in &tags[..i] {
                    let answer = of_whole.alias(a, b);
                    assert_eq!(answer, of_whole.alias(b, a), "seed {seed}, {rules}");
                    assert_eq!(answer, of_other.alias(of_a, of_b), "seed {seed}, {rules}");
                    no += usize::from(answer == AliasResult::NoAlias);
                    generic += usize::from(of_whole.most_generic(a, b).is_some());
                }
            }
        }
    }
    let counts = [no, generic, merged, 10 * unlike];
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
}

#[test]
fn a_text_has_the_nodes_of_a_group() {
    for seed in 0..setting("TBAA_GRAPHS", 6) * 20 {
        let mut rng = Rng(seed as u64);
        let nodes = wild_nodes(&mut rng);
        let mut out = String::new();
        for (number, node) in nodes.iter().enumerate() {
            let parts = node.parts.iter().map(|part| match part {
                Part::Name(name) => format!("!\"{name}\""),
                Part::Int(value) => format!("i64 {value}"),
                Part::Node(node) => format!("!{node}"),
            });
            let distinct = if node.distinct { "distinct " } else { "" };
            let parts = parts.collect::<Vec<_>>().join(", ");
            out += &format!("!{number} = {distinct}!{{{parts}}}\n");
        }
        let module = tbaa_ir::read(out.as_bytes()).unwrap();
        let equal = equal_nodes(&nodes);
        for (at, &other) in equal.iter().enumerate() {
            let node = |number: usize| module.node(number as u32).unwrap();
            assert_eq!(node(at), node(other), "seed {seed}, node {at}:\n{out}");
        }
        let classes = (0..nodes.len()).filter(|&at| equal[at] == at).count();
        assert_eq!(module.graph().node_count(), classes, "seed {seed}:\n{out}");
    }
}

#[test]
fn a_group_is_refused_as_a_whole() {
    let mut graph = Graph::new();
    let foreign = Graph::new().insert(&[]).unwrap();
    let fine = Draft { distinct: true, operands: Vec::new() };
    for (operand, error) in [
        (DraftOperand::Member(2), GraphError::NoMember),
        (DraftOperand::Known(Operand::Node(foreign)), GraphError::ForeignId),
    ] {
        let bad = Draft { distinct: false, operands: vec![operand] };
        assert_eq!(graph.insert_group(&[fine.clone(), bad]), Err(error));
        assert_eq!(graph.node_count(), 0);
    }
    assert_eq!(graph.insert_distinct(&[Operand::Node(foreign)]), Err(GraphError::ForeignId));
    assert_eq!(graph.insert_group(&[]), Ok(Vec::new()));
}

#[test]
fn long_groups_take_no_recursion_and_no_quadratic_time() {
    const LEN: usize = 50_000;
    let draft = |members: &[usize], name: usize| {
        let name = format!("n{name}").into_bytes().leak();
        let members = members.iter().map(|&member| DraftOperand::Member(member));
        let operands = std::iter::once(Operand::String(name).into()).chain(members).collect();
        Draft { distinct: false, operands }
    };
    let mut graph = Graph::new();
    let chain: Vec<_> = (0..LEN).map(|at| draft(&[(at + 1).min(LEN - 1)], at)).collect();
    let ids = graph.insert_group(&chain).unwrap();
    assert!(graph.is_distinct(ids[LEN - 1]) && !graph.is_distinct(ids[0]));
    let cycle: Vec<_> = (0..LEN).map(|at| draft(&[(at + 1) % LEN], at)).collect();
    assert_eq!(graph.insert_group(&cycle).unwrap().len(), LEN);
    assert_eq!(graph.node_count(), 2 * LEN);
    // Two chains that end in one node, which refers to the start of both.
    let strand = |at: usize| if at + 2 < 2 * LEN { at + 2 } else { 2 * LEN };
    let mut strands: Vec<_> = (0..2 * LEN).map(|at| draft(&[strand(at)], at / 2)).collect();
    strands.push(draft(&[0, 1], LEN));
    let ids = graph.insert_group(&strands).unwrap();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(graph.node_count(), 3 * LEN + 1);
    // A wide node whose operands become equal one after another.
    let wide: Vec<usize> = (0..2 * LEN).collect();
    strands[2 * LEN] = draft(&wide, LEN + 1);
    graph.insert_group(&strands).unwrap();
    assert_eq!(graph.node_count(), 4 * LEN + 2);
}

/// The result equals that of `llvm-as` and `llvm-dis` 22: two nodes of a cycle merge, and so does a
/// third outside it, but separate cycles of the same shape do not.
#[test]
fn cycles_merge_as_in_llvm() {
    let text = b"!0 = !{!2, !\"x\"}\n!1 = !{!2, !\"x\"}\n!2 = !{!0, !1}\n!3 = !{!2, !\"x\"}\n\
        !10 = !{!11}\n!11 = !{!10}\n!12 = !{!13}\n!13 = !{!12}\n!14 = !{!14}\n";
    let module = tbaa_ir::read(text).unwrap();
    let node = |number| module.node(number).unwrap();
    assert_eq!(module.graph().node_count(), 7);
    assert!(node(0) == node(1) && node(0) == node(3) && node(0) != node(2));
    assert!(node(10) != node(12) && node(10) != node(13));
    assert!(module.graph().is_distinct(node(14)) && !module.graph().is_distinct(node(10)));
}
