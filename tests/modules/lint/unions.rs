//! Which pairs rule `llvm` surely takes for apart though they share bytes.

use tbaa::lint::{Lint, Options, lint_graph};
use tbaa::{Code, Format, Graph, SizedField, TypeId};

/// A struct's member: its type, offset and size in bytes.
type Member = (usize, u64, u64);

/// A tag: base, access type, offset and size in bytes. Types 0 to 3 are `int`,
/// `float`, `short` and `long`, 4 is the struct.
type Access = (usize, usize, u64, u64);

/// How many pairs of accesses are told, where there is one struct of these members.
fn told(format: Format, members: &[Member], accesses: &[Access]) -> usize {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let sizes = [("int", 4), ("float", 4), ("short", 2), ("long", 8)];
    let mut types: Vec<TypeId> = sizes
        .iter()
        .map(|&(name, size)| match format {
            Format::Old => b.scalar_type(name, root).unwrap(),
            Format::New => b.sized_type(root, size, name, &[]).unwrap(),
        })
        .collect();
    let end = members.iter().map(|&(_, offset, size)| offset + size).max().unwrap();
    types.push(match format {
        Format::Old => {
            let members: Vec<_> = members.iter().map(|&(ty, at, _)| (types[ty], at)).collect();
            b.struct_type("S", &members).unwrap()
        }
        Format::New => {
            let member = |&(ty, offset, size): &Member| SizedField { ty: types[ty], offset, size };
            let members: Vec<_> = members.iter().map(member).collect();
            b.sized_type(root, end, "S", &members).unwrap()
        }
    });
    for &(base, access, offset, size) in accesses {
        let (base, access) = (types[base], types[access]);
        let made = match format {
            Format::Old => b.struct_tag(base, access, offset, false),
            Format::New => b.access_tag(base, access, offset, size, false),
        };
        made.unwrap();
    }
    let found = lint_graph(&graph, &Options::default());
    found.iter().filter(|it| it.code == Code::Lint(Lint::UnionMiscompiled)).count()
}

const INT: Access = (4, 0, 0, 4);
const BARE_INT: Access = (0, 0, 0, 4);

#[test]
fn bytes_that_both_tags_name() {
    // A union of an int and a float, and a short in its second half.
    let members = [(0, 0, 4), (1, 0, 4), (2, 2, 2)];
    let (float, short) = ((4, 1, 0, 4), (4, 2, 2, 2));
    assert_eq!(told(Format::New, &members, &[float, short]), 1);
    // Without sizes a neighbour's bytes are a guess, as those of bit-fields are.
    assert_eq!(told(Format::Old, &members, &[float, short]), 0);
    // A float may be any float.
    assert_eq!(told(Format::New, &members, &[(1, 1, 0, 4), short]), 0);
    assert_eq!(told(Format::New, &members, &[float, (2, 2, 0, 2)]), 0);
}

#[test]
fn members_at_one_place() {
    let members = [(0, 0, 4), (1, 0, 4)];
    for format in [Format::Old, Format::New] {
        assert_eq!(told(format, &members, &[BARE_INT, (4, 1, 0, 4)]), 1, "{format:?}");
        assert_eq!(told(format, &members, &[(3, 3, 0, 8), (4, 1, 0, 4)]), 0, "{format:?}");
    }
}

#[test]
fn an_access_that_runs_on() {
    let members = [(0, 0, 4), (1, 4, 4), (2, 8, 2)];
    let [float, short] = [(4, 1, 4, 4), (4, 2, 8, 2)];
    assert_eq!(told(Format::New, &members, &[INT, float, short]), 0);
    let both = (4, 0, 0, 8);
    assert_eq!(told(Format::New, &members, &[both, float]), 1);
    assert_eq!(told(Format::New, &members, &[float, both]), 1);
    assert_eq!(told(Format::New, &members, &[both, float, short]), 1);
    assert_eq!(told(Format::New, &members, &[(4, 0, 0, 10), float, short]), 2);
}
