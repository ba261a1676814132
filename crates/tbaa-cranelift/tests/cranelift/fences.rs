//! Cranelift's treatment of accesses without a region, and the places that need a sequence point.

use cranelift_codegen::ir::{Function, InstBuilder, Opcode, types};
use tbaa::Session;
use tbaa::declare::{Declarations, Target};
use tbaa_cranelift::{Regions, Rule, Tags, check};

use crate::jit::{build, meant, result};

fn session() -> Session {
    Session::with_unions(Declarations::new(Target::x86_64()))
}

fn sequence_points(func: &Function) -> usize {
    let insts = func.layout.blocks().flat_map(|block| func.layout.block_insts(block));
    insts.filter(|&inst| func.dfg.insts[inst].opcode() == Opcode::SequencePoint).count()
}

/// The function is compiled wrongly as it is, the check reports it, and sequence points fix it.
fn shows_wrong(mut func: Function, tags: &Tags, session: &Session) {
    let memory = [7, 8, 9, 10, 11, 12, 13, 14];
    assert_ne!(result(&func, memory), meant(&func, memory), "Cranelift sees the store after all");
    let errors = check(session.oracle(), &func, tags);
    assert!(errors.iter().any(|error| error.rule == Rule::Hidden), "{errors:?}");
    let inserted = Regions::insert_sequence_points(session.oracle(), &mut func, tags);
    assert_eq!(inserted, sequence_points(&func));
    assert_eq!(result(&func, memory), meant(&func, memory));
    let errors: Vec<_> = check(session.oracle(), &func, tags);
    assert!(errors.iter().all(|error| !error.rule.is_error()), "{errors:?}");
}

#[test]
fn a_load_without_a_region_is_replaced_by_an_older_value() {
    let mut session = session();
    let long = session.tag("*long").unwrap();
    let (func, tags) = build(|emit| {
        let old = emit.load(types::I64, 0, None);
        emit.in_region(0, "long");
        let five = emit.number(5);
        emit.store(five, 0, long);
        emit.in_none();
        let new = emit.load(types::I64, 0, None);
        emit.builder.ins().isub(new, old)
    });
    shows_wrong(func, &tags, &session);
}

/// The store is idempotent as far as the last fence is concerned, which is before the store of 5.
#[test]
fn a_store_without_a_region_is_removed_as_one_that_changes_nothing() {
    let mut session = session();
    let long = session.tag("*long").unwrap();
    let (func, tags) = build(|emit| {
        emit.in_region(0, "long");
        let old = emit.load(types::I64, 0, long);
        let five = emit.number(5);
        emit.store(five, 0, long);
        emit.in_none();
        emit.store(old, 0, None);
        emit.number(0)
    });
    shows_wrong(func, &tags, &session);
}

#[test]
fn a_store_that_a_load_without_a_region_reads_is_removed() {
    let mut session = session();
    let long = session.tag("*long").unwrap();
    let (func, tags) = build(|emit| {
        emit.in_region(0, "long");
        let (five, six) = (emit.number(5), emit.number(6));
        emit.store(five, 0, long);
        emit.in_none();
        let read = emit.load(types::I64, 0, None);
        emit.in_region(0, "long");
        emit.store(six, 0, long);
        read
    });
    shows_wrong(func, &tags, &session);
}

/// The store is on one of two paths, in a block of its own.
#[test]
fn a_store_reaches_a_load_on_one_of_two_ways() {
    let mut session = session();
    let long = session.tag("*long").unwrap();
    let (func, tags) = build(|emit| {
        let old = emit.load(types::I64, 0, None);
        let (then, join) = (emit.block(), emit.block());
        emit.builder.ins().brif(old, then, &[], join, &[]);
        emit.builder.switch_to_block(then);
        emit.in_region(0, "long");
        let five = emit.number(5);
        emit.store(five, 0, long);
        emit.builder.ins().jump(join, &[]);
        emit.builder.switch_to_block(join);
        emit.in_none();
        let new = emit.load(types::I64, 0, None);
        emit.builder.ins().isub(new, old)
    });
    let memory = [7; 8];
    let errors = check(session.oracle(), &func, &tags);
    assert!(errors.iter().any(|error| error.rule == Rule::Hidden));
    let mut fenced = func.clone();
    assert_eq!(Regions::insert_sequence_points(session.oracle(), &mut fenced, &tags), 1);
    assert_eq!(result(&fenced, memory), meant(&func, memory));
    assert_ne!(result(&func, memory), meant(&func, memory));
}

/// A store that the load cannot alias needs no sequence point, and one sequence point is enough for
/// two loads.
#[test]
fn sequence_points_are_few() {
    let mut session = session();
    let tags = session.tags(&["*long", "*float", "*short"]).unwrap();
    let [long, float, short] = tags[..] else { unreachable!() };
    let (mut func, tags) = build(|emit| {
        emit.in_region(0, "long");
        let five = emit.number(5);
        emit.store(five, 0, long);
        emit.in_none();
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
    assert!(check(session.oracle(), &func, &tags).iter().all(|check| !check.rule.is_error()));
}

/// Calls are fences; so are atomic accesses. A load of a `readonly` place needs none.
#[test]
fn a_fence_that_is_there_is_enough() {
    let mut session = session();
    let long = session.tag("*long").unwrap();
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

/// Two types share a block one after the other, which the oracle cannot know.
#[test]
fn memory_that_is_handed_out_again_needs_a_sequence_point() {
    let mut session = session();
    let tags = session.tags(&["*long", "*double"]).unwrap();
    let [long, double] = tags[..] else { unreachable!() };
    for reused in [false, true] {
        let (mut func, tags) = build(|emit| {
            let value = emit.load(types::I64, 8, long);
            let number = emit.builder.ins().f64const(0.5);
            emit.store(value, 0, long);
            let read = emit.load(types::I64, 0, long);
            if reused {
                emit.builder.ins().sequence_point();
            }
            emit.store(number, 0, double);
            if reused {
                emit.builder.ins().sequence_point();
            }
            emit.store(value, 0, long);
            read
        });
        let plain = func.clone();
        Regions::new(session.oracle()).apply(session.oracle(), &mut func, &tags).unwrap();
        assert!(check(session.oracle(), &func, &tags).is_empty());
        let memory = [7; 8];
        assert_eq!(result(&func, memory) == meant(&plain, memory), reused);
    }
}
