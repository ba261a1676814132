//! A program under a switch: compiled, run, measured.

use std::time::Duration;

use inkwell::context::Context;

use crate::bytecode::{self, Proto};
use crate::codegen::{self, Compiled, Error, Reload};
use crate::runtime::layout::Function;
use crate::runtime::{Lua, show};
use crate::tags::{Switch, Tags};

/// The time that this thread has had of a processor so far: what else runs on
/// the machine does not count.
#[cfg(target_os = "linux")]
pub(crate) fn processor_time() -> Duration {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    /// `CLOCK_THREAD_CPUTIME_ID`
    const THREAD: i32 = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the function of POSIX, and a struct laid out as on 64-bit Linux.
    unsafe { clock_gettime(THREAD, &raw mut time) };
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

/// The time that has passed since the first call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn processor_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// What a run gave.
pub(crate) struct Outcome {
    /// What was printed: each line as Lua prints it, and with all bits.
    pub(crate) output: Vec<(String, String)>,
    pub(crate) compiled: Compiled,
    pub(crate) running: Duration,
    /// Times that the stack moved.
    pub(crate) moves: usize,
}

/// Reads a program and compiles it to bytecode.
///
/// # Errors
///
/// The first mistake in it, with its place.
pub(crate) fn read(file: &str, source: &str) -> Result<Proto, String> {
    let proto = bytecode::compile(source);
    proto.map_err(|error| error.render(file, source))
}

/// When functions load their base under a switch.
pub(crate) fn reload(switch: Switch) -> Reload {
    match switch {
        Switch::ByHand => Reload::AfterCalls,
        _ => Reload::EachOperation,
    }
}

/// Compiles a program and runs it. `argument` is its `...`, and `ir` gets the IR
/// before optimizing, and then after.
///
/// # Errors
///
/// What LLVM or the program says.
pub(crate) fn run(
    proto: &Proto,
    tags: &Tags,
    reload: Reload,
    argument: Option<i64>,
    ir: &mut dyn FnMut(&str),
) -> Result<Outcome, Error> {
    let context = Context::create();
    let code = codegen::compile(&context, proto, tags, reload, ir)?;
    let mut lua = Lua::new();
    let mut functions = Vec::new();
    let main = lua.load(proto, &mut functions);
    for (&function, &address) in functions.iter().zip(&code.addresses) {
        // SAFETY: `load` has just made the function, and LLVM code for it, with
        // this signature.
        unsafe { (*function).jit = std::mem::transmute::<usize, Function>(address) };
    }
    let start = processor_time();
    // SAFETY: the code was made for these structs, and `code` lives.
    let output = unsafe { lua.run(main, argument) };
    let running = processor_time() - start;
    let lines = output.map(|lines| {
        let line = |values: &Vec<_>, bits| {
            values.iter().map(|value| show(value, bits)).collect::<Vec<_>>().join("\t")
        };
        lines.iter().map(|values| (line(values, false), line(values, true))).collect()
    });
    let moves = lua.moves();
    drop(lua);
    for (function, proto) in functions.into_iter().zip(codegen::flatten(proto)) {
        // SAFETY: nothing runs any more, and the state is gone.
        unsafe { Lua::unload(function, proto) };
    }
    Ok(Outcome { output: lines?, compiled: code.compiled, running, moves })
}
