//! Declarations of Rust types.

use std::mem::size_of;

use tbaa::declare::{Declarations, DeclareError, Record, RecordKind, Target, Tbaa};

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
    #[derive(Tbaa)]
    #[repr(C)]
    struct Local(u32);
    let Some(target) = Target::host() else { return };
    let mut types = Declarations::new(target);
    Local::declare(&mut types).unwrap();
    assert_eq!(Local::declare(&mut types), Ok(types.named("Local").unwrap()));
    {
        // Even its name in Rust is the same.
        #[derive(Tbaa)]
        #[repr(C)]
        struct Local(u64);
        let error = <*mut Local>::declare(&mut types).unwrap_err();
        assert_eq!(error.to_string(), "a second type \"Local\": rename one");
    }
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
