//! Parses the attributes `#[repr(...)]` and `#[tbaa(...)]`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Ident, LitInt, LitStr, Type, parenthesized};

/// The layout of a type, as `#[repr(...)]` states it.
#[derive(Default)]
pub(crate) struct Repr {
    pub(crate) c: bool,
    pub(crate) transparent: bool,
    /// The number in `packed(N)`, or 1 for `packed` alone.
    pub(crate) packed: Option<u64>,
    /// The integer type of an enum, such as `u8`.
    pub(crate) integer: Option<Ident>,
}

impl Repr {
    pub(crate) fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut repr = Repr::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("repr")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("C") {
                    repr.c = true;
                } else if meta.path.is_ident("transparent") {
                    repr.transparent = true;
                } else if meta.path.is_ident("packed") || meta.path.is_ident("align") {
                    let mut bytes = 1;
                    if meta.input.peek(syn::token::Paren) {
                        let content;
                        parenthesized!(content in meta.input);
                        bytes = content.parse::<LitInt>()?.base10_parse()?;
                    }
                    if meta.path.is_ident("packed") {
                        repr.packed = Some(bytes);
                    }
                } else if !meta.path.is_ident("Rust") {
                    repr.integer = meta.path.get_ident().cloned();
                }
                Ok(())
            })?;
        }
        Ok(repr)
    }
}

/// The parent type of a scalar.
pub(crate) enum Parent {
    /// A C type, in C's spelling.
    C(LitStr),
    Rust(Box<Type>),
}

/// The contents of `#[tbaa(...)]` on a type.
#[derive(Default)]
pub(crate) struct OfType {
    pub(crate) name: Option<LitStr>,
    pub(crate) parent: Option<(Parent, Span)>,
    pub(crate) char: Option<Span>,
}

impl OfType {
    pub(crate) fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut said = OfType::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("tbaa")) {
            attribute.parse_nested_meta(|meta| {
                let span = meta.path.span();
                if meta.path.is_ident("name") {
                    once(&mut said.name, named(meta.value()?.parse()?)?, span)
                } else if meta.path.is_ident("parent") {
                    let value = meta.value()?;
                    let parent = match value.peek(LitStr) {
                        true => Parent::C(value.parse()?),
                        false => Parent::Rust(value.parse()?),
                    };
                    once(&mut said.parent, (parent, span), span)
                } else if meta.path.is_ident("char") {
                    once(&mut said.char, span, span)
                } else {
                    let text = "of a type `#[tbaa]` says `name = \"...\"`, `parent = \"...\"` or \
                                `char`";
                    Err(meta.error(text))
                }
            })?;
        }
        Ok(said)
    }
}

/// The contents of `#[tbaa(...)]` on a member.
#[derive(Default)]
pub(crate) struct OfMember {
    pub(crate) name: Option<LitStr>,
    pub(crate) ty: Option<LitStr>,
    pub(crate) char: Option<Span>,
    pub(crate) immutable: Option<Span>,
    pub(crate) skip: Option<Span>,
}

impl OfMember {
    pub(crate) fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut said = OfMember::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("tbaa")) {
            attribute.parse_nested_meta(|meta| {
                let span = meta.path.span();
                if meta.path.is_ident("name") {
                    let name = named(meta.value()?.parse()?)?;
                    let apart = |c: char| c.is_whitespace() || ".:[->]".contains(c);
                    if name.value().contains(apart) {
                        let text =
                            "a path could not name it: leave out blanks and `.`, `:`, `-`, `[`";
                        return Err(Error::new(name.span(), text));
                    }
                    once(&mut said.name, name, span)
                } else if meta.path.is_ident("ty") {
                    once(&mut said.ty, named(meta.value()?.parse()?)?, span)
                } else if meta.path.is_ident("char") {
                    once(&mut said.char, span, span)
                } else if meta.path.is_ident("immutable") {
                    once(&mut said.immutable, span, span)
                } else if meta.path.is_ident("skip") {
                    once(&mut said.skip, span, span)
                } else {
                    let text = "of a member `#[tbaa]` says `name = \"...\"`, `ty = \"...\"`, \
                                `char`, `immutable` or `skip`";
                    Err(meta.error(text))
                }
            })?;
        }
        let others = said.name.is_some() || said.ty.is_some() || said.immutable.is_some();
        match (said.skip, said.char) {
            (Some(span), char) if others || char.is_some() => {
                Err(Error::new(span, "a skipped member has no other attributes: leave them out"))
            }
            (_, Some(span)) if said.ty.is_some() => {
                Err(Error::new(span, "`char` is a type already: leave out `char` or `ty`"))
            }
            _ => Ok(said),
        }
    }
}

fn once<T>(slot: &mut Option<T>, value: T, span: Span) -> syn::Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(span, "said twice: leave one out")),
    }
}

fn named(text: LitStr) -> syn::Result<LitStr> {
    match text.value().trim().is_empty() {
        true => Err(Error::new(text.span(), "expected a name")),
        false => Ok(text),
    }
}
