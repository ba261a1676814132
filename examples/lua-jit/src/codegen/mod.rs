//! From bytecode to LLVM's IR, and on to machine code.

mod access;
mod arith;
mod function;
mod ops;
mod tables;

use std::time::Duration;

use inkwell::OptimizationLevel;
use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use inkwell::values::{
    BasicValueEnum, FloatValue, InstructionOpcode, InstructionValue, IntValue, PointerValue,
};

use crate::bytecode::Proto;
use crate::measure::processor_time;
use crate::runtime::helpers;
use crate::runtime::layout::Function;
use crate::tags::{At, Tags};
use access::Emitter;
use function::FunctionGen;

pub(crate) type Error = Box<dyn std::error::Error>;
type Result<T> = std::result::Result<T, Error>;

type Int<'ctx> = IntValue<'ctx>;
type Float<'ctx> = FloatValue<'ctx>;
type Ptr<'ctx> = PointerValue<'ctx>;
type Any<'ctx> = BasicValueEnum<'ctx>;
type Block<'ctx> = BasicBlock<'ctx>;
/// A value's word and its tag.
type Words<'ctx> = (IntValue<'ctx>, IntValue<'ctx>);

/// When a function loads the base of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Reload {
    /// Before every operation that touches a slot, as Ravi does.
    #[value(name = "each")]
    EachOperation,
    /// At its start and after calls that may move the stack: the fewest loads.
    #[value(name = "calls")]
    AfterCalls,
    /// At its start and after all calls of the runtime: the fewest loads if LLVM knows nothing of
    /// the runtime.
    #[value(name = "helpers")]
    AfterHelpers,
}

/// How long compiling took, and which loads are left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    /// Each function's loads as they are emitted.
    pub(crate) before: Vec<Loads>,
    /// The same after `default<O2>`.
    pub(crate) after: Vec<Loads>,
    /// The module's bytes as bitcode before optimizing.
    pub(crate) bytes: usize,
    /// Of making IR with its tags, of optimizing, and of making machine code.
    pub(crate) times: [Duration; 3],
}

impl Compiled {
    pub(crate) fn time(&self) -> Duration {
        self.times.iter().sum()
    }
}

/// Loads of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Loads {
    /// Those of a frame's base.
    pub(crate) bases: usize,
    pub(crate) all: usize,
}

impl Loads {
    pub(crate) fn sum(functions: &[Loads]) -> Loads {
        functions.iter().fold(Loads::default(), |sum, loads| Loads {
            bases: sum.bases + loads.bases,
            all: sum.all + loads.all,
        })
    }
}

/// A program's machine code, which lives as long as this.
pub(crate) struct Code<'ctx> {
    _engine: ExecutionEngine<'ctx>,
    /// The functions, the outer ones before the inner ones.
    pub(crate) functions: Vec<Function>,
    pub(crate) compiled: Compiled,
}

/// All functions of a program, the outer ones before the inner ones.
fn flatten(main: &Proto) -> Vec<&Proto> {
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
    reload: Reload,
    show: &mut dyn FnMut(&str),
) -> Result<Code<'ctx>> {
    Target::initialize_native(&InitializationConfig::default())?;
    let triple = TargetMachine::get_default_triple();
    let machine = Target::from_triple(&triple)
        .map_err(|error| error.to_string())?
        .create_target_machine(
            &triple,
            // The counts of loads are then the same on every machine.
            "x86-64",
            "",
            OptimizationLevel::Default,
            RelocMode::Default,
            CodeModel::JITDefault,
        )
        .ok_or("LLVM has no machine code for this machine")?;
    let module = context.create_module("lua");
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());

    let functions = flatten(main);
    let mut compiled = Compiled::default();
    let start = processor_time();
    let mut emitter = Emitter::new(context, &module, tags)?;
    for (number, proto) in functions.iter().enumerate() {
        FunctionGen::emit(&mut emitter, &name(number), proto, reload)?;
    }
    compiled.times[0] = processor_time() - start;
    module.verify().map_err(|error| error.to_string())?;
    compiled.before = count_loads(&module, tags);
    compiled.bytes = module.write_bitcode_to_memory().as_slice().len();
    show(&module.print_to_string().to_string());

    let checked;
    let module = if tags.checked {
        (checked, _) = tbaa_inkwell::instrument(context, &module)?;
        &checked
    } else {
        &module
    };

    let start = processor_time();
    if tags.classes {
        tbaa_inkwell::run_passes(module, "default<O2>", &machine)?;
    } else {
        let run = module.run_passes("default<O2>", &machine, PassBuilderOptions::create());
        run.map_err(|error| error.to_string())?;
    }
    compiled.times[1] = processor_time() - start;
    compiled.after = count_loads(module, tags);
    show(&module.print_to_string().to_string());

    let start = processor_time();
    let engine = module
        .create_jit_execution_engine(OptimizationLevel::Default)
        .map_err(|error| error.to_string())?;
    for helper in helpers::all() {
        if let Some(declared) = module.get_function(helper.name) {
            engine.add_global_mapping(&declared, helper.address);
        }
    }
    let functions = (0..functions.len()).map(|number| {
        let address = engine.get_function_address(&name(number))?;
        // SAFETY: the code was made with this signature.
        Ok(unsafe { std::mem::transmute::<usize, Function>(address) })
    });
    let functions = functions.collect::<Result<_>>()?;
    compiled.times[2] = processor_time() - start;
    Ok(Code { _engine: engine, functions, compiled })
}

/// A function's name in the module.
fn name(number: usize) -> String {
    format!("lua_function_{number}")
}

/// Counts the loads of each Lua function.
///
/// A frame's base is at its offset from the value `ci`, which each function
/// loads once and which LLVM leaves its name.
fn count_loads(module: &Module<'_>, tags: &Tags) -> Vec<Loads> {
    let offset = tags.place(At::Base).place().offset;
    let is_base = |load: &InstructionValue<'_>| {
        let address = load.get_operand(0)?.value()?.into_pointer_value().as_instruction()?;
        let operand = |index| address.get_operand(index)?.value();
        let (object, index) = (operand(0)?, operand(1)?);
        let of_frame = object.is_pointer_value() && object.into_pointer_value().get_name() == c"ci";
        let constant = index.is_int_value().then(|| index.into_int_value());
        let at = constant.and_then(|index| index.get_zero_extended_constant());
        Some(of_frame && at == Some(offset))
    };
    let functions = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
    functions
        .map(|function| {
            let blocks = function.get_basic_block_iter();
            let instructions = blocks.flat_map(|block| block.get_instructions());
            let loads = instructions.filter(|i| i.get_opcode() == InstructionOpcode::Load);
            loads.fold(Loads::default(), |sum, load| Loads {
                bases: sum.bases + usize::from(is_base(&load) == Some(true)),
                all: sum.all + 1,
            })
        })
        .collect()
}
