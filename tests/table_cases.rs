//! Graphs on which the tables behind queries once failed.

use tbaa::{AliasResult, Graph, Int, Operand, Oracle, Rules, SizedField};

/// What the fields of such a type are made of is not known to be a type.
#[test]
fn a_type_may_be_marked_before_it_is_filled() {
    for rules in [Rules::Union, Rules::UnionStrict] {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let zero = Operand::Int(Int::i64(0));
        let (a, b) = oracle.update(|graph| {
            let root = graph.insert(&[Operand::String(b"R")]).unwrap();
            let int = [Operand::String(b"int"), Operand::Node(root), zero];
            let int = graph.insert(&int).unwrap();
            let four = Operand::Int(Int::i64(4));
            let reserved = graph.reserve(5, true).unwrap();
            graph.mark_type(reserved);
            let int = Operand::Node(int);
            graph.fill(reserved, &[Operand::String(b"S"), int, zero, int, four]).unwrap();
            let ty = Operand::Node(reserved);
            let a = graph.insert(&[ty, ty, zero]).unwrap();
            let outer = graph.insert(&[Operand::String(b"T"), ty, zero, ty, four]).unwrap();
            let b = graph.insert(&[Operand::Node(outer), ty, zero]).unwrap();
            (graph.mark_tag(a), graph.mark_tag(b))
        });
        assert_eq!(oracle.alias(a, b), AliasResult::MayAlias);
    }
}

/// The field of a plain struct cuts a flexible array in a union in it.
#[test]
fn a_flexible_array_ends_with_its_slot() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let field = |ty, offset, size| SizedField { ty, offset, size };
    let root = b.root("R").unwrap();
    let short = b.sized_type(root, 2, "short", &[]).unwrap();
    let double = b.sized_type(short, 8, "double", &[]).unwrap();
    let inner = b.sized_type(root, 19, "S", &[field(double, 9, 8)]).unwrap();
    let union = [field(short, 0, 2), field(inner, 0, 0)];
    let union = b.sized_type(root, 2, "U", &union).unwrap();
    let outer = b.sized_type(root, 1, "T", &[field(union, 0, 1)]).unwrap();
    let a = b.access_tag(outer, double, 9, 8, false).unwrap();
    let b = b.access_tag(inner, double, 9, 8, false).unwrap();
    assert_eq!(Oracle::new(&graph, Rules::Union).alias(a, b), AliasResult::NoAlias);
}

/// An object is one of its type's parent, too, which may reach farther than its
/// own size and its parent's.
#[test]
fn an_ancestor_may_reach_past_its_size() {
    for extent in [0, 8] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let field = |ty, offset, size| SizedField { ty, offset, size };
        let root = b.root("R").unwrap();
        let char = b.sized_type(root, 1, "char", &[]).unwrap();
        let int = b.sized_type(root, 4, "int", &[]).unwrap();
        let parent = [field(char, 0, extent), field(int, 0, 4)];
        let parent = b.sized_type(root, 4, "P", &parent).unwrap();
        let inner = b.sized_type(parent, 4, "S", &[field(char, 0, 4)]).unwrap();
        let outer = [field(inner, 0, 4), field(int, 4, 4)];
        let outer = b.sized_type(root, 8, "T", &outer).unwrap();
        let a = b.access_tag(parent, parent, 0, 8, false).unwrap();
        let b = b.access_tag(outer, int, 4, 4, false).unwrap();
        assert_eq!(Oracle::new(&graph, Rules::Union).alias(a, b), AliasResult::MayAlias);
    }
}

/// A struct of too many objects to list, accessed whole, and through a type that
/// holds it.
#[test]
fn a_crowded_struct_lies_inside_others() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let char = b.sized_type(root, 1, "char", &[]).unwrap();
    let int = b.sized_type(char, 4, "int", &[]).unwrap();
    let float = b.sized_type(char, 4, "float", &[]).unwrap();
    let at = |ty, offset, size| SizedField { ty, offset, size };
    let fields: Vec<_> = (0..9_000).map(|i| at(int, 4 * i, 4)).collect();
    let inner = b.sized_type(char, 36_000, "S", &fields).unwrap();
    let fields = [at(float, 0, 4), at(inner, 4, 36_000)];
    let outer = b.sized_type(char, 36_004, "T", &fields).unwrap();
    let whole = b.access_tag(inner, inner, 0, 36_000, false).unwrap();
    let through = b.access_tag(outer, int, 404, 4, false).unwrap();
    let beside = b.access_tag(outer, float, 0, 4, false).unwrap();
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        assert_eq!(oracle.alias(whole, through), AliasResult::MayAlias, "{rules}");
        assert_eq!(oracle.alias(whole, beside), AliasResult::NoAlias, "{rules}");
    }
}

/// A tag is judged as it stands when the update ends, and stays as it was
/// judged; explanations say the same.
#[test]
fn a_tag_filled_after_an_update_may_alias_everything() {
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let zero = Operand::Int(Int::i64(0));
        let (reserved, tag, int, float) = oracle.update(|graph| {
            let root = graph.insert(&[Operand::String(b"R")]).unwrap();
            let mut scalar = |name: &[u8]| {
                graph.insert(&[Operand::String(name), Operand::Node(root), zero]).unwrap()
            };
            let (int, float) = (scalar(b"int"), scalar(b"float"));
            let reserved = graph.reserve(3, true).unwrap();
            let other = [Operand::Node(float), Operand::Node(float), zero];
            let other = graph.insert(&other).unwrap();
            (reserved, graph.mark_tag(reserved), int, graph.mark_tag(other))
        });
        oracle.update(|graph| {
            graph.fill(reserved, &[Operand::Node(int), Operand::Node(int), zero]).unwrap();
        });
        assert!(oracle.may_alias(tag, float), "{rules}");
        assert_eq!(oracle.explain(tag, float).answer, AliasResult::MayAlias, "{rules}");
    }
}

/// What a change added before it panicked is not lost.
#[test]
fn a_change_that_panics_is_taken_note_of() {
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let mut tags = Vec::new();
        let change = std::panic::AssertUnwindSafe(|| {
            oracle.update(|graph| {
                let mut b = graph.builder();
                let root = b.root("R").unwrap();
                for name in ["int", "float"] {
                    let ty = b.scalar_type(name, root).unwrap();
                    tags.push(b.struct_tag(ty, ty, 0, false).unwrap());
                }
                panic!("on purpose");
            });
        });
        assert!(std::panic::catch_unwind(change).is_err());
        assert_eq!(oracle.alias(tags[0], tags[1]), AliasResult::NoAlias, "{rules}");
    }
}

/// Tags that may alias all others, among those that do not.
#[test]
fn many_pairs_with_malformed_and_foreign_tags() {
    let mut other = Graph::new();
    let node = other.insert(&[Operand::String(b"R")]).unwrap();
    let foreign = other.mark_tag(node);
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let float = b.scalar_type("float", root).unwrap();
    let union = b.struct_type("U", &[(int, 0), (float, 0)]).unwrap();
    let int = b.struct_tag(int, int, 0, false).unwrap();
    let wide = b.struct_tag(union, float, 0, false).unwrap();
    let float = b.struct_tag(float, float, 0, false).unwrap();
    let node = graph.insert(&[Operand::String(b"no tag")]).unwrap();
    let tags = [int, foreign, float, graph.mark_tag(node), wide, foreign];
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        let (matrix, frozen) = (oracle.matrix(&tags), oracle.freeze(&tags));
        let classes = oracle.classes(&tags);
        let rows = tags.map(|tag| oracle.row(tag, &tags));
        assert_eq!(rows[1], [true; 6], "{rules}");
        assert!(!rows[0][2], "{rules}");
        for (i, row) in rows.iter().enumerate() {
            for (j, &may) in row.iter().enumerate() {
                assert_eq!((matrix.may_alias(i, j), frozen.may_alias(i, j)), (may, may), "{rules}");
                let alike = classes.as_slice()[i] == classes.as_slice()[j];
                assert_eq!(alike, rows[i] == rows[j], "{rules}: {i}, {j}");
            }
        }
    }
}
