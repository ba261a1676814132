//! A model of a miscompilation by a wrong region in wasmtime in 2026 (issue 13538, fixed by 13552).
//!
//! The model follows the copying collector of `wasmtime-internal-cranelift`
//! (`func_environ/gc/copying.rs`). Version 46.0 loads the bump pointer without a region, but stores
//! it with the region of a field in `VMContext`. Version 47.0 gives both accesses the bump
//! pointer's region. In the model, the second of two allocations reuses the bump pointer that the
//! first one loaded, so both objects have one address.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Function, InstBuilder, TrapCode, Value, types};
use tbaa::Session;
use tbaa::declare::{Declarations, Place, Record, ScalarLayout, Target};
use tbaa_cranelift::{Rule, Tags, check};

use crate::jit::{Emitter, FLAGS, apply, build, meant, result, rules};

/// The regions that a front end gives to the accesses of an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// No region for the load, the region of `VMContext` for the store: as in 46.0.
    NoneAndVmContext,
    /// A region of its own for the load, the region of `VMContext` for the store.
    OwnAndVmContext,
    Nothing,
}

struct Runtime {
    session: Session,
    bump: Place,
    end: Place,
    kind: Place,
}

fn runtime() -> Runtime {
    let mut types = Declarations::new(Target::x86_64());
    let data = Record::structure("VMCopyingHeapData");
    types
        .define(data.field("bump_ptr", "unsigned int").field("active_space_end", "unsigned int"))
        .unwrap();
    // The heap's words have a type of their own, because the heap contains only objects.
    types.scalar("heap word", ScalarLayout { size: 4, align: 4 }, "char").unwrap();
    let header = Record::structure("VMGcHeader");
    types.define(header.field("kind", "heap word").field("type_index", "heap word")).unwrap();
    let mut session = Session::with_unions(types);
    let mut place = |path| session.place(path).unwrap();
    let (bump, end) =
        (place("VMCopyingHeapData.bump_ptr"), place("VMCopyingHeapData.active_space_end"));
    let kind = place("VMGcHeader.kind");
    Runtime { session, bump, end, kind }
}

/// Allocates an object of 8 bytes, writes its kind, and returns its offset in the memory.
fn allocate(emit: &mut Emitter<'_>, runtime: &Runtime, given: Given, kind: i64) -> Value {
    match given {
        Given::OwnAndVmContext => emit.in_region(2, "VMCopyingHeapData+0x0"),
        _ => emit.in_none(),
    }
    let bump = emit.load(types::I32, runtime.bump.offset as i32, runtime.bump.tag);
    let end = emit.load(types::I32, runtime.end.offset as i32, runtime.end.tag);
    let after = emit.builder.ins().iadd_imm_s(bump, 8);
    let full = emit.builder.ins().icmp(IntCC::UnsignedGreaterThan, after, end);
    emit.builder.ins().trapnz(full, TrapCode::unwrap_user(1));
    if given != Given::Nothing {
        emit.in_region(0, "VMContext+0x28");
    }
    emit.store(after, runtime.bump.offset as i32, runtime.bump.tag);
    if given != Given::Nothing {
        emit.in_region(1, "GcHeap");
    }
    let bump = emit.builder.ins().uextend(types::I64, bump);
    let object = emit.builder.ins().iadd(emit.memory, bump);
    let kind = emit.builder.ins().iconst(types::I32, kind);
    let store = emit.builder.ins().store(emit.flags, kind, object, 0);
    emit.tags.set(store, runtime.kind.tag);
    bump
}

/// Builds a function that allocates two objects and returns the second offset minus the first.
fn two_objects(runtime: &Runtime, given: Given) -> (Function, Tags) {
    build(|emit| {
        let first = allocate(emit, runtime, given, 1);
        let second = allocate(emit, runtime, given, 2);
        emit.flags = FLAGS;
        emit.builder.ins().isub(second, first)
    })
}

/// The bump pointer is 8, and the heap ends at byte 64.
const MEMORY: [u64; 8] = [64 << 32 | 8, 0, 0, 0, 0, 0, 0, 0];
const RIGHT: (u64, [u64; 8]) = (8, [64 << 32 | 24, 1, 2, 0, 0, 0, 0, 0]);
/// The second object has the address of the first one, and overwrites its kind.
const WRONG: (u64, [u64; 8]) = (0, [64 << 32 | 16, 2, 0, 0, 0, 0, 0, 0]);

#[test]
fn a_bump_pointer_in_no_region_and_another_fields() {
    let runtime = runtime();
    let (func, tags) = two_objects(&runtime, Given::NoneAndVmContext);
    assert_eq!(meant(&func, MEMORY), RIGHT);
    assert_eq!(result(&func, MEMORY), WRONG);
    let found = check(runtime.session.oracle(), &func, &tags);
    let first = &found[0];
    assert_eq!(first.rule, Rule::Hidden);
    // The guide shows the text of this finding, broken into lines.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let guide = include_str!("../../../../docs/embed-cranelift.md");
    assert!(words(guide).contains(&words(&first.to_string())), "{first}");
}

#[test]
fn a_bump_pointer_in_two_regions() {
    let runtime = runtime();
    let (func, tags) = two_objects(&runtime, Given::OwnAndVmContext);
    assert_eq!(result(&func, MEMORY), WRONG);
    let found = check(runtime.session.oracle(), &func, &tags);
    assert_eq!(found[0].rule, Rule::Parted);
    let text = found[0].to_string();
    assert!(
        text.contains("\"VMCopyingHeapData+0x0\"") && text.contains("\"VMContext+0x28\""),
        "{text}"
    );
}

#[test]
fn regions_of_ours_are_right() {
    let runtime = runtime();
    for given in [Given::NoneAndVmContext, Given::OwnAndVmContext, Given::Nothing] {
        let (mut func, tags) = two_objects(&runtime, given);
        let applied = apply(&runtime.session, &mut func, &tags);
        assert_eq!((applied.regions, applied.sequence_points), (3, 0), "bump, end and heap");
        assert_eq!(result(&func, MEMORY), RIGHT);
        assert_eq!(rules(&runtime.session, &func, &tags), []);
    }
}
