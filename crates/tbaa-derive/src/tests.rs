//! Tests of the macros' error messages.

use crate::{derive, path};

/// Asserts that the derive rejects each item with an error that contains the text beside it.
fn refused(cases: &[(&str, &str)]) {
    for (item, says) in cases {
        let error = derive::expand(&syn::parse_str(item).unwrap()).unwrap_err().to_string();
        assert!(error.contains(says), "{item}: {error}");
    }
}

#[test]
fn layouts_that_rust_does_not_fix() {
    refused(&[
        (
            "struct Node { key: u32 }",
            "Rust does not fix the layout of `Node`: write `#[repr(C)]` before it",
        ),
        (
            "#[repr(packed)] struct Node { key: u32 }",
            "Rust does not fix the layout of `Node`: write `#[repr(C)]` before it",
        ),
        (
            "union Value { n: f64 }",
            "Rust does not fix the layout of `Value`: write `#[repr(C)]` before it",
        ),
        ("enum Kind { Nil }", "write `#[repr(u8)]`"),
        (
            "#[repr(C, u8)] enum Kind { Nil, Number(f64) }",
            "write a `#[repr(C)]` struct of its tag and",
        ),
        ("#[repr(C)] struct Tail { len: u32, items: [u8] }", "write `[T; 0]`"),
        ("#[repr(transparent)] struct Two(u32, ());", "marked `#[tbaa(skip)]`, all but one"),
    ]);
}

#[test]
fn attributes_that_contradict() {
    refused(&[
        (
            "#[repr(C)] #[tbaa(parent = \"int\")] struct Node { key: u32 }",
            "only a scalar has a parent: leave it out",
        ),
        (
            "#[repr(u8)] #[tbaa(name = \"K\")] enum Kind { Nil }",
            "say of which scalar it is a kind with `parent",
        ),
        (
            "#[repr(u8)] #[tbaa(char, parent = \"int\")] enum Kind { Nil }",
            "leave out one of the two",
        ),
        ("#[repr(C)] #[tbaa(nane = \"N\")] struct Node {}", "of a type `#[tbaa]` says"),
        (
            "#[repr(transparent)] struct Id(#[tbaa(immutable)] u32);",
            "a transparent struct is its member: leave out",
        ),
    ]);
    for (attributes, says) in [
        ("skip, immutable", "a skipped member has no other attributes: leave them out"),
        ("char, ty = \"int\"", "`char` is a type already: leave out `char` or `ty`"),
        ("char, char", "said twice: leave one out"),
        ("name = \"\"", "expected a name"),
        ("name = \"a.b\"", "a path could not name it: leave out blanks and `.`, `:`, `-`, `[`"),
        ("bits = 3", "of a member `#[tbaa]` says"),
        ("name = \"other\"", "a second member \"other\": rename one with `#[tbaa(name)]`"),
    ] {
        let item =
            format!("#[repr(C)] struct Node {{ other: u32, #[tbaa({attributes})] key: u32 }}");
        refused(&[(&item, says)]);
    }
}

#[test]
fn paths() {
    for (path, says) in [
        ("Node key", "expected `.`, `->` or `[`"),
        ("Node.", "expected a member's name"),
        ("Node.0.", "expected a member's name"),
        ("Node.x[-1]", "expected an index: a number below 2^64"),
        ("Node.x[1.5]", "expected an index: a number, a name or `*`"),
        ("Node.x[1 2]", "expected `]` after the index"),
        ("Node.x[18446744073709551616]", "expected an index: a number below 2^64"),
    ] {
        let error = syn::parse_str::<path::Path>(path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{path}: {error}");
    }
}
