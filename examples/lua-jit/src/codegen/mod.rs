//! From bytecode to LLVM's IR, and on to machine code.

mod access;
mod arith;
mod function;
mod ops;
mod tables;

use std::time::{Duration, Instant};

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use inkwell::values::InstructionOpcode;

use crate::bytecode::Proto;
use crate::runtime::helpers;
use crate::tags::{At, Tags};
use access::Emitter;
use function::FunctionGen;

pub(crate) type Error = Box<dyn std::error::Error>;
type Result<T> = std::result::Result<T, Error>;

/// What came of compiling.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compiled {
    /// Loads of a frame's base: before and after `default<O2>`.
    pub(crate) base_loads: (usize, usize),
    /// All loads: before and after.
    pub(crate) loads: (usize, usize),
    /// Making IR, tags included.
    pub(crate) emitting: Duration,
    pub(crate) optimizing: Duration,
    pub(crate) generating: Duration,
}

impl Compiled {
    pub(crate) fn time(&self) -> Duration {
        self.emitting + self.optimizing + self.generating
    }
}

/// A program's machine code, which lives as long as this.
pub(crate) struct Code<'ctx> {
    _engine: ExecutionEngine<'ctx>,
    /// The functions' addresses, the outer ones before the inner ones.
    pub(crate) addresses: Vec<usize>,
    pub(crate) compiled: Compiled,
}

/// All functions of a program, the outer ones before the inner ones.
pub(crate) fn flatten(main: &Proto) -> Vec<&Proto> {
    let mut all = vec![main];
    main.functions.iter().for_each(|inner| all.extend(flatten(inner)));
    all
}

/// Compiles a program; `show` gets the IR before optimizing, and then after.
///
/// # Errors
///
/// Where LLVM refuses: its messages.
pub(crate) fn compile<'ctx>(
    context: &'ctx Context,
    main: &Proto,
    tags: &Tags,
    show: &mut dyn FnMut(&str),
) -> Result<Code<'ctx>> {
    Target::initialize_native(&InitializationConfig::default())?;
    let triple = TargetMachine::get_default_triple();
    let machine = Target::from_triple(&triple)
        .map_err(|error| error.to_string())?
        .create_target_machine(
            &triple,
            &TargetMachine::get_host_cpu_name().to_string(),
            &TargetMachine::get_host_cpu_features().to_string(),
            OptimizationLevel::Default,
            RelocMode::Default,
            CodeModel::JITDefault,
        )
        .ok_or("LLVM has no machine code for this machine")?;
    let module = context.create_module("lua");
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());

    let mut compiled = Compiled::default();
    let start = Instant::now();
    let functions = flatten(main);
    let mut emitter = Emitter::new(context, &module, tags)?;
    for (number, proto) in functions.iter().enumerate() {
        FunctionGen::emit(&mut emitter, &name(number), proto)?;
    }
    compiled.emitting = start.elapsed();
    module.verify().map_err(|error| error.to_string())?;
    let before = count_loads(&module, tags);
    show(&module.print_to_string().to_string());

    let start = Instant::now();
    let run = module.run_passes("default<O2>", &machine, PassBuilderOptions::create());
    run.map_err(|error| error.to_string())?;
    compiled.optimizing = start.elapsed();
    let after = count_loads(&module, tags);
    (compiled.base_loads, compiled.loads) = ((before.0, after.0), (before.1, after.1));
    show(&module.print_to_string().to_string());

    let start = Instant::now();
    let engine = module
        .create_jit_execution_engine(OptimizationLevel::Default)
        .map_err(|error| error.to_string())?;
    for helper in helpers::all() {
        if let Some(declared) = module.get_function(helper.name) {
            engine.add_global_mapping(&declared, helper.address);
        }
    }
    let addresses = (0..functions.len()).map(|number| engine.get_function_address(&name(number)));
    let addresses = addresses.collect::<std::result::Result<_, _>>()?;
    compiled.generating = start.elapsed();
    Ok(Code { _engine: engine, addresses, compiled })
}

/// A function's name in the module.
fn name(number: usize) -> String {
    format!("lua_function_{number}")
}

/// Counts the loads of frames' bases, and all loads.
///
/// A frame's base is at its offset from the value `ci`, which each function
/// loads once and which LLVM leaves its name.
fn count_loads(module: &Module<'_>, tags: &Tags) -> (usize, usize) {
    let (mut bases, mut all) = (0, 0);
    let offset = tags.place(At::Base).offset;
    for function in module.get_functions() {
        let instructions = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
        for load in instructions.filter(|i| i.get_opcode() == InstructionOpcode::Load) {
            all += 1;
            let address = load.get_operand(0).and_then(|operand| operand.value());
            let address = address.and_then(|value| value.into_pointer_value().as_instruction());
            let Some(address) = address else { continue };
            let operand = |index| address.get_operand(index)?.value();
            let of_frame = operand(0).is_some_and(|object| {
                object.is_pointer_value()
                    && object.into_pointer_value().get_name().to_bytes() == b"ci"
            });
            let at_base = operand(1).is_some_and(|index| {
                index.is_int_value()
                    && index.into_int_value().get_zero_extended_constant() == Some(offset)
            });
            bases += usize::from(of_frame && at_base);
        }
    }
    (bases, all)
}
