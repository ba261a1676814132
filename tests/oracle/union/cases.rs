//! What users of TBAA have met.

use tbaa::{Access, Oracle, Rules};

use super::World;
use tbaa_tests::universe::Universe;

/// LLVM pull request 76356: `union { struct { int a; float b; int c; } s;
/// double d; }`. The double covers `s.b` but not `s.c`; without sizes the
/// slots of the two members meet, and that is all there is to say.
#[test]
fn a_double_over_a_struct() {
    for sized in [true, false] {
        let mut u = Universe::new(sized);
        let root = u.root("R");
        let [int, float, double] = [("int", 4), ("float", 4), ("double", 8)]
            .map(|(name, size)| u.scalar(name, root, size));
        let s = u.aggregate("s", root, 12, &[(int, 0, 4), (float, 4, 4), (int, 8, 4)]);
        let union = u.aggregate("U", root, 16, &[(s, 0, 12), (double, 0, 8)]);
        let d = u.tag(union, double, 0, 8);
        let s_b = u.tag(union, float, 4, 4);
        let s_c = u.tag(union, int, 8, 4);
        let world = World::new(u);
        world.expect(d, s_b, "-MM");
        world.expect(d, s_c, if sized { "-NN" } else { "-MM" });
    }
}

/// LLVM issue 55384, libc++'s string: a union of a long and a short form,
/// whose first byte tells which it is.
#[test]
fn a_string_of_two_forms() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let char = u.scalar("char", root, 1);
    let size = u.scalar("size_t", char, 8);
    let pointer = u.scalar("pointer", char, 8);
    let byte = u.scalar("byte", char, 1);
    let text = u.scalar("text", char, 1);
    let long = u.aggregate("long", char, 24, &[(size, 0, 8), (size, 8, 8), (pointer, 16, 8)]);
    let short = u.aggregate("short", char, 24, &[(byte, 0, 1), (text, 1, 23)]);
    let rep = u.aggregate("rep", char, 24, &[(long, 0, 24), (short, 0, 24)]);
    let capacity = u.tag(rep, size, 0, 8);
    let length = u.tag(rep, byte, 0, 1);
    let data = u.tag(rep, text, 1, 1);
    let heap = u.tag(rep, pointer, 16, 8);
    let world = World::new(u);
    world.expect(capacity, length, "-MM");
    world.expect(length, heap, "-NN");
    world.expect(data, heap, "-MM");
    world.expect(data, length, "-NN");
}

/// Ravi's `TValue`: the value word is written through one member and copied
/// through another.
#[test]
fn a_tagged_value_read_as_one_member_and_copied_as_another() {
    let mut u = Universe::new(true);
    let root = u.root("Ravi");
    let [number, bits, tag] =
        [("n", 8), ("h", 8), ("tt", 2)].map(|(name, size)| u.scalar(name, root, size));
    let value = u.aggregate("Value", root, 8, &[(number, 0, 8), (bits, 0, 8)]);
    let t_value = u.aggregate("TValue", root, 16, &[(value, 0, 8), (tag, 8, 2)]);
    let n = u.tag(t_value, number, 0, 8);
    let h = u.tag(t_value, bits, 0, 8);
    let tt = u.tag(t_value, tag, 8, 2);
    let whole = u.tag(t_value, t_value, 0, 16);
    let world = World::new(u);
    world.expect(n, h, "-MM");
    world.expect(n, tt, "-NN");
    world.expect(whole, h, "-MM");
    world.expect(whole, tt, "-MM");
}

/// MIR issue 473: the members of an anonymous union stand in the struct.
#[test]
fn members_of_an_anonymous_union() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let int = u.scalar("int", root, 4);
    let float = u.scalar("float", root, 4);
    let s = u.aggregate("S", root, 12, &[(int, 0, 4), (int, 4, 4), (float, 4, 4), (float, 8, 4)]);
    let i = u.tag(s, int, 4, 4);
    let f = u.tag(s, float, 4, 4);
    let before = u.tag(s, int, 0, 4);
    let after = u.tag(s, float, 8, 4);
    let world = World::new(u);
    world.expect(i, f, "-MM");
    world.expect(before, f, "-NN");
    world.expect(i, after, "-NN");
}

/// `union { FloatS; IntS }` in an array in a union in an array.
#[test]
fn unions_in_arrays_in_unions() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let int = u.scalar("int", root, 4);
    let float = u.scalar("float", root, 4);
    let floats = u.aggregate("FloatS", root, 8, &[(float, 0, 4), (float, 4, 4)]);
    let ints = u.aggregate("IntS", root, 12, &[(int, 0, 4), (int, 8, 4)]);
    let inner = u.aggregate("inner", root, 12, &[(floats, 0, 8), (ints, 0, 12)]);
    let outer = u.aggregate("outer", root, 48, &[(inner, 0, 48), (float, 0, 4)]);
    let array = u.aggregate("array", root, 4_800, &[(outer, 0, 4_800)]);
    let first_float = u.tag(array, float, 0, 4);
    let second_float = u.tag(array, float, 4, 4);
    let last_int = u.tag(array, int, 8, 4);
    let bare_float = u.tag(float, float, 0, 4);
    let world = World::new(u);
    // Bytes 0-3 and 8-11 of every 12: the second float of an inner element is
    // at 4, and nothing else is.
    world.expect(second_float, last_int, "-NN");
    world.expect(first_float, last_int, "-NN");
    world.expect(last_int, bare_float, "-NN");
    world.expect(first_float, bare_float, "-MM");
}

/// `union { T one; T many[3]; }`, the members in either order: what is reached
/// through both must keep the array's elements.
#[test]
fn one_type_plain_and_as_an_array() {
    for extents in [[8, 24], [24, 8]] {
        let mut u = Universe::new(true);
        let root = u.root("R");
        let int = u.scalar("int", root, 4);
        let float = u.scalar("float", root, 4);
        let pair = u.aggregate("pair", root, 8, &[(int, 0, 4), (float, 4, 4)]);
        let inner = u.aggregate("inner", root, 8, &[(pair, 0, 8)]);
        let union = u.aggregate("U", root, 24, &extents.map(|extent| (inner, 0, extent)));
        let wide = u.aggregate("wide", root, 12, &[(float, 0, 4), (int, 4, 4)]);
        let both = u.aggregate("both", root, 24, &[(union, 0, 24), (wide, 0, 24)]);
        // Bytes 0-3 and 12-15; the pairs' floats are at 4, 12 and 20.
        let wide_float = u.tag(both, float, 0, 4);
        let pair_float = u.tag(pair, float, 4, 4);
        let pair_int = u.tag(pair, int, 0, 4);
        let wide_int = u.tag(both, int, 4, 4);
        let world = World::new(u);
        world.expect(wide_float, pair_float, "-MN");
        world.expect(wide_float, pair_int, "-MN");
        world.expect(wide_int, pair_int, "-MN");
    }
}

/// Bug 21725 of the RFC's last section: reading one member and writing another
/// depend on each other both ways.
#[test]
fn a_read_of_one_member_and_a_write_of_another() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let short = u.scalar("short", root, 2);
    let int = u.scalar("int", root, 4);
    let union = u.aggregate("U", root, 4, &[(short, 0, 2), (int, 0, 4)]);
    let s = u.tag(union, short, 0, 2);
    let i = u.tag(union, int, 0, 4);
    let world = World::new(u);
    let [s, i] = [s, i].map(|tag| Access::from(world.tags[tag]));
    for rules in [Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&world.graph, rules);
        let conflict = |a, b| oracle.may_conflict(a, b).map(|conflict| conflict.to_string());
        assert_eq!(conflict(s.reading(), i.writing()).as_deref(), Some("write after read"));
        assert_eq!(conflict(i.writing(), s.reading()).as_deref(), Some("read after write"));
        assert_eq!(conflict(i.writing(), s.writing()).as_deref(), Some("write after write"));
        assert_eq!(conflict(i.reading(), s.reading()), None);
        let all = "read after write, write after read, write after write";
        assert_eq!(conflict(i, s).as_deref(), Some(all));
    }
}

/// A vectorised access through the tag of its first element, whose own size
/// says how wide it is; in the old format, too.
#[test]
fn widened_accesses_reach_the_next_field() {
    for sized in [true, false] {
        let mut u = Universe::new(sized);
        let root = u.root("R");
        let int = u.scalar("int", root, 4);
        let pair = u.aggregate("pair", root, 8, &[(int, 0, 4), (int, 4, 4)]);
        let s = u.aggregate("S", root, 24, &[(pair, 0, 8), (int, 8, 4), (int, 12, 4)]);
        let x = u.tag(s, int, 0, 4);
        let z = u.tag(s, int, 8, 4);
        let last = u.tag(s, int, 12, 4);
        let world = World::new(u);
        let oracle = Oracle::new(&world.graph, Rules::Union);
        let [x, z, last] = [x, z, last].map(|tag| Access::from(world.tags[tag]));
        assert!(!oracle.may_alias(x, z));
        assert!(!oracle.may_alias(x.with_size(8), z));
        assert!(oracle.may_alias(x.with_size(9), z));
        assert!(!oracle.may_alias(x.with_size(12), last));
        assert!(oracle.may_alias(x.with_size(16), last));
        assert!(!oracle.may_alias(x.with_size(u64::MAX), z), "unknown ends at the slot");
    }
}

/// An index that was not folded away: displacement 8 of an array of ints.
#[test]
fn an_offset_into_the_middle_of_an_array() {
    let mut u = Universe::new(true);
    let root = u.root("R");
    let int = u.scalar("int", root, 4);
    let s = u.aggregate("S", root, 44, &[(int, 0, 40), (int, 40, 4)]);
    let third = u.tag(s, int, 8, 4);
    let fourth = u.tag(s, int, 12, 4);
    let any = u.tag(s, int, 0, 4);
    let unaligned = u.tag(s, int, 10, 4);
    let third_onward = u.tag(s, int, 8, 0);
    let second = u.tag(s, int, 4, 4);
    let after = u.tag(s, int, 40, 4);
    let world = World::new(u);
    world.expect(third, fourth, "MNN");
    world.expect(third, any, "MMM");
    world.expect(unaligned, fourth, "MMM");
    world.expect(third_onward, fourth, "MMM");
    world.expect(third_onward, second, "MNN");
    world.expect(third_onward, after, "MNN");
}

/// clang's old-format node for a C++ class without data is a name alone, which
/// reads as a root. A struct that has one as a field, or as a base at the
/// offset of its first field, is as good as without it.
#[test]
fn a_class_without_data() {
    let text = br#"
define void @f(ptr %p) {
  store i32 0, ptr %p, !tbaa !0
  store float 0.0, ptr %p, !tbaa !1
  store i32 0, ptr %p, !tbaa !2
  store float 0.0, ptr %p, !tbaa !3
  ret void
}
!0 = !{!4, !5, i64 0}
!1 = !{!4, !6, i64 4}
!2 = !{!5, !5, i64 0}
!3 = !{!6, !6, i64 0}
!4 = !{!"Derived", !8, i64 0, !5, i64 0, !8, i64 4, !6, i64 4}
!5 = !{!"int", !7, i64 0}
!6 = !{!"float", !7, i64 0}
!7 = !{!"root"}
!8 = !{!"Empty"}
"#;
    let module = tbaa_ir::read(text).unwrap();
    let tags = module.attached_tags();
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(module.graph(), rules);
        let row = |a| -> String {
            tags.iter().map(|&b| if oracle.may_alias(a, b) { 'M' } else { 'N' }).collect()
        };
        let grid: Vec<_> = tags.iter().map(|&tag| row(tag)).collect();
        assert_eq!(grid, ["MNMN", "NMNM", "MNMN", "NMNM"], "{rules:?}");
    }
}
