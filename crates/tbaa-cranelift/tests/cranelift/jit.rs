//! Helpers that build functions, and run them with cranelift-jit.

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, Block, Function, Inst, InstBuilder, MemFlagsData, Opcode, Type, Value, types,
};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, ir};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use tbaa::{Session, TagId};
use tbaa_cranelift::{Applied, Regions, Rule, Tags, check};

pub(crate) const FLAGS: MemFlagsData = MemFlagsData::trusted();

pub(crate) fn isa(optimise: bool) -> OwnedTargetIsa {
    let mut flags = settings::builder();
    flags.set("opt_level", if optimise { "speed" } else { "none" }).unwrap();
    flags.set("is_pic", "false").unwrap();
    cranelift_native::builder().unwrap().finish(settings::Flags::new(flags)).unwrap()
}

/// The state while a function is built. The function takes an address and returns an integer.
pub(crate) struct Emitter<'f> {
    pub(crate) builder: FunctionBuilder<'f>,
    pub(crate) memory: Value,
    pub(crate) tags: Tags,
    /// The flags of the next accesses.
    pub(crate) flags: MemFlagsData,
}

impl Emitter<'_> {
    pub(crate) fn load(&mut self, ty: Type, at: i32, tag: impl Into<Option<TagId>>) -> Value {
        let value = self.builder.ins().load(ty, self.flags, self.memory, at);
        self.tags.set_result(&self.builder.func.dfg, value, tag)
    }

    pub(crate) fn store(&mut self, value: Value, at: i32, tag: impl Into<Option<TagId>>) {
        let store = self.builder.ins().store(self.flags, value, self.memory, at);
        self.tags.set(store, tag);
    }

    pub(crate) fn number(&mut self, number: i64) -> Value {
        self.builder.ins().iconst(types::I64, number)
    }

    /// Sets the region of the next accesses, as a front end with its own regions would.
    pub(crate) fn in_region(&mut self, user_id: u32, description: &'static str) {
        let data = ir::AliasRegionData { user_id, description: description.into() };
        let region = self.builder.func.dfg.alias_regions.insert(data);
        self.flags = FLAGS.with_alias_region(Some(region));
    }

    /// Stores a number at offset 0 with tag `long`, in region 0. The next accesses have no region.
    pub(crate) fn store_long(&mut self, number: i64, long: TagId) {
        self.in_region(0, "long");
        let number = self.number(number);
        self.store(number, 0, long);
        self.in_none();
    }

    pub(crate) fn in_none(&mut self) {
        self.flags = FLAGS;
    }

    pub(crate) fn block(&mut self) -> Block {
        self.builder.create_block()
    }
}

pub(crate) fn build(emit: impl FnOnce(&mut Emitter<'_>) -> Value) -> (Function, Tags) {
    let mut func = Function::new();
    func.signature.params.push(AbiParam::new(types::I64));
    func.signature.returns.push(AbiParam::new(types::I64));
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut func, &mut context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let memory = builder.block_params(block)[0];
    let mut emitter = Emitter { builder, memory, tags: Tags::new(), flags: FLAGS };
    let result = emit(&mut emitter);
    let Emitter { mut builder, tags, .. } = emitter;
    builder.ins().return_(&[result]);
    builder.seal_all_blocks();
    builder.finalize(isa(true).frontend_config());
    (func, tags)
}

/// Runs each function on its own copy of `memory`. Returns each result, and the copy afterwards.
pub(crate) fn run<const N: usize>(
    optimise: bool,
    functions: impl IntoIterator<Item = Function>,
    memory: [u64; N],
) -> Vec<(u64, [u64; N])> {
    let mut module = JITModule::new(JITBuilder::with_isa(isa(optimise), default_libcall_names()));
    let mut ids = Vec::new();
    for (number, mut func) in functions.into_iter().enumerate() {
        func.signature.call_conv = module.target_config().default_call_conv;
        let name = format!("f{number}");
        let id = module.declare_function(&name, Linkage::Export, &func.signature).unwrap();
        module.define_function(id, &mut Context::for_function(func)).unwrap();
        ids.push(id);
    }
    module.finalize_definitions().unwrap();
    let results = ids.into_iter().map(|id| {
        let mut memory = memory;
        let code = module.get_finalized_function(id);
        // SAFETY: the function has this signature, and accesses only this memory.
        let result = unsafe {
            let code: extern "C" fn(*mut u64) -> u64 = std::mem::transmute(code);
            code(memory.as_mut_ptr())
        };
        (result, memory)
    });
    let results = results.collect();
    // SAFETY: no code of this module runs any more.
    unsafe { module.free_memory() };
    results
}

pub(crate) fn loads_left(func: &Function) -> usize {
    let mut context = Context::for_function(func.clone());
    context.optimize(&*isa(true), &mut ControlPlane::default()).unwrap();
    count(&context.func, Opcode::Load)
}

pub(crate) fn insts(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    func.layout.blocks().flat_map(|block| func.layout.block_insts(block))
}

pub(crate) fn count(func: &Function, opcode: Opcode) -> usize {
    insts(func).filter(|&inst| func.dfg.insts[inst].opcode() == opcode).count()
}

/// Assigns regions to the accesses of a function, with a new `Regions`.
pub(crate) fn apply(session: &Session, func: &mut Function, tags: &Tags) -> Applied {
    Regions::new(session.oracle()).apply(session.oracle(), func, tags).unwrap()
}

pub(crate) fn rules(session: &Session, func: &Function, tags: &Tags) -> Vec<Rule> {
    check(session.oracle(), func, tags).into_iter().map(|finding| finding.rule).collect()
}

pub(crate) fn result(func: &Function, memory: [u64; 8]) -> (u64, [u64; 8]) {
    run(true, [func.clone()], memory)[0]
}

/// Runs a function, compiled without optimisation. Its result is the right one.
pub(crate) fn meant(func: &Function, memory: [u64; 8]) -> (u64, [u64; 8]) {
    run(false, [func.clone()], memory)[0]
}
