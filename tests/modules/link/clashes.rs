//! Types of one name *clash* if their bodies differ, unless one module has all of them as scalars.
//! Accesses clash if they go through types that clash with each other (see `LinkedOracle`).

use tbaa::{AliasResult, AliasRule, Graph, TagId};
use tbaa_check::link::Linked;
use tbaa_tests::cases;

use AliasResult::{MayAlias, NoAlias};

/// Reads a listing. If it lacks `!0`, adds a root `!0` and the types `char`, `int` and `float`.
fn module(listing: &str) -> Graph {
    if listing.contains("!0 =") {
        return tbaa_ir::read(listing.as_bytes()).unwrap().into_graph();
    }
    let text = format!(
        "!0 = !{{!\"Simple C/C++ TBAA\"}}
         !1 = !{{!\"omnipotent char\", !0, i64 0}}
         !2 = !{{!\"int\", !1, i64 0}}
         !3 = !{{!\"float\", !1, i64 0}}
         {listing}"
    );
    tbaa_ir::read(text.as_bytes()).unwrap().into_graph()
}

struct Pair {
    linked: Linked,
    tags: [Vec<Option<TagId>>; 2],
}

impl Pair {
    fn new(a: &str, b: &str) -> Pair {
        let (a, b) = (module(a), module(b));
        let linked = Linked::new(&[("a.ll", &a), ("b.ll", &b)]).unwrap();
        let tags = [
            a.tags().map(|tag| linked.tag(0, tag)).collect(),
            b.tags().map(|tag| linked.tag(1, tag)).collect(),
        ];
        Pair { linked, tags }
    }

    /// Returns the clashes and answers of the pair, in the form of `tests/fixtures/link.txt`.
    fn said(&self) -> String {
        let mut out = String::new();
        for clash in self.linked.clashes() {
            let mut modules: Vec<&str> = clash.bodies.iter().map(|body| &body.module[..]).collect();
            modules.sort_unstable();
            let name = String::from_utf8_lossy(&clash.name);
            out += &format!("{name} of {}\n", modules.join(", "));
        }
        let tags: Vec<_> = self.tags.iter().flatten().copied().collect();
        for rules in AliasRule::ALL {
            let oracle = self.linked.oracle(rules);
            let letter = |(a, b): (Option<TagId>, Option<TagId>)| {
                let clash = a.zip(b).is_some_and(|(a, b)| oracle.clash(a, b));
                match oracle.alias(a, b) {
                    MayAlias if clash => 'C',
                    MayAlias if a.and(b).is_none() => '?',
                    MayAlias => 'M',
                    NoAlias => 'N',
                }
            };
            let rows = tags.iter().map(|&a| tags.iter().map(|&b| letter((a, b))).collect());
            let rows: Vec<String> = rows.collect();
            let clear = |tag: &Option<TagId>| tag.is_some_and(|tag| oracle.is_clear(tag));
            let clear: Vec<String> =
                tags.iter().map(|tag| u8::from(clear(tag)).to_string()).collect();
            out += &format!("{rules}: {}; clear {}\n", rows.join(" "), clear.concat());
        }
        out
    }
}

#[test]
fn pairs_are_linked_as_written_down() {
    cases::check("link.txt", |_, parts| {
        let pair = Pair::new(parts[0], parts[1]);
        // A module that is linked twice counts once.
        let twice = module(parts[0]);
        let twice = Linked::new(&[("a.ll", &twice), ("a.ll", &twice)]).unwrap();
        assert_eq!(twice.summary(), Linked::new(&[("a.ll", &module(parts[0]))]).unwrap().summary());
        pair.said()
    });
}

/// For each body, a clash names the alphabetically first module that has the body.
#[test]
fn a_body_is_the_first_modules() {
    let with = |member| {
        let ty = format!("!4 = !{{!\"S\", !{member}, i64 0}}");
        module(&format!("{ty} !5 = !{{!4, !{member}, i64 0}} !tbaa.tags = !{{!5}}"))
    };
    let (int, float) = (with(2), with(3));
    for order in [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]] {
        let modules = order.map(|name| (name, if name == "c" { &float } else { &int }));
        let linked = Linked::new(&modules).unwrap();
        let bodies = linked.clashes()[0].bodies.iter();
        let mut names: Vec<&str> = bodies.map(|body| &body.module[..]).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "c"]);
    }
}

/// An access through more than 64 clashing types clashes with every access through a clashing type.
#[test]
fn very_many_clashes_answer_may() {
    // A chain of `count` structs, each inside the next one, and the separate struct `S`.
    let chain = |scalar: usize, count: usize| {
        let mut text = format!("!4 = !{{!\"S\", !{scalar}, i64 0, !2, i64 8}}\n");
        for at in 100..100 + count {
            let inner = if at == 100 { scalar } else { at - 1 };
            text += &format!("!{at} = !{{!\"n{at}\", !{inner}, i64 0, !2, i64 {}}}\n", 8 * at);
        }
        let last = 99 + count;
        text + &format!(
            "!5 = !{{!{last}, !{scalar}, i64 0}} !6 = !{{!4, !{scalar}, i64 0}} !tbaa.tags = !{{!5, !6}}"
        )
    };
    for (count, through_any) in [(64, false), (65, true), (200, true)] {
        let pair = Pair::new(&chain(2, count), &chain(3, count));
        assert_eq!(pair.linked.clashes().len(), count + 1);
        for rules in AliasRule::ALL {
            assert_eq!(pair.linked.oracle(rules).alias(pair.tags[0][0], pair.tags[1][0]), MayAlias);
            let oracle = pair.linked.oracle(rules);
            let (ours, other) = (pair.tags[0][0].unwrap(), pair.tags[1][1].unwrap());
            assert_eq!(oracle.clash(ours, other), through_any);
        }
    }
}

/// A tag of another graph clashes with no tag, but `is_clear` is false for it.
#[test]
fn foreign_tags() {
    let pair = Pair::new(
        "!4 = !{!\"S\", !2, i64 0} !5 = !{!4, !2, i64 0} !tbaa.tags = !{!5}",
        "!4 = !{!\"S\", !3, i64 0} !5 = !{!4, !3, i64 0} !tbaa.tags = !{!5}",
    );
    let mut other = module("!5 = !{!2, !2, i64 0} !tbaa.tags = !{!5}");
    let mut b = other.builder();
    let root = b.root("R").unwrap();
    let foreign: Vec<TagId> = (0..9)
        .map(|at| {
            let scalar = b.scalar_type(format!("s{at}"), root).unwrap();
            b.struct_tag(scalar, scalar, 0).unwrap()
        })
        .collect();
    let oracle = pair.linked.oracle(AliasRule::Llvm);
    for own in pair.tags.iter().flatten().flatten() {
        assert!(!oracle.is_clear(*own));
        for &foreign in &foreign {
            assert!(!oracle.clash(*own, foreign) && !oracle.clash(foreign, *own));
            assert!(!oracle.is_clear(foreign));
            assert_eq!(oracle.alias(*own, foreign), MayAlias);
        }
    }
}

/// An access through very many types clashes with exactly the accesses through clashing types.
#[test]
fn through_nothing_and_through_anything() {
    let many: String = (0..5000).map(|at| format!(", !2, i64 {}", 4 * at)).collect();
    let wide: String =
        (100..5100).map(|at| format!("!{at} = !{{!\"t{at}\", !1, i64 0}}\n")).collect();
    let holds: String = (100..5100).map(|at| format!(", !{at}, i64 {}", 8 * at)).collect();
    let pair = Pair::new(
        &format!(
            "{wide} !4 = !{{!\"S\", !2, i64 0{many}}} !5 = !{{!\"W\"{holds}}}
             !6 = !{{!5, !5, i64 0}} !7 = !{{!4, !2, i64 0}} !8 = !{{!3, !3, i64 0}} !tbaa.tags = !{{!6, !7, !8}}"
        ),
        "!4 = !{!\"S\", !3, i64 0} !5 = !{!4, !3, i64 0} !6 = !{!2, !2, i64 0} !tbaa.tags = !{!5, !6}",
    );
    assert_eq!(pair.linked.clashes().len(), 1);
    let oracle = pair.linked.oracle(AliasRule::Llvm);
    let [wide, field, float] = pair.tags[0][..] else { unreachable!() };
    let (wide, field, float) = (wide.unwrap(), field.unwrap(), float.unwrap());
    let (other, int) = (pair.tags[1][0].unwrap(), pair.tags[1][1].unwrap());
    assert!(oracle.clash(wide, other) && oracle.clash(field, other));
    assert!(!oracle.is_clear(wide) && oracle.is_clear(float) && oracle.is_clear(int));
    for clear in [float, int] {
        assert!(!oracle.clash(wide, clear) && !oracle.clash(clear, wide));
    }
}

/// Linking one module does not change how many tags, types and `!tbaa.struct` nodes it has.
#[test]
fn plain_nodes_stay_plain() {
    let text = "!0 = !{!\"R\"} !1 = !{!\"int\", !0, i64 0} !2 = !{!1, !1, i64 0}
                !3 = distinct !{!3, !4} !4 = !{!\"llvm.loop.mustprogress\"}
                !tbaa.tags = !{!2} !loops = !{!3}";
    let graph = tbaa_ir::read_with(text.as_bytes(), tbaa_ir::Keep::All).unwrap().into_graph();
    let linked = Linked::new(&[("a.ll", &graph)]).unwrap();
    let count =
        |graph: &Graph| [graph.tags().count(), graph.types().count(), graph.copies().count()];
    assert_eq!(count(linked.graph()), count(&graph));
    assert_eq!((linked.summary().node_count(), graph.node_count()), (5, 5));
}
