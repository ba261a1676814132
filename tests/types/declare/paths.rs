//! Paths: their meaning, and the messages for mistakes.

use tbaa::Graph;
use tbaa::declare::{BitRange, Declarations, Policy, Record, TaggedTypes, Target};
use tbaa_tests::{cases, show_tag};

fn runtime(policy: Policy) -> TaggedTypes {
    tbaa_tests::declared(include_str!("../../fixtures/types/paths.ron")).into_tagged(policy)
}

#[test]
fn paths_are_tagged_as_written_down() {
    cases::check("types/paths.txt", |title, parts| {
        let policy = if title.starts_with("Rfc") { Policy::Rfc } else { Policy::Clang };
        let (mut types, mut graph) = (runtime(policy), Graph::new());
        let before = types.types().types().len();
        let mut said = |path| match types.tag(&mut graph, path) {
            Ok(tag) => show_tag(&graph, tag) + "\n",
            Err(error) => format!("{error}\n"),
        };
        let said = parts[0].lines().map(&mut said).collect();
        // A path with a mistake adds nothing to the declarations.
        assert!(!title.ends_with("mistakes") || types.types().types().len() == before);
        said
    });
}

/// Text is never cut inside a letter of several bytes.
#[test]
fn names_of_any_letters() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("é::λ").field("ж", "int").field("ü", "int")).unwrap();
    assert_eq!(types.offset_of("é::λ.ü").unwrap(), 4);
    let error = types.ty("Ƙ ").unwrap_err().to_string();
    assert!(error.contains("Ƙ"), "{error}");
}

#[test]
fn places_say_where_and_how() {
    let mut types = runtime(Policy::Rfc);
    let mut graph = Graph::new();
    let mut place = |path: &str| types.place(&mut graph, path).unwrap();
    let tt = place("volatile Table.inline[2][3].tt");
    assert_eq!((tt.offset, tt.size, tt.align), (32 + 11 * 16 + 8, 2, 8));
    assert!(tt.volatile && !tt.immutable && tt.tag.is_some());
    let any = place("Table.inline[*][3].tt");
    assert_eq!((any.offset, any.align), (32 + 3 * 16 + 8, 8));
    assert_eq!(any.tag, tt.tag);
    assert_eq!(place("Table.b").bits, Some(BitRange { first: 224 * 8 + 3, width: 9 }));
    assert_eq!(place("Table.array[5].tt").offset, 88);
    assert_eq!(place("Table.rest").size, 0);
}

/// `TaggedTypes` serve one graph only: their ids mean nothing in another.
#[test]
fn a_second_graph_is_noticed() {
    let mut types = runtime(Policy::Clang);
    let mut graph = Graph::new();
    types.tag(&mut graph, "TValue.tt").unwrap();
    let error = types.tag(&mut Graph::new(), "TValue.tt").unwrap_err();
    assert!(error.to_string().contains("issued by another graph"), "{error}");
}

/// The text that displays a type is read as the same type.
#[test]
fn types_read_back() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("S").field("x", "int")).unwrap();
    for line in include_str!("../../fixtures/types/shown.txt").lines() {
        let (text, shown) = line.split_once(" | ").unwrap();
        let ty = types.ty(text).unwrap();
        assert_eq!(types.display(ty), shown, "{text}");
        assert_eq!(types.ty(shown), Ok(ty), "{text}");
    }
}
