//! The tags that the tables of rule `llvm` take.

use pretty_assertions::assert_eq;
use tbaa::explain::Clause;
use tbaa::raw::RawGraph;
use tbaa::wellformed::Verifier;
use tbaa::{AliasResult, AliasRule, Format, Graph, Int, NodeId, Operand, Oracle};
use tbaa_tests::{Rng, setting};

/// Returns types with arbitrary references to earlier ones: scalars in chains, of two operands and
/// of three, in both formats; offsets of two widths.
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
    for seed in 0..setting("TBAA_GRAPHS", 3) * 100 {
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
                let start =
                    operands.get(at + 1).and_then(|operand| operand.int()).filter(|_| at > 0);
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
        let oracle = Oracle::new(&graph, AliasRule::Llvm);
        let Some(&(known, _)) = verdicts.iter().find(|verdict| verdict.1) else { continue };
        for &(tag, ok) in &verdicts {
            // The tables' verdict, and the definition's.
            assert_eq!(oracle.is_well_formed(tag), ok, "seed {seed}: {:?}", graph.tag(tag));
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
        let oracle = Oracle::new(&graph, AliasRule::Llvm);
        let tags: Vec<_> = graph.tags().take(2).collect();
        assert_eq!(oracle.alias(tags[0], tags[1]), AliasResult::MayAlias);
    }
}
