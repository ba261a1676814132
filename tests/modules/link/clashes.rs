//! Names that clash, as C programs have them, and what does not clash.

use tbaa::{AliasResult, Graph, Rules, TagId};
use tbaa_check::link::Linked;

use super::laws::RULES;
use AliasResult::{MayAlias, NoAlias};

/// A metadata listing with a root `!0`, `char`, `int` and `float`; its tags are
/// those in `!tbaa.tags`, in order.
fn module(listing: &str) -> Graph {
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

    fn alias(&self, rules: Rules, a: usize, b: usize) -> AliasResult {
        self.linked.oracle(rules).alias(self.tags[0][a], self.tags[1][b])
    }

    fn names(&self) -> Vec<String> {
        let names = self.linked.clashes().iter();
        names.map(|clash| String::from_utf8_lossy(&clash.name).into_owned()).collect()
    }
}

#[test]
fn one_struct_in_two_bodies() {
    // struct S { int x; float y; }, and struct S { float x; int y; }.
    let pair = Pair::new(
        "!4 = !{!\"S\", !2, i64 0, !3, i64 4}
         !5 = !{!4, !2, i64 0} !6 = !{!2, !2, i64 0} !tbaa.tags = !{!5, !6}",
        "!4 = !{!\"S\", !3, i64 0, !2, i64 4}
         !5 = !{!4, !3, i64 0} !6 = !{!3, !3, i64 0} !tbaa.tags = !{!5, !6}",
    );
    assert_eq!(pair.names(), ["S"]);
    let bodies = pair.linked.clashes()[0].bodies.iter();
    let mut modules: Vec<&str> = bodies.map(|body| &body.module[..]).collect();
    modules.sort_unstable();
    assert_eq!(modules, ["a.ll", "b.ll"]);
    for rules in RULES {
        assert_eq!(pair.alias(rules, 0, 0), MayAlias, "S.x and S.x");
        assert_eq!(pair.alias(rules, 0, 1), NoAlias, "S.x, an int, and a float");
        assert_eq!(pair.alias(rules, 1, 0), NoAlias);
        assert_eq!(pair.alias(rules, 1, 1), NoAlias);
    }
}

/// Of several modules that have a body, the first by name is told.
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

#[test]
fn a_struct_in_other_structs() {
    // T contains S at 8; U contains the other S at 0, and an int at 16.
    let pair = Pair::new(
        "!4 = !{!\"S\", !2, i64 0} !5 = !{!\"T\", !2, i64 0, !4, i64 8}
         !6 = !{!5, !2, i64 8} !7 = !{!5, !2, i64 0} !tbaa.tags = !{!6, !7}",
        "!4 = !{!\"S\", !3, i64 0} !5 = !{!\"U\", !4, i64 0, !3, i64 16}
         !6 = !{!5, !3, i64 0} !7 = !{!5, !3, i64 16} !tbaa.tags = !{!6, !7}",
    );
    assert_eq!(pair.names(), ["S"]);
    for rules in RULES {
        assert_eq!(pair.alias(rules, 0, 0), MayAlias, "T.s.x and U.s.x");
        assert_eq!(pair.alias(rules, 0, 1), NoAlias, "U.i is not in S");
        assert_eq!(pair.alias(rules, 1, 0), NoAlias, "T.i is not in S");
    }
}

#[test]
fn equal_bodies_and_unnamed_structs_do_not_clash() {
    let pair = Pair::new(
        "!4 = !{!\"S\", !2, i64 0, !3, i64 4} !5 = !{!\"\", !2, i64 0}
         !6 = !{!4, !2, i64 0} !7 = !{!5, !2, i64 0} !tbaa.tags = !{!6, !7}",
        "!4 = !{!\"S\", !2, i64 0, !3, i64 4} !5 = !{!\"\", !3, i64 0}
         !6 = !{!4, !3, i64 4} !7 = !{!5, !3, i64 0} !tbaa.tags = !{!6, !7}",
    );
    assert!(pair.names().is_empty());
    assert_eq!(pair.alias(Rules::Llvm, 0, 0), NoAlias, "S.x and S.y of one S");
    assert_eq!(pair.alias(Rules::Llvm, 1, 1), NoAlias);
    let again = Pair::new(
        "!4 = !{!2, !2, i64 0} !tbaa.tags = !{!4}",
        "!4 = !{!2, !2, i64 0} !tbaa.tags = !{!4}",
    );
    assert_eq!(again.tags[0], again.tags[1], "equal tags are one");
}

#[test]
fn scalars_clash_with_all_that_is_made_of_them() {
    let pair = Pair::new(
        "!4 = !{!\"long\", !1, i64 0} !5 = !{!\"S\", !4, i64 0}
         !6 = !{!5, !4, i64 0} !7 = !{!4, !4, i64 0} !tbaa.tags = !{!6, !7}",
        "!4 = !{!\"long\", !2, i64 0} !5 = !{!\"S\", !4, i64 0}
         !6 = !{!5, !4, i64 0} !7 = !{!4, !4, i64 0} !tbaa.tags = !{!6, !7}",
    );
    assert_eq!(pair.names(), ["S", "long"]);
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(pair.alias(Rules::Llvm, a, b), MayAlias);
    }
}

/// As TVM makes them: an `i8` under each buffer. One module tells them apart, and
/// so they are no clash; what another module means by the name is not known.
#[test]
fn scalars_of_one_module_under_different_parents_do_not_clash() {
    let buffers = "!4 = !{!\"a\", !1, i64 0} !5 = !{!\"b\", !1, i64 0}
        !6 = !{!\"i8\", !4, i64 0} !7 = !{!\"i8\", !5, i64 0}
        !8 = !{!6, !6, i64 0} !9 = !{!7, !7, i64 0} !tbaa.tags = !{!8, !9}";
    let alone = module(buffers);
    let linked = Linked::new(&[("a.ll", &alone)]).unwrap();
    assert!(linked.clashes().is_empty());
    let one = "!4 = !{!\"b\", !1, i64 0} !6 = !{!\"i8\", !4, i64 0}
        !5 = !{!\"c\", !1, i64 0} !7 = !{!\"i8\", !5, i64 0}
        !8 = !{!6, !6, i64 0} !9 = !{!7, !7, i64 0} !tbaa.tags = !{!8, !9}";
    for swapped in [false, true] {
        let pair = if swapped { Pair::new(one, buffers) } else { Pair::new(buffers, one) };
        assert_eq!(pair.names(), ["i8"], "under a and under c, in different modules");
        for rules in RULES {
            let oracle = pair.linked.oracle(rules);
            for tags in &pair.tags {
                assert_eq!(oracle.alias(tags[0], tags[1]), NoAlias, "a module's own answer");
            }
        }
        // Of a and c nobody knows whether they are one buffer.
        let (first, second) = if swapped { (1, 0) } else { (0, 1) };
        assert_eq!(pair.alias(Rules::Llvm, first, second), MayAlias);
    }
    // A struct's name does not say which one it is.
    let structs = buffers.replace("i8\", !4, i64 0", "i8\", !2, i64 0, !2, i64 4");
    assert_eq!(Pair::new(&structs, buffers).names(), ["i8"]);
}

/// What stands under a clashing type goes through it.
#[test]
fn parents_clash_for_what_is_below_them() {
    let old = "!4 = !{!\"any\", !1, i64 0} !5 = !{!\"p\", !4, i64 0}
               !6 = !{!4, !4, i64 0} !7 = !{!5, !5, i64 0} !tbaa.tags = !{!6, !7}";
    let pair = Pair::new(old, &old.replace("any\", !1", "any\", !2").replace("\"p\"", "\"q\""));
    assert_eq!(pair.names(), ["any"]);
    for rules in RULES {
        assert_eq!(pair.alias(rules, 0, 1), MayAlias, "any of a, and q under any of b");
        assert_eq!(pair.alias(rules, 1, 0), MayAlias);
        assert_eq!(pair.alias(rules, 1, 1), MayAlias);
    }
    // The same in the size-aware format, where structs have parents.
    let new = "!4 = !{!1, i64 8, !\"any\"} !5 = !{!4, i64 8, !\"S\", !2, i64 0, i64 4}
               !6 = !{!4, !4, i64 0, i64 8} !7 = !{!5, !2, i64 0, i64 4} !tbaa.tags = !{!6, !7}
               !2 = !{!1, i64 4, !\"int\"} !3 = !{!1, i64 4, !\"float\"} !1 = !{!0, i64 1, !\"char\"}
               !0 = !{!\"R\"}";
    let graph = |text: &str| tbaa_ir::read(text.as_bytes()).unwrap().into_graph();
    let (a, b) = (graph(new), graph(&new.replace("!1, i64 8, !\"any", "!2, i64 8, !\"any")));
    let linked = Linked::new(&[("a.ll", &a), ("b.ll", &b)]).unwrap();
    let whole = linked.tag(0, a.tags().next().unwrap());
    let field = linked.tag(1, b.tags().nth(1).unwrap());
    for rules in RULES {
        assert_eq!(linked.oracle(rules).alias(whole, field), MayAlias);
    }
}

/// The root without a name of one module is not that of another.
#[test]
fn anonymous_roots_stay_apart() {
    for root in ["distinct !{}", "!{}", "distinct !{!4}"] {
        let listing = format!(
            "!4 = {root} !5 = !{{!\"i\", !4, i64 0}} !6 = !{{!\"f\", !4, i64 0}}
             !7 = !{{!5, !5, i64 0}} !8 = !{{!6, !6, i64 0}} !tbaa.tags = !{{!7, !8}}"
        );
        let pair = Pair::new(&listing, &listing);
        assert!(pair.names().is_empty());
        assert_eq!(pair.alias(Rules::Llvm, 0, 1), MayAlias, "{root}");
        let oracle = pair.linked.oracle(Rules::Llvm);
        assert_eq!(oracle.alias(pair.tags[0][0], pair.tags[0][1]), NoAlias, "{root}");
        // The same module twice is one module.
        let a = module(&listing);
        let twice = Linked::new(&[("a.ll", &a), ("a.ll", &a)]).unwrap();
        let tags: Vec<TagId> = a.tags().collect();
        assert_eq!(twice.tag(0, tags[0]), twice.tag(1, tags[0]));
    }
}

#[test]
fn cycles_and_values_are_left_out_and_alias_everything() {
    let pair = Pair::new(
        "!4 = !{!\"A\", !5, i64 0} !5 = !{!\"B\", !4, i64 0} !6 = !{!4, !2, i64 0}
         !7 = !{!\"S\", !2, i64 0, ptr @g} !8 = !{!7, !2, i64 0} !9 = !{!2, !2, i64 0}
         !tbaa.tags = !{!6, !8, !9}",
        "!4 = !{!3, !3, i64 0} !tbaa.tags = !{!4}",
    );
    assert_eq!(pair.tags[0][..2], [None, None]);
    assert_eq!(pair.alias(Rules::Llvm, 0, 0), MayAlias);
    assert_eq!(pair.alias(Rules::Llvm, 1, 0), MayAlias);
    assert_eq!(pair.alias(Rules::Llvm, 2, 0), NoAlias);
}

/// A path through more clashing types than are told apart.
#[test]
fn very_many_clashes_answer_may() {
    // Structs in each other, and a struct beside them, of an int or of a float.
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
        for rules in RULES {
            assert_eq!(pair.alias(rules, 0, 0), MayAlias);
            let oracle = pair.linked.oracle(rules);
            let (ours, other) = (pair.tags[0][0].unwrap(), pair.tags[1][1].unwrap());
            assert_eq!(oracle.clash(ours, other), through_any);
        }
    }
}

/// The same in the size-aware format, with sizes: `!7`, "A", is a struct of an int in
/// one module and of a float in the other.
fn sized(a: &str, b: &str) -> Pair {
    let with = |member: usize, listing: &str| {
        let text = format!(
            "!0 = !{{!\"R\"}} !1 = !{{!0, i64 1, !\"char\"}} !2 = !{{!1, i64 4, !\"int\"}}
             !3 = !{{!1, i64 4, !\"float\"}} !7 = !{{!1, i64 4, !\"A\", !{member}, i64 0, i64 4}}
             !8 = !{{!1, i64 8, !\"S\", !7, i64 0, i64 4, !2, i64 4, i64 4}}
             {listing}"
        );
        tbaa_ir::read(text.as_bytes()).unwrap().into_graph()
    };
    let (a, b) = (with(2, a), with(3, b));
    let linked = Linked::new(&[("a.ll", &a), ("b.ll", &b)]).unwrap();
    let tags = [(0, a), (1, b)]
        .map(|(module, graph)| graph.tags().map(|tag| linked.tag(module, tag)).collect());
    Pair { linked, tags }
}

/// A member whose type has no bytes is none of its elements.
#[test]
fn a_type_without_bytes_has_no_elements() {
    let pair = sized(
        "!9 = !{!1, i64 0, !\"Z\"} !10 = !{!1, i64 8, !\"H\", !9, i64 0, i64 0, !7, i64 4, i64 4}
         !11 = !{!10, !2, i64 4, i64 4} !12 = !{!10, !9, i64 0, i64 0} !tbaa.tags = !{!11, !12}",
        "!4 = !{!7, !3, i64 0, i64 4} !tbaa.tags = !{!4}",
    );
    let clashes = [0, 1].map(|tag| {
        pair.linked.oracle(Rules::Llvm).clash(pair.tags[0][tag].unwrap(), pair.tags[1][0].unwrap())
    });
    assert_eq!(clashes, [true, false]);
}

/// Bytes of a member with a clashing type go through it, and no others.
#[test]
fn a_clash_is_at_its_bytes() {
    // An int; an A; four of S, of which each begins with an A; an int; any number of A.
    let holder = "!9 = !{!1, i64 48, !\"H\", !2, i64 0, i64 4, !7, i64 4, i64 4,
                             !8, i64 8, i64 32, !2, i64 40, i64 4, !7, i64 44, i64 0}";
    let at = [
        (0, false),
        (4, true),
        (8, true),
        (12, false),
        (16, true),
        (28, false),
        (32, true),
        (40, false),
        (44, true),
        (60, true),
    ];
    let tags: Vec<usize> = (0..at.len()).map(|at| 20 + at).collect();
    let mut listing = holder.to_owned();
    for (tag, (offset, _)) in tags.iter().zip(at) {
        listing += &format!("\n!{tag} = !{{!9, !2, i64 {offset}, i64 4}}");
    }
    let list: Vec<String> = tags.iter().map(|tag| format!("!{tag}")).collect();
    listing += &format!("\n!tbaa.tags = !{{{}}}", list.join(", "));
    let pair = sized(&listing, "!4 = !{!7, !3, i64 0, i64 4} !tbaa.tags = !{!4}");
    assert_eq!(pair.names(), ["A"]);
    for rules in RULES {
        let oracle = pair.linked.oracle(rules);
        let other = pair.tags[1][0].unwrap();
        assert!(!oracle.is_clear(other));
        for (tag, (offset, through)) in pair.tags[0].iter().zip(at) {
            let tag = tag.unwrap();
            assert_eq!(oracle.is_clear(tag), !through, "byte {offset}");
            assert_eq!(oracle.clash(tag, other), through, "byte {offset}");
            assert_eq!(oracle.clash(other, tag), through, "byte {offset}");
        }
    }
}

/// A tag of another graph clashes with nothing, and is not clear.
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
            b.struct_tag(scalar, scalar, 0, false).unwrap()
        })
        .collect();
    let oracle = pair.linked.oracle(Rules::Llvm);
    for own in pair.tags.iter().flatten().flatten() {
        assert!(!oracle.is_clear(*own));
        for &foreign in &foreign {
            assert!(!oracle.clash(*own, foreign) && !oracle.clash(foreign, *own));
            assert!(!oracle.is_clear(foreign));
            assert_eq!(oracle.alias(*own, foreign), MayAlias);
        }
    }
}

/// What goes through nothing that clashes is apart from what goes through too much
/// to tell.
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
    assert_eq!(pair.names(), ["S"]);
    let oracle = pair.linked.oracle(Rules::Llvm);
    let [wide, field, float] = pair.tags[0][..] else { unreachable!() };
    let (wide, field, float) = (wide.unwrap(), field.unwrap(), float.unwrap());
    let (other, int) = (pair.tags[1][0].unwrap(), pair.tags[1][1].unwrap());
    assert!(oracle.clash(wide, other) && oracle.clash(field, other));
    assert!(!oracle.is_clear(wide) && oracle.is_clear(float) && oracle.is_clear(int));
    for clear in [float, int] {
        assert!(!oracle.clash(wide, clear) && !oracle.clash(clear, wide));
    }
}

/// A node that is no tag, type or copy is none after linking.
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
