//! The expansion of `#[derive(Tbaa)]`.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Generics, Index, Member, Type};

use crate::attributes::{OfMember, OfType, Parent, Repr};
use crate::path::name_type;

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let repr = Repr::of(&input.attrs)?;
    let said = OfType::of(&input.attrs)?;
    match &input.data {
        Data::Enum(data) => {
            let integer = integer(input, &repr, data)?;
            scalar(input, &said, &[], &quote!(#integer), true)
        }
        Data::Struct(data) if repr.transparent => {
            let members = members(&data.fields)?;
            let [member] = &members[..] else {
                let text = "of a transparent struct, the members that take no room must be \
                            marked `#[tbaa(skip)]`, all but one";
                return Err(Error::new(input.ident.span(), text));
            };
            let ty = member.ty;
            if member.said.name.is_some() || member.said.immutable.is_some() {
                let text = "a transparent struct is its member: leave out `name` and `immutable`";
                return Err(Error::new(ty.span(), text));
            }
            scalar(input, &said, &members, &quote!(#ty), false)
        }
        Data::Struct(data) => record(input, &repr, &said, &members(&data.fields)?, false),
        Data::Union(data) => {
            record(input, &repr, &said, &members(&Fields::Named(data.fields.clone()))?, true)
        }
    }
}

/// A member that becomes part of the C type.
struct Declared<'a> {
    name: String,
    member: Member,
    ty: &'a Type,
    said: OfMember,
}

/// Returns the members that are neither skipped nor `PhantomData`.
fn members(fields: &Fields) -> syn::Result<Vec<Declared<'_>>> {
    let mut names = HashSet::new();
    let mut members = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let said = OfMember::of(&field.attrs)?;
        if said.skip.is_some() || is_phantom(&field.ty) {
            continue;
        }
        if matches!(field.ty, Type::Slice(_)) {
            let text = "a slice has no size of its own: write `[T; 0]`, C's flexible array member";
            return Err(Error::new(field.ty.span(), text));
        }
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        let name = match (&said.name, &field.ident) {
            (Some(name), _) => name.value(),
            (None, Some(name)) => name.unraw().to_string(),
            (None, None) => index.to_string(),
        };
        if !names.insert(name.clone()) {
            let text = format!("a second member {name:?}: rename one with `#[tbaa(name)]`");
            return Err(Error::new(field.span(), text));
        }
        members.push(Declared { name, member, ty: &field.ty, said });
    }
    Ok(members)
}

fn is_phantom(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|s| s.ident == "PhantomData"),
        _ => false,
    }
}

/// Returns the integer type of an enum without data.
fn integer(input: &DeriveInput, repr: &Repr, data: &syn::DataEnum) -> syn::Result<TokenStream> {
    if let Some(variant) = data.variants.iter().find(|v| !matches!(v.fields, Fields::Unit)) {
        let text = "an enum with data is no C type: write a `#[repr(C)]` struct of its tag and a \
                    `#[repr(C)]` union of the data";
        return Err(Error::new(variant.span(), text));
    }
    match &repr.integer {
        Some(integer) => Ok(quote!(#integer)),
        None if repr.c => Ok(quote!(::core::ffi::c_uint)),
        None => {
            let text = "the integer of this enum is not fixed: write `#[repr(u8)]` before it, or \
                        another integer";
            Err(Error::new(input.ident.span(), text))
        }
    }
}

/// Implements `Tbaa` for a transparent struct or an enum. `of` is the type of the struct's member,
/// or the enum's integer. With `whole`, the `impl` asserts that `Self` has the size of `of`.
fn scalar(
    input: &DeriveInput,
    said: &OfType,
    members: &[Declared<'_>],
    of: &TokenStream,
    whole: bool,
) -> syn::Result<TokenStream> {
    let char = said.char.or(members.first().and_then(|member| member.said.char));
    let text = members.first().and_then(|member| member.said.ty.as_ref());
    let declared = match (&said.parent, char, text) {
        (Some((_, span)), Some(_), _) => {
            let text = "a scalar of its own is not `char`: leave out one of the two";
            return Err(Error::new(*span, text));
        }
        (Some((parent, _)), ..) => {
            let name = name(input, said);
            let parent = match parent {
                Parent::C(text) => quote!(#text),
                Parent::Rust(ty) => quote_spanned! {ty.span()=> &{
                    let parent = <#ty as ::tbaa::declare::Tbaa>::declare(types)?;
                    types.display(parent)
                }},
            };
            quote! {
                let parent: &str = #parent;
                ::tbaa::declare::derive_support::scalar::<Self>(types, #name, parent)
            }
        }
        _ if said.name.is_some() => {
            let text = "a name for what is the type inside: leave it out, or say of which scalar \
                        it is a kind with `parent = \"...\"`";
            return Err(Error::new(said.name.span(), text));
        }
        (None, Some(_), _) => quote!(::tbaa::declare::derive_support::chars::<Self>(types)),
        (None, None, Some(text)) => {
            quote!(::tbaa::declare::derive_support::c_type::<Self>(types, #text))
        }
        (None, None, None) => quote_spanned! {of.span()=>
            <#of as ::tbaa::declare::Tbaa>::declare(types)
        },
    };
    let fixed = whole.then(|| {
        quote! {
            const { ::core::assert!(
                ::core::mem::size_of::<Self>() == ::core::mem::size_of::<#of>(),
                "the target has another integer for this enum: write `#[repr(u8)]` before it"
            ) };
        }
    });
    let implemented = implement(input, members, &quote!(#fixed #declared));
    if whole || said.parent.is_some() || char.is_some() || text.is_some() {
        return Ok(implemented);
    }
    let inside = goes_on_inside(input, of);
    Ok(quote!(#implemented #inside))
}

/// Implements `Step`, so that `path!` can name members of the type that a transparent struct wraps.
fn goes_on_inside(input: &DeriveInput, of: &TokenStream) -> TokenStream {
    let mut generics = input.generics.clone();
    generics.params.push(syn::parse_quote!(__Step));
    generics.params.push(syn::parse_quote!(__End));
    let inside = quote!(::tbaa::declare::derive_support::Step<__Step, __End>);
    generics.make_where_clause().predicates.push(syn::parse_quote!(#of: #inside));
    let (ident, (_, of_type, _)) = (&input.ident, input.generics.split_for_impl());
    let (parameters, _, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #inside for #ident #of_type #bounds {
            const LEN: u64 = <#of as #inside>::LEN;
        }
    }
}

fn record(
    input: &DeriveInput,
    repr: &Repr,
    said: &OfType,
    members: &[Declared<'_>],
    union: bool,
) -> syn::Result<TokenStream> {
    if !repr.c {
        let text = format!(
            "Rust does not fix the layout of `{}`: write `#[repr(C)]` before it",
            input.ident
        );
        return Err(Error::new(input.ident.span(), text));
    }
    if let Some((_, span)) = &said.parent {
        let text = "only a scalar has a parent: leave it out, or write `#[repr(transparent)]`";
        return Err(Error::new(*span, text));
    }
    let packed = repr.packed.map(|bytes| match bytes {
        1 => quote!(.packed()),
        _ => quote!(.pack(#bytes)),
    });
    let may_alias = said.char.map(|_| quote!(.may_alias()));
    let (kind, make) = match union {
        true => (quote!(Union), quote!(union)),
        false => (quote!(Struct), quote!(structure)),
    };
    let name = name(input, said);
    let added = members.iter().map(member);
    let body = quote! {
        let name: &str = #name;
        types.declare_once::<Self>(name, ::tbaa::declare::RecordKind::#kind, |types| {
            let record = ::tbaa::declare::Record::#make(name)
                .size(::core::mem::size_of::<Self>() as u64)
                .align(::core::mem::align_of::<Self>() as u64)
                #packed #may_alias;
            #(#added)*
            ::core::result::Result::Ok(record)
        })
    };
    let implemented = implement(input, members, &body);
    let (ident, (parameters, of_type, bounds)) = (&input.ident, input.generics.split_for_impl());
    let steps = members.iter().map(|Declared { name, member, ty, .. }| {
        let name = name_type(name, member.span());
        quote! {
            #[automatically_derived]
            impl #parameters ::tbaa::declare::derive_support::Step<#name, #ty>
                for #ident #of_type #bounds {}
        }
    });
    Ok(quote!(#implemented #(#steps)*))
}

/// Returns the statement that adds a member to the variable `record`.
fn member(Declared { name, member, ty, said }: &Declared<'_>) -> TokenStream {
    let span = ty.span();
    let declared = match &said.ty {
        _ if said.char.is_some() => {
            quote_spanned!(span=> ::tbaa::declare::derive_support::chars::<#ty>(types)?)
        }
        Some(text) => {
            quote_spanned!(span=> ::tbaa::declare::derive_support::c_type::<#ty>(types, #text)?)
        }
        None => quote_spanned!(span=> <#ty as ::tbaa::declare::Tbaa>::declare(types)?),
    };
    let immutable = said.immutable.map(|_| quote!(.immutable()));
    let add = quote! {{
        let ty = #declared;
        record.member(
            ::tbaa::declare::Member::new(#name, ty)
                .at(::core::mem::offset_of!(Self, #member) as u64)
                #immutable
        )
    }};
    match ty {
        // Add an array of length 0, too: it may be C's flexible array member.
        Type::Array(_) => quote!(let record = #add;),
        _ => quote! {
            let record = if ::core::mem::size_of::<#ty>() == 0 { record } else #add;
        },
    }
}

/// Returns the `impl` of `Tbaa`, whose method `declare` has the given body.
fn implement(input: &DeriveInput, members: &[Declared<'_>], body: &TokenStream) -> TokenStream {
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        let declared = |m: &&Declared<'_>| m.said.char.is_none() && m.said.ty.is_none();
        let mut types = members.iter().filter(declared).map(|member| member.ty);
        if types.any(|ty| mentions(ty.to_token_stream(), &parameter.ident)) {
            parameter.bounds.push(syn::parse_quote!(::tbaa::declare::Tbaa));
        }
    }
    let (ident, (_, of_type, _)) = (&input.ident, input.generics.split_for_impl());
    let (parameters, _, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters ::tbaa::declare::Tbaa for #ident #of_type #bounds {
            fn declare(
                types: &mut ::tbaa::declare::Declarations,
            ) -> ::core::result::Result<
                ::tbaa::declare::DeclId,
                ::tbaa::declare::DeclareError,
            > {
                #body
            }
        }
    }
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Returns an expression of type `&str` for the C name of `Self`.
fn name(input: &DeriveInput, said: &OfType) -> TokenStream {
    let parameters = words(&input.generics);
    if parameters.is_empty() {
        let name = input.ident.unraw().to_string();
        return said.name.as_ref().map_or(quote!(#name), ToTokens::to_token_stream);
    }
    if let Some(text) = &said.name {
        let used = parameters
            .iter()
            .filter(|(parameter, _)| text.value().contains(&format!("{{{parameter}}}")))
            .map(|(parameter, word)| quote!(#parameter = #word));
        return quote!(&::std::format!(#text #(, #used)*));
    }
    let text = input.ident.unraw().to_string() + &"_{}".repeat(parameters.len());
    let words = parameters.iter().map(|(_, word)| word);
    quote!(&::std::format!(#text #(, #words)*))
}

/// Returns each type and const parameter, with an expression for its text in a C name.
fn words(generics: &Generics) -> Vec<(&Ident, TokenStream)> {
    let support = quote!(::tbaa::declare::derive_support);
    let words = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(ty) => {
            let name = &ty.ident;
            Some((name, quote!(#support::type_word::<#name>())))
        }
        GenericParam::Const(constant) => {
            let name = &constant.ident;
            Some((name, quote!(#support::const_word(#name))))
        }
        GenericParam::Lifetime(_) => None,
    });
    words.collect()
}
