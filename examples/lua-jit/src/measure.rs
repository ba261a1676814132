//! A program under a switch: compiled, run, measured.

use std::time::Duration;

use inkwell::context::Context;

use crate::bytecode::{self, Proto};
use crate::codegen::{self, Compiled, Error, Reload};
use crate::runtime::{Lua, show};
use crate::tags::{Switch, Tags};

/// The time that this thread has had of a processor so far; other work on the machine does not count.
pub(crate) fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is there.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
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

/// Reads a program from a file and compiles it to bytecode.
///
/// # Errors
///
/// The first mistake in it, with its place.
pub(crate) fn read(file: &str) -> Result<Proto, String> {
    let source = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    bytecode::compile(&source).map_err(|mistake| mistake.render(file, &source))
}

/// When functions load their base under a switch.
pub(crate) fn reload(switch: Switch) -> Reload {
    if switch == Switch::ByHand { Reload::AfterCalls } else { Reload::EachOperation }
}

/// Compiles a program and runs it. `argument` is its `...`, and `ir` gets the IR before optimizing,
/// and then after.
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
    let main = lua.load(proto, &mut code.functions.iter());
    let start = processor_time();
    // SAFETY: the code was made for these structs, and `code` lives.
    let output = unsafe { lua.run(main, argument) }?;
    let running = processor_time() - start;
    let line = |values: &Vec<_>, bits| {
        values.iter().map(|value| show(value, bits)).collect::<Vec<_>>().join("\t")
    };
    let output = output.iter().map(|values| (line(values, false), line(values, true))).collect();
    Ok(Outcome { output, compiled: code.compiled, running, moves: lua.moves() })
}
