//! Parses and expands paths such as `path!(CallInfo.l.base)`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Ident, LitFloat, LitInt, Token, Type, bracketed};

pub(crate) struct Path {
    base: Type,
    steps: Vec<(Step, Span)>,
}

enum Step {
    Member(String),
    /// The index in `[INDEX]`; `None` for any element, as in `[*]` or `[name]`.
    Element(Option<u64>),
    Arrow,
}

/// Returns a type that encodes a member's name, one character after the other.
pub(crate) fn name_type(name: &str, span: Span) -> TokenStream {
    let chars = name.chars();
    quote_spanned!(span=> (#(::tbaa::declare::derive_support::Ch<#chars>,)*))
}

impl Parse for Path {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let base: Type = input.call(Type::without_plus)?;
        let mut path = Path { base, steps: Vec::new() };
        while !input.is_empty() {
            if let Some(arrow) = input.parse::<Option<Token![->]>>()? {
                path.steps.push((Step::Arrow, arrow.span()));
                path.members(input)?;
            } else if input.parse::<Option<Token![.]>>()?.is_some() {
                path.members(input)?;
            } else if input.peek(syn::token::Bracket) {
                let index;
                let bracket = bracketed!(index in input);
                path.steps.push((Step::Element(element(&index)?), bracket.span.join()));
            } else {
                return Err(input.error("expected `.`, `->` or `[`"));
            }
        }
        Ok(path)
    }
}

fn element(index: ParseStream<'_>) -> syn::Result<Option<u64>> {
    let any = index.parse::<Option<Token![*]>>()?.is_some();
    let number = if any || index.parse::<Option<Ident>>()?.is_some() {
        None
    } else if let Some(number) = index.parse::<Option<LitInt>>()? {
        let wrong = |_| Error::new(number.span(), "expected an index: a number below 2^64");
        Some(number.base10_parse().map_err(wrong)?)
    } else {
        return Err(index.error("expected an index: a number, a name or `*`"));
    };
    if index.is_empty() { Ok(number) } else { Err(index.error("expected `]` after the index")) }
}

impl Path {
    /// Reads the names after a `.` or `->`. Rust reads the `0.1` in `pair.0.1` as one number.
    fn members(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let (text, span) = if let Some(number) = input.parse::<Option<LitInt>>()? {
            (number.to_string(), number.span())
        } else if let Some(number) = input.parse::<Option<LitFloat>>()? {
            (number.to_string(), number.span())
        } else if input.peek(Ident::peek_any) {
            let name = Ident::parse_any(input)?;
            (name.unraw().to_string(), name.span())
        } else {
            return Err(input.error("expected a member's name"));
        };
        for name in text.split('.') {
            if name.is_empty() {
                return Err(Error::new(span, "expected a member's name after the `.`"));
            }
            self.steps.push((Step::Member(name.to_owned()), span));
        }
        Ok(())
    }

    pub(crate) fn expand(&self) -> TokenStream {
        let base = &self.base;
        let support = quote!(::tbaa::declare::derive_support);
        let mut end = quote!(::core::marker::PhantomData::<#base>);
        let mut text = String::new();
        let mut arrow = false;
        for (step, span) in &self.steps {
            let taken = match step {
                Step::Member(name) => {
                    text += if arrow { "->" } else { "." };
                    text += name;
                    let name = name_type(name, *span);
                    quote_spanned!(*span=> step::<#name, _, _>)
                }
                Step::Element(None) => {
                    text += "[*]";
                    quote_spanned!(*span=> step::<#support::Element, _, _>)
                }
                Step::Element(Some(index)) => {
                    text += &format!("[{index}]");
                    quote_spanned!(*span=> element::<#index, _, _>)
                }
                Step::Arrow => quote_spanned!(*span=> step::<#support::Arrow, _, _>),
            };
            arrow = matches!(step, Step::Arrow);
            end = quote_spanned!(*span=> #support::#taken(#end));
        }
        quote!(#support::typed(#text, ::core::marker::PhantomData::<#base>, #end))
    }
}
