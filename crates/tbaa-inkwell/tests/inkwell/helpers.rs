//! Tests of helpers: C functions that clang compiles, and that a JIT links with its code.

use std::process::Command;

use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use tbaa_inkwell::Helpers;
use tbaa_lower::emit::Jit;
use tbaa_tests::process::run;

use crate::runtime;
use crate::support::{self, Code, scratch};

/// C source whose structs match those of the module `runtime`.
const SOURCE: &str = include_str!("helpers.c");

pub fn compile<'ctx>(
    context: &'ctx Context,
    name: &str,
    text: &str,
    options: &[&str],
) -> Module<'ctx> {
    let source = scratch(&format!("{name}.c"), text);
    let bitcode = source.with_extension("bc");
    let mut clang = Command::new("clang-22");
    clang.args(["-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o"]);
    run(clang.args([&bitcode, &source]).args(options)).unwrap();
    let buffer = MemoryBuffer::create_from_file(&bitcode).unwrap();
    let module = Module::parse_bitcode_from_buffer(&buffer, context).unwrap();
    for function in module.get_functions() {
        // LLVM inlines a function only if the caller has all target features of the function.
        for attribute in ["target-cpu", "target-features", "tune-cpu"] {
            function.remove_string_attribute(AttributeLoc::Function, attribute);
        }
    }
    module
}

/// Loads `CallInfo.l.base` before and after a call of a helper. Returns the number of loads after
/// `-O2`, and the difference of the two values.
fn loads_around(helper: &str, adopt: bool, options: &[&str]) -> (usize, u64) {
    let mut jit = Jit::new(runtime::types());
    let context = Context::create();
    let module = compile(&context, &format!("{helper}-{adopt}-{}", options.len()), SOURCE, options);
    let helpers = Helpers::read(&module, &mut jit).unwrap();
    if adopt {
        let tagger = Code::new(&context, 0).tagger;
        let (with, without) = helpers.attach(&tagger, &mut jit).unwrap();
        assert!(with >= 5, "{with}, {without}");
    }
    let parameters = module.get_function(helper).unwrap().count_params() as usize;
    support::loads_around(&context, &mut jit, module, helper, &[1, 0][..parameters])
}

#[test]
fn helpers_meet_the_jit_in_one_tree() {
    for options in [&[][..], &["-Xclang", "-new-struct-path-tbaa"]] {
        for (helper, adopted) in [
            ("set_kind", 0),
            ("set_other", 0),
            ("set_func", 0),
            // These may change `l.base`. clang tags the union member in `set_number` as `char`.
            ("set_number", 2),
            ("set_base", 2),
            ("copy", 2),
        ] {
            let loads = [false, true].map(|adopt| loads_around(helper, adopt, options).0);
            assert_eq!(loads, [2, adopted], "{helper}");
        }
    }
}

#[test]
fn helpers_change_what_they_change() {
    let (_, difference) = loads_around("set_base", true, &[]);
    assert_ne!(difference, 0, "the base was null, and is the object");
}
