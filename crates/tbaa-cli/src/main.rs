//! The `tbaa` command: dump, query and explain TBAA metadata.
//!
//! Only answers go to standard output. Warnings, notes and errors go to standard error. The exit
//! status is 0 if all is well, 1 if the input has findings, and 2 if input or arguments are not
//! usable or the output cannot be written. Some commands return the status of another program.

mod args;
mod commands;
mod compile_commands;
mod convert;
mod drawing;
mod files;
mod find;
mod input;
mod output;
mod printable;
mod progress;
mod render;
mod report;
mod scratch;
mod sources;
mod svg;
mod tools;
mod walk;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, FromArgMatches};

use args::Args;
use commands::Outcome;
use report::Failure;

/// True if standard output was closed at the start (`>&-`). Rust opens `/dev/null` in its place, so
/// writes would succeed and the output would be lost.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "nothing safe runs before Rust's start")]
mod before_start {
    /// The loader calls the functions in this section before `main`.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEFORE: extern "C" fn() = look;

    extern "C" fn look() {
        let is_open = std::path::Path::new("/proc/self/fd/1").symlink_metadata().is_ok();
        let is_known = std::path::Path::new("/proc/self/fd").exists();
        super::IS_CLOSED.store(is_known && !is_open, std::sync::atomic::Ordering::Relaxed);
    }
}

fn main() -> ExitCode {
    // Answers a shell's request for completions. Nothing may be printed before.
    clap_complete::CompleteEnv::with_factory(Args::command).var(commands::ASKED).complete();
    let matches = Args::grouped().get_matches_from(commands::arguments());
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let color = match args.color {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    };
    color.write_global();
    progress::start();
    let mut out = BufWriter::with_capacity(1 << 16, progress::Output(io::stdout().lock()));
    let outcome = commands::run(args.command, &mut out)
        .and_then(|outcome| out.flush().map(|()| outcome).map_err(Failure::Output));
    progress::end();
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Ok(Outcome::Ended(code)) => ExitCode::from(code),
        // The program that reads the output (such as `head`) has closed it: this is no error.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Drop the rest of the buffer, which cannot be written.
            let (_, _) = out.into_parts();
            ExitCode::SUCCESS
        }
        Err(failure) => {
            failure.report();
            ExitCode::from(2)
        }
    }
}
