//! With `tbaa_inkwell::run_passes`, LLVM's passes use a module's alias table, `!tbaa.relations`.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;

use crate::regions::loads;
use crate::support::machine;

const MODULE: &str = include_str!("passes.ll");

#[test]
fn the_relation_is_asked() {
    let context = Context::create();
    let read = || {
        let text = MemoryBuffer::create_from_memory_range_copy(MODULE.as_bytes(), "f");
        context.create_module_from_ir(text).unwrap()
    };
    let machine = machine();
    let plain = read();
    plain.run_passes("default<O2>", &machine, PassBuilderOptions::create()).unwrap();
    assert_eq!(loads(&plain), 2, "LLVM alone learns nothing");
    let asked = read();
    tbaa_inkwell::run_passes(&asked, "default<O2>", &machine).unwrap();
    assert_eq!(loads(&asked), 1);
    let error = tbaa_inkwell::run_passes(&asked, "no-such-pass", &machine).unwrap_err();
    assert!(error.contains("no-such-pass"), "{error}");
}
