//! Compares a `Session` with the same calls on its parts, and tests errors that name ids.

use tbaa::declare::{Declarations, DeclareError, Policy, Record, Target};
use tbaa::{Access, AccessKind, AliasRule, BuildError, Graph, Oracle, Session, Size};

const POLICIES: [Policy; 2] = [Policy::Clang, Policy::Rfc];
/// Returns types in the order of declaration, each with paths that are valid from then on.
fn steps() -> Vec<(Record, &'static [&'static str])> {
    let value = Record::union("").field("gc", "void *").field("n", "double").field("i", "int");
    vec![
        (
            Record::structure("TValue").field("value", value).field("tt", "short"),
            &["TValue.value.n", "TValue.value.gc", "TValue.tt", "*int", "*void *"],
        ),
        (
            Record::structure("Table").field("size", "int").field("array", "TValue *"),
            &["Table.size", "Table.array", "Table.array[*].tt", "Table.array[*].value.i"],
        ),
        (
            Record::structure("Pair").field("a", "Table").field("b", "Table"),
            &["Pair.a.size", "Pair.b.size", "Pair.b.array", "*double", "*char"],
        ),
    ]
}

#[test]
fn a_session_answers_as_its_parts_do() {
    for policy in POLICIES {
        for rules in AliasRule::ALL {
            let types = || Declarations::new(Target::x86_64());
            let mut session = Session::new(types(), policy, rules);
            let (mut lowering, mut graph) = (types().into_tagged(policy), Graph::new());
            let (mut tags, mut by_hand) = (Vec::new(), Vec::new());
            for (record, paths) in steps() {
                session.define(record.clone()).unwrap();
                lowering.types_mut().define(record).unwrap();
                tags.extend(session.tags(paths).unwrap());
                by_hand.extend(lowering.tags(&mut graph, paths).unwrap());
                assert_eq!(*session.graph(), graph, "{policy:?}");
                let oracle = Oracle::new(&graph, rules);
                let mut no_alias = 0;
                for (&a, &a_by_hand) in tags.iter().zip(&by_hand) {
                    for (&b, &b_by_hand) in tags.iter().zip(&by_hand) {
                        let answer = session.alias(a, b);
                        assert_eq!(answer, oracle.alias(a_by_hand, b_by_hand), "{a:?}, {b:?}");
                        no_alias += usize::from(!session.may_alias(a, b));
                    }
                }
                assert!(no_alias > 0, "{policy:?}, {rules}");
            }
            // Requesting one path at a time gives the same tags.
            for (path, tag) in steps().iter().flat_map(|(_, paths)| *paths).zip(&tags) {
                assert_eq!(session.tag(path), Ok(*tag));
                assert_eq!(session.place(path).unwrap().tag, Some(*tag));
            }
        }
    }
}

#[test]
fn a_session_goes_on_in_a_graph_that_is_there() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("Simple C/C++ TBAA").unwrap();
    let char = b.scalar_type("omnipotent char", root).unwrap();
    let float = b.scalar_type("float", char).unwrap();
    let float = b.struct_tag(float, float, 0).unwrap();
    let types = Declarations::new(Target::x86_64()).into_tagged(Policy::Clang);
    let mut session = Session::from_parts(types, Oracle::new(graph, AliasRule::Llvm));
    assert_eq!(session.tag("*float"), Ok(float));
    let int = session.tag("*int").unwrap();
    assert!(!session.may_alias(int, float));
    let (lowering, oracle) = session.into_parts();
    // Nodes of the old graph do not exist in a new one.
    let mut session = Session::from_parts(lowering, Oracle::new(Graph::new(), oracle.rule()));
    let error = session.tag("*int").unwrap_err();
    assert!(matches!(error, DeclareError::Build(BuildError::ForeignId { .. })), "{error}");
}

#[test]
fn any_of_several_accesses_conflicts_as_one_of_them_does() {
    let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
    let mut tags = Vec::new();
    for (record, paths) in steps() {
        session.define(record).unwrap();
        tags.extend(session.tags(paths).unwrap());
    }
    let oracle = session.oracle();
    let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Both];
    let mut seen = [0; 2];
    for (number, &tag) in tags.iter().enumerate() {
        let second = Access::from(tag).with_kind(kinds[number % 3]);
        assert_eq!(oracle.may_conflict_any(&[], second), None);
        for len in 1..=4 {
            for start in 0..tags.len() {
                let firsts: Vec<Access> = (start..start + len)
                    .map(|at| Access::from(tags[at % tags.len()]).with_kind(kinds[at % 3]))
                    .collect();
                let any = oracle.may_conflict_any(&firsts, second);
                let conflict = |&first: &Access| session.may_conflict(first, second);
                let each: Vec<_> = firsts.iter().filter_map(conflict).collect();
                assert_eq!(any.is_some(), !each.is_empty());
                seen[usize::from(any.is_some())] += 1;
                let Some(any) = any else { continue };
                let one = |of: fn(&tbaa::Conflict) -> bool| each.iter().any(of);
                assert_eq!(any.read_after_write, one(|c| c.read_after_write));
                assert_eq!(any.write_after_read, one(|c| c.write_after_read));
                assert_eq!(any.write_after_write, one(|c| c.write_after_write));
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

#[test]
fn errors_name_the_types() {
    let mut session = Session::like_clang(Declarations::new(Target::x86_64()));
    let pair = || Record::structure("Pair").field("a", "int").field("b", "float");
    let id = session.define(pair()).unwrap();
    assert_eq!(session.define(pair()), Ok(id), "an equal record is the same");
    let changed = session.define(pair().field("c", "int")).unwrap_err();
    assert!(matches!(changed, DeclareError::Changed { first, .. } if first == id));
    let unknown = session.tag("Pair.c").unwrap_err();
    assert!(matches!(unknown, DeclareError::UnknownField { id: of, .. } if of == id));
    let step = session.tag("Pair[0]").unwrap_err();
    assert!(matches!(step, DeclareError::Step { id: of, .. } if of == id));
    let late = Record::structure("Late").field("x", "struct Later");
    let error = session.define(late).unwrap_err();
    let later = session.types_mut().ty("struct Later").unwrap();
    assert!(matches!(error, DeclareError::Incomplete { id, .. } if id == later), "{error}");

    let tag = session.tag("Pair.a").unwrap();
    let (base, int) = session.graph().tag(tag).map(|tag| (tag.base, tag.access)).unwrap();
    let refused = session.update(|_, graph| graph.builder().struct_tag(base, int, 4));
    let Err(BuildError::NoPath { base_ty, access_ty, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((base_ty, access_ty), (base, int));
    let refused = session.update(|_, graph| graph.builder().scalar_type("x", base));
    assert!(matches!(refused, Err(BuildError::AggregateParent { ty, .. }) if ty == base));
}

/// A larger access to a path may alias all that a smaller one may. Size 0 means `u64::MAX`.
#[test]
fn sizes_are_monotone() {
    let types = || tbaa_tests::declared(include_str!("../../fixtures/types/monotone.ron"));
    let paths: Vec<&str> = include_str!("../../fixtures/types/monotone.txt").lines().collect();
    let sizes = [1, 2, 4, 8, 12, 16, 24, 32, 40, 64, 1 << 40, u64::MAX];
    for policy in POLICIES {
        for rules in AliasRule::ALL {
            // Rule `llvm` misreads tags of policy `rfc`.
            if policy == Policy::Rfc && rules == AliasRule::Llvm {
                continue;
            }
            let mut session = Session::new(types(), policy, rules);
            let mut sized = |path: &&str| {
                let mut access = |size: Size| session.sized(path, size).unwrap();
                (access(Size::Bytes(0)), sizes.map(|size| access(size.into())))
            };
            let sized: Vec<_> = paths.iter().map(&mut sized).collect();
            let tags = session.tags(&paths).unwrap().into_iter().map(Access::from);
            let others: Vec<Access> = tags.chain(sized.iter().flat_map(|sized| sized.1)).collect();
            for (path, (unknown, sized)) in std::iter::zip(&paths, sized) {
                assert_eq!(unknown, sized[sizes.len() - 1]);
                for &other in &others {
                    let answers = sized.map(|access| session.may_alias(access, other));
                    let what = || (policy, rules, path, other, answers);
                    assert!(answers.is_sorted(), "{:?}", what());
                }
            }
        }
    }
    // The old format has no arrays, so any element may be the last one, next to `tail`.
    let mut session = Session::like_clang(types());
    let tail = session.tag("S.tail").unwrap();
    for (path, size, meets) in [("S.e[*].y", 4, false), ("S.e[*].y", 8, true), ("E.y", 8, true)] {
        let access = session.sized(path, size).unwrap();
        assert_eq!(session.may_alias(access, tail), meets, "{path}, {size}");
    }
}
