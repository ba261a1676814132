//! Tests types that are declared with `#[derive(Tbaa)]`.

// The macros generate no unsafe code.
#![forbid(unsafe_code)]
// The tests examine layouts, not values.
#![allow(dead_code)]

mod layouts;
mod names;
mod runtime;

use tbaa::Graph;
use tbaa::declare::{Declarations, DeclareError, Policy, Target, Tbaa, TypedPath};

/// Returns the name and the preset of the target that this test is compiled for, if it has one.
fn host() -> Option<(&'static str, Target)> {
    let host = Target::host()?;
    let name = Target::names().find(|name| Target::by_name(name).as_ref() == Some(&host))?;
    Some((name, host))
}

fn declared<T: Tbaa>() -> Declarations {
    let (_, target) = host().expect("a target with a preset");
    let mut types = Declarations::new(target);
    T::declare(&mut types).unwrap();
    types
}

fn offset<B: Tbaa, F>(path: TypedPath<B, F>) -> Result<u64, DeclareError> {
    let mut types = declared::<B>().into_tagged(Policy::Rfc);
    types.handle(&mut Graph::new(), path).map(|handle| handle.place().offset)
}
