//! The same runtime as Rust types and as a spec: one graph.

use std::mem::{ManuallyDrop, align_of, offset_of, size_of};

use tbaa::Graph;
use tbaa::declare::{DeclId, Declarations, DeclareError, Member, Policy, Record, Target};
use tbaa::declare::{Tbaa, TypedPath};

/// What a derive macro writes.
macro_rules! declared {
    ($kind:ident $name:ident { $($field:ident: $ty:ty,)* }) => {
        impl Tbaa for $name {
            fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
                let name = stringify!($name);
                let union = stringify!($kind) == "union";
                types.declare_once::<Self>(name, union, |types| {
                    let record =
                        if union { Record::union(name) } else { Record::structure(name) };
                    Ok(record
                        .size(size_of::<Self>() as u64)
                        .align(align_of::<Self>() as u64)
                        $(.member(
                            Member::new(stringify!($field), <$ty>::declare(types)?)
                                .at(offset_of!(Self, $field) as u64),
                        ))*)
                })
            }
        }
    };
}

#[repr(C)]
struct GCObject {
    next: *mut GCObject,
    tt: u8,
    marked: u8,
}
declared! { struct GCObject { next: *mut GCObject, tt: u8, marked: u8, } }

#[repr(C)]
union Value {
    gc: *mut GCObject,
    p: *mut std::ffi::c_void,
    f: Option<unsafe extern "C" fn(*mut State) -> i32>,
    i: i64,
    n: f64,
    pair: ManuallyDrop<[f32; 2]>,
}
declared! { union Value {
    gc: *mut GCObject,
    p: *mut std::ffi::c_void,
    f: Option<unsafe extern "C" fn(*mut State) -> i32>,
    i: i64,
    n: f64,
    pair: ManuallyDrop<[f32; 2]>,
} }

#[repr(C)]
struct TValue {
    value: Value,
    tt: u16,
}
declared! { struct TValue { value: Value, tt: u16, } }

#[repr(C)]
struct State {
    header: GCObject,
    ok: bool,
    top: *mut TValue,
    slots: [[TValue; 2]; 3],
    next: Option<Box<State>>,
    size: usize,
}
declared! { struct State {
    header: GCObject,
    ok: bool,
    top: *mut TValue,
    slots: [[TValue; 2]; 3],
    next: Option<Box<State>>,
    size: usize,
} }

const SPEC: &str = r#"Spec(name: "runtime", declare: Declare(
    target: "TARGET",
    policy: POLICY,
    types: [
        Struct(name: "GCObject", members: [
            Field("next", "GCObject *"), Field("tt", "char"), Field("marked", "char"),
        ]),
        Union(name: "Value", members: [
            Field("gc", "GCObject *"),
            Field("p", "void *"),
            Field("f", "int (*)(struct State *)"),
            Field("i", "int64_t"),
            Field("n", "double"),
            Field("pair", "float [2]"),
        ]),
        Struct(name: "TValue", members: [Field("value", "Value"), Field("tt", "short")]),
        Struct(name: "State", members: [
            Field("header", "GCObject"),
            Field("ok", "_Bool"),
            Field("top", "TValue *"),
            Field("slots", "TValue [3][2]"),
            Field("next", "State *"),
            Field("size", "size_t"),
        ]),
    ],
    tags: [PATHS],
))"#;

const PATHS: [&str; 10] = [
    "State.slots[1][i].value.n",
    "State.slots[1][i].tt",
    "State.header.marked",
    "State.ok",
    "State.top",
    "State.top->value.f",
    "State.size",
    "State.next->next",
    "TValue.value.pair[0]",
    "GCObject.next",
];

#[test]
fn rust_types_and_a_spec_give_one_graph() {
    let Some(target) = Target::host() else { return };
    let name = Target::names().find(|name| Target::by_name(name) == Some(target.clone())).unwrap();
    for (policy, word) in [(Policy::Clang, "clang"), (Policy::Rfc, "rfc")] {
        let mut types = Declarations::new(target.clone());
        State::declare(&mut types).unwrap();
        TValue::declare(&mut types).unwrap();
        let mut types = types.into_tagged(policy);
        let mut graph = Graph::new();
        for path in PATHS {
            types.tag(&mut graph, path).unwrap();
        }
        let paths = PATHS.map(|path| format!("{path:?}")).join(", ");
        let spec = SPEC.replace("TARGET", name).replace("POLICY", word).replace("PATHS", &paths);
        let built = tbaa::spec::Spec::load(&spec).unwrap();
        assert!(graph == *built.graph(), "{}", tbaa_ir::write(&graph));
        assert!(graph.tag_count() > 5);
    }
}

#[test]
fn handles_know_their_types() {
    const TOP: TypedPath<State, *mut TValue> = TypedPath::new(".top", |state| &state.top);
    let Some(target) = Target::host() else { return };
    let mut types = Declarations::new(target).into_tagged(Policy::Clang);
    let mut graph = Graph::new();
    let top = types.handle(&mut graph, TOP).unwrap();
    assert_eq!(top.offset, offset_of!(State, top) as u64);
    assert_eq!(top.tag, types.tag(&mut graph, "State.top").ok());
}

/// Sizes are those of the program's own target, and no other.
#[test]
fn another_target_is_refused() {
    let other = match size_of::<usize>() {
        4 => Target::x86_64(),
        _ => Target::wasm32(),
    };
    let error = State::declare(&mut Declarations::new(other)).unwrap_err();
    assert!(error.to_string().contains("the target that the program is compiled for"), "{error}");
}

/// Two Rust types of one name are not taken for one.
#[test]
fn two_types_of_one_name_are_refused() {
    mod other {
        use super::*;
        #[repr(C)]
        pub(super) struct TValue {
            x: u32,
        }
        declared! { struct TValue { x: u32, } }
    }
    let Some(target) = Target::host() else { return };
    let mut types = Declarations::new(target);
    TValue::declare(&mut types).unwrap();
    assert_eq!(TValue::declare(&mut types), Ok(types.named("TValue").unwrap()));
    let error = other::TValue::declare(&mut types).unwrap_err();
    assert_eq!(error.to_string(), "a second type \"TValue\": rename one");
}

/// A type that could not be declared is no type the second time, either, and
/// can be declared when its members can.
#[test]
fn a_type_that_failed_is_tried_again() {
    struct Node;
    let mut types = Declarations::new(Target::x86_64());
    let declare = |types: &mut Declarations, key: &str| {
        types.declare_once::<Node>("Node", false, |types| {
            // As a member's own `declare` may fail.
            types.ty(key)?;
            let record = Record::structure("Node").field("next", "struct Node *");
            Ok(record.field("key", key))
        })
    };
    for _ in 0..2 {
        let error = declare(&mut types, "Key").unwrap_err();
        assert!(matches!(error, DeclareError::UnknownType { .. }), "{error}");
    }
    // The members are known, and one has no size.
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
