//! Measures what tags and scopes cost, in metadata and in compile time.
//!
//! `cargo run --release -p tbaa-inkwell --example cost [STRUCTS]` compiles the functions of an
//! artificial runtime with `STRUCTS` structs (by default 8) with each kind of metadata.

#[path = "regions.rs"]
#[allow(dead_code, unreachable_pub)]
mod regions;

use std::error::Error;
use std::time::Duration;

use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::FileType;
use inkwell::values::{BasicValue, IntValue};
use tbaa::declare::{Declarations, Record, Target as Layout};
use tbaa_inkwell::Tagger;
use tbaa_lower::emit::{Jit, JitOptions, TagForm, TaggedPlace};
use tbaa_tests::soak::busy;

const FUNCTIONS: u64 = 40;
const OPCODES: u64 = 60;
const RUNS: usize = 7;

/// Places in a runtime: a frame's base pointer, members of a value, and members of structs.
struct Runtime {
    base: TaggedPlace,
    number: TaggedPlace,
    kind: TaggedPlace,
    fields: Vec<TaggedPlace>,
}

impl Runtime {
    fn new(structs: usize, form: TagForm) -> Result<Self, Box<dyn Error>> {
        let mut types = Declarations::new(Layout::x86_64());
        let value = Record::union("").field("n", "double").field("i", "long").field("p", "void *");
        types.define(Record::structure("Value").field("value", value).field("kind", "short"))?;
        types
            .define(Record::structure("Frame").field("func", "Value *").field("base", "Value *"))?;
        for number in 0..structs {
            types.define(
                Record::structure(format!("S{number}"))
                    .field("next", "void *")
                    .field("size", "long")
                    .field("u", Record::union("").field("d", "double").field("l", "long"))
                    .field("v", "Value"),
            )?;
        }
        let mut paths: Vec<String> =
            ["Frame.base", "Value.value.n", "Value.kind"].map(str::to_owned).into();
        for number in 0..structs {
            let fields = ["next", "size", "u.d", "u.l", "v.value.i"];
            paths.extend(fields.map(|field| format!("S{number}.{field}")));
        }
        let mut places =
            Jit::with_options(types, JitOptions::new().form(form))?.places(&paths)?.into_iter();
        let mut next = || places.next().ok_or("no place");
        let (base, number, kind) = (next()?, next()?, next()?);
        Ok(Runtime { base, number, kind, fields: places.collect() })
    }

    /// Builds the functions, with metadata if `attach`. Returns the CPU time of attaching metadata.
    fn build<'ctx>(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        attach: bool,
    ) -> Result<Duration, Box<dyn Error>> {
        let pointer = context.ptr_type(AddressSpace::default());
        let (i8, i64) = (context.i8_type(), context.i64_type());
        let builder = context.create_builder();
        let mut accesses = Vec::new();
        for number in 0..FUNCTIONS {
            let ty = i64.fn_type(&[pointer.into(), pointer.into()], false);
            let function = module.add_function(&format!("f{number}"), ty, None);
            builder.position_at_end(context.append_basic_block(function, "entry"));
            let parameter = |at| function.get_nth_param(at).map(|value| value.into_pointer_value());
            let (Some(frame), Some(object)) = (parameter(0), parameter(1)) else {
                return Err("no parameters".into());
            };
            let at = |pointer, offset| {
                let offset: IntValue<'ctx> = i64.const_int(offset, false);
                // SAFETY: the code is never run.
                unsafe { builder.build_in_bounds_gep(i8, pointer, &[offset], "") }
            };
            let mut sum = i64.const_zero();
            for opcode in 0..OPCODES {
                let base = builder.build_load(pointer, at(frame, self.base.place().offset)?, "")?;
                accesses.extend(base.as_instruction_value().map(|load| (&self.base, load)));
                let register = at(base.into_pointer_value(), 16 * (opcode % 7))?;
                let field = &self.fields[(number * 31 + opcode * 7) as usize % self.fields.len()];
                let address = at(object, field.place().offset)?;
                let value = builder.build_load(i64, address, "")?;
                accesses.extend(value.as_instruction_value().map(|load| (field, load)));
                sum = builder.build_int_add(sum, value.into_int_value(), "")?;
                accesses.push((&self.number, builder.build_store(register, sum)?));
                let kind = at(register, self.kind.place().offset)?;
                let value = context.i16_type().const_int(3, false);
                accesses.push((&self.kind, builder.build_store(kind, value)?));
            }
            builder.build_return(Some(&sum))?;
        }
        let start = busy();
        if attach {
            let tagger = Tagger::new(context)?;
            for (place, instruction) in accesses {
                tagger.attach(place, instruction)?;
            }
        }
        Ok(busy() - start)
    }
}

/// The cost of a kind of metadata: bitcode bytes, loads left, and three CPU times.
struct Cost {
    bytes: usize,
    loads: usize,
    attach: Duration,
    passes: Duration,
    code: Duration,
}

fn measure(runtime: &Runtime, attach: bool) -> Result<Cost, Box<dyn Error>> {
    let machine = regions::machine()?;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        let context = Context::create();
        let module = context.create_module("cost");
        let attach = runtime.build(&context, &module, attach)?;
        let bytes = module.write_bitcode_to_memory().get_size();
        let start = busy();
        module.run_passes("default<O2>", &machine, PassBuilderOptions::create())?;
        let passes = busy() - start;
        let start = busy();
        machine.write_to_memory_buffer(&module, FileType::Object)?;
        let code = busy() - start;
        runs.push(Cost { bytes, loads: regions::loads(&module), attach, passes, code });
    }
    let least = |time: fn(&Cost) -> Duration| runs.iter().map(time).min().unwrap_or_default();
    let (attach, passes) = (least(|run| run.attach), least(|run| run.passes));
    let code = least(|run| run.code);
    Ok(Cost { bytes: runs[0].bytes, loads: runs[0].loads, attach, passes, code })
}

fn print(name: &str, cost: &Cost, bare: usize) {
    let us = |time: Duration| time.as_secs_f64() * 1e6 / FUNCTIONS as f64;
    println!(
        "{name:24} {:8.1} {:8.1} {:9.1} {:9.1} {:9.1}",
        (cost.bytes - bare) as f64 / FUNCTIONS as f64,
        cost.loads as f64 / FUNCTIONS as f64,
        us(cost.attach),
        us(cost.passes),
        us(cost.code),
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let structs = std::env::args().nth(1).map_or(Ok(8), |number| number.parse())?;
    println!(
        "{} tags, {} accesses a function; all figures a function\n",
        3 + 5 * structs,
        4 * OPCODES
    );
    println!("metadata                    bytes    loads attach us     O2 us   code us");
    let none = measure(&Runtime::new(structs, TagForm::Lowered)?, false)?;
    print("none", &none, none.bytes);
    for (name, form) in [
        ("lowered tags", TagForm::Lowered),
        ("lowered tags, scopes", TagForm::LoweredScopes),
        ("scopes", TagForm::Scopes),
    ] {
        print(name, &measure(&Runtime::new(structs, form)?, true)?, none.bytes);
    }
    Ok(())
}
