//! Tests of the macros' errors and of the remedies that they name.

use quote::quote;

use crate::{derive, path};

fn refused(input: proc_macro2::TokenStream) -> String {
    let input = syn::parse2(input).unwrap();
    derive::expand(&input).expect_err("it must be refused").to_string()
}

#[test]
fn layouts_that_rust_does_not_fix() {
    let error = refused(quote!(
        struct Node {
            key: u32,
        }
    ));
    assert_eq!(error, "Rust does not fix the layout of `Node`: write `#[repr(C)]` before it");
    let error = refused(quote!(
        #[repr(packed)]
        struct Node {
            key: u32,
        }
    ));
    assert_eq!(error, "Rust does not fix the layout of `Node`: write `#[repr(C)]` before it");
    let error = refused(quote!(union Value { n: f64 }));
    assert_eq!(error, "Rust does not fix the layout of `Value`: write `#[repr(C)]` before it");
    let error = refused(quote!(
        enum Kind {
            Nil,
        }
    ));
    assert!(error.contains("write `#[repr(u8)]`"), "{error}");
    let error = refused(quote!(
        #[repr(C, u8)]
        enum Kind {
            Nil,
            Number(f64),
        }
    ));
    assert!(error.contains("write a `#[repr(C)]` struct of its tag and"), "{error}");
    let error = refused(quote!(
        #[repr(C)]
        struct Tail {
            len: u32,
            items: [u8],
        }
    ));
    assert!(error.contains("write `[T; 0]`"), "{error}");
    let error = refused(quote!(
        #[repr(transparent)]
        struct Two(u32, ());
    ));
    assert!(error.contains("marked `#[tbaa(skip)]`, all but one"), "{error}");
}

#[test]
fn attributes_that_contradict() {
    let error = refused(quote!(
        #[repr(C)]
        #[tbaa(parent = "int")]
        struct Node {
            key: u32,
        }
    ));
    assert!(error.starts_with("only a scalar has a parent: leave it out"), "{error}");
    let error = refused(quote!(
        #[repr(u8)]
        #[tbaa(name = "K")]
        enum Kind {
            Nil,
        }
    ));
    assert!(error.contains("say of which scalar it is a kind with `parent"), "{error}");
    let error = refused(quote!(
        #[repr(u8)]
        #[tbaa(char, parent = "int")]
        enum Kind {
            Nil,
        }
    ));
    assert!(error.contains("leave out one of the two"), "{error}");
    let error = refused(quote!(
        #[repr(C)]
        #[tbaa(nane = "N")]
        struct Node {}
    ));
    assert!(error.starts_with("of a type `#[tbaa]` says"), "{error}");
    let error = refused(quote!(
        #[repr(transparent)]
        struct Id(#[tbaa(immutable)] u32);
    ));
    assert!(error.starts_with("a transparent struct is its member: leave out"), "{error}");
    for (attributes, says) in [
        (quote!(skip, immutable), "a skipped member has no other attributes: leave them out"),
        (quote!(char, ty = "int"), "`char` is a type already: leave out `char` or `ty`"),
        (quote!(char, char), "said twice: leave one out"),
        (quote!(name = ""), "expected a name"),
        (quote!(name = "a.b"), "a path could not name it: leave out blanks and `.`, `:`, `-`, `[`"),
        (quote!(bits = 3), "of a member `#[tbaa]` says"),
        (quote!(name = "other"), "a second member \"other\": rename one with `#[tbaa(name)]`"),
    ] {
        let error = refused(quote! {
            #[repr(C)]
            struct Node { other: u32, #[tbaa(#attributes)] key: u32 }
        });
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn paths() {
    for (path, says) in [
        (quote!(Node key), "expected `.`, `->` or `[`"),
        (quote!(Node.), "expected a member's name"),
        (quote!(Node.0.), "expected a member's name"),
        (quote!(Node.x[-1]), "expected an index: a number below 2^64"),
        (quote!(Node.x[1.5]), "expected an index: a number, a name or `*`"),
        (quote!(Node.x[1 2]), "expected `]` after the index"),
        (quote!(Node.x[18446744073709551616]), "expected an index: a number below 2^64"),
    ] {
        let error = syn::parse2::<path::Path>(path.clone()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{path}: {error}");
    }
}
