//! The commands, each in its own file or folder.

mod bisect;
mod blocks;
mod cc;
mod check;
mod completions;
mod declare;
mod diff;
mod dump;
mod explain;
mod findings;
mod graph;
mod instrument;
mod link;
mod lower;
mod masks;
mod matrix;
mod report;
mod sarif;
mod stats;
mod strip;
mod tag;
mod types;
mod words;
mod worth;

use std::io::Write;

use clap::Subcommand;

use crate::report::Result;
use check::{Check, Part};
use explain::Explain;

pub(crate) use cc::arguments;
pub(crate) use completions::ASKED;

#[derive(Subcommand)]
pub(crate) enum Command {
    Dump(dump::Dump),
    Explain(Explain),
    #[command(hide = true)]
    Alias(Explain),
    #[command(hide = true)]
    Generic(Explain),
    Matrix(matrix::Matrix),
    Masks(masks::MasksOf),
    Graph(graph::Graph),
    Diff(diff::Diff),
    Check(Check),
    #[command(hide = true)]
    Verify(Check),
    #[command(hide = true)]
    Lint(Check),
    Declare(declare::Declare),
    Stats(stats::Stats),
    Report(report::Report),
    Types(types::Types),
    Link(link::Link),
    Lower(lower::Lower),
    Strip(strip::Strip),
    Tag(tag::Tag),
    Instrument(instrument::Instrument),
    Cc(cc::Cc),
    /// Compiles C++ as clang++ does, with run-time checks of tags; see `tbaa cc`.
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(cc::Cc),
    Run(cc::Run),
    Bisect(bisect::Bisect),
    Blocks(blocks::Blocks),
    Worth(worth::Worth),
    /// Prints the path of the plugin for LLVM 22, after compiling it if need be.
    #[command(after_help = include_str!("help/plugin.txt"))]
    Plugin,
    Completions(completions::Completions),
    Man(completions::Man),
}

/// The result of a command that ran to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Fine,
    /// The input could be read, but there are findings in it.
    Found,
    /// Another program ended with this exit status.
    Ended(u8),
}

/// Runs a command, which writes its own output to `out`.
pub(crate) fn run(command: Command, out: &mut dyn Write) -> Result<Outcome> {
    match command {
        Command::Diff(args) => return diff::run(&args, out),
        Command::Dump(args) => dump::run(&args, out)?,
        Command::Explain(args) => explain::run(&args, out)?,
        Command::Alias(args) => explain::run(&Explain { brief: true, ..args }, out)?,
        Command::Generic(args) => explain::run(&Explain { generic: true, ..args }, out)?,
        Command::Graph(args) => graph::run(&args, out)?,
        Command::Matrix(args) => matrix::run(&args, out)?,
        Command::Masks(args) => masks::run(&args, out)?,
        Command::Check(args) => return check::run(&args, args.only, out),
        Command::Verify(args) => return check::run(&args, Some(Part::Verify), out),
        Command::Lint(args) => return check::run(&args, Some(Part::Lint), out),
        Command::Declare(args) => return declare::run(&args, out),
        Command::Stats(args) => stats::run(&args, out)?,
        Command::Types(args) => types::run(&args, out)?,
        Command::Link(args) => link::run(&args, out)?,
        Command::Lower(args) => lower::run(&args, out)?,
        Command::Strip(args) => strip::run(&args, out)?,
        Command::Tag(args) => tag::run(&args, out)?,
        Command::Instrument(args) => instrument::run(&args, out)?,
        Command::Cc(args) => return cc::run(&args, false).map(Outcome::Ended),
        Command::Cxx(args) => return cc::run(&args, true).map(Outcome::Ended),
        Command::Run(args) => return cc::run_file(&args).map(Outcome::Ended),
        Command::Bisect(args) => return bisect::run(&args, out),
        Command::Blocks(args) => blocks::run(&args, out)?,
        Command::Worth(args) => worth::run(&args, out)?,
        Command::Plugin => worth::plugin(out)?,
        Command::Report(args) => report::run(&args, out)?,
        Command::Completions(args) => completions::run(&args, out)?,
        Command::Man(args) => completions::man(&args, out)?,
    }
    Ok(Outcome::Fine)
}
