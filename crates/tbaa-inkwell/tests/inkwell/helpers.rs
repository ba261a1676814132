//! Helpers compiled by clang, linked with a JIT's code.

use std::process::Command;

use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::values::BasicValue;
use tbaa_inkwell::{Helpers, LlvmSink, Tagger};
use tbaa_lower::emit::{Bisect, Jit};

use crate::runtime;
use crate::support::{Code, scratch};

/// The structs are those of `runtime`.
const SOURCE: &str = include_str!("helpers.c");

pub fn compile<'ctx>(
    context: &'ctx Context,
    name: &str,
    text: &str,
    options: &[&str],
) -> Module<'ctx> {
    let source = scratch(&format!("{name}.c"), text);
    let bitcode = source.with_extension("bc");
    let status = Command::new("clang-22")
        .args(["-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o"])
        .args([&bitcode, &source])
        .args(options)
        .status()
        .unwrap();
    assert!(status.success());
    let buffer = MemoryBuffer::create_from_file(&bitcode).unwrap();
    let module = Module::parse_bitcode_from_buffer(&buffer, context).unwrap();
    for function in module.get_functions() {
        // LLVM inlines a function only if the caller has its features.
        for attribute in ["target-cpu", "target-features", "tune-cpu"] {
            function.remove_string_attribute(AttributeLoc::Function, attribute);
        }
    }
    module
}

/// Loads the base before and after a call of a helper. Returns the number of loads after inlining,
/// and the difference between the two values.
fn loads_around(helper: &str, adopt: bool, options: &[&str]) -> (usize, u64) {
    let mut jit = Jit::new(runtime::types());
    let context = Context::create();
    let module = compile(&context, &format!("{helper}-{adopt}-{}", options.len()), SOURCE, options);
    let helpers = Helpers::read(&module, &mut jit).unwrap();
    let base = jit.place("CallInfo.l.base").unwrap();
    let mut tagger = Tagger::with_sink(LlvmSink::new(&context), Bisect::all());
    if adopt {
        let (with, without) = helpers.attach(&mut tagger, &mut jit).unwrap();
        assert!(with >= 5, "{with}, {without}");
    }

    let code = Code::new(&context, 2);
    let field = code.address(code.parameter(0), base.place().offset);
    let (first, load) = code.load(field, 64, "");
    tagger.attach(&base, load).unwrap();
    let pointer = context.ptr_type(AddressSpace::default());
    let parameters = module.get_function(helper).unwrap().count_params() as usize;
    let ty = context.void_type().fn_type(&vec![pointer.into(); parameters], false);
    let declared = code.module.add_function(helper, ty, None);
    let arguments: Vec<_> =
        [1, 0][..parameters].iter().map(|&number| code.parameter(number).into()).collect();
    code.builder.build_call(declared, &arguments, "").unwrap();
    let (second, load) = code.load(field, 64, "");
    tagger.attach(&base, load).unwrap();
    let difference =
        code.builder.build_int_sub(second.into_int_value(), first.into_int_value(), "").unwrap();
    code.end(difference.as_basic_value_enum());
    code.module.link_in_module(module).unwrap();
    code.verify();
    code.optimise();
    let blocks = code.function.get_basic_block_iter();
    let loads = blocks
        .flat_map(|block| block.get_instructions())
        .filter(|instruction| instruction.to_string().contains("= load"))
        .count();
    let mut memory = [0; 16];
    (loads, code.run(&mut memory))
}

#[test]
fn helpers_meet_the_jit_in_one_tree() {
    for options in [&[][..], &["-Xclang", "-new-struct-path-tbaa"]] {
        let loads = |helper, adopt| loads_around(helper, adopt, options).0;
        assert_eq!((loads("set_kind", false), loads("set_kind", true)), (2, 0), "a member");
        assert_eq!((loads("set_other", false), loads("set_other", true)), (2, 0), "an int");
        assert_eq!((loads("set_func", false), loads("set_func", true)), (2, 0), "the next member");
        // clang tags a union's member as `char`; and a store to a base may change a base.
        assert_eq!((loads("set_number", false), loads("set_number", true)), (2, 2), "a union");
        assert_eq!((loads("set_base", false), loads("set_base", true)), (2, 2), "the base");
        assert_eq!((loads("copy", false), loads("copy", true)), (2, 2), "a copy");
    }
}

/// A change by a helper is seen: the object is the same, through another
/// pointer.
#[test]
fn helpers_change_what_they_change() {
    let (_, difference) = loads_around("set_base", true, &[]);
    assert_ne!(difference, 0, "the base was null, and is the object");
}
