//! Tests two imported globals that may be the same one. wasmer gives each global its own region.

use cranelift_codegen::ir::{Function, InstBuilder, Value, types};
use tbaa::declare::{Declarations, ScalarLayout, Target};
use tbaa::{Session, TagId};
use tbaa_cranelift::{Rule, Tags, check};

use crate::jit::{Emitter, FLAGS, apply, build, meant, result};

/// Returns a session, the tag of an `i64` in a global, and the tag of a pointer to a global.
fn session() -> (Session, TagId, TagId) {
    let mut types = Declarations::new(Target::x86_64());
    types.scalar("global i64", ScalarLayout { size: 8, align: 8 }, "long").unwrap();
    let mut session = Session::with_unions(types);
    let tags = session.tags(&["*global i64", "*void *"]).unwrap();
    (session, tags[0], tags[1])
}

/// Reads global 1, writes global 0, reads global 1 again, and returns the second value minus the
/// first. The first two words of memory are the offsets of the globals in this memory, in bytes.
/// With `wasmer`, the accesses have wasmer's regions.
fn function(global: TagId, pointer: TagId, wasmer: bool) -> (Function, Tags) {
    build(|emit| {
        let address = |emit: &mut Emitter<'_>, index| {
            let distance = emit.load(types::I64, 8 * index, pointer);
            emit.builder.ins().iadd(emit.memory, distance)
        };
        if wasmer {
            emit.in_region(2, "vmctx");
        }
        let addresses: [Value; 2] = [address(emit, 0), address(emit, 1)];
        let mut access = |index: usize, value: Option<Value>| {
            if wasmer {
                emit.in_region(index as u32, ["global 0", "global 1"][index]);
            }
            match value {
                Some(value) => {
                    let store = emit.builder.ins().store(emit.flags, value, addresses[index], 0);
                    emit.tags.set(store, global);
                    value
                }
                None => {
                    let load = emit.builder.ins().load(types::I64, emit.flags, addresses[index], 0);
                    emit.tags.set_result(&emit.builder.func.dfg, load, global)
                }
            }
        };
        let before = access(1, None);
        access(0, Some(addresses[0]));
        let after = access(1, None);
        emit.flags = FLAGS;
        emit.builder.ins().isub(after, before)
    })
}

#[test]
fn two_imports_of_one_global_with_regions_of_their_own() {
    let (session, global, pointer) = session();
    // Both imports are the global at byte 16.
    let memory = [16, 16, 0, 0, 0, 0, 0, 0];
    let (func, tags) = function(global, pointer, true);
    assert_ne!(meant(&func, memory).0, 0, "the store changes the global");
    assert_eq!(result(&func, memory).0, 0, "Cranelift takes the value of before");
    let found = check(session.oracle(), &func, &tags);
    assert_eq!(found[0].rule, Rule::Parted);
    let text = found[0].to_string();
    assert!(text.contains("\"global 0\"") && text.contains("\"global 1\""), "{text}");

    let (mut ours, tags) = function(global, pointer, false);
    assert_eq!(apply(&session, &mut ours, &tags).regions, 2, "pointers and globals");
    assert!(check(session.oracle(), &ours, &tags).is_empty());
    // The result depends on the memory's address, which differs in each run.
    assert_ne!(result(&ours, memory).0, 0);
}
