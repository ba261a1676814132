//! Struct copies as sets of accesses, and `errno`.

use tbaa::{Access, AccessKind, AliasResult, AliasRule, CopyEntry, Oracle};

use tbaa_tests::universe::Universe;

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
    for rules in [AliasRule::Union, AliasRule::UnionStrict] {
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
