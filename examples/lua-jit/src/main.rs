//! A Ravi-like Lua, compiled by LLVM.
//!
//! Every operation reloads the base of the stack frame, for a call may have moved
//! the stack. LLVM drops the reloads that it can prove to be redundant; how many
//! those are is a matter of the tags on the loads and stores. A switch says which.

mod bytecode;
mod codegen;
mod measure;
mod options;
#[cfg(test)]
mod pairs;
mod runtime;
mod table;
mod tags;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use codegen::Loads;
use options::{Command, Options};
use tags::Tags;

/// Bytes of the machine's stack: Lua calls nest on it.
const STACK: usize = 1 << 29;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let work = std::thread::Builder::new().stack_size(STACK).spawn(move || match options.command {
        Command::Help => {
            println!("{}", options::USAGE);
            Ok(())
        }
        Command::Run => run(&options),
        Command::All => table::print(&options),
    });
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(message))) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}

/// Runs one program under one switch.
fn run(options: &Options) -> Result<(), String> {
    let file = options.files.first().ok_or("name a program")?;
    let source = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let proto = measure::read(file, &source)?;
    let mut stages = [options.ir_before, options.ir].into_iter();
    let mut ir = |text: &str| {
        if stages.next() == Some(true) {
            eprintln!("{text}");
        }
    };
    let failed = |error| format!("{file}: {error}");
    let mut tags = Tags::new(options.switch, options.elements).map_err(failed)?;
    tags.checked = options.checked;
    let reload = options.reload.unwrap_or(measure::reload(options.switch));
    let outcome = measure::run(&proto, &tags, reload, options.argument, &mut ir).map_err(failed)?;
    for (text, bits) in &outcome.output {
        println!("{}", if options.bits { bits } else { text });
    }
    if options.statistics {
        let compiled = outcome.compiled;
        let (before, after) = (Loads::sum(&compiled.before), Loads::sum(&compiled.after));
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        eprintln!(
            "tags {}: base loads {} of {} left, all loads {} of {}; compiled in {:.1} ms (IR {:.1}, \
             O2 {:.1}, code {:.1}), ran {:.1} ms, the stack moved {} times",
            options.switch,
            after.bases,
            before.bases,
            after.all,
            before.all,
            ms(compiled.time()),
            ms(compiled.emitting),
            ms(compiled.optimizing),
            ms(compiled.generating),
            ms(outcome.running),
            outcome.moves
        );
    }
    Ok(())
}
