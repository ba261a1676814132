//! Tests what pictures contain, and that no name in an input can become markup.

use crate::support::{assert_markup, run_in, stdin};

/// A module with names that must be escaped in a page or a picture.
const HOSTILE: &str = include_str!("hostile.ll");

#[test]
fn no_name_is_markup() {
    for args in [
        &["graph", "-"][..],
        &["graph", "-", "--pair", "0", "4"],
        &["graph", "-", "--tag", "0", "--rules", "union"],
        &["matrix", "-", "--format", "svg"],
        &["explain", "-", "0", "4", "--format", "svg"],
        &["explain", "-", "0", "4", "--format", "svg", "--rules", "union"],
    ] {
        let out = stdin(args, HOSTILE.as_bytes());
        assert_eq!(out.code, 0, "{args:?}: {}", out.errors);
        assert!(out.text.contains("script") || args[0] == "matrix", "{args:?} shows the names");
        assert!(!out.text.contains("<script"), "{args:?}");
        assert_markup(&out.text);
    }
    let dot = stdin(&["graph", "-", "--format", "dot", "--pair", "0", "4"], HOSTILE.as_bytes());
    assert!(dot.text.contains("&lt;script&gt;alert(&#39;&amp;"), "{}", dot.text);
    if let Some(svg) = crate::support::filter("dot", &["-Tsvg"], dot.text.as_bytes()) {
        assert!(svg.contains("</svg>"));
    }
}

/// Returns a module with nested structs and many scalars.
fn many(types: usize) -> String {
    let mut text = String::from("!0 = !{!\"root\"}\n!1 = !{!\"char\", !0, i64 0}\n");
    for at in 2..types {
        if at % 2 == 0 {
            text += &format!("!{at} = !{{!\"scalar {at}\", !1, i64 0}}\n");
            continue;
        }
        let field =
            |number: usize| format!("!{}, i64 {}", 1 + (at * 7 * number) % (at - 1), 8 * number);
        let fields: Vec<String> = (0..at % 13 + 1).map(field).collect();
        text += &format!("!{at} = !{{!\"struct {at}\", {}}}\n", fields.join(", "));
    }
    text
}

#[test]
fn a_large_graph_is_drawn() {
    for types in [500, 5000] {
        let out = stdin(&["graph", "-"], many(types).as_bytes());
        assert_markup(&out.text);
        // Each struct has its own box, or a row in the box of unrelated structs.
        let names = out.text.split(">struct ").skip(1).filter_map(|rest| rest.split('<').next());
        let names: std::collections::HashSet<u32> =
            names.filter_map(|name| name.parse().ok()).collect();
        // One struct in thirteen has only one field. The old format reads such a node as a scalar.
        assert!(names.len() >= types / 2 * 12 / 13 - 2, "{} of {types}", names.len());
        assert!(out.text.contains("fields are not shown, most of them scalars"));
        assert!(out.text.len() < 2000 * types, "{} bytes", out.text.len());
        assert_eq!(out.text, stdin(&["graph", "-"], many(types).as_bytes()).text);
    }
}

#[test]
fn rows_of_one_type_are_neighbours_in_the_picture() {
    // The tags access int and float members alternately, in many structs.
    let mut text = String::from(
        "!0 = !{!\"root\"}\n!1 = !{!\"char\", !0, i64 0}\n!2 = !{!\"int\", !1, i64 0}\n!3 = !{!\"float\", !1, i64 0}\n",
    );
    let mut tags = Vec::new();
    for at in 0..300 {
        let number = 4 + 3 * at;
        text += &format!("!{number} = !{{!\"s{at}\", !2, i64 0, !3, i64 4}}\n");
        text += &format!("!{} = !{{!{number}, !2, i64 0}}\n", number + 1);
        text += &format!("!{} = !{{!{number}, !3, i64 4}}\n", number + 2);
        tags.extend([format!("!{}", number + 1), format!("!{}", number + 2)]);
    }
    text += &format!("!tbaa.tags = !{{{}}}\n", tags.join(", "));
    let out = stdin(&["matrix", "-", "--format", "svg"], text.as_bytes());
    assert!(out.text.contains(">int (300)<") && out.text.contains(">float (300)<"), "{}", out.text);
    // A cell stands for 2 by 2 pairs.
    assert!(out.text.contains("2 by 2 pairs a cell"));
    assert_eq!(out.text.matches("<path fill").count(), 1, "one shade beside that of nothing");
}

/// `SQLite`'s module is not in the repository, so its picture is only parsed, not drawn again.
#[test]
fn the_pictures_of_the_guide_are_drawn() {
    let repository = crate::tools::path("../..");
    for (file, args) in [
        ("ravi-graph.svg", &["graph", "ravi.ron", "--tag", "CallInfo.l.base"][..]),
        ("rfc-union-bytes.svg", &["explain", "rfc-2017.ron", "q.u.i", "U.f", "--format", "svg"]),
    ] {
        let spec = format!("specs/{}", args[1]);
        let out = run_in(&repository, &[&args[..1], &[&spec], &args[2..]].concat(), b"");
        let known = std::fs::read_to_string(repository.join("docs/images").join(file)).unwrap();
        assert!(out.text == known, "{file} is not what `tbaa {}` draws", args.join(" "));
        assert_markup(&known);
    }
    let matrix = repository.join("docs/images/sqlite-matrix.svg");
    assert_markup(&std::fs::read_to_string(matrix).unwrap());
}
