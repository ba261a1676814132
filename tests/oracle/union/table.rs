//! Section 6 of the contract, row by row, each with a neighbour that answers
//! the other way where the row has none.

use super::World;
use tbaa_tests::universe::Universe;

/// `char` under a root, and the scalars of the table under it.
struct C {
    u: Universe,
    root: usize,
    short: usize,
    int: usize,
    float: usize,
}

fn c(sized: bool) -> C {
    let mut u = Universe::new(sized);
    let root = u.root("R");
    let char = u.scalar("char", root, 1);
    let [short, int, float] =
        [("short", 2), ("int", 4), ("float", 4)].map(|(name, size)| u.scalar(name, char, size));
    C { u, root: char, short, int, float }
}

/// `union U { int i; float f; }`.
fn union_u(c: &mut C) -> usize {
    c.u.aggregate("U", c.root, 4, &[(c.int, 0, 4), (c.float, 0, 4)])
}

#[test]
fn rows_1_to_3_a_union_and_its_members_types() {
    let mut c = c(true);
    let union = union_u(&mut c);
    let C { mut u, int, float, .. } = c;
    let u_i = u.tag(union, int, 0, 4);
    let u_f = u.tag(union, float, 0, 4);
    let i = u.tag(int, int, 0, 4);
    let f = u.tag(float, float, 0, 4);
    let world = World::new(u);
    world.expect(u_i, f, "-MN");
    world.expect(u_i, u_f, "-MM");
    world.expect(i, f, "NNN");
    world.expect(u_i, i, "-MM");
}

#[test]
fn rows_4_and_5_a_union_in_a_struct() {
    let mut c = c(true);
    let union = union_u(&mut c);
    let q = c.u.aggregate("Q", c.root, 8, &[(c.int, 0, 4), (union, 4, 4)]);
    let C { mut u, int, float, .. } = c;
    let q_u_i = u.tag(q, int, 4, 4);
    let u_f = u.tag(union, float, 0, 4);
    let q_a = u.tag(q, int, 0, 4);
    let q_u_f = u.tag(q, float, 4, 4);
    let world = World::new(u);
    world.expect(q_u_i, u_f, "-MM");
    world.expect(q_a, q_u_f, "-NN");
    world.expect(q_u_i, q_u_f, "-MM");
}

#[test]
fn rows_6_and_7_two_shorts_and_an_int() {
    let mut c = c(true);
    let s = c.u.aggregate("s", c.root, 4, &[(c.short, 0, 2), (c.short, 2, 2)]);
    let union = c.u.aggregate("U", c.root, 4, &[(s, 0, 4), (c.int, 0, 4)]);
    let C { mut u, short, int, .. } = c;
    let s_a = u.tag(union, short, 0, 2);
    let s_b = u.tag(union, short, 2, 2);
    let i = u.tag(union, int, 0, 4);
    let world = World::new(u);
    world.expect(s_b, i, "-MM");
    world.expect(s_a, s_b, "-NN");
}

#[test]
fn row_8_an_array_beside_a_struct() {
    let mut c = c(true);
    let p = c.u.aggregate("p", c.root, 8, &[(c.int, 0, 4), (c.float, 4, 4)]);
    let union = c.u.aggregate("U", c.root, 20, &[(c.int, 0, 20), (p, 0, 8)]);
    let C { mut u, int, float, .. } = c;
    let a_k = u.tag(union, int, 0, 4);
    let p_y = u.tag(union, float, 4, 4);
    World::new(u).expect(a_k, p_y, "-MM");
}

#[test]
fn row_9_arrays_of_one_stride() {
    let mut c = c(true);
    let a = c.u.aggregate("a", c.root, 8, &[(c.int, 0, 4), (c.float, 4, 4)]);
    let b = c.u.aggregate("b", c.root, 8, &[(c.float, 0, 4), (c.int, 4, 4)]);
    let union = c.u.aggregate("U", c.root, 80, &[(a, 0, 80), (b, 0, 80)]);
    let C { mut u, int, float, .. } = c;
    let y_and_p = (u.tag(union, float, 4, 4), u.tag(union, float, 0, 4));
    let y_and_q = (u.tag(union, float, 4, 4), u.tag(union, int, 4, 4));
    let world = World::new(u);
    world.expect(y_and_p.0, y_and_p.1, "-NN");
    world.expect(y_and_q.0, y_and_q.1, "-MM");
}

#[test]
fn row_10_an_array_and_the_field_after_it() {
    let mut c = c(true);
    let s = c.u.aggregate("S", c.root, 44, &[(c.int, 0, 40), (c.int, 40, 4)]);
    let C { mut u, int, .. } = c;
    let a_k = u.tag(s, int, 0, 4);
    let b = u.tag(s, int, 40, 4);
    let i = u.tag(int, int, 0, 4);
    let world = World::new(u);
    world.expect(a_k, b, "NNN");
    world.expect(a_k, i, "MMM");
}

#[test]
fn row_11_an_access_wider_than_its_field() {
    let mut c = c(true);
    let s = c.u.aggregate("S", c.root, 8, &[(c.int, 0, 4), (c.int, 4, 4)]);
    let C { mut u, int, .. } = c;
    let wide = u.tag(s, int, 0, 8);
    let x = u.tag(s, int, 0, 4);
    let y = u.tag(s, int, 4, 4);
    let world = World::new(u);
    world.expect(wide, y, "NMM");
    world.expect(x, y, "NNN");
}

#[test]
fn row_12_an_aggregate_access_and_a_field_of_it() {
    let mut c = c(true);
    let t = c.u.aggregate("T", c.root, 8, &[(c.int, 0, 4), (c.int, 4, 4)]);
    let s = c.u.aggregate("S", c.root, 12, &[(t, 0, 8), (c.int, 8, 4)]);
    let C { mut u, int, .. } = c;
    let s_t = u.tag(s, t, 0, 8);
    let s_t_y = u.tag(s, int, 4, 4);
    let after = u.tag(s, int, 8, 4);
    let world = World::new(u);
    world.expect(s_t, s_t_y, "NMM");
    world.expect(s_t, after, "NNN");
}

#[test]
fn rows_13_and_14_the_rfc_listing() {
    let mut c = c(false);
    let pair = c.u.aggregate("C", c.root, 0, &[(c.int, 0, 0), (c.int, 4, 0)]);
    let arrays = c.u.aggregate("R.u", c.root, 0, &[(pair, 0, 0), (pair, 0, 0)]);
    let r = c.u.aggregate("R", c.root, 0, &[(arrays, 0, 0), (c.int, 80, 0)]);
    let C { mut u, int, .. } = c;
    // The listing prints 44, but both arrays start at 0.
    let u_b_b = u.tag(r, int, 4, 0);
    let after = u.tag(r, int, 80, 0);
    let u_a_a = u.tag(r, int, 0, 0);
    let world = World::new(u);
    world.expect(u_b_b, after, "NNN");
    world.expect(u_b_b, u_a_a, "-MM");
}

#[test]
fn row_15_unknown_sizes_end_at_the_fields_slot() {
    for unknown in [0, u64::MAX] {
        let mut c = c(true);
        let s = c.u.aggregate("S", c.root, 8, &[(c.int, 0, 4), (c.int, 4, 4)]);
        let C { mut u, int, .. } = c;
        let x = u.tag(s, int, 0, unknown);
        let y = u.tag(s, int, 4, 4);
        let whole = u.tag(s, s, 0, unknown);
        let world = World::new(u);
        world.expect(x, y, "NNN");
        world.expect(whole, y, "MMM");
    }
}

#[test]
fn row_16_two_roots() {
    let mut c = c(true);
    let other = c.u.root("other");
    let theirs = c.u.scalar("int", other, 4);
    let C { mut u, int, float, .. } = c;
    let i = u.tag(int, int, 0, 4);
    let f = u.tag(float, float, 0, 4);
    let j = u.tag(theirs, theirs, 0, 4);
    let world = World::new(u);
    world.expect(i, j, "MMM");
    world.expect(i, f, "NNN");
}

#[test]
fn row_17_two_formats_under_one_root() {
    let c = c(true);
    let C { mut u, root, int, .. } = c;
    u.tag(int, int, 0, 4);
    let (mut graph, mut tags) = u.graph();
    let mut old = Universe::new(false);
    let old_root = old.root("R");
    let old_int = old.scalar("old int", old_root, 0);
    old.tag(old_int, old_int, 0, 0);
    let nodes = old.add_types(&mut graph);
    tags.push(old.add_tag(&mut graph, &nodes, &old.tags[0]));
    u.tags.push(u.tags[0]);
    assert_eq!(root, 1, "both are under the one root that is called R");
    World { u, graph, tags }.expect(0, 1, "-MM");
}

/// The RFC's second listing: a scalar of its own for each member.
#[test]
fn member_scalars_tell_members_of_one_type_apart() {
    let mut c = c(true);
    let a = c.u.scalar("U.a", c.int, 4);
    let b = c.u.scalar("U.b", c.float, 4);
    let union = c.u.aggregate("U", c.root, 4, &[(a, 0, 4), (b, 0, 4)]);
    let C { mut u, int, float, .. } = c;
    let u_a = u.tag(union, a, 0, 4);
    let u_b = u.tag(union, b, 0, 4);
    let i = u.tag(int, int, 0, 4);
    let f = u.tag(float, float, 0, 4);
    let world = World::new(u);
    world.expect(u_a, i, "MMM");
    world.expect(u_a, f, "-MN");
    world.expect(u_b, i, "-MN");
    world.expect(u_a, u_b, "-MM");
}
