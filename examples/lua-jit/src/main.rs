//! A Ravi-like Lua, compiled by LLVM.
//!
//! Every operation reloads the base of the stack frame, for a call may have moved the stack. LLVM
//! drops the reloads that it can prove to be redundant. How many it drops depends on the tags on the
//! loads and stores, and a switch chooses the tags.

mod bytecode;
mod codegen;
mod measure;
mod runtime;
mod tags;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use codegen::{Loads, Reload};
use measure::Outcome;
use tags::{Switch, Tags};

/// Bytes of the machine's stack: Lua calls nest on it.
const STACK: usize = 1 << 29;

/// The directory of the programs.
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");

/// Compiles a Lua program with Ravi's annotations by LLVM 22, and runs it.
#[derive(Parser)]
struct Options {
    /// A program, and an integer that is its `...`; with --all, any number of programs [default:
    /// those of examples/lua-jit/programs].
    #[arg(allow_negative_numbers = true)]
    files: Vec<String>,
    /// Run programs under every kind of tags, and print a table.
    #[arg(long)]
    all: bool,
    /// What LLVM is told of memory accesses.
    #[arg(long, default_value = "lowered-scopes")]
    tags: Switch,
    /// When functions load the base of their frame [default: each, or calls under by-hand].
    #[arg(long)]
    reload: Option<Reload>,
    /// Check each access at run time; needs `libtbaa_witness.so` in `LD_PRELOAD` (see docs/witness.md).
    #[arg(long)]
    checked: bool,
    /// Print the IR on standard error, as it is before optimizing.
    #[arg(long)]
    ir_before: bool,
    /// Print the optimized IR on standard error.
    #[arg(long)]
    ir: bool,
    /// Print the loads that are left, and times, on standard error.
    #[arg(long)]
    statistics: bool,
    /// With --all: how often each program runs; the shortest run counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let work = move || if options.all { table(&options) } else { run(&options) };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => return ExitCode::SUCCESS,
        Ok(Ok(Err(message))) => eprintln!("{message}"),
        _ => {}
    }
    ExitCode::FAILURE
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Runs one program under one switch.
fn run(options: &Options) -> Result<(), String> {
    let (file, argument) = match &*options.files {
        [file] => (file, None),
        [file, last] => (file, Some(last.parse().map_err(|_| format!("`{last}` is no integer"))?)),
        _ => return Err("name one program, and perhaps its argument".to_owned()),
    };
    let proto = measure::read(file)?;
    let mut stages = [options.ir_before, options.ir].into_iter();
    let mut ir = |text: &str| {
        if stages.next() == Some(true) {
            eprintln!("{text}");
        }
    };
    let failed = |error| format!("{file}: {error}");
    let mut tags = Tags::new(options.tags).map_err(failed)?;
    tags.checked = options.checked;
    let reload = options.reload.unwrap_or(measure::reload(options.tags));
    let outcome = measure::run(&proto, &tags, reload, argument, &mut ir).map_err(failed)?;
    for (text, _) in &outcome.output {
        println!("{text}");
    }
    if options.statistics {
        let compiled = outcome.compiled;
        let (before, after) = (Loads::sum(&compiled.before), Loads::sum(&compiled.after));
        let [emitting, optimizing, generating] = compiled.times.map(ms);
        eprintln!(
            "tags {}: base loads {} of {} left, all loads {} of {}; compiled in {:.1} ms \
             (IR {emitting:.1}, O2 {optimizing:.1}, code {generating:.1}), ran {:.1} ms, the stack \
             moved {} times",
            options.tags,
            after.bases,
            before.bases,
            after.all,
            before.all,
            ms(compiled.time()),
            ms(outcome.running),
            outcome.moves
        );
    }
    Ok(())
}

/// The paths of all programs, sorted.
fn programs() -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(PROGRAMS).map_err(|error| format!("{PROGRAMS}: {error}"))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path().to_str()?.to_owned()));
    let mut paths: Vec<String> = paths.filter(|path| path.ends_with(".lua")).collect();
    paths.sort();
    Ok(paths)
}

/// Prints every program under every switch, as a table in Markdown; fails where a result differs.
fn table(options: &Options) -> Result<(), String> {
    let files = if options.files.is_empty() { programs()? } else { options.files.clone() };
    println!(
        "| program | tags | base loads left | other loads left | bitcode, KB | compiled, ms | ran, ms | gain |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for file in &files {
        let proto = measure::read(file)?;
        let mut best: Vec<Outcome> = Vec::new();
        // One switch after the other, so that other work on the machine slows all of them.
        for _ in 0..options.runs.max(1) {
            for (at, &switch) in Switch::value_variants().iter().enumerate() {
                let outcome = Tags::new(switch)
                    .and_then(|tags| {
                        measure::run(&proto, &tags, measure::reload(switch), None, &mut |_| {})
                    })
                    .map_err(|error| format!("{file}: {error}"))?;
                if let Some(best) = best.get_mut(at) {
                    best.running = best.running.min(outcome.running);
                    if outcome.compiled.time() < best.compiled.time() {
                        best.compiled = outcome.compiled;
                    }
                } else {
                    best.push(outcome);
                }
            }
        }
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        for (switch, it) in Switch::value_variants().iter().zip(&best) {
            if best[0].output != it.output {
                return Err(format!("{file}: tags {switch} change the result"));
            }
            let (before, after) = (Loads::sum(&it.compiled.before), Loads::sum(&it.compiled.after));
            println!(
                "| {} | {switch} | {} of {} | {} of {} | {:.1} | {:.1} | {:.1} | {:.2} |",
                if *switch == Switch::None { &name } else { "" },
                after.bases,
                before.bases,
                after.all - after.bases,
                before.all - before.bases,
                it.compiled.bytes as f64 / 1e3,
                ms(it.compiled.time()),
                ms(it.running),
                ms(best[0].running) / ms(it.running).max(1e-6),
            );
        }
    }
    Ok(())
}
