//! Corner cases that random types and tags reach too rarely.

use tbaa::explain::Clause;
use tbaa::{Access, AccessKind, AliasResult, AliasRule, CopyEntry, Graph, Oracle, Size, Tag};

use tbaa_tests::engines::Compared;
use tbaa_tests::universe::Universe;

use crate::UNION_RULES;

/// Returns the dependences of the second access on the first as text, empty for none.
fn dependences(oracle: &Oracle<&Graph>, first: Access, second: Access) -> String {
    oracle.may_conflict(first, second).map_or(String::new(), |conflict| conflict.to_string())
}

/// A tag of a member without data is well-formed only at the offset of that member.
#[test]
fn the_tag_of_a_class_without_data() {
    let (mut u, root, [int]) = Universe::of_scalars(false, 4, ["int"]);
    let empty = u.root("Empty");
    let s = u.aggregate("S", root, 12, &[(int, 0, 4), (empty, 8, 0)]);
    for (base, offset) in [(s, 8), (s, 4), (empty, 0), (empty, 4)] {
        u.tag(base, empty, offset, 0);
    }
    let (graph, tags) = u.graph();
    for rules in UNION_RULES {
        let oracle = Oracle::new(&graph, rules);
        let found: Vec<_> = tags.iter().map(|&tag| oracle.is_well_formed(tag)).collect();
        assert_eq!(found, [true, false, true, false], "{rules}");
    }
}

/// Two tags of types below `char` have a most generic tag, immutable only if both tags are.
#[test]
fn most_generic_tags() {
    for sized in [false, true] {
        let (mut u, root, [char]) = Universe::of_scalars(sized, 1, ["char"]);
        let [int, float] = ["int", "float"].map(|name| u.scalar(name, char, 4));
        let other = u.scalar("other", root, 4);
        let s = u.aggregate("S", char, 8, &[(int, 0, 4), (float, 4, 4)]);
        let mixed = u.aggregate("M", root, 8, &[(int, 0, 4), (other, 4, 4)]);
        let [of_int, wide, of_float] =
            [(int, 0, 2), (int, 0, 4), (float, 4, 4)].map(|(ty, at, size)| u.tag(s, ty, at, size));
        let [in_mixed, of_other, bare_int, bare_float] =
            [(mixed, int), (other, other), (int, int), (float, float)]
                .map(|(base, ty)| u.tag(base, ty, 0, 4));
        let (mut graph, mut tags) = u.graph();
        for at in [bare_int, bare_float] {
            let tag = Tag { immutable: true, ..graph.tag(tags[at]).unwrap() };
            tags.push(graph.insert_tag(tag).unwrap());
        }
        let (constant_int, constant_float) = (tags.len() - 2, tags.len() - 1);
        let first = graph.tag(tags[of_int]).unwrap();
        let char = graph.ty(first.access).parent().unwrap();
        for rules in AliasRule::ALL {
            let oracle = Oracle::new(&graph, rules);
            let generic = |a: usize, b: usize| oracle.most_generic(tags[a], tags[b]);
            let size = if rules == AliasRule::Llvm { Size::Unknown } else { Size::Bytes(4) };
            let size = sized.then_some(size);
            let whole = |immutable| {
                let tag = Tag { base: char, access: char, offset: 0, size, immutable, ..first };
                Some(tag)
            };
            assert_eq!(generic(bare_int, bare_float), whole(false), "{rules}");
            assert_eq!(generic(bare_int, constant_float), whole(false), "{rules}");
            assert_eq!(generic(constant_float, bare_int), whole(false), "{rules}");
            assert_eq!(generic(constant_int, constant_float), whole(true), "{rules}");
            assert!(generic(constant_int, constant_int).unwrap().immutable, "{rules}");
            assert!(!generic(constant_int, bare_int).unwrap().immutable, "{rules}");
            if rules == AliasRule::Llvm {
                continue;
            }
            assert_eq!(generic(of_int, of_float), whole(false), "{rules}");
            assert_eq!(generic(of_int, wide), Some(Tag { size, ..first }));
            // The only common ancestor of `int` and `other` is the root, which has no well-formed
            // tag. A tag of `char` does not alias the member of type `other` in `M`.
            assert_eq!(generic(of_int, of_other), None, "{rules}");
            assert_eq!(generic(of_int, in_mixed), None, "{rules}");
        }
    }
}

/// An access to all of a type aliases every access to that type, even if the type has no bytes.
#[test]
fn a_whole_access_of_no_bytes_covers() {
    let half = 1 << 63;
    for far in [8, half] {
        let (mut u, _, [char]) = Universe::of_scalars(true, 1, ["char"]);
        // Types without a size, and a scalar that has one of them as its parent.
        let none = u.scalar("none", char, 0);
        let (empty, shell) = (u.aggregate("empty", char, 0, &[]), u.scalar("shell", none, 4));
        // A type whose contents are up to `3 * far` bytes from its start, which may exceed 2^64.
        let mut beside = char;
        for level in 0..3 {
            beside = u.aggregate(&format!("far {level}"), char, 0, &[(beside, far, 1)]);
        }
        let fields = [(empty, 0, 0), (none, 4, 0), (shell, 8, 4), (empty, 16, 8), (beside, 24, 0)];
        let outer = u.aggregate("S", char, 32, &fields);
        for base in [outer, empty, none, shell, char, beside] {
            u.tag(base, base, 0, 0);
        }
        for (access, offset, _) in fields {
            u.tag(outer, access, offset, 0);
            u.tag(outer, access, offset, 4);
            u.tag(access, access, 0, 4);
        }
        let (graph, tags) = u.graph();
        let mut compared = Compared::default();
        compared.every_engine(&format!("{far}"), &graph, &tags);
        assert!(compared.no > 0, "{compared:?}");
        for rules in UNION_RULES {
            let oracle = Oracle::new(&graph, rules);
            // `tags[1]` is all of `empty`. These tags access the first and fourth member of `S`.
            for member in [tags[6], tags[7], tags[15]] {
                assert!(oracle.may_alias(tags[1], member), "{rules}, {far}");
                assert_eq!(oracle.explain(tags[1], member).clause, Clause::Generality);
            }
        }
    }
}

/// LLVM bug 21725: the two accesses depend on each other in both orders.
#[test]
fn a_read_of_one_member_and_a_write_of_another() {
    let (mut u, root, [int]) = Universe::of_scalars(true, 4, ["int"]);
    let short = u.scalar("short", root, 2);
    let union = u.aggregate("U", root, 4, &[(short, 0, 2), (int, 0, 4)]);
    let (s, i) = (u.tag(union, short, 0, 2), u.tag(union, int, 0, 4));
    let (graph, tags) = u.graph();
    let [s, i] = [s, i].map(|tag| Access::from(tags[tag]));
    for rules in UNION_RULES {
        let oracle = Oracle::new(&graph, rules);
        for (first, second, expected) in [
            (s.reading(), i.writing(), "write after read"),
            (i.writing(), s.reading(), "read after write"),
            (i.writing(), s.writing(), "write after write"),
            (i.reading(), s.reading(), ""),
            (i, s, "read after write, write after read, write after write"),
        ] {
            assert_eq!(dependences(&oracle, first, second), expected, "{rules}");
        }
    }
}

/// A vectorised access has the tag of its first element, but a larger size. The old format does not
/// record an element's size, so the access may begin at any of the first field's 8 bytes.
#[test]
fn widened_accesses_reach_the_next_field() {
    for sized in [true, false] {
        let (mut u, root, [int]) = Universe::of_scalars(sized, 4, ["int"]);
        let pair = u.aggregate("pair", root, 8, &[(int, 0, 4), (int, 4, 4)]);
        let s = u.aggregate("S", root, 24, &[(pair, 0, 8), (int, 8, 4), (int, 12, 4)]);
        let places = [0, 8, 12].map(|offset| u.tag(s, int, offset, 4));
        let (graph, tags) = u.graph();
        let oracle = Oracle::new(&graph, AliasRule::Union);
        let [x, z, last] = places.map(|tag| Access::from(tags[tag]));
        assert!(!oracle.may_alias(x, z));
        let fits = |behind: Access, most: u64| {
            assert!(!oracle.may_alias(x.with_size(most), behind), "{most} bytes, {sized}");
            assert!(oracle.may_alias(x.with_size(most + 1), behind), "{most} bytes, {sized}");
        };
        fits(z, if sized { 8 } else { 1 });
        fits(last, if sized { 12 } else { 5 });
        // Instructions of 8 and 16 bytes, whose tag says 8 of an array's 16 bytes.
        if sized {
            let four = u.aggregate("four", root, 20, &[(int, 0, 16), (int, 16, 4)]);
            let [most, end] = [(0, 8), (16, 4)].map(|(at, size)| u.tag(four, int, at, size));
            let (graph, tags) = u.graph();
            let wide = |width| Access::of_width(&graph, tags[most], width);
            let oracle = Oracle::new(&graph, AliasRule::Union);
            assert!([8, 16].map(|width| oracle.may_alias(wide(width), tags[end])).is_sorted());
        }
        // An instruction of a given width stays in the field, if it fits there.
        let of_width = |width| Access::of_width(&graph, x.tag.unwrap(), width);
        assert!(!oracle.may_alias(of_width(4), z) && oracle.may_alias(of_width(9), z));
        for unknown in [0.into(), u64::MAX.into(), Size::Bytes(0), Size::Bytes(u64::MAX)] {
            assert!(oracle.may_alias(x.with_size(unknown), last), "unknown ends with the base");
        }
    }
}

/// In the old format, a union's member reaches to the end of the union, here 8 bytes.
#[test]
fn an_instruction_leaves_a_union() {
    let (mut u, root, [int, double]) = Universe::of_scalars(false, 4, ["int", "double"]);
    let inner = u.aggregate("U", root, 8, &[(int, 0, 4), (double, 0, 8)]);
    let s = u.aggregate("S", root, 12, &[(inner, 0, 8), (int, 8, 4)]);
    let [member, end] = [(int, 0), (double, 8)].map(|(ty, at)| u.tag(s, ty, at, 4));
    let (graph, tags) = u.graph();
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let wide = |width| Access::of_width(&graph, tags[member], width);
    assert_eq!([8, 16].map(|width| wide(width).size), [None, Some(Size::Bytes(16))]);
    assert!(oracle.may_alias(wide(16), tags[end]));
}

/// clang's old-format node for a C++ class without data is a name alone, which looks like a root. A
/// struct with such a field or base class has the same answers as without it.
#[test]
fn a_class_without_data() {
    let text = include_bytes!("../../fixtures/text/empty_class.ll");
    let module = tbaa_ir::read(text).unwrap();
    let tags = module.attached_tags();
    for rules in AliasRule::ALL {
        let oracle = Oracle::new(module.graph(), rules);
        let row = |a| -> String {
            tags.iter().map(|&b| if oracle.may_alias(a, b) { 'M' } else { 'N' }).collect()
        };
        let grid: Vec<_> = tags.iter().map(|&tag| row(tag)).collect();
        assert_eq!(grid, ["MNMN", "NMNM", "MNMN", "NMNM"], "{rules:?}");
    }
}

/// The struct of `docs/rfc.md`, "Where a size is more than the type has": an access with size 8 may
/// begin at the last element and leave the array. But an 8-byte instruction accesses two elements.
#[test]
fn bytes_from_the_last_element_reach_what_is_behind_the_array() {
    for sized in [true, false] {
        let (mut u, root, [int, float]) = Universe::of_scalars(sized, 4, ["int", "float"]);
        let s = u.aggregate("S", root, 20, &[(int, 0, 16), (float, 16, 4)]);
        let (arr, tail) = (u.tag(s, int, 0, 4), u.tag(s, float, 16, 4));
        let (graph, tags) = u.graph();
        let [arr, tail] = [arr, tail].map(|tag| tags[tag]);
        for rule in UNION_RULES {
            let oracle = Oracle::new(&graph, rule);
            for size in [2, 4, 8, 16, 17, 20] {
                let given = oracle.may_alias(Access::from(arr).with_size(size), tail);
                assert_eq!(given, !sized || size > 4, "{size} bytes, {rule:?}");
                let width = oracle.may_alias(Access::of_width(&graph, arr, size), tail);
                assert_eq!(width, size > 16, "an instruction of {size} bytes, {rule:?}");
            }
            assert!(!oracle.may_alias(Access::from(arr).with_size(1), tail));
        }
    }
}

/// After a read with an immutable tag, nothing writes the memory. An earlier write initialised it.
#[test]
fn a_promise_ends_dependences_on_what_was_read() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let constant = Access::from(b.immutable_struct_tag(int, int, 0).unwrap());
    let plain = Access::from(b.struct_tag(int, int, 0).unwrap());
    for rule in AliasRule::ALL {
        let oracle = Oracle::new(&graph, rule);
        for (first, second, expected) in [
            (constant.reading(), plain.writing(), ""),
            (plain.reading(), plain.writing(), "write after read"),
            (plain.writing(), constant.reading(), "read after write"),
            // The tag `plain` is not immutable.
            (plain.reading(), constant.writing(), "write after read"),
            (constant, plain, "read after write, write after write"),
        ] {
            assert_eq!(dependences(&oracle, first, second), expected, "{rule}");
        }
    }
}

/// `struct { int a; union { float f; short s; } u; }`, copied member by member.
#[test]
fn a_copy_touches_what_its_entries_touch() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let [int, float, short, long] = [("int", 4), ("float", 4), ("short", 2), ("long", 8)]
        .map(|(name, size)| u.scalar(name, root, size));
    let union = u.aggregate("U", root, 4, &[(float, 0, 4), (short, 0, 2)]);
    let s = u.aggregate("S", root, 8, &[(int, 0, 4), (union, 4, 4)]);
    let s_a = u.tag(s, int, 0, 4);
    let u_f = u.tag(union, float, 0, 4);
    let u_s = u.tag(union, short, 0, 2);
    let bare_long = u.tag(long, long, 0, 8);
    let whole_union = u.tag(union, union, 0, 4);
    let (mut graph, tags) = u.graph();
    let entries = [
        CopyEntry { offset: 0, size: 4, tag: tags[s_a] },
        CopyEntry { offset: 4, size: 4, tag: tags[whole_union] },
    ];
    let copy = graph.builder().struct_copy(&entries).unwrap();
    let none = graph.builder().struct_copy(&[]).unwrap();
    for rules in UNION_RULES {
        let oracle = Oracle::new(&graph, rules);
        let touches = |of: usize| oracle.copy_may_alias(copy, tags[of]);
        assert!(touches(s_a) && touches(u_f) && touches(u_s), "{rules}");
        assert!(!touches(bare_long), "{rules}");
        assert!(!oracle.copy_may_alias(none, tags[s_a]), "a copy of padding alone");
        assert!(oracle.copy_may_alias(copy, None));

        let field = Access::from(tags[u_s]);
        let conflict = oracle.copy_may_conflict(copy, field.reading()).unwrap();
        assert_eq!(conflict.to_string(), "read after write");
        let conflict = oracle.copy_may_conflict(copy, field.writing()).unwrap();
        assert_eq!(conflict.to_string(), "write after read, write after write");
        let source = oracle.copy_accesses(copy, AccessKind::Read).unwrap();
        assert_eq!(source.len(), 2);
        assert!(source.iter().all(|&read| oracle.may_conflict(read, field.reading()).is_none()));
        assert!(source.iter().any(|&read| oracle.may_conflict(read, field.writing()).is_some()));
    }
}

#[test]
fn errno_is_any_of_its_tags() {
    let (mut u, root, [char]) = Universe::of_scalars(false, 0, ["char"]);
    let int = u.scalar("int", char, 0);
    let float = u.scalar("float", char, 0);
    let s = u.aggregate("S", root, 0, &[(int, 0, 0), (float, 4, 0)]);
    let errno = u.tag(int, int, 0, 0);
    let f = u.tag(float, float, 0, 0);
    let s_x = u.tag(s, int, 0, 0);
    let s_y = u.tag(s, float, 4, 0);
    let (graph, tags) = u.graph();
    for rules in AliasRule::ALL {
        let oracle = Oracle::new(&graph, rules);
        let ask = |tag: usize| oracle.alias_any(tags[tag], [tags[errno]]);
        assert_eq!([errno, f, s_x, s_y].map(ask), {
            use AliasResult::{MayAlias, NoAlias};
            [MayAlias, NoAlias, MayAlias, NoAlias]
        });
        assert_eq!(oracle.alias_any(tags[f], []), AliasResult::MayAlias);
    }
}
