//! The nodes that the builder makes or refuses. `spec/bad.rs` tests the error messages.

use pretty_assertions::assert_eq;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{
    BuildError, Builder, CopyEntry, Format, Graph, Int, Operand, SizedField, TagId, TypeId,
    TypeKind,
};

fn old(b: &mut Builder<'_>) -> [TypeId; 4] {
    let root = b.root("R").unwrap();
    let char = b.scalar_type("char", root).unwrap();
    let int = b.scalar_type("int", char).unwrap();
    let pair = b.struct_type("Pair", &[(int, 0), (int, 4)]).unwrap();
    [root, char, int, pair]
}

fn sized(b: &mut Builder<'_>) -> [TypeId; 3] {
    let root = b.root("R2").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let fields = [0, 4].map(|offset| SizedField { ty: int, offset, size: 4 });
    let pair = b.sized_type(root, 8, "Pair", &fields).unwrap();
    [root, int, pair]
}

#[test]
fn ids_of_another_graph_are_noticed() {
    let (mut one, mut two) = (Graph::new(), Graph::new());
    let [_, char, int, pair] = old(&mut one.builder());
    let tag = one.builder().struct_tag(pair, int, 4).unwrap();
    // Both graphs have nodes with the same indices.
    old(&mut two.builder());
    let mut b = two.builder();
    let foreign = |argument: &str| BuildError::ForeignId { argument: argument.to_owned() };
    assert_eq!(b.scalar_type("x", char), Err(foreign("parent")));
    assert_eq!(b.struct_type("S", &[(int, 0)]), Err(foreign("field 0 of \"S\"")));
    assert_eq!(b.struct_tag(pair, int, 4), Err(foreign("base")));
    assert_eq!(b.mutable_tag(tag), Err(foreign("tag")));
    let entry = CopyEntry { offset: 0, size: 4, tag };
    assert_eq!(b.struct_copy(&[entry]), Err(foreign("entry 0")));
    assert_eq!(two.node_count(), 4, "nothing was added");
    let oracle = tbaa::Oracle::new(&two, tbaa::AliasRule::Llvm);
    assert!(oracle.may_alias(tag, tag), "any doubt is MayAlias");
}

/// The builder makes the nodes of LLVM's `MDBuilder`; the text is that of `llvm-dis`.
#[test]
fn every_builder_call_prints_as_llvm_prints_it() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let [_, char, int, pair] = old(&mut b);
    let tag = b.immutable_struct_tag(pair, int, 4).unwrap();
    let mutable = b.mutable_tag(tag).unwrap();
    assert_eq!(b.mutable_tag(mutable), Ok(mutable));
    let [_, sized_int, sized_pair] = sized(&mut b);
    b.immutable_access_tag(sized_pair, sized_int, 4, 4).unwrap();
    b.access_tag(sized_pair, sized_pair, 0, 8).unwrap();
    let anonymous = b.anonymous_root().unwrap();
    assert_ne!(anonymous, b.anonymous_root().unwrap(), "each is a root of its own");
    let lone = b.scalar_type("lone", anonymous).unwrap();
    b.struct_tag(lone, lone, 0).unwrap();
    let empty = b.empty_root().unwrap();
    assert_eq!(empty, b.empty_root().unwrap());
    let wasm = b.scalar_type("wasm", empty).unwrap();
    b.struct_tag(wasm, wasm, 0).unwrap();
    b.struct_tag(char, char, 0).unwrap();
    b.struct_copy(&[
        CopyEntry { offset: 0, size: 4, tag: mutable },
        CopyEntry { offset: 4, size: 4, tag: mutable },
    ])
    .unwrap();
    assert_eq!(tbaa_ir::write(&graph), include_str!("../fixtures/graph/builder.ll"));
    let read = tbaa_ir::read(tbaa_ir::write(&graph).as_bytes()).unwrap().into_graph();
    assert_eq!(read, graph);
}

#[test]
fn a_struct_around_one_struct_is_no_scalar() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let [_, _, int, pair] = old(&mut b);
    let wrap = b.struct_type("Wrap", &[(pair, 0)]).unwrap();
    let inner: TagId = b.struct_tag(wrap, int, 4).unwrap();
    let whole_int = b.struct_type("W", &[(int, 0)]).unwrap();
    assert_eq!(graph.ty(wrap).kind(), TypeKind::Aggregate);
    assert_eq!(graph.ty(whole_int).kind(), TypeKind::Scalar, "nothing tells the two apart");
    assert_eq!(graph.tag(inner).unwrap().format, Format::Old);
}

/// The builder refuses to use a type that contains itself, and names the argument.
#[test]
fn a_cycle_cannot_be_built_and_is_refused_where_it_was_read() {
    let mut graph = Graph::new();
    let operands = vec![Operand::String(b"loop").into(), DraftOperand::Member(0)];
    let node = graph.insert_group(&[Draft { distinct: false, operands }]).unwrap()[0];
    let ty = graph.mark_type(node);
    let error = graph.builder().scalar_type("child", ty).unwrap_err();
    assert_eq!(error.to_string(), "parent: a malformed node; `verify` says what is wrong with it");
}

#[test]
fn formats_do_not_mix_under_a_root_that_was_read() {
    let text = b"!tbaa.tags = !{!0}\n!0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !{!\"R\"}}\n";
    let mut graph = tbaa_ir::read(text).unwrap().into_graph();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let error = b.sized_type(root, 4, "int", &[]).unwrap_err();
    assert!(matches!(error, BuildError::MixedFormats { wanted: Format::New, .. }), "{error}");
    assert!(b.scalar_type("float", root).is_ok());
}

/// The builder refuses an offset before the first field, as LLVM's verifier does.
#[test]
fn no_path_leads_to_what_lies_before_the_first_field() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let [_, _, int, _] = old(&mut b);
    let padded = b.struct_type("padded", &[(int, 4)]).unwrap();
    assert!(b.struct_tag(padded, int, 4).is_ok());
    let error = b.struct_tag(padded, int, 0).unwrap_err();
    assert!(matches!(error, BuildError::NoPath { limit: false, .. }), "{error}");
}

/// Struct T(k) contains T(k-1) at 0 and at 2^k. Without sizes, exponentially many paths lead to an
/// offset in T(k).
#[test]
fn a_search_for_a_path_has_an_end() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let [_, char, int, _] = old(&mut b);
    let mut ty = b.struct_type("T0", &[(int, 0), (int, 4)]).unwrap();
    for k in 1..60 {
        ty = b.struct_type(format!("T{k}"), &[(ty, 0), (ty, 1 << k)]).unwrap();
    }
    assert!(b.struct_tag(ty, int, 4).is_ok());
    let other = b.scalar_type("other", char).unwrap();
    let error = b.struct_tag(ty, other, (1 << 60) - 1).unwrap_err();
    assert!(matches!(error, BuildError::NoPath { limit: true, .. }), "{error}");
}

/// The builder accepts a tag of any member of a union. LLVM's verifier accepts only the last
/// member's.
#[test]
fn a_tag_to_the_first_member_of_a_union_is_for_the_union_rules() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let [_, char, int, _] = old(&mut b);
    let float = b.scalar_type("float", char).unwrap();
    let union = b.struct_type("U", &[(int, 0), (float, 0)]).unwrap();
    let [first, last] = [int, float].map(|ty| b.struct_tag(union, ty, 0).unwrap());
    let mut verifier = tbaa::wellformed::Verifier::new(&graph);
    assert!(verifier.check(first).is_err());
    assert!(verifier.check(last).is_ok());
    assert!(tbaa::Oracle::new(&graph, tbaa::AliasRule::Union).may_alias(first, last));
}

/// Small integers are stored in the operand, others in a table.
#[test]
fn integers_are_kept_at_every_size_and_width() {
    let mut graph = Graph::new();
    let edge = 1 << 29;
    let values = [0, 1, edge - 1, edge, edge + 1, u64::from(u32::MAX) + 1, u64::MAX];
    let ints: Vec<Int> = [64, 32, 128]
        .into_iter()
        .flat_map(|bits| values.map(|value| Int { bits, value }))
        .filter(|int| int.bits != 32 || int.value <= u32::MAX.into())
        .collect();
    let nodes: Vec<_> =
        ints.iter().map(|&int| graph.insert(&[Operand::Int(int)]).unwrap()).collect();
    assert_eq!(graph.node_count(), ints.len(), "no two are one");
    graph.shrink_to_fit();
    for (&int, &node) in ints.iter().zip(&nodes) {
        assert_eq!(graph.operand(node, 0), Some(Operand::Int(int)));
        assert_eq!(graph.insert(&[Operand::Int(int)]), Ok(node), "{int} is found again");
    }
}

/// Names are stored in one buffer, without separators, and still differ.
#[test]
fn names_are_told_apart_where_they_touch() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let names: Vec<Vec<u8>> = (0..2_000_u32)
        .map(|at| b"ab".repeat(at as usize % 50 + 1))
        .chain([vec![], vec![0]])
        .collect();
    let roots: Vec<_> = names.iter().map(|name| b.root(name).unwrap()).collect();
    graph.shrink_to_fit();
    assert_eq!(graph.node_count(), 52);
    for (name, &root) in names.iter().zip(&roots) {
        assert_eq!(graph.ty(root).name(), Some(&name[..]));
        assert_eq!(graph.builder().root(name), Ok(root));
    }
}
