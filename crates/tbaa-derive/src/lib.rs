//! The macros `#[derive(Tbaa)]` and `path!`. Use them through the crate `tbaa`: its module
//! `tbaa::declare`, with the feature `derive`, re-exports and documents them.

mod attributes;
mod derive;
mod path;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Implements `Tbaa`, which declares a Rust type as the C type of the same layout.
#[proc_macro_derive(Tbaa, attributes(tbaa))]
pub fn derive_tbaa(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    derive::expand(&input).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Expands to the `TypedPath` from a derived type to a member or element, checked at compile time.
#[proc_macro]
pub fn path(input: TokenStream) -> TokenStream {
    let path = syn::parse_macro_input!(input as path::Path);
    path.expand().into()
}
