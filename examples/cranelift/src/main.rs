//! TBAA in a front end for Cranelift: tags become alias regions.
//!
//! A Lua function in Ravi's manner reloads the base of its stack frame in each
//! operation. Regions let Cranelift drop the reloads.
//!
//! ```sh
//! cargo run -p tbaa-cranelift
//! ```

mod regions;

use std::borrow::Cow;
use std::error::Error;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, AliasRegionData, Function, InstBuilder, MemFlagsData, Opcode, Type, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use tbaa::declare::{Declarations, Place, Policy, Record, TaggedTypes, Target};
use tbaa::{Graph, Oracle, Rules};

use regions::Regions;

/// What Cranelift is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    /// Nothing: every access may alias every other.
    Nothing,
    /// Regions.
    Regions,
    /// Regions, without fences in front of loads that have none: wrong.
    NoFences,
}

/// An operation on stack slots or an array, which loads what it needs.
#[derive(Clone, Copy)]
enum Op {
    /// Adds a constant to a slot's integer.
    Add(i32),
    /// Copies a slot as a word.
    Copy(i32, i32),
    /// Stores a slot's integer into the array.
    SetElement(i32),
    /// Adds a byte of memory of which nothing is known to a slot's integer.
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

/// Reads a byte again, which the store between may have changed.
const BYTES: [Op; 2] = [Op::AddByte(0), Op::AddByte(1)];

struct Compiler {
    types: TaggedTypes,
    oracle: Oracle,
}

impl Compiler {
    fn new() -> Result<Compiler, Box<dyn Error>> {
        let mut types = Declarations::new(Target::x86_64());
        // The elements of arrays are no values of slots.
        types.scalar("element", 8, 8, "long")?;
        let value = Record::union("Value").field("gc", "void *").field("n", "double");
        let value = value.field("i", "long");
        types.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
        types.define(
            Record::structure("CallInfo").field("func", "TValue *").field("base", "TValue *"),
        )?;
        types.define(Record::structure("Array").field("data", "element *").field("len", "long"))?;
        let types = types.lower(Policy::Rfc);
        Ok(Compiler { types, oracle: Oracle::new(Graph::new(), Rules::Union) })
    }

    fn place(&mut self, path: &str) -> Result<Place, Box<dyn Error>> {
        let Compiler { types, oracle } = self;
        Ok(oracle.update(|graph| types.place(graph, path))?)
    }

    /// Compiles the operations, and returns how many loads Cranelift leaves.
    fn loads_left(&mut self, ops: &[Op], told: Told) -> Result<usize, Box<dyn Error>> {
        let places =
            ["CallInfo.base", "TValue.value", "TValue.value.i", "Array.data", "*element", "*char"];
        let mut found = Vec::new();
        for path in places {
            found.push(self.place(path)?);
        }
        let used = if ops.iter().any(|op| matches!(op, Op::AddByte(_))) { 6 } else { 5 };
        let tags: Vec<_> = found[..used].iter().filter_map(|place| place.tag).collect();
        let regions = Regions::new(&self.oracle, &tags);

        let mut flags = settings::builder();
        flags.set("opt_level", "speed")?;
        let isa = cranelift_codegen::isa::lookup_by_name(std::env::consts::ARCH)?;
        let isa = isa.finish(settings::Flags::new(flags))?;
        let mut function = Function::new();
        function.signature.params.extend([AbiParam::new(types::I64); 3]);
        let mut context = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut function, &mut context);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        builder.seal_block(block);
        let parameters = builder.block_params(block).to_vec();
        let (ci, array, bytes) = (parameters[0], parameters[1], parameters[2]);
        let [base, word, integer, data, element, byte] = found[..] else {
            return Err("places".into());
        };
        let mut access = Accesses { builder, regions, told };
        for &op in ops {
            match op {
                Op::Add(slot) => {
                    let frame = access.load(types::I64, ci, 0, &base);
                    let value = access.load(types::I64, frame, 16 * slot, &integer);
                    let sum = access.builder.ins().iadd_imm_s(value, 1);
                    access.store(sum, frame, 16 * slot, &integer);
                }
                Op::Copy(to, from) => {
                    let frame = access.load(types::I64, ci, 0, &base);
                    let value = access.load(types::I64, frame, 16 * from, &word);
                    access.store(value, frame, 16 * to, &word);
                }
                Op::SetElement(slot) => {
                    let frame = access.load(types::I64, ci, 0, &base);
                    let value = access.load(types::I64, frame, 16 * slot, &integer);
                    let elements = access.load(types::I64, array, 0, &data);
                    access.store(value, elements, 8 * slot, &element);
                }
                Op::AddByte(slot) => {
                    let value = access.load(types::I8, bytes, 0, &byte);
                    let value = access.builder.ins().uextend(types::I64, value);
                    let frame = access.load(types::I64, ci, 0, &base);
                    access.store(value, frame, 16 * slot, &integer);
                }
            }
        }
        access.builder.ins().return_(&[]);
        access.builder.finalize(isa.frontend_config());

        let mut context = Context::for_function(function);
        context.optimize(&*isa, &mut ControlPlane::default())?;
        let function = &context.func;
        let blocks = function.layout.blocks();
        let instructions = blocks.flat_map(|block| function.layout.block_insts(block));
        Ok(instructions.filter(|&i| function.dfg.insts[i].opcode() == Opcode::Load).count())
    }
}

/// Emits accesses, each with its region.
struct Accesses<'f> {
    builder: FunctionBuilder<'f>,
    regions: Regions,
    told: Told,
}

impl Accesses<'_> {
    fn flags(&mut self, place: &Place) -> MemFlagsData {
        let flags = MemFlagsData::trusted();
        let region = place.tag.and_then(|tag| self.regions.of(tag));
        let Some(user_id) = region.filter(|_| self.told != Told::Nothing) else { return flags };
        let description = Cow::Owned(format!("class {user_id}"));
        let data = AliasRegionData { user_id, description };
        flags.with_alias_region(Some(self.builder.func.dfg.alias_regions.insert(data)))
    }

    fn load(&mut self, ty: Type, object: Value, at: i32, place: &Place) -> Value {
        let fence = place.tag.is_none_or(|tag| self.regions.needs_fence(tag));
        if self.told == Told::Regions && fence {
            // No code is made of it; nothing is known of memory behind it.
            self.builder.ins().sequence_point();
        }
        let flags = self.flags(place);
        self.builder.ins().load(ty, flags, object, at + place.offset as i32)
    }

    fn store(&mut self, value: Value, object: Value, at: i32, place: &Place) {
        let flags = self.flags(place);
        self.builder.ins().store(flags, value, object, at + place.offset as i32);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut compiler = Compiler::new()?;
    let nothing = compiler.loads_left(&PROGRAM, Told::Nothing)?;
    let with = compiler.loads_left(&PROGRAM, Told::Regions)?;
    println!("loads left: {nothing} without regions, {with} with");
    let bytes = compiler.loads_left(&BYTES, Told::Regions)?;
    let wrong = compiler.loads_left(&BYTES, Told::NoFences)?;
    println!(
        "with vague loads: {bytes} left, and {wrong} if there is no fence in front of them: wrong"
    );

    let ravi = tbaa::spec::Spec::load(include_str!("../../../specs/ravi-declared.ron"))?;
    let tags: Vec<_> = ravi.expectations().flat_map(|e| [e.a, e.b]).collect();
    let oracle = Oracle::new(ravi.into_graph(), Rules::Union);
    let regions = Regions::new(&oracle, &tags);
    println!(
        "Ravi's runtime: {} regions, which keep {} of {} NoAlias pairs{}",
        regions.len(),
        regions.kept,
        regions.pairs,
        if regions.optimal { "; no others keep more" } else { "" }
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_remove_reloads() {
        let mut compiler = Compiler::new().unwrap();
        assert_eq!(compiler.loads_left(&PROGRAM, Told::Nothing).unwrap(), 16);
        assert_eq!(compiler.loads_left(&PROGRAM, Told::Regions).unwrap(), 3);
    }

    /// Tags in two regions never alias, in all of Ravi's runtime.
    #[test]
    fn regions_tell_nothing_apart_that_may_alias() {
        let spec = include_str!("../../../specs/ravi-declared.ron");
        let ravi = tbaa::spec::Spec::load(spec).unwrap();
        let tags: Vec<_> = ravi.expectations().flat_map(|e| [e.a, e.b]).collect();
        let oracle = Oracle::new(ravi.into_graph(), Rules::Union);
        for tags in [&tags[..], &tags[..12], &tags[20..34]] {
            let regions = Regions::new(&oracle, tags);
            assert!(regions.kept > 0 && regions.kept <= regions.pairs);
            for &a in tags {
                for &b in tags {
                    let (of_a, of_b) = (regions.of(a), regions.of(b));
                    let apart = of_a.is_some() && of_b.is_some() && of_a != of_b;
                    assert!(!apart || !oracle.may_alias(a, b));
                }
            }
        }
    }

    /// A load without a region does not see a region's stores, so it needs a
    /// fence: here it may read what the store between the two has written.
    #[test]
    fn a_load_without_a_region_needs_a_fence() {
        let mut compiler = Compiler::new().unwrap();
        let mut left = |told| compiler.loads_left(&BYTES, told).unwrap();
        assert_eq!(left(Told::Nothing), 4, "two bytes, two bases");
        assert_eq!(left(Told::Regions), 4);
        assert!(left(Told::NoFences) < 4, "a byte is not read again: wrong");
    }
}
