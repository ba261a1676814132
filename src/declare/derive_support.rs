//! Functions and traits that `#[derive(Tbaa)]` and `path!` use. They are not a public interface.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::num::Wrapping;
use std::panic::Location;

use super::rust::with_pointers;
use super::{DeclId, Declarations, DeclareError, Member, Record, ScalarLayout, TypedPath};

/// A character of a member's name. The name `xy` becomes the type `(Ch<'x'>, Ch<'y'>)`, which the
/// Rust compiler's errors show.
pub struct Ch<const C: char>;

/// The step `[*]` or `[3]` of a path, to an element of an array or of a pointer's target.
pub struct Element;

/// The step `->` of a path, from a pointer to what it points to.
pub struct Arrow;

/// Implemented by a type that has a step `S` to a type `F`. A step is a member's name, [`Element`]
/// or [`Arrow`].
// `F` is a parameter, not an associated type, because members may have private types.
#[diagnostic::on_unimplemented(
    message = "a path has no step `{S}` from `{Self}`",
    label = "no such member or element",
    note = "members go by the names that `#[derive(Tbaa)]` declares, those of `#[tbaa(name)]` \
            included; write `->` after a pointer and `.` elsewhere"
)]
pub trait Step<S, F> {
    /// The number of elements if the step is [`Element`]; `u64::MAX` if that number is unknown.
    const LEN: u64 = u64::MAX;
}

/// Returns the type that a step leads to.
pub const fn step<S, B: Step<S, F>, F>(_: PhantomData<B>) -> PhantomData<F> {
    PhantomData
}

/// Returns the type of an array's elements. Checks at compile time that `INDEX` is in the array.
pub const fn element<const INDEX: u64, B: Step<Element, F>, F>(
    _: PhantomData<B>,
) -> PhantomData<F> {
    const { assert!(INDEX < B::LEN, "an index past the end of its array") };
    PhantomData
}

/// Returns the path with the text `steps` from `B` to `F`.
pub const fn typed<B, F>(
    steps: &'static str,
    _: PhantomData<B>,
    _: PhantomData<F>,
) -> TypedPath<B, F> {
    // The closure is never called. It only carries the types.
    TypedPath::new(steps, |_| unreachable!())
}

impl<T, const N: usize> Step<Element, T> for [T; N] {
    // An array of length 0 is C's flexible array member.
    const LEN: u64 = if N == 0 { u64::MAX } else { N as u64 };
}

macro_rules! pointers {
    ($($ty:ty,)*) => {$(
        impl<T> Step<Arrow, T> for $ty {}
        impl<T> Step<Element, T> for $ty {}
    )*};
}

with_pointers! { pointers }

macro_rules! transparent {
    ($($wrapper:ident,)*) => {$(
        impl<S, F, T: Step<S, F>> Step<S, F> for $wrapper<T> {
            const LEN: u64 = T::LEN;
        }
    )*};
}

transparent! { Cell, UnsafeCell, ManuallyDrop, MaybeUninit, Wrapping, }

/// Returns a type of the same size as `T` that may alias everything. A struct's member of type
/// `char` does not alias everything: LLVM treats an access to it as an access to the struct.
///
/// # Errors
///
/// The same as for [`Declarations::define`].
pub fn chars<T>(types: &mut Declarations) -> Result<DeclId, DeclareError> {
    let char = types.ty("char")?;
    let size = size_of::<T>() as u64;
    let bytes = types.array_of(char, Some(size))?;
    let name = format!("char_{size}");
    match types.named(&name) {
        _ if size == 0 => Ok(bytes),
        Some(known) if types.record(known).is_some_and(|record| record.may_alias) => {
            as_large::<T>(types, known, &name)
        }
        _ => {
            let whole = Record::structure(name).size(size).may_alias();
            types.define(whole.member(Member::new("bytes", bytes).at(0)))
        }
    }
}

/// Returns the C type that `text` names. It must have the same size as `T`.
///
/// # Errors
///
/// Those of [`Declarations::ty`]; [`DeclareError::Size`].
pub fn c_type<T>(types: &mut Declarations, text: &str) -> Result<DeclId, DeclareError> {
    let id = types.ty(text)?;
    as_large::<T>(types, id, text)
}

fn as_large<T>(types: &Declarations, id: DeclId, name: &str) -> Result<DeclId, DeclareError> {
    let place = std::any::type_name::<T>();
    let wanted = size_of::<T>() as u64;
    match types.size_of(id) {
        Some(size) if size == wanted => Ok(id),
        None => Err(types.incomplete(id, place)),
        Some(size) => Err(DeclareError::Size {
            place: place.to_owned(),
            size: wanted,
            reason: format!("but {name:?} has {size}: name a C type of the same size"),
        }),
    }
}

/// Declares a scalar for the Rust type `T`, with the layout of `T`. If `T` has a scalar already,
/// returns it, whatever its name and parent are.
///
/// # Errors
///
/// The same as for [`Declarations::scalar`].
#[track_caller]
pub fn scalar<T>(
    types: &mut Declarations,
    name: &str,
    parent: &str,
) -> Result<DeclId, DeclareError> {
    let key = (std::any::type_name::<T>(), Location::caller());
    if let Some(&known) = types.rust_types.get(&key) {
        return Ok(known);
    }
    let id = types.scalar(name, ScalarLayout::of::<T>(), parent)?;
    types.rust_types.insert(key, id);
    Ok(id)
}

/// Returns a Rust type's name as part of a C identifier: `mut_Node` for `*mut list::Node`.
pub fn type_word<T: ?Sized>() -> String {
    word(std::any::type_name::<T>())
}

/// Returns the value of a const generic parameter as part of a C identifier.
pub fn const_word(value: impl ToString) -> String {
    word(&value.to_string())
}

fn word(text: &str) -> String {
    let mut words = vec![String::new()];
    for c in text.chars() {
        let last = words.len() - 1;
        match c {
            _ if c.is_alphanumeric() || c == '_' => words[last].push(c),
            // A word before a colon is the name of a module.
            ':' => words[last].clear(),
            '&' => words.extend(["ref", ""].map(str::to_owned)),
            '-' => words.extend(["minus", ""].map(str::to_owned)),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() { "unit".to_owned() } else { words.join("_") }
}
