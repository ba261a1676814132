//! Answers to many pairs at once, from many threads, and stored.

use super::{RULES, check, each_graph};
use pretty_assertions::assert_eq;
use tbaa::{Frozen, Graph, Oracle, Rules};
use tbaa_tests::{Rng, setting};

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

/// More classes than a stored table has bits for, under two roots: tags of
/// different roots may alias wherever their intervals lie.
#[test]
fn stored_intervals_tell_roots_apart() {
    let mut graph = many_classes(5);
    let mut b = graph.builder();
    let root = b.root("another").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let float = b.scalar_type("float", root).unwrap();
    let pair = b.struct_type("pair", &[(int, 0), (float, 4)]).unwrap();
    b.struct_tag(pair, int, 0, false).unwrap();
    b.struct_tag(pair, float, 4, false).unwrap();
    for rules in RULES {
        let oracle = Oracle::new(&graph, rules);
        let tags: Vec<_> = graph.tags().collect();
        assert!(oracle.classes(&tags).len() > 4096);
        let frozen = oracle.freeze(&tags);
        for a in (0..tags.len()).step_by(7).chain(tags.len() - 2..tags.len()) {
            for b in tags.len() - 30..tags.len() {
                let answer = oracle.alias(tags[a], tags[b]);
                assert_eq!(frozen.alias(a, b), answer, "{rules}: {a}, {b}");
                assert_eq!(frozen.alias(b, a), answer, "{rules}: {b}, {a}");
            }
        }
        assert!(frozen.may_alias(0, tags.len() - 1), "two roots");
        assert!(!frozen.may_alias(tags.len() - 2, tags.len() - 1), "one root");
    }
}

/// Structs with five thousand fields in all, and then some unions.
pub(crate) fn many_classes(unions: u64) -> Graph {
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
        "Classes(of_tags:[1],classes:1,may_alias:([1]))",
        "Intervals(spans:[(0,4294967295)],kinds:[Listed(0)],lists:[])",
        "Intervals(spans:[(4,1)],kinds:[Root(0)],lists:[])",
        "Intervals(spans:[(1,1)],kinds:[Root(0)],lists:[])",
        "Intervals(spans:[(1,4)],kinds:[Any],lists:[])",
        "Intervals(spans:[(1,4)],kinds:[],lists:[])",
        // Irreflexive, asymmetric.
        "Classes(of_tags:[0],classes:1,may_alias:([0]))",
        "Classes(of_tags:[0,1],classes:2,may_alias:([11]))",
        // A list that does not name its own tag; that names it twice; that descends;
        // that is not returned; that names no tag.
        "Intervals(spans:[(0,4294967295)],kinds:[Listed(0)],lists:[(root:None,tags:[])])",
        "Intervals(spans:[(0,4294967295)],kinds:[Listed(0)],lists:[(root:None,tags:[0,0])])",
        "Intervals(spans:[(0,4294967295),(0,1)],kinds:[Listed(0),Root(0)],\
         lists:[(root:None,tags:[1,0])])",
        "Intervals(spans:[(0,4294967295),(0,4294967295)],kinds:[Listed(0),Listed(1)],\
         lists:[(root:None,tags:[0,1]),(root:None,tags:[1])])",
        "Intervals(spans:[(0,4294967295)],kinds:[Listed(0)],lists:[(root:None,tags:[0,9])])",
    ] {
        let error = ron::from_str::<Frozen>(text).unwrap_err().to_string();
        assert!(error.contains("contradicts itself"), "{text}: {error}");
    }
    // Under one root intervals that part decide, under two they do not.
    for (roots, may) in [([7, 7], false), ([7, 8], true)] {
        let [a, b] = roots;
        let text = format!("Intervals(spans:[(0,1),(1,2)],kinds:[Root({a}),Root({b})],lists:[])");
        let frozen: Frozen = ron::from_str(&text).unwrap();
        assert_eq!([frozen.may_alias(0, 1), frozen.may_alias(1, 0)], [may; 2], "{roots:?}");
        assert!(frozen.may_alias(0, 0) && frozen.may_alias(0, 2), "the latter is in no list");
    }
    // Two bytes a tag, and words of 64 answers; or the parts of the lists.
    let size = |text: &str| ron::from_str::<Frozen>(text).unwrap().size_in_bytes();
    assert_eq!(size("Classes(of_tags:[0,0,0],classes:1,may_alias:([1]))"), 3 * 2 + 8);
    let one = size("Intervals(spans:[(0,1)],kinds:[Root(0)],lists:[])");
    let three =
        size("Intervals(spans:[(0,1),(1,2),(2,3)],kinds:[Root(0),Root(0),Root(0)],lists:[])");
    assert!(one >= 8 + 4 && three == 3 * one);
    let list = "Intervals(spans:[(0,4294967295)],kinds:[Listed(0)],lists:[(root:None,tags:[0])])";
    assert!(size(list) >= one + 4);
}
