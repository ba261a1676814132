//! The tags that the emitter refuses, and rule `llvm`'s answers on the others.

use pretty_assertions::assert_eq;
use tbaa::declare::{Policy, TaggedTypes};
use tbaa::{AliasRule, Format, Graph, Oracle, SizedField, TagId};
use tbaa_check::verify::Rule;
use tbaa_lower::emit::{EmitError, Emitter, Reason, TagCheck};

use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

fn declared(policy: Policy) -> (Graph, TaggedTypes) {
    let types = tbaa_tests::declared(include_str!("../fixtures/types/nested.ron"));
    (Graph::new(), types.into_tagged(policy))
}

fn reason(graph: &Graph, tag: TagId) -> Option<Reason> {
    TagCheck::new().check(graph, tag).err().map(|refusal| refusal.reason)
}

#[test]
fn unions_and_structs_inside_structs_are_refused() {
    let (mut graph, mut types) = declared(Policy::Rfc);
    let mut reason_of = |path: &str| {
        let tag = types.tag(&mut graph, path).unwrap();
        reason(&graph, tag)
    };
    for fine in ["TValue.tt", "*double", "Inner.b", "*Inner", "Outer.inner.b", "Outer.last"] {
        assert_eq!(reason_of(fine), None, "{fine}");
    }
    // LLVM follows a union's last member, so its verifier rejects tags of other members.
    let rejected = Some(Reason::Rejected(Rule::AccessNotOnPath));
    assert_eq!(reason_of("TValue.value.p"), rejected);
    assert_eq!(reason_of("TValue.value.n"), rejected);
    // The verifier accepts this tag, but LLVM wrongly answers that `*double` cannot alias it.
    assert!(matches!(reason_of("TValue.value.i"), Some(Reason::Union { .. })));
    assert!(matches!(reason_of("Outer.values[*].value.i"), Some(Reason::Union { .. })));
    assert_eq!(reason_of("Outer.inner"), Some(Reason::PartialStruct));
}

#[test]
fn what_clang_would_write_is_never_refused() {
    let (mut graph, mut types) = declared(Policy::Clang);
    for path in [
        "TValue.tt", "TValue.value.p", "TValue.value.i", "*double", "Inner.b", "Outer.inner.b",
        "Outer.values[*].tt", "Outer.last", "*TValue *",
    ] {
        let tag = types.tag(&mut graph, path).unwrap();
        assert_eq!(reason(&graph, tag), None, "{path}");
    }
    let ty = types.types().named("Outer").unwrap();
    let copy = types.copy(&mut graph, ty).unwrap().unwrap();
    Emitter::new(Graph::new()).copy(&graph, &graph, copy).unwrap();
}

#[test]
fn a_refusal_says_what_and_why() {
    let (mut graph, mut types) = declared(Policy::Rfc);
    let mut emitter = Emitter::new(Graph::new());
    let tag = types.tag(&mut graph, "TValue.value.i").unwrap();
    let error = emitter.tag(&graph, tag).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tag (\"TValue\", \"long\", 0): the path leads through fields that overlap, of which \
         LLVM sees the last only; lower the tags, or leave the access without one"
    );
    // The tag is refused each time, although its node can be emitted.
    emitter.node(&graph, graph.tag_node(tag)).unwrap();
    assert!(matches!(emitter.tag(&graph, tag), Err(EmitError::Refused(_))));
    let ty = types.types().named("Outer").unwrap();
    let copy = types.copy(&mut graph, ty).unwrap().unwrap();
    emitter.copy(&graph, &graph, copy).unwrap();
}

#[test]
fn an_access_type_that_llvm_never_meets() {
    // LLVM's verifier accepts this tag, but LLVM's alias analysis crashes on it.
    let source = "!tbaa.tags = !{!0}\n!0 = !{!1, !2, i64 4, i64 1}\n\
                  !1 = !{!2, i64 8, !\"S\", !3, i64 0, i64 4}\n!2 = !{!4, i64 1, !\"char\"}\n\
                  !3 = !{!2, i64 4, !\"int\"}\n!4 = !{!\"R\"}\n";
    let graph = tbaa_ir::read(source.as_bytes()).unwrap().into_graph();
    let tag = graph.tags().next().unwrap();
    assert!(tbaa::wellformed::Verifier::new(&graph).check(tag).is_ok());
    assert_eq!(reason(&graph, tag), Some(Reason::NeverMet));
}

#[test]
fn accesses_wider_than_their_place() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let field = |offset, size| SizedField { ty: int, offset, size };
    let s = b.sized_type(root, 24, "S", &[field(0, 4), field(4, 4), field(8, 16)]).unwrap();
    let mut tag = |offset, size| b.access_tag(s, int, offset, size).unwrap();
    let tags = [tag(0, 4), tag(0, 0), tag(0, u64::MAX), tag(8, 16), tag(0, 8), tag(8, 17)];
    let wide = |size, room| Some(Reason::Wide { size, room });
    let unknown = Some(Reason::UnknownSize);
    assert_eq!(
        tags.map(|tag| reason(&graph, tag)),
        [None, unknown.clone(), unknown, wide(16, 4), wide(8, 4), wide(17, 4)]
    );
}

/// For tags that are not refused, rule `llvm` answers `MayAlias` wherever rule `union` does.
#[test]
fn what_passes_is_right() {
    let graphs = setting("TBAA_PAIRS", 400_000) / 1000;
    let first = setting("TBAA_SEED", 0);
    let (mut passed, mut refused, mut told_apart, mut wrong) = (0, [0; 4], 0, 0);
    for seed in first..first + graphs {
        let (format, shape) = match seed % 4 {
            // The old format has no sizes that tell which fields overlap: use graphs where none do.
            0 => (Format::Old, Shape::PlainScalars),
            _ => (Format::New, Shape::Parented),
        };
        let structs = 2 + seed % 12;
        let universe = Universe { format, structs, tags: 48, shape };
        let graph = random::graph(&mut Rng(seed as u64), &universe);
        let mut check = TagCheck::new();
        let (mut fine, mut others) = (Vec::new(), Vec::new());
        for tag in graph.tags() {
            let Err(refusal) = check.check(&graph, tag) else {
                fine.push(tag);
                continue;
            };
            others.push(tag);
            refused[match refusal.reason {
                Reason::Union { .. } => 0,
                Reason::PartialStruct => 1,
                Reason::Wide { .. } => 2,
                _ => 3,
            }] += 1;
        }
        passed += fine.len();
        let llvm = Oracle::new(&graph, AliasRule::Llvm);
        let union = Oracle::new(&graph, AliasRule::Union);
        let misses = |a, b| !llvm.may_alias(a, b) && union.may_alias(a, b);
        for &a in &fine {
            for &b in &fine {
                told_apart += usize::from(!llvm.may_alias(a, b));
                let text = || tbaa_ir::write(&graph);
                assert!(!misses(a, b), "seed {seed}: {}\n{}", union.explain(a, b), text());
            }
            wrong += others.iter().filter(|&&b| misses(a, b)).count();
        }
    }
    println!(
        "{passed} passed, refused {refused:?}; {told_apart} NoAlias, {wrong} wrong ones kept out"
    );
    assert!(refused[..3].iter().all(|&refused| refused > passed / 100), "{refused:?}");
    assert!(told_apart > passed && wrong > 100);
}
