//! A compiler for a Lua-like language on Cranelift. Each operation loads the base of the stack
//! frame. With alias regions, Cranelift removes most of these loads.
//!
//! ```sh
//! cargo run -p tbaa-cranelift --example lua
//! ```

use std::error::Error;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Opcode, Type, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa::OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use tbaa::declare::{Declarations, DeclareError, Place, Record, ScalarLayout, Target};
use tbaa::spec::Spec;
use tbaa::{AliasRule, Oracle, Session};
use tbaa_cranelift::{Applied, Finding, Regions, Tags, check};

/// An operation on virtual registers, an array or a byte. Each operation does its own loads.
#[derive(Clone, Copy)]
enum Op {
    /// Adds 1 to a register's integer.
    Add(i32),
    /// Copies the value of the second register to the first, whatever its type.
    Copy(i32, i32),
    /// Stores a register's integer into the array, at the register's number.
    SetElement(i32),
    /// Loads a byte with the tag of `char`, and stores it as a register's integer.
    AddByte(i32),
}

const PROGRAM: [Op; 7] = [
    Op::Add(0),
    Op::Copy(1, 0),
    Op::SetElement(1),
    Op::Add(1),
    Op::Copy(2, 1),
    Op::SetElement(2),
    Op::Add(2),
];

/// Reads one byte twice. The store between the two reads may change the byte.
const BYTES: [Op; 2] = [Op::AddByte(0), Op::AddByte(1)];

/// The tags and offsets of the members and elements that operations access.
struct Places {
    base: Place,
    word: Place,
    integer: Place,
    data: Place,
    element: Place,
    byte: Place,
}

fn runtime() -> Result<(Session, Places), DeclareError> {
    let mut types = Declarations::new(Target::x86_64());
    // Array elements have their own type, because no array shares memory with registers.
    types.scalar("element", ScalarLayout { size: 8, align: 8 }, "long")?;
    let value =
        Record::union("Value").field("gc", "void *").field("n", "double").field("i", "long");
    types.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
    types.define(
        Record::structure("CallInfo").field("func", "TValue *").field("base", "TValue *"),
    )?;
    types.define(Record::structure("Array").field("data", "element *").field("len", "long"))?;
    let mut session = Session::with_unions(types);
    let places = Places {
        base: session.place("CallInfo.base")?,
        word: session.place("TValue.value")?,
        integer: session.place("TValue.value.i")?,
        data: session.place("Array.data")?,
        element: session.place("*element")?,
        byte: session.place("*char")?,
    };
    Ok((session, places))
}

/// Emits accesses, and records their tags.
struct Emitter<'f> {
    builder: FunctionBuilder<'f>,
    tags: Tags,
}

impl Emitter<'_> {
    fn load(&mut self, ty: Type, object: Value, at: i32, place: &Place) -> Value {
        let at = at + place.offset as i32;
        let value = self.builder.ins().load(ty, MemFlagsData::trusted(), object, at);
        self.tags.set_result(&self.builder.func.dfg, value, place.tag)
    }

    fn store(&mut self, value: Value, object: Value, at: i32, place: &Place) {
        let at = at + place.offset as i32;
        let store = self.builder.ins().store(MemFlagsData::trusted(), value, object, at);
        self.tags.set(store, place.tag);
    }
}

/// Emits operations in a function that takes the addresses of a `CallInfo`, an `Array` and a byte.
fn build(ops: &[Op], places: &Places, isa: &OwnedTargetIsa) -> (Function, Tags) {
    let mut func = Function::new();
    func.signature.params.extend([AbiParam::new(types::I64); 3]);
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut func, &mut context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let parameters = builder.block_params(block);
    let (ci, array, bytes) = (parameters[0], parameters[1], parameters[2]);
    let mut emit = Emitter { builder, tags: Tags::new() };
    let Places { base, word, integer, data, element, byte } = places;
    for &op in ops {
        let frame = emit.load(types::I64, ci, 0, base);
        match op {
            Op::Add(register) => {
                let value = emit.load(types::I64, frame, 16 * register, integer);
                let sum = emit.builder.ins().iadd_imm_s(value, 1);
                emit.store(sum, frame, 16 * register, integer);
            }
            Op::Copy(to, from) => {
                let value = emit.load(types::I64, frame, 16 * from, word);
                emit.store(value, frame, 16 * to, word);
            }
            Op::SetElement(register) => {
                let value = emit.load(types::I64, frame, 16 * register, integer);
                let elements = emit.load(types::I64, array, 0, data);
                emit.store(value, elements, 8 * register, element);
            }
            Op::AddByte(register) => {
                let value = emit.load(types::I8, bytes, 0, byte);
                let value = emit.builder.ins().uextend(types::I64, value);
                emit.store(value, frame, 16 * register, integer);
            }
        }
    }
    let Emitter { mut builder, tags } = emit;
    builder.ins().return_(&[]);
    builder.finalize(isa.frontend_config());
    (func, tags)
}

/// Lets Cranelift optimise a function, and counts the loads that are left.
fn loads_left(func: Function, isa: &OwnedTargetIsa) -> Result<usize, Box<dyn Error>> {
    let mut context = Context::for_function(func);
    context.optimize(&**isa, &mut ControlPlane::default())?;
    let func = &context.func;
    let insts = func.layout.blocks().flat_map(|block| func.layout.block_insts(block));
    Ok(insts.filter(|&inst| func.dfg.insts[inst].opcode() == Opcode::Load).count())
}

fn isa() -> Result<OwnedTargetIsa, Box<dyn Error>> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed")?;
    Ok(cranelift_native::builder()?.finish(settings::Flags::new(flags))?)
}

/// The numbers of loads without and with regions, and the results of `Regions::apply` and `check`.
type Compared = ([usize; 2], Applied, Vec<Finding>);

fn compare(ops: &[Op]) -> Result<Compared, Box<dyn Error>> {
    let ((session, places), isa) = (runtime()?, isa()?);
    let (mut func, tags) = build(ops, &places, &isa);
    let before = loads_left(func.clone(), &isa)?;
    let mut regions = Regions::new(session.oracle());
    let applied = regions.apply(session.oracle(), &mut func, &tags)?;
    let findings = check(session.oracle(), &func, &tags);
    Ok(([before, loads_left(func, &isa)?], applied, findings))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, ops) in [("program", &PROGRAM[..]), ("bytes", &BYTES)] {
        let ([before, after], Applied { regions, sequence_points, .. }, findings) = compare(ops)?;
        println!(
            "{name}: {before} loads left without regions, {after} with {regions} regions and {sequence_points} sequence points"
        );
        findings.iter().for_each(|finding| println!("{finding}"));
    }

    let ravi = Spec::load(include_str!("../../../specs/ravi-declared.ron"))?;
    let mut tags: Vec<_> = ravi.expectations().flat_map(|pair| [pair.a, pair.b]).collect();
    tags.sort_unstable();
    tags.dedup();
    let oracle = Oracle::new(ravi.into_graph(), AliasRule::Union);
    let mut regions = Regions::new(&oracle);
    regions.extend(&oracle, tags.iter().copied())?;
    let pairs =
        tags.iter().enumerate().flat_map(|(at, &a)| tags[..at].iter().map(move |&b| (a, b)));
    let (mut apart, mut kept) = (0, 0);
    for (a, b) in pairs {
        apart += usize::from(!oracle.may_alias(a, b));
        kept += usize::from(regions.id(a).zip(regions.id(b)).is_some_and(|(a, b)| a != b));
    }
    println!(
        "Ravi's runtime: {} tags in {} regions, which keep {kept} of {apart} NoAlias pairs",
        tags.len(),
        regions.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_remove_loads() {
        assert_eq!(compare(&PROGRAM).unwrap().0, [16, 3]);
    }

    /// The first store may change the byte. So the byte is loaded again, and perhaps the base, too.
    #[test]
    fn a_byte_is_read_again() {
        let [before, after] = compare(&BYTES).unwrap().0;
        assert_eq!(before, 4);
        assert!(after >= 3, "both bytes and at least one base");
    }
}
