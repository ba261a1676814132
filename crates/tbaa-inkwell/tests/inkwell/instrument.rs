//! Modules with checks, compiled and run.

use std::sync::Mutex;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use tbaa_inkwell::{Tagger, instrument};
use tbaa_lower::emit::Jit;

use crate::runtime;
use crate::support::Code;

/// The checks that ran: whether of a write, and where.
static RAN: Mutex<Vec<(bool, usize)>> = Mutex::new(Vec::new());

extern "C" fn read(address: *const u8, _: u32, _: *const u8) {
    RAN.lock().unwrap().push((false, address.addr()));
}

extern "C" fn write(address: *const u8, _: u32, _: *const u8) {
    RAN.lock().unwrap().push((true, address.addr()));
}

#[test]
fn checks_run_before_tagged_accesses() {
    let mut jit = Jit::new(runtime::types());
    let places = jit.places(&runtime::PATHS).unwrap();
    let place = |path: &str| places.iter().find(|place| place.path() == path).unwrap();
    let (number, kind) = (place("TValue.value.n"), place("TValue.tt"));
    let context = Context::create();
    let mut tagger = Tagger::new(&context).unwrap();
    let code = Code::new(&context, 2);
    let store = code.store(code.parameter(0), 64, 7);
    tagger.attach(number, store).unwrap();
    let (value, load) = code.load(code.address(code.parameter(1), 8), 16, "");
    tagger.attach(kind, load).unwrap();
    code.end(value);

    let (module, skipped) = instrument(&context, &code.module).unwrap();
    assert_eq!(skipped, []);
    module.verify().unwrap();
    // The library's variables: nothing is known of any byte, so that each check calls.
    let leaves = module.get_global("__tbaa_witness_leaves").unwrap();
    leaves.set_initializer(&leaves.get_value_type().into_array_type().const_zero());
    let threaded = module.get_global("__tbaa_witness_threaded").unwrap();
    threaded.set_initializer(&threaded.get_value_type().into_int_type().const_zero());
    let engine = module.create_jit_execution_engine(OptimizationLevel::Default).unwrap();
    for (name, function) in
        [("__tbaa_witness_write8", write as *const ()), ("__tbaa_witness_read2", read as *const ())]
    {
        engine.add_global_mapping(&module.get_function(name).unwrap(), function.addr());
    }
    let mut memory = [0_u64; 4];
    let pointer = memory.as_mut_ptr();
    // SAFETY: the function has two pointers as parameters, and stays within
    // the array.
    let result = unsafe {
        let function =
            engine.get_function::<unsafe extern "C" fn(*mut u64, *mut u64) -> u64>("f").unwrap();
        function.call(pointer, pointer)
    };
    assert_eq!((result, memory[0]), (0, 7));
    let expected = [(true, pointer.addr()), (false, pointer.addr() + 8)];
    assert_eq!(*RAN.lock().unwrap(), expected);
}
