//! Corners to which random universes come too rarely.

use tbaa::{Clause, Oracle, Rules, Tag};

use super::World;
use super::random::{Count, compare};
use tbaa_tests::engines::every_engine;
use tbaa_tests::rng::Rng;
use tbaa_tests::universe::Universe;

/// Asks every pair of a universe of the naive definition, with many sizes.
fn check(u: &Universe) {
    let mut sizes = Rng::new(1);
    for round in 0..20 {
        compare(round, u, &mut sizes, &mut Count::default());
    }
}

/// An offset whose low bits are 0, and which the tables cannot pack with others.
#[test]
fn an_object_at_two_to_the_forty_eight() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let [int, float] = ["int", "float"].map(|name| u.scalar(name, root, 4));
    let union = u.aggregate("U", root, 4, &[(int, 0, 4), (float, 0, 4)]);
    let far = 1 << 48;
    let outer = u.aggregate("S", root, far + 4, &[(union, 0, 4), (union, far, 4)]);
    for (base, offset) in [(union, 0), (outer, 0), (outer, far)] {
        u.tag(base, int, offset, 4);
        u.tag(base, float, offset, 4);
    }
    check(&u);
}

/// Two members lead to one scalar, so that no table tells by which a tag goes; its
/// whole accesses are not those of another struct's scalar.
#[test]
fn one_scalar_by_two_members() {
    for sized in [false, true] {
        let mut u = Universe::new(sized);
        let root = u.root("R");
        let int = u.scalar("int", root, 4);
        let members = ["A", "B"].map(|name| u.aggregate(name, root, 4, &[(int, 0, 4)]));
        let union = u.aggregate("U", root, 4, &members.map(|member| (member, 0, 4)));
        let other = u.aggregate("T", root, 8, &[(int, 0, 4), (int, 4, 4)]);
        let outer = u.aggregate("S", root, 16, &[(union, 0, 4), (other, 4, 8), (int, 12, 4)]);
        for (base, offset) in [
            (int, 0),
            (members[0], 0),
            (members[1], 0),
            (union, 0),
            (other, 0),
            (other, 4),
            (outer, 0),
            (outer, 4),
            (outer, 8),
            (outer, 12),
        ] {
            u.tag(base, int, offset, 4);
        }
        check(&u);
    }
}

/// An offset may name an element of an array inside a member.
#[test]
fn elements_of_an_array_inside_a_member() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let char = u.scalar("char", root, 1);
    let int = u.scalar("int", char, 4);
    let text = u.aggregate("text", char, 4, &[(char, 0, 3)]);
    let outer = u.aggregate("S", char, 12, &[(text, 0, 4), (int, 4, 4), (int, 8, 4)]);
    for (access, offset, size) in
        [(char, 0, 1), (char, 2, 1), (char, 0, u64::MAX), (int, 4, 4), (int, 8, 4)]
    {
        u.tag(outer, access, offset, size);
    }
    u.tag(text, char, 0, 1);
    u.tag(text, char, 2, 1);
    check(&u);
}

/// Elements that are larger than they say run into those behind them.
#[test]
fn elements_that_reach_past_their_size() {
    for size in [4, 5, 8] {
        let mut u = Universe::new(true);
        let root = u.root("R");
        let char = u.scalar("char", root, 1);
        let [int, short] =
            [("int", 4), ("short", 2)].map(|(name, size)| u.scalar(name, char, size));
        let element = u.aggregate("element", char, size, &[(int, 0, 4), (short, 4, 2)]);
        let end = 3 * size;
        let array = u.aggregate("array", char, end, &[(element, 0, end)]);
        let beside = u.aggregate("beside", char, end + 4, &[(element, 0, end), (int, end, 4)]);
        for base in [element, array, beside] {
            u.tag(base, int, 0, 4);
            u.tag(base, short, 4, 2);
        }
        u.tag(beside, int, end, 4);
        check(&u);
    }
}

/// A type of no size has members, and members of it have bytes.
#[test]
fn a_struct_of_no_size() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let char = u.scalar("char", root, 1);
    let [int, float] = ["int", "float"].map(|name| u.scalar(name, char, 4));
    let inner = u.aggregate("inner", char, 0, &[(int, 0, 4), (float, 4, 4)]);
    let nothing = u.scalar("nothing", char, 0);
    for extent in [0, 4, 8, 16] {
        let fields = [(inner, 0, extent), (float, 8, 4), (nothing, 12, extent), (int, 12, 4)];
        let outer = u.aggregate("S", char, 16, &fields);
        for (access, offset) in [(int, 0), (float, 4), (float, 8), (nothing, 12), (int, 12)] {
            u.tag(outer, access, offset, u.types[access].size);
        }
    }
    for (access, offset) in [(int, 0), (float, 4), (inner, 0)] {
        u.tag(inner, access, offset, u.types[access].size);
    }
    u.tag(nothing, nothing, 0, 0);
    check(&u);
}

/// A class without data is a member of its own, and no part of what is beside it.
#[test]
fn the_tag_of_a_class_without_data() {
    let mut u = Universe::new(false);
    let root = u.root("R");
    let int = u.scalar("int", root, 4);
    let empty = u.root("Empty");
    let s = u.aggregate("S", root, 12, &[(int, 0, 4), (empty, 8, 0)]);
    let well_formed = u.tag(s, empty, 8, 0);
    let too_early = u.tag(s, empty, 4, 0);
    let whole = u.tag(empty, empty, 0, 0);
    let within = u.tag(empty, empty, 4, 0);
    let (graph, tags) = u.graph();
    for rules in [Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        let found =
            [well_formed, too_early, whole, within].map(|tag| oracle.is_well_formed(tags[tag]));
        assert_eq!(found, [true, false, true, false], "{rules}");
    }
}

/// The most generic tags that the union rules find, and where there is none.
#[test]
fn most_generic_tags() {
    for sized in [false, true] {
        let mut u = Universe::new(sized);
        let root = u.root("R");
        let char = u.scalar("char", root, 1);
        let [int, float] = ["int", "float"].map(|name| u.scalar(name, char, 4));
        let other = u.scalar("other", root, 4);
        let s = u.aggregate("S", char, 8, &[(int, 0, 4), (float, 4, 4)]);
        let mixed = u.aggregate("M", root, 8, &[(int, 0, 4), (other, 4, 4)]);
        let [of_int, wide, of_float] =
            [(int, 0, 2), (int, 0, 4), (float, 4, 4)].map(|(ty, at, size)| u.tag(s, ty, at, size));
        let [in_mixed, of_other] =
            [(mixed, int), (other, other)].map(|(base, ty)| u.tag(base, ty, 0, 4));
        let (graph, tags) = u.graph();
        let char =
            graph.tag(tags[of_int]).map(|tag| graph.ty(tag.access).parent().unwrap()).unwrap();
        for rules in [Rules::Union, Rules::UnionStrict] {
            let oracle = Oracle::new(&graph, rules);
            let generic = |a: usize, b: usize| oracle.most_generic(tags[a], tags[b]);
            let found = generic(of_int, of_float).unwrap();
            let unknown = sized.then_some(u64::MAX - 1);
            assert_eq!((found.base, found.access, found.offset), (char, char, 0), "{rules}");
            assert_eq!(found.size, unknown, "{rules}");
            let found = generic(of_int, wide).unwrap();
            assert_eq!(found, Tag { size: sized.then_some(4), ..graph.tag(tags[of_int]).unwrap() });
            // Their one ancestor is the root, of which no tag is well formed; and a
            // tag of `char` does not alias what else `M` holds.
            assert_eq!(generic(of_int, of_other), None, "{rules}");
            assert_eq!(generic(of_int, in_mixed), None, "{rules}");
        }
    }
}

/// A whole access to a type meets every access of that type, also where neither
/// touches a byte: by every query, and whatever else lies in the base type.
#[test]
fn a_whole_access_of_no_bytes_covers() {
    let half = 1 << 63;
    for far in [8, half] {
        let mut u = Universe::new(true);
        let root = u.root("R");
        let char = u.scalar("char", root, 1);
        // Types without size, of which one holds a member nonetheless.
        let none = u.scalar("none", char, 0);
        let (empty, shell) = (u.aggregate("empty", char, 0, &[]), u.scalar("shell", none, 4));
        // What lies beside them: at most `3 * far` bytes away, which may exceed 2^64.
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
        let World { graph, tags, .. } = World::new(u);
        let compared = every_engine(&graph, &tags).unwrap_or_else(|why| panic!("{far}: {why}"));
        assert!(compared.no > 0, "{compared:?}");
        for rules in [Rules::Union, Rules::UnionStrict] {
            let oracle = Oracle::new(&graph, rules);
            // `empty` whole, and as the first and the fourth member.
            for member in [tags[6], tags[7], tags[15]] {
                assert!(oracle.may_alias(tags[1], member), "{rules}, {far}");
                assert_eq!(oracle.explain(tags[1], member).clause, Clause::Generality);
            }
        }
    }
}
