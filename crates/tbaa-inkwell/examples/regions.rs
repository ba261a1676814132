//! Tags for a WebAssembly runtime. It has a linear memory, two imported memories that may be the
//! same memory, a table, an array of numbers, and a record whose layout the runtime chooses. The
//! program prints the number of loads before and after `-O2`.
//!
//! ```sh
//! cargo run -p tbaa-inkwell --example regions
//! ```

use std::error::Error;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use inkwell::values::{BasicValue, InstructionOpcode};
use inkwell::{AddressSpace, OptimizationLevel};
use tbaa::declare::{Declarations, Member, Record, ScalarLayout, Target as Layout};
use tbaa_inkwell::{Jit, TaggedPlace, Tagger};

/// Returns the number of loads in a module.
pub fn loads(module: &Module<'_>) -> usize {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let instructions = blocks.flat_map(|block| block.get_instructions());
    instructions.filter(|instruction| instruction.get_opcode() == InstructionOpcode::Load).count()
}

/// Returns LLVM's description of this machine, which the passes need.
pub fn machine() -> Result<TargetMachine, Box<dyn Error>> {
    Target::initialize_native(&InitializationConfig::default())?;
    let triple = TargetMachine::get_default_triple();
    let (level, reloc, model) =
        (OptimizationLevel::Default, RelocMode::Default, CodeModel::Default);
    Target::from_triple(&triple)?
        .create_target_machine(&triple, "generic", "", level, reloc, model)
        .ok_or_else(|| "no machine".into())
}

/// Builds and optimises a module. Returns its number of loads before and after.
pub fn run() -> Result<[usize; 2], Box<dyn Error>> {
    let mut types = Declarations::new(Layout::x86_64());
    // A region of `char` holds any values, at any alignment. One of `double` holds `double`s.
    types.region("memory 0", "char")?;
    types.region("table 0", "void *")?;
    types.region("numbers", "double")?;
    // The imported memories may be the same memory: declare one region with several names.
    types.region("imported memories", "char")?;
    types.alias("memory 1", "imported memories")?;
    types.alias("memory 2", "imported memories")?;
    // Members without a type: they have only a name, an offset, a size and an alignment.
    let word = ScalarLayout { size: 8, align: 8 };
    let mut context = Record::structure("VMContext").size(1320);
    for (name, offset) in [("memory 0 length", 1304), ("memory 0 base", 1312)] {
        context = context.member(Member::new(name, word).at(offset));
    }
    types.define(context)?;

    let mut jit = Jit::new(types);
    let places = jit.places(&[
        "VMContext.memory 0 length", "VMContext.memory 0 base", "*memory 0", "*memory 1",
        "*memory 2", "*table 0", "*numbers",
    ])?;
    let [length, base, memory, import, other, table, numbers] = &places[..] else { unreachable!() };

    let context = Context::create();
    let tagger = Tagger::new(&context)?;
    let module = context.create_module("wasm");
    let (i64, pointer) = (context.i64_type(), context.ptr_type(AddressSpace::default()));
    let function = module.add_function("f", i64.fn_type(&[pointer.into(); 5], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let parameter =
        |number| function.get_nth_param(number).expect("there are five").into_pointer_value();
    let at = |pointer, offset| {
        let offset = i64.const_int(offset, false);
        // SAFETY: the code is never run.
        unsafe { builder.build_in_bounds_gep(context.i8_type(), pointer, &[offset], "") }
    };
    let mut sum = i64.const_zero();
    for step in 0..4 {
        // Load from the record, the table and memory 2. Store to memory 0, memory 1 and numbers.
        let mut load = |place: &TaggedPlace, from| -> Result<_, Box<dyn Error>> {
            let value = builder.build_load(i64, at(from, place.place().offset)?, "")?;
            let load = value.as_instruction_value().expect("it is a load");
            load.set_alignment(1)?;
            tagger.attach(place, load)?;
            sum = builder.build_int_add(sum, value.into_int_value(), "")?;
            Ok(value.into_int_value())
        };
        load(length, parameter(0))?;
        let start = load(base, parameter(0))?;
        load(table, parameter(2))?;
        load(other, parameter(4))?;
        let start = builder.build_int_to_ptr(start, pointer, "")?;
        let store = builder.build_store(at(start, 8 * step + 3)?, i64.const_int(step, false))?;
        store.set_alignment(1)?;
        tagger.attach(memory, store)?;
        let one = context.f64_type().const_float(1.0);
        tagger.attach(numbers, builder.build_store(at(parameter(1), 8 * step)?, one)?)?;
        let store = builder.build_store(parameter(3), context.f32_type().const_zero())?;
        tagger.attach(import, store)?;
    }
    builder.build_return(Some(&sum))?;
    module.verify()?;

    let before = loads(&module);
    module.run_passes("default<O2>", &machine()?, PassBuilderOptions::create())?;
    // LLVM leaves one load each of length, base and table, and 4 of memory 2: it may be memory 1.
    Ok([before, loads(&module)])
}

fn main() -> Result<(), Box<dyn Error>> {
    let [before, after] = run()?;
    println!("{before} loads, {after} left");
    Ok(())
}
