//! Types that are declared with `#[derive(Tbaa)]` give the same graph as the same types in a spec.

// The code that the macros generate is safe too.
#![forbid(unsafe_code)]
// The tests examine layouts, not values.
#![allow(dead_code)]

mod layouts;
mod names;
mod runtime;

use tbaa::Graph;
use tbaa::declare::{Declarations, DeclareError, Policy, Target, Tbaa, TypedPath};

/// Returns the preset of the target that this test is compiled for.
fn host() -> Option<(&'static str, Target)> {
    let host = Target::host()?;
    let name = Target::names().find(|name| Target::by_name(name).as_ref() == Some(&host))?;
    Some((name, host))
}

/// Returns declarations that include `T`.
fn declared<T: Tbaa>() -> Declarations {
    let (_, target) = host().expect("a target with a preset");
    let mut types = Declarations::new(target);
    T::declare(&mut types).unwrap();
    types
}

/// Returns the offset of a path under `Policy::Rfc`, which knows every member.
fn offset<B: Tbaa, F>(path: TypedPath<B, F>) -> Result<u64, DeclareError> {
    let mut types = declared::<B>().into_tagged(Policy::Rfc);
    types.handle(&mut Graph::new(), path).map(|handle| handle.place().offset)
}
