//! The tables behind queries: graphs that grow between queries, answers to
//! many pairs at once, and answers stored.
//!
//! Debug builds compare every answer from a table with the rule's definition.
//! Here the answers must also not depend on how the graph grew.

mod support;

use std::borrow::Borrow;

use pretty_assertions::assert_eq;
use support::random::{self, Shape, Universe};
use support::{Rng, setting};
use tbaa::verify::Verifier;
use tbaa::{
    AliasResult, Clause, Format, Frozen, Graph, Int, NodeId, Operand, Oracle, Rules, TagId, TypeId,
};

const RULES: [Rules; 3] = [Rules::Llvm, Rules::Union, Rules::UnionStrict];

/// The graphs of the comparisons with LLVM, of all shapes and both formats.
fn each_graph(count: usize, mut test: impl FnMut(&mut Rng, &str, &Graph)) {
    let first_seed = setting("TBAA_SEED", 1);
    for seed in first_seed..first_seed + count {
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
        let new = to.reserve(from.operand_count(node), true).unwrap();
        let operands: Vec<_> = from.operands(node).map(|_| Operand::Node(new)).collect();
        to.fill(new, &operands).unwrap();
        new
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

#[test]
fn answers_do_not_depend_on_how_the_graph_grew() {
    let mut pairs = 0;
    each_graph(setting("TBAA_GRAPHS", 6), |rng, what, graph| {
        let oracles = RULES.map(|rules| Oracle::new(graph, rules));
        for (rules, whole) in RULES.into_iter().zip(&oracles) {
            let mut grown = Oracle::new(Graph::new(), rules);
            let mut tags: Vec<(TagId, TagId)> = Vec::new();
            let mut next = 0;
            while next < graph.node_count() {
                // One node at a time, or many.
                let end = (next + 1 + if rng.one_in(4) { rng.below(40) } else { 0 })
                    .min(graph.node_count());
                let added = grown.update(|grown| {
                    let copied = (next..end).map(|index| copy_node(graph, index, grown));
                    copied.collect::<Vec<_>>()
                });
                for (index, new) in (next..end).zip(added) {
                    let node = graph.nodes().nth(index).unwrap();
                    tags.extend(graph.tag_of(node).zip(new));
                }
                next = end;
                if tags.is_empty() {
                    continue;
                }
                for _ in 0..12 {
                    let (a, b) = (*rng.pick(&tags), *rng.pick(&tags));
                    assert_eq!(
                        grown.alias(a.1, b.1),
                        whole.alias(a.0, b.0),
                        "{what}, {rules}: {:?} and {:?} in a graph of {next} nodes",
                        graph.tag(a.0),
                        graph.tag(b.0)
                    );
                    pairs += 1;
                }
            }
            for a in &tags {
                for b in &tags {
                    assert_eq!(grown.alias(a.1, b.1), whole.alias(a.0, b.0), "{what}, {rules}");
                    pairs += 1;
                }
            }
        }
    });
    println!("{pairs} pairs in graphs that grew");
}

#[test]
fn many_pairs_at_once_have_the_answers_of_each() {
    each_graph(setting("TBAA_GRAPHS", 6), |rng, what, graph| {
        for rules in RULES {
            let oracle = Oracle::new(graph, rules);
            // Some tags, some of them twice, in any order.
            let all: Vec<_> = graph.tags().collect();
            let count = rng.below(2 * all.len());
            let tags: Vec<_> = (0..count).map(|_| *rng.pick(&all)).collect();
            check(&format!("{what}, {rules}"), &oracle, &tags);
        }
    });
}

fn check<G: Borrow<Graph>>(what: &str, oracle: &Oracle<G>, tags: &[TagId]) {
    let matrix = oracle.matrix(tags);
    let frozen = oracle.freeze(tags);
    let classes = oracle.classes(tags);
    let rows: Vec<Vec<bool>> =
        tags.iter().map(|&a| tags.iter().map(|&b| oracle.may_alias(a, b)).collect()).collect();
    let mut pairs = 0;
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(&oracle.row(tags[i], tags), row, "{what}");
        for (j, &may) in row.iter().enumerate() {
            assert_eq!(matrix.may_alias(i, j), may, "{what}: matrix, {i} and {j}");
            assert_eq!(frozen.may_alias(i, j), may, "{what}: frozen, {i} and {j}");
            let alike = classes.as_slice()[i] == classes.as_slice()[j];
            assert_eq!(alike, rows[i] == rows[j], "{what}: classes, {i} and {j}");
            pairs += usize::from(i < j && may);
        }
    }
    assert_eq!(matrix.count_may_alias(), pairs, "{what}");
    assert_eq!((matrix.len(), frozen.len()), (tags.len(), tags.len()));
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

/// More classes than a stored table has bits for: intervals and lists.
#[test]
fn many_classes_are_stored_as_intervals() {
    for (rules, unions) in [(Rules::Llvm, 0), (Rules::Union, 5)] {
        let graph = many_classes(unions);
        let oracle = Oracle::new(&graph, rules);
        let tags: Vec<_> = graph.tags().collect();
        assert!(oracle.classes(&tags).len() > 4096);
        let frozen = oracle.freeze(&tags);
        let mut rng = Rng(7);
        for _ in 0..20_000 {
            let (a, b) = (rng.below(tags.len()), rng.below(tags.len()));
            assert_eq!(frozen.alias(a, b), oracle.alias(tags[a], tags[b]), "{rules}: {a} and {b}");
        }
        // Where unions are, all pairs.
        for a in tags.len() - 20..tags.len() {
            for b in 0..tags.len() {
                assert_eq!(frozen.alias(a, b), oracle.alias(tags[a], tags[b]), "{rules}: {a}, {b}");
                assert_eq!(frozen.alias(b, a), frozen.alias(a, b), "{rules}: {a}, {b}");
            }
        }
        assert!(frozen.may_alias(0, tags.len()), "a tag not in the list");
        assert!(frozen.size_in_bytes() < 40 * tags.len());
    }
}

/// Structs with five thousand fields in all, and then some unions.
fn many_classes(unions: u64) -> Graph {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let float = b.scalar_type("float", root).unwrap();
    let fields: Vec<_> = (0..10).map(|i| (if i % 2 == 0 { int } else { float }, 4 * i)).collect();
    for i in 0..500 {
        let plain = b.struct_type(format!("P{i}"), &fields).unwrap();
        for &(ty, offset) in &fields {
            b.struct_tag(plain, ty, offset, false).unwrap();
        }
    }
    for i in 0..unions {
        let union = b.struct_type(format!("U{i}"), &[(int, 0), (float, 0)]).unwrap();
        let outer = b.struct_type(format!("S{i}"), &[(int, 0), (union, 8)]).unwrap();
        for (base, offset) in [(union, 0), (outer, 8)] {
            b.struct_tag(base, int, offset, false).unwrap();
            b.struct_tag(base, float, offset, false).unwrap();
        }
    }
    graph
}

#[test]
fn threads_ask_at_once() {
    let graph = many_classes(5);
    let tags: Vec<_> = graph.tags().collect();
    let oracle = Oracle::new(graph, Rules::Union);
    let answers = |seed| {
        let mut rng = Rng(seed);
        let mut ask = || oracle.may_alias(*rng.pick(&tags), *rng.pick(&tags));
        (0..2_000).map(|_| ask()).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || answers(seed))).collect();
        for (seed, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().unwrap(), answers(seed as u64));
        }
    });
}

#[test]
fn a_graph_put_in_place_of_another_is_read_anew() {
    let mut oracle = Oracle::new(many_classes(0), Rules::Llvm);
    let old = oracle.graph().tags().next().unwrap();
    let (int, float) = oracle.update(|graph| {
        *graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let int = b.scalar_type("int", root).unwrap();
        let float = b.scalar_type("float", root).unwrap();
        let tag = |b: &mut tbaa::Builder<'_>, ty| b.struct_tag(ty, ty, 0, false).unwrap();
        (tag(&mut b, int), tag(&mut b, float))
    });
    assert_eq!(oracle.alias(int, float), AliasResult::NoAlias);
    assert_eq!(oracle.alias(int, old), AliasResult::MayAlias, "of the graph before");
}

/// A chain of structs each of which is copied whole holds more types in types
/// than the tables keep: then the definition is asked.
#[test]
fn beyond_the_tables_the_definition_answers() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let char = b.sized_type(root, 1, "char", &[]).unwrap();
    let int = b.sized_type(char, 4, "int", &[]).unwrap();
    let mut types = vec![int];
    for i in 0..600 {
        let inner = types[types.len() - 1];
        let size = 4 * (i + 1);
        let fields = [
            tbaa::SizedField { ty: inner, offset: 0, size },
            tbaa::SizedField { ty: int, offset: size, size: 4 },
        ];
        types.push(b.sized_type(char, size + 4, format!("S{i}"), &fields).unwrap());
    }
    let mut tags = Vec::new();
    for (i, &ty) in types.iter().enumerate() {
        let size = 4 * (i as u64 + 1);
        tags.push(b.access_tag(ty, ty, 0, size, false).unwrap());
        tags.push(b.access_tag(ty, int, size - 4, 4, false).unwrap());
    }
    for rules in RULES {
        let oracle = Oracle::new(&graph, rules);
        let mut rng = Rng(3);
        for _ in 0..400 {
            let (i, j) = (rng.below(tags.len()), rng.below(tags.len()));
            // Debug builds compare with the definition; so does the clause.
            let answer = oracle.alias(tags[i], tags[j]);
            assert_eq!(answer, oracle.explain(tags[i], tags[j]).answer, "{rules}: {i} and {j}");
        }
    }
}

#[test]
#[cfg(feature = "serde")]
fn stored_answers_come_back_whole_or_not_at_all() {
    for unions in [0, 5] {
        let graph = many_classes(unions);
        let oracle = Oracle::new(&graph, Rules::Union);
        let tags: Vec<_> = graph.tags().collect();
        for list in [&tags[..10], &tags] {
            let frozen = oracle.freeze(list);
            let text = ron::to_string(&frozen).unwrap();
            assert_eq!(ron::from_str::<Frozen>(&text).unwrap(), frozen);
        }
    }
    for text in [
        "Classes(of_tags:[0,1],classes:1,may_alias:([0]))",
        "Classes(of_tags:[0],classes:9,may_alias:([0]))",
        "Classes(of_tags:[],classes:4294967296,may_alias:([]))",
        "Intervals(spans:[(0,4294967295)],kinds:[Listed(0)],lists:[])",
        "Intervals(spans:[(4,1)],kinds:[Root(0)],lists:[])",
        "Intervals(spans:[(1,4)],kinds:[Any],lists:[])",
        "Intervals(spans:[(1,4)],kinds:[],lists:[])",
    ] {
        let error = ron::from_str::<Frozen>(text).unwrap_err().to_string();
        assert!(error.contains("contradicts itself"), "{text}: {error}");
    }
}

/// Types that refer to those before them at will: scalars in chains, of two
/// operands and of three, in both formats; offsets of two widths.
fn any_types(rng: &mut Rng) -> (Graph, Vec<NodeId>) {
    let mut graph = Graph::new();
    let mut types = vec![graph.insert(&[Operand::String(b"root")]).unwrap()];
    let (narrow, mixed, sized) = (rng.one_in(4), rng.one_in(6), rng.one_in(2));
    let scalars = 1 + rng.below(3);
    for number in 1..60 {
        let bits = |rng: &mut Rng| if narrow && rng.one_in(30) { 32 } else { 64 };
        let int = |rng: &mut Rng, value| Operand::Int(Int { bits: bits(rng), value });
        let recent = |rng: &mut Rng| {
            let pool = if rng.one_in(8) { types.len() } else { types.len().min(3) };
            Operand::Node(types[types.len() - 1 - rng.below(pool)])
        };
        let name = format!("t{number}");
        let name = Operand::String(name.as_bytes());
        let mut offsets: Vec<u64> =
            (0..1 + rng.below(3)).map(|_| 4 * rng.below(3) as u64).collect();
        offsets.sort_unstable();
        let new = if mixed { rng.one_in(2) } else { sized };
        let mut operands = match (new, rng.below(5)) {
            (false, _) => vec![name],
            (true, size) => vec![recent(rng), Operand::Int(Int::i64(4 * size as u64)), name],
        };
        if rng.below(4) < scalars {
            if !new {
                operands.push(recent(rng));
                operands.extend(rng.one_in(2).then(|| int(rng, 0)));
            }
        } else {
            for offset in offsets {
                operands.extend([recent(rng), int(rng, offset)]);
                operands.extend(new.then(|| Operand::Int(Int::i64(4))));
            }
        }
        types.push(graph.insert(&operands).unwrap());
    }
    (graph, types)
}

/// The tables follow a tag's path to the first known place only, and must judge
/// as the verifier does, which follows it to the end.
#[test]
fn tags_are_accepted_as_the_verifier_accepts_them() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..setting("TBAA_GRAPHS", 6) * 200 {
        let mut rng = Rng(seed as u64);
        let (mut graph, types) = any_types(&mut rng);
        for _ in 0..120 {
            let base = *rng.pick(&types);
            let (mut access, mut offset) = (base, 0);
            // Down a few steps, as most tags go; or up, from a scalar.
            for _ in 0..rng.below(30) {
                let operands: Vec<_> = graph.operands(access).collect();
                let mut nodes = (0..operands.len()).filter(|&at| operands[at].node().is_some());
                let Some(at) = nodes.next_back() else { break };
                let Some(next) = operands[at].node() else { break };
                if graph.operand_count(next) < 2 {
                    break;
                }
                access = next;
                let start = operands.get(at + 1).and_then(|it| it.int()).filter(|_| at > 0);
                offset += start.map_or(0, |start| start.value);
            }
            if rng.one_in(8) {
                offset = 4 * rng.below(5) as u64;
            }
            let bits = if rng.one_in(20) { 32 } else { 64 };
            let mut operands = vec![Operand::Node(base), Operand::Node(access)];
            operands.push(Operand::Int(Int { bits, value: offset }));
            let new = graph.operand_count(access) > 2
                && graph.operand(access, 0).and_then(Operand::node).is_some();
            operands.extend(new.then(|| Operand::Int(Int::i64(4))));
            let tag = graph.insert(&operands).unwrap();
            graph.mark_tag(tag);
        }
        let mut verifier = Verifier::new(&graph);
        let verdicts: Vec<_> = graph.tags().map(|tag| (tag, verifier.check(tag).is_ok())).collect();
        let oracle = Oracle::new(&graph, Rules::Llvm);
        let Some(&(known, _)) = verdicts.iter().find(|it| it.1) else { continue };
        for &(tag, ok) in &verdicts {
            if tag != known {
                let clause = oracle.explain(tag, known).clause;
                assert_eq!(clause != Clause::Malformed, ok, "seed {seed}: {:?}", graph.tag(tag));
            }
            *(if ok { &mut accepted } else { &mut rejected }) += 1;
        }
    }
    println!("{accepted} tags accepted, {rejected} rejected");
    assert!(accepted > rejected / 20 && rejected > 0);
}

/// Deep chains of types with a tag each, in the order in which the verifier
/// would walk farthest: quadratic, this would take minutes.
#[test]
fn a_tag_for_each_type_of_a_deep_chain() {
    const DEPTH: usize = 30_000;
    for (format, scalars) in [(Format::Old, true), (Format::Old, false), (Format::New, false)] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let scalar = |b: &mut tbaa::Builder<'_>, name: &str, parent| match format {
            Format::Old => b.scalar_type(name, parent).unwrap(),
            Format::New => b.sized_type(parent, 4, name, &[]).unwrap(),
        };
        let int = scalar(&mut b, "int", root);
        let mut types = vec![int];
        for i in 0..DEPTH {
            let (inner, name) = (types[i], format!("t{i}"));
            let field = tbaa::SizedField { ty: inner, offset: 0, size: 4 };
            types.push(match format {
                _ if scalars => scalar(&mut b, &name, inner),
                Format::Old => b.struct_type(name, &[(inner, 0), (int, 4)]).unwrap(),
                Format::New => b.sized_type(root, 4, name, &[field]).unwrap(),
            });
        }
        for &ty in &types {
            // The builder would look for the path, which is as long.
            let access = if scalars { ty } else { int };
            let mut tag = vec![Operand::Node(ty.node()), Operand::Node(access.node())];
            tag.push(Operand::Int(Int::i64(0)));
            tag.extend((format == Format::New).then(|| Operand::Int(Int::i64(4))));
            let tag = graph.insert(&tag).unwrap();
            graph.mark_tag(tag);
        }
        let oracle = Oracle::new(&graph, Rules::Llvm);
        let tags: Vec<_> = graph.tags().take(2).collect();
        assert_eq!(oracle.alias(tags[0], tags[1]), AliasResult::MayAlias);
    }
}

/// An operand of a node of a graph that is yet to be made.
#[derive(Clone)]
enum Part {
    Name(String),
    Int(u64),
    Node(usize),
}

/// Nodes of any kind, some of which are reserved before they are filled and may
/// then refer to later ones; and how many of them are types, before the tags.
fn wild_nodes(rng: &mut Rng) -> (Vec<(bool, Vec<Part>)>, usize) {
    const TYPES: usize = 24;
    let mut nodes = vec![(false, vec![Part::Name("root".to_owned())])];
    let (cyclic, mixed, sized) = (rng.one_in(3), rng.one_in(6), rng.one_in(2));
    for number in 1..TYPES {
        let reserved = rng.one_in(3);
        let later = cyclic && reserved && rng.one_in(3);
        let other = |rng: &mut Rng| {
            Part::Node(match () {
                () if later && rng.one_in(2) => rng.below(TYPES),
                () => number - 1 - rng.below(number.min(4)),
            })
        };
        let name = Part::Name(format!("t{number}"));
        let new = if mixed { rng.one_in(2) } else { sized };
        let fields = if rng.one_in(2) { 0 } else { 1 + rng.below(3) };
        let mut parts = match (new, fields) {
            (true, _) => vec![other(rng), Part::Int(8), name],
            (false, 0) => vec![name, other(rng), Part::Int(0)],
            (false, _) => vec![name],
        };
        for field in 0..fields as u64 {
            let offset = if rng.one_in(8) { 0 } else { 8 * field };
            parts.extend([other(rng), Part::Int(offset)]);
            parts.extend(new.then_some(Part::Int(8)));
        }
        nodes.push((reserved, parts));
    }
    for _ in 0..40 {
        let base = rng.below(TYPES);
        let (mut access, mut offset) = (base, 0);
        for _ in 0..rng.below(12) {
            let parts = &nodes[access].1;
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
        let mut tag = vec![Part::Node(base), Part::Node(access), Part::Int(offset)];
        let new = matches!(nodes[access].1[0], Part::Node(_));
        tag.extend(new.then_some(Part::Int(8)));
        nodes.push((rng.one_in(3), tag));
    }
    (nodes, TYPES)
}

/// Makes the nodes. Reserved ones are filled some time later, and tags and some
/// types marked as soon as they are there; or all that at the end.
fn wild_graph(
    nodes: &[(bool, Vec<Part>)],
    types: usize,
    mut bit_by_bit: Option<&mut Rng>,
) -> Graph {
    let mut graph = Graph::new();
    let mut ids: Vec<NodeId> = Vec::new();
    let mut pending: Vec<usize> = Vec::new();
    let operands = |ids: &[NodeId], node: usize| -> Vec<Operand<'_>> {
        let parts = nodes[node].1.iter();
        let operands = parts.map(|part| match part {
            Part::Name(name) => Operand::String(name.as_bytes()),
            Part::Int(value) => Operand::Int(Int::i64(*value)),
            Part::Node(node) => Operand::Node(ids[*node]),
        });
        operands.collect()
    };
    for (number, (reserved, parts)) in nodes.iter().enumerate() {
        ids.push(if *reserved {
            pending.push(number);
            graph.reserve(parts.len(), true).unwrap()
        } else {
            graph.insert(&operands(&ids, number)).unwrap()
        });
        let Some(rng) = &mut bit_by_bit else { continue };
        if number >= types || rng.one_in(3) {
            if number >= types {
                graph.mark_tag(ids[number]);
            } else {
                graph.mark_type(ids[number]);
            }
        }
        if !pending.is_empty() && rng.one_in(3) {
            let next = rng.below(pending.len());
            let there = |part: &Part| !matches!(part, Part::Node(node) if *node >= ids.len());
            if nodes[pending[next]].1.iter().all(there) {
                let next = pending.swap_remove(next);
                graph.fill(ids[next], &operands(&ids, next)).unwrap();
            }
        }
    }
    for next in pending {
        graph.fill(ids[next], &operands(&ids, next)).unwrap();
    }
    for &ty in &ids[..types] {
        graph.mark_type(ty);
    }
    for &tag in &ids[types..] {
        graph.mark_tag(tag);
    }
    graph
}

/// The root above a type, by its definition.
fn root_above(graph: &Graph, mut ty: TypeId) -> Option<TypeId> {
    for _ in 0..=graph.node_count() {
        match graph.ty(ty).parent() {
            Some(parent) => ty = parent,
            None => return Some(ty),
        }
    }
    None
}

#[test]
fn graphs_do_not_depend_on_when_their_nodes_were_filled() {
    let mut no = 0;
    for seed in 0..setting("TBAA_GRAPHS", 6) * 50 {
        let mut rng = Rng(seed as u64);
        let (nodes, types) = wild_nodes(&mut rng);
        let whole = wild_graph(&nodes, types, None);
        let grown = wild_graph(&nodes, types, Some(&mut rng));
        let sorted = |graph: &Graph| {
            let mut types: Vec<_> = graph.types().map(|ty| ty.node().index()).collect();
            types.sort_unstable();
            types
        };
        assert_eq!(sorted(&whole), sorted(&grown), "seed {seed}");
        for graph in [&whole, &grown] {
            for ty in graph.types() {
                assert_eq!(graph.root_of(ty), root_above(graph, ty), "seed {seed}: {ty:?}");
            }
        }
        let tags: Vec<_> = whole.tags().zip(grown.tags()).collect();
        for rules in RULES {
            let (whole, grown) = (Oracle::new(&whole, rules), Oracle::new(&grown, rules));
            for (i, &(a, of_a)) in tags.iter().enumerate() {
                for &(b, of_b) in &tags[..i] {
                    let answer = whole.alias(a, b);
                    assert_eq!(answer, grown.alias(of_a, of_b), "seed {seed}, {rules}");
                    no += usize::from(answer == AliasResult::NoAlias);
                }
            }
        }
    }
    assert!(no > 1_000, "{no}");
}

/// Asserts that all pairs have one answer, at once or alone, in a graph that
/// grows node by node and in one that is there from the start.
fn check_grown(what: &str, graph: &Graph) {
    for rules in RULES {
        let mut grown = Oracle::new(Graph::new(), rules);
        for index in 0..graph.node_count() {
            grown.update(|grown| copy_node(graph, index, grown));
        }
        let whole = Oracle::new(graph, rules);
        let (new, old): (Vec<_>, Vec<_>) = (grown.graph().tags().collect(), graph.tags().collect());
        assert_eq!(new.len(), old.len(), "{what}");
        check(&format!("{what}, {rules}, grown"), &grown, &new);
        check(&format!("{what}, {rules}"), &whole, &old);
        for (i, &a) in old.iter().enumerate() {
            let answers = |oracle: &Oracle<&Graph>| oracle.row(a, &old);
            assert_eq!(grown.row(new[i], &new), answers(&whole), "{what}, {rules}, tag {i}");
        }
    }
}

/// Structs in structs, deeper than tables look when a tag is added: some are
/// accessed whole before or after accesses to what is inside them. Debug builds
/// compare with the definition.
#[test]
fn whole_accesses_in_a_deep_chain() {
    const DEPTH: usize = 90;
    for (whole_first, every) in [(true, 1), (false, 1), (true, 30)] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let int = b.sized_type(root, 4, "int", &[]).unwrap();
        let float = b.sized_type(root, 4, "float", &[]).unwrap();
        let field = |ty, offset, size| tbaa::SizedField { ty, offset, size };
        let pair = [field(int, 0, 4), field(float, 4, 4)];
        let mut types = vec![(b.sized_type(root, 8, "S0", &pair).unwrap(), 8)];
        for i in 1..DEPTH {
            let (inner, size) = types[i - 1];
            let fields = [field(int, 0, 4), field(inner, 4, size)];
            let outer = b.sized_type(root, size + 4, format!("S{i}"), &fields).unwrap();
            types.push((outer, size + 4));
        }
        let whole = |b: &mut tbaa::Builder<'_>| -> Vec<TagId> {
            let some = types.iter().step_by(every);
            some.map(|&(ty, size)| b.access_tag(ty, ty, 0, size, false).unwrap()).collect()
        };
        let inside = |b: &mut tbaa::Builder<'_>| -> Vec<TagId> {
            let some = types[DEPTH - 8..].iter().rev();
            some.map(|&(ty, size)| b.access_tag(ty, float, size - 4, 4, false).unwrap()).collect()
        };
        let (whole, inside) = if whole_first {
            let whole = whole(&mut b);
            (whole, inside(&mut b))
        } else {
            let inside = inside(&mut b);
            (whole(&mut b), inside)
        };
        // More types around those, accessed whole before and after walks come
        // to them.
        let (mut whole, mut inside) = (whole, inside);
        let (mut inner, mut size) = types[DEPTH - 1];
        for i in 0..6 {
            let fields = [field(int, 0, 4), field(inner, 4, size)];
            let outer = b.sized_type(root, size + 4, format!("T{i}"), &fields).unwrap();
            if i % 3 == 0 {
                whole.push(b.access_tag(outer, outer, 0, size + 4, false).unwrap());
            }
            inside.push(b.access_tag(outer, float, size, 4, false).unwrap());
            if i == 2 {
                whole.push(b.access_tag(inner, inner, 0, size, false).unwrap());
                for offset in 0..60 {
                    b.access_tag(types[DEPTH - 1].0, int, 4 * offset, 4, false).unwrap();
                }
            }
            (inner, size) = (outer, size + 4);
        }
        for rules in RULES {
            let mut grown = Oracle::new(Graph::new(), rules);
            for index in 0..graph.node_count() {
                grown.update(|grown| copy_node(&graph, index, grown));
            }
            let new: Vec<_> = grown.graph().tags().collect();
            let oracle = Oracle::new(&graph, rules);
            for &a in &inside {
                let matrix = oracle.matrix(&[&[a], &whole[..]].concat());
                for (i, &b) in whole.iter().enumerate() {
                    let may = oracle.may_alias(a, b);
                    assert_eq!(matrix.may_alias(0, i + 1), may, "{rules}");
                    assert_eq!(grown.may_alias(new[a.index()], new[b.index()]), may, "{rules}");
                }
            }
        }
    }
}

/// Offsets that differ in bits that 32 do not hold.
#[test]
fn offsets_beyond_32_bits() {
    let far = 1_u64 << 32;
    let offsets =
        [0, 4, far - 2, far - 1, far, far + 1, 2 * far - 1, 2 * far, 2 * far + 4, 1 << 40];
    for format in [Format::Old, Format::New] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let scalar = |b: &mut tbaa::Builder<'_>, name: &str| match format {
            Format::Old => b.scalar_type(name, root).unwrap(),
            Format::New => b.sized_type(root, 1, name, &[]).unwrap(),
        };
        let (int, float) = (scalar(&mut b, "int"), scalar(&mut b, "float"));
        let strukt = |b: &mut tbaa::Builder<'_>, name: &str, fields: &[(TypeId, u64, u64)]| {
            let (_, start, size) = fields[fields.len() - 1];
            let sized = |&(ty, offset, size)| tbaa::SizedField { ty, offset, size };
            let sized: Vec<_> = fields.iter().map(sized).collect();
            let old: Vec<_> = fields.iter().map(|&(ty, offset, _)| (ty, offset)).collect();
            match format {
                Format::Old => b.struct_type(name, &old).unwrap(),
                Format::New => b.sized_type(root, start + size, name, &sized).unwrap(),
            }
        };
        let fields: Vec<_> = offsets.iter().map(|&offset| (int, offset, 1)).collect();
        let inner = strukt(&mut b, "S", &fields);
        let union = strukt(&mut b, "U", &[(float, 0, 1), (inner, 0, (1 << 40) + 1)]);
        let outer = strukt(&mut b, "T", &[(int, 0, 1), (union, far, (1 << 40) + 1)]);
        let mut first = 0;
        for (base, start) in [(inner, 0), (union, 0), (outer, far)] {
            for offset in offsets {
                match format {
                    Format::Old => b.struct_tag(base, int, start + offset, false).unwrap(),
                    Format::New => b.access_tag(base, int, start + offset, 1, false).unwrap(),
                };
            }
            if base == inner {
                first = offsets.len();
            }
        }
        check_grown(&format!("{format:?}"), &graph);
        let tags: Vec<_> = graph.tags().collect();
        for rules in RULES {
            let oracle = Oracle::new(&graph, rules);
            for (i, &a) in tags[..first].iter().enumerate() {
                let row: Vec<_> = (0..first).map(|j| i == j).collect();
                assert_eq!(oracle.row(a, &tags[..first]), row, "{format:?}, {rules}: {i}");
            }
        }
    }
}
