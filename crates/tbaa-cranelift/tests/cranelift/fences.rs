//! Tests how Cranelift treats accesses without a region, and which of them need a sequence point.

use cranelift_codegen::ir::{InstBuilder, Opcode, Value, types};
use tbaa::declare::{Declarations, Target};
use tbaa::{Session, TagId};
use tbaa_cranelift::{Regions, Rule};

use crate::jit::{Emitter, apply, build, count, meant, result, rules};

fn session<const N: usize>(paths: [&str; N]) -> (Session, [TagId; N]) {
    let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
    let tags = session.tags(&paths).unwrap();
    (session, tags.try_into().unwrap())
}

/// Cranelift miscompiles each case. `check` reports this, and sequence points prevent it.
#[test]
fn accesses_without_a_region_miss_stores() {
    let (session, [long]) = session(["*long"]);
    type Emit = fn(&mut Emitter<'_>, TagId) -> Value;
    let cases: [(&str, Emit); 3] = [
        ("a load is replaced by an older value", |emit, long| {
            let old = emit.load(types::I64, 0, None);
            emit.store_long(5, long);
            let new = emit.load(types::I64, 0, None);
            emit.builder.ins().isub(new, old)
        }),
        // Cranelift assumes that the store without a region writes the value that is there already.
        ("a store is removed as one that changes nothing", |emit, long| {
            emit.in_region(0, "long");
            let old = emit.load(types::I64, 0, long);
            emit.store_long(5, long);
            emit.store(old, 0, None);
            emit.number(0)
        }),
        ("a store that a load reads is removed", |emit, long| {
            emit.store_long(5, long);
            let read = emit.load(types::I64, 0, None);
            emit.store_long(6, long);
            read
        }),
    ];
    for (name, emit_case) in cases {
        let (mut func, tags) = build(|emit| emit_case(emit, long));
        let memory = [7, 8, 9, 10, 11, 12, 13, 14];
        assert_ne!(result(&func, memory), meant(&func, memory), "{name}: Cranelift sees the store");
        let found = rules(&session, &func, &tags);
        assert!(found.contains(&Rule::Hidden), "{name}: {found:?}");
        let inserted = Regions::insert_sequence_points(session.oracle(), &mut func, &tags);
        assert_eq!(inserted, count(&func, Opcode::SequencePoint), "{name}");
        assert_eq!(result(&func, memory), meant(&func, memory), "{name}");
        let found = rules(&session, &func, &tags);
        assert!(found.iter().all(|rule| !rule.is_error()), "{name}: {found:?}");
    }
}

#[test]
fn a_store_reaches_a_load_on_one_of_two_ways() {
    let (session, [long]) = session(["*long"]);
    let (func, tags) = build(|emit| {
        let old = emit.load(types::I64, 0, None);
        let (then, join) = (emit.block(), emit.block());
        emit.builder.ins().brif(old, then, &[], join, &[]);
        emit.builder.switch_to_block(then);
        emit.store_long(5, long);
        emit.builder.ins().jump(join, &[]);
        emit.builder.switch_to_block(join);
        let new = emit.load(types::I64, 0, None);
        emit.builder.ins().isub(new, old)
    });
    let memory = [7; 8];
    assert!(rules(&session, &func, &tags).contains(&Rule::Hidden));
    let mut fenced = func.clone();
    assert_eq!(Regions::insert_sequence_points(session.oracle(), &mut fenced, &tags), 1);
    assert_eq!(result(&fenced, memory), meant(&func, memory));
    assert_ne!(result(&func, memory), meant(&func, memory));
}

/// A load that no store in a region may alias needs no sequence point. Two loads share one.
#[test]
fn sequence_points_are_few() {
    let (session, [long, float, short]) = session(["*long", "*float", "*short"]);
    let (mut func, tags) = build(|emit| {
        emit.store_long(5, long);
        let a = emit.load(types::I16, 0, short);
        let b = emit.load(types::I64, 0, None);
        let c = emit.load(types::I64, 8, None);
        let a = emit.builder.ins().uextend(types::I64, a);
        let sum = emit.builder.ins().iadd(a, b);
        emit.in_region(1, "float");
        let bits = emit.builder.ins().f32const(1.0);
        emit.store(bits, 16, float);
        emit.in_none();
        let d = emit.load(types::I16, 0, short);
        let d = emit.builder.ins().uextend(types::I64, d);
        let sum = emit.builder.ins().iadd(sum, d);
        emit.builder.ins().iadd(sum, c)
    });
    assert_eq!(Regions::insert_sequence_points(session.oracle(), &mut func, &tags), 1);
    assert!(rules(&session, &func, &tags).iter().all(|rule| !rule.is_error()));
}

/// The instruction `fence` and a store without a region are fences, so no sequence point is needed.
#[test]
fn a_fence_that_is_there_is_enough() {
    let (session, [long]) = session(["*long"]);
    let (mut func, tags) = build(|emit| {
        let old = emit.load(types::I64, 0, None);
        emit.in_region(0, "long");
        let five = emit.number(5);
        emit.store(five, 0, long);
        emit.builder.ins().fence();
        emit.in_none();
        let new = emit.load(types::I64, 0, None);
        emit.store(five, 8, None);
        let third = emit.load(types::I64, 0, None);
        let new = emit.builder.ins().iadd(new, third);
        emit.builder.ins().isub(new, old)
    });
    assert_eq!(Regions::insert_sequence_points(session.oracle(), &mut func, &tags), 0);
    let memory = [7; 8];
    assert_eq!(result(&func, memory), meant(&func, memory));
}

/// Two types use the same memory in turn. The oracle cannot know this: sequence points are needed.
#[test]
fn memory_that_is_handed_out_again_needs_a_sequence_point() {
    let (session, [long, double]) = session(["*long", "*double"]);
    for reused in [false, true] {
        let (mut func, tags) = build(|emit| {
            let value = emit.load(types::I64, 8, long);
            let number = emit.builder.ins().f64const(0.5);
            emit.store(value, 0, long);
            let read = emit.load(types::I64, 0, long);
            for (value, tag) in [(number, double), (value, long)] {
                if reused {
                    emit.builder.ins().sequence_point();
                }
                emit.store(value, 0, tag);
            }
            read
        });
        let plain = func.clone();
        apply(&session, &mut func, &tags);
        assert_eq!(rules(&session, &func, &tags), []);
        let memory = [7; 8];
        assert_eq!(result(&func, memory) == meant(&plain, memory), reused);
    }
}
