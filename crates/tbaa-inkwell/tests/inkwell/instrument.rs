//! Instruments a module, then compiles and runs it.

use std::sync::Mutex;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use tbaa_inkwell::{Tagger, instrument};
use tbaa_instrument::layout::{CELL_OFFSET, ENTRIES_AT, FLIP};
use tbaa_lower::emit::Jit;

use crate::runtime;
use crate::support::Code;

/// The access number and address of each call of `check`.
static RAN: Mutex<Vec<(u32, usize)>> = Mutex::new(Vec::new());

extern "C" fn check(address: *const u8, site: u32, _: *const u8) {
    RAN.lock().unwrap().push((site, address.addr()));
}

/// Memory that the program accesses (`words`), and memory that the checks read (`cells` and
/// `entries`), at the addresses that the library `libtbaa_witness` would reserve.
struct Memory {
    words: *mut u64,
    cells: *mut libc::c_void,
    entries: *mut libc::c_void,
}

impl Memory {
    const LEN: usize = 4096;

    fn new() -> Self {
        let map = |at: usize, flags| {
            let at = std::ptr::without_provenance_mut(at);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
            // SAFETY: a new mapping that replaces none.
            unsafe { libc::mmap(at, Self::LEN, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) }
        };
        let words: *mut u64 = map(0, 0).cast();
        let at = (words.addr() ^ 1 << FLIP) + CELL_OFFSET as usize;
        let cells = map(at, libc::MAP_FIXED_NOREPLACE);
        let entries = map(ENTRIES_AT as usize, libc::MAP_FIXED_NOREPLACE);
        assert_eq!((cells.addr(), entries.addr()), (at, ENTRIES_AT as usize));
        Memory { words, cells, entries }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: only this value owns the mappings.
        unsafe {
            libc::munmap(self.words.cast(), Self::LEN);
            libc::munmap(self.cells, Self::LEN);
            libc::munmap(self.entries, Self::LEN);
        }
    }
}

#[test]
fn checks_run_before_tagged_accesses() {
    let mut jit = Jit::new(runtime::types());
    let places = jit.places(&runtime::paths()).unwrap();
    let place = |path: &str| places.iter().find(|place| place.path() == path).unwrap();
    let (number, kind) = (place("TValue.value.n"), place("TValue.tt"));
    let context = Context::create();
    let tagger = Tagger::new(&context).unwrap();
    let code = Code::new(&context, 2);
    let store = code.store(code.parameter(0), 64, 7);
    tagger.attach(number, store).unwrap();
    let (value, load) = code.load(code.address(code.parameter(1), 8), 16, "");
    tagger.attach(kind, load).unwrap();
    code.end(value);

    let (module, skipped) = instrument(&context, &code.module).unwrap();
    assert_eq!(skipped, []);
    module.verify().unwrap();
    // Define the library's variables. `__tbaa_witness_changes` is zero: every check calls `check`.
    let changes = module.get_global("__tbaa_witness_changes").unwrap();
    changes.set_initializer(&changes.get_value_type().into_array_type().const_zero());
    let shift = module.get_global("__tbaa_witness_changes_shift").unwrap();
    shift.set_initializer(&shift.get_value_type().into_int_type().const_int(63, false));
    let threaded = module.get_global("__tbaa_witness_threaded").unwrap();
    threaded.set_initializer(&threaded.get_value_type().into_int_type().const_zero());
    let engine = module.create_jit_execution_engine(OptimizationLevel::Default).unwrap();
    let runtime = module.get_function("__tbaa_witness_check").unwrap();
    engine.add_global_mapping(&runtime, (check as *const ()).addr());
    let memory = Memory::new();
    let pointer = memory.words;
    // SAFETY: the function has two pointer parameters, and stays within the memory.
    let (result, written) = unsafe {
        let function =
            engine.get_function::<unsafe extern "C" fn(*mut u64, *mut u64) -> u64>("f").unwrap();
        (function.call(pointer, pointer), *pointer)
    };
    assert_eq!((result, written), (0, 7));
    let expected = [(0, pointer.addr()), (1, pointer.addr() + 8)];
    assert_eq!(*RAN.lock().unwrap(), expected);
}
