//! Builds modules, reads LLVM's alias answers, and runs compiled code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue,
    PointerValue,
};
use inkwell::{AddressSpace, OptimizationLevel};
use tbaa::TagId;
use tbaa_inkwell::{AttachError, LlvmSink, Tagger};
use tbaa_lower::emit::{Bisect, Jit, Plan, TaggedPlace};
use tbaa_tests::llvm::{Evaluated, aa_eval, stored};

use crate::regions;

/// LLVM's fixed kind id of `!tbaa`: `MD_tbaa`.
pub const TBAA: u32 = 1;

/// Requests several places at once, so that their tags are computed together.
pub fn places<const N: usize>(jit: &mut Jit, paths: [&str; N]) -> [TaggedPlace; N] {
    jit.places(&paths).unwrap().try_into().unwrap()
}

/// Loads `CallInfo.l.base` before and after a call of another module's function. Returns the number
/// of loads in the optimised function, and the difference of the two loaded values.
pub fn loads_around<'c>(
    context: &'c Context,
    jit: &mut Jit,
    module: Module<'c>,
    called: &str,
    arguments: &[usize],
) -> (usize, u64) {
    let base = jit.place("CallInfo.l.base").unwrap();
    let code = Code::new(context, 2);
    call_between(&code, &base, module, called, arguments);
    code.optimise();
    let blocks = code.function.get_basic_block_iter();
    let instructions = blocks.flat_map(|block| block.get_instructions());
    let loads = instructions
        .filter(|instruction| instruction.get_opcode() == InstructionOpcode::Load)
        .count();
    (loads, code.run(&mut [0; 16]))
}

/// Builds code that loads a place before and after a call of a function of `module`. The code
/// returns the difference of the values. `arguments` are indices of the code's parameters.
pub fn call_between<'c>(
    code: &Code<'c>,
    place: &TaggedPlace,
    module: Module<'c>,
    called: &str,
    arguments: &[usize],
) {
    let first = code.load_at(place);
    let ty = module.get_function(called).unwrap().get_type();
    let declared = code.module.add_function(called, ty, None);
    let arguments: Vec<_> =
        arguments.iter().map(|&argument| code.parameter(argument).into()).collect();
    code.builder.build_call(declared, &arguments, "").unwrap();
    code.subtract(code.load_at(place), first);
    code.module.link_in_module(module).unwrap();
    code.verify();
}

pub fn attach_planned<'ctx>(
    tagger: &Tagger,
    plan: &dyn Plan,
    tag: TagId,
    instruction: InstructionValue<'ctx>,
) -> Result<(), AttachError> {
    let nodes = tagger.emit(instruction.get_parent().unwrap().get_context(), |tagger| {
        tagger.access(plan, tag)
    })??;
    tagger.attach_nodes(nodes, instruction)
}

/// A function under construction, whose parameters are pointers, and a tagger for its context.
pub struct Code<'ctx> {
    pub context: &'ctx Context,
    pub module: Module<'ctx>,
    pub builder: Builder<'ctx>,
    pub function: FunctionValue<'ctx>,
    pub tagger: Tagger,
}

impl<'ctx> Code<'ctx> {
    pub fn new(context: &'ctx Context, parameters: usize) -> Self {
        let module = context.create_module("test");
        let pointer = context.ptr_type(AddressSpace::default());
        let parameters = vec![pointer.into(); parameters];
        let ty = context.i64_type().fn_type(&parameters, false);
        let function = module.add_function("f", ty, None);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        let tagger = Tagger::with_sink(LlvmSink::new(context), Bisect::all());
        Code { context, module, builder, function, tagger }
    }

    pub fn attach(&self, place: &TaggedPlace, instruction: InstructionValue<'ctx>) {
        self.tagger.attach(place, instruction).unwrap();
    }

    pub fn parameter(&self, number: usize) -> PointerValue<'ctx> {
        self.function.get_nth_param(number as u32).unwrap().into_pointer_value()
    }

    pub fn address(&self, pointer: PointerValue<'ctx>, offset: u64) -> PointerValue<'ctx> {
        let offset = self.context.i64_type().const_int(offset, false);
        // SAFETY: the tests' objects are large enough.
        unsafe { self.builder.build_in_bounds_gep(self.context.i8_type(), pointer, &[offset], "") }
            .unwrap()
    }

    pub fn store(&self, to: PointerValue<'ctx>, bits: u32, value: u64) -> InstructionValue<'ctx> {
        let bits = bits.try_into().unwrap();
        let value = self.context.custom_width_int_type(bits).unwrap().const_int(value, false);
        self.builder.build_store(to, value).unwrap()
    }

    pub fn load(
        &self,
        from: PointerValue<'ctx>,
        bits: u32,
        name: &str,
    ) -> (BasicValueEnum<'ctx>, InstructionValue<'ctx>) {
        let bits = bits.try_into().unwrap();
        let ty = self.context.custom_width_int_type(bits).unwrap();
        let value = self.builder.build_load(ty, from, name).unwrap();
        (value, value.as_instruction_value().unwrap())
    }

    /// Builds a 64-bit load at a place's offset from the first parameter, with the place's tag.
    pub fn load_at(&self, place: &TaggedPlace) -> IntValue<'ctx> {
        let (value, load) =
            self.load(self.address(self.parameter(0), place.place().offset), 64, "");
        self.attach(place, load);
        value.into_int_value()
    }

    pub fn subtract(&self, a: IntValue<'ctx>, b: IntValue<'ctx>) {
        self.end(self.builder.build_int_sub(a, b, "").unwrap().into());
    }

    /// Builds a `ret` of a value, widened to 64 bits.
    pub fn end(&self, value: BasicValueEnum<'ctx>) {
        let value = value.into_int_value();
        let wide = self.builder.build_int_z_extend(value, self.context.i64_type(), "").unwrap();
        self.builder.build_return(Some(&wide)).unwrap();
    }

    pub fn text(&self) -> String {
        self.module.print_to_string().to_string()
    }

    pub fn verify(&self) {
        self.module.verify().unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
    }

    /// Optimises the module with `-O2`, as a JIT does.
    pub fn optimise(&self) {
        let passes =
            self.module.run_passes("default<O2>", &machine(), PassBuilderOptions::create());
        passes.unwrap();
    }

    /// Optimises the module with `-O2` and the alias analysis of `tbaa_inkwell::run_passes`.
    pub fn optimise_asked(&self) {
        tbaa_inkwell::run_passes(&self.module, "default<O2>", &machine()).unwrap();
    }

    /// Compiles the function, and calls it with two pointers to the start of `memory`.
    pub fn run(&self, memory: &mut [u64]) -> u64 {
        self.run_with(memory, &[])
    }

    /// Does the same as [`Code::run`], for code that may call the test's functions in `helpers`.
    pub fn run_with(&self, memory: &mut [u64], helpers: &[(&str, *const ())]) -> u64 {
        let engine = self.module.create_jit_execution_engine(OptimizationLevel::None).unwrap();
        for (name, address) in helpers {
            if let Some(function) = self.module.get_function(name) {
                engine.add_global_mapping(&function, address.addr());
            }
        }
        let pointer = memory.as_mut_ptr();
        // SAFETY: the function has two pointer parameters, and stays within the test's memory.
        unsafe {
            let function = engine
                .get_function::<unsafe extern "C" fn(*mut u64, *mut u64) -> u64>("f")
                .unwrap();
            function.call(pointer, pointer)
        }
    }

    pub fn loads(&self) -> usize {
        regions::loads(&self.module)
    }
}

pub fn machine() -> TargetMachine {
    regions::machine().unwrap()
}

pub fn scratch(name: &str, content: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, content).unwrap();
    file
}

/// Runs LLVM's alias analyses on a module. For each pair of a load named `%lA` and a store of the
/// number `B`, returns whether they may alias, keyed by `(A, B)`.
pub fn answers(name: &str, text: &str) -> BTreeMap<(usize, usize), bool> {
    let file = scratch(name, text);
    let found = aa_eval("opt-22", &[], "tbaa,scoped-noalias-aa", &file).expect("opt-22");
    let pair = |evaluated: Evaluated| {
        let [load, store] = evaluated.pair;
        let load = load.strip_prefix("%l")?.split(' ').next()?.parse().unwrap();
        Some(((load, stored(&store)), evaluated.answer == "MayAlias"))
    };
    found.into_iter().filter_map(pair).collect()
}
