//! Declarations of Rust types.

use std::mem::{offset_of, size_of};

use tbaa::Graph;
use tbaa::declare::{Declarations, DeclareError, Policy, Record, RecordKind, Target};
use tbaa::declare::{Tbaa, TypedPath};

#[derive(Tbaa)]
#[repr(C)]
struct TValue {
    value: f64,
    tt: u16,
}

#[derive(Tbaa)]
#[repr(C)]
struct State {
    next: Option<Box<State>>,
    top: *mut TValue,
}

#[test]
fn handles_know_their_types() {
    const TOP: TypedPath<State, *mut TValue> = TypedPath::new(".top", |state| &state.top);
    let Some(target) = Target::host() else { return };
    let mut types = Declarations::new(target).into_tagged(Policy::Clang);
    let mut graph = Graph::new();
    let top = types.handle(&mut graph, TOP).unwrap();
    assert_eq!(top.place().offset, offset_of!(State, top) as u64);
    assert_eq!(top.place().tag, types.tag(&mut graph, "State.top").ok());
}

/// Sizes are those of the program's own target, and other targets are refused.
#[test]
fn another_target_is_refused() {
    let other = match size_of::<usize>() {
        4 => Target::x86_64(),
        _ => Target::wasm32(),
    };
    let error = State::declare(&mut Declarations::new(other)).unwrap_err();
    assert!(error.to_string().contains("the target that the program is compiled for"), "{error}");
}

/// Two Rust types with the same name are not the same type.
#[test]
fn two_types_of_one_name_are_refused() {
    mod other {
        use super::*;
        #[derive(Tbaa)]
        #[repr(C)]
        pub(super) struct TValue {
            x: u32,
        }
    }
    let Some(target) = Target::host() else { return };
    let mut types = Declarations::new(target);
    TValue::declare(&mut types).unwrap();
    assert_eq!(TValue::declare(&mut types), Ok(types.named("TValue").unwrap()));
    let error = other::TValue::declare(&mut types).unwrap_err();
    assert_eq!(error.to_string(), "a second type \"TValue\": rename one");
}

/// A type that could not be declared fails again the second time, and can be declared as soon as
/// its members are complete.
#[test]
fn a_type_that_failed_is_tried_again() {
    struct Node;
    let mut types = Declarations::new(Target::x86_64());
    let declare = |types: &mut Declarations, key: &str| {
        types.declare_once::<Node>("Node", RecordKind::Struct, |types| {
            // A member's own `declare` may fail like this.
            types.ty(key)?;
            let record = Record::structure("Node").field("next", "struct Node *");
            Ok(record.field("key", key))
        })
    };
    for _ in 0..2 {
        let error = declare(&mut types, "Key").unwrap_err();
        assert!(matches!(error, DeclareError::UnknownType { .. }), "{error}");
    }
    // The type of member `key` is known, but has no size.
    types.ty("struct Key").unwrap();
    for _ in 0..2 {
        let error = declare(&mut types, "struct Key").unwrap_err();
        assert!(matches!(error, DeclareError::Incomplete { .. }), "{error}");
    }
    types.define(Record::structure("Key").field("id", "int")).unwrap();
    let node = declare(&mut types, "struct Key").unwrap();
    assert_eq!(types.size_of(node), Some(16));
    assert_eq!(declare(&mut types, "never asked"), Ok(node));
}
