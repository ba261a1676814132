//! `#[derive(Tbaa)]` and `path!`. The library `tbaa` re-exports them in `tbaa::declare` with its
//! feature `derive`; use and read about them there.

mod attributes;
mod derive;
mod path;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares a Rust type as the C type of the same layout: implements `Tbaa`.
#[proc_macro_derive(Tbaa, attributes(tbaa))]
pub fn derive_tbaa(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    derive::expand(&input).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Returns the `TypedPath` from a derived type to one of its parts, checked at compile time.
#[proc_macro]
pub fn path(input: TokenStream) -> TokenStream {
    let path = syn::parse_macro_input!(input as path::Path);
    path.expand().into()
}
