//! The commands, one file each.

mod check;
mod completions;
pub(crate) mod declare;
mod dump;
mod eval;
mod explain;
mod matrix;
mod query;
mod stats;
mod svg;

use std::io::Write;

use tbaa::AliasResult;

use crate::args::Command;
use crate::report::Failure;

/// How a command ended that could do its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Fine,
    /// The input is readable, and something is wrong with what it says.
    Found,
}

/// Runs a command, its answer going to `out`.
pub(crate) fn run(command: Command, out: &mut dyn Write) -> Result<Outcome, Failure> {
    match command {
        Command::Dump(args) => dump::run(&args, out)?,
        Command::Alias(args) => query::alias(&args, out)?,
        Command::Explain(args) => explain::run(&args, out)?,
        Command::Generic(args) => query::generic(&args, out)?,
        Command::Matrix(args) => matrix::run(&args, out)?,
        Command::Eval(args) => eval::run(&args, out)?,
        Command::Check(args) => return check::run(&args, out),
        Command::Declare(args) => return declare::run(&args, out),
        Command::Stats(args) => stats::run(&args, out)?,
        Command::Completions(args) => completions::run(&args, out)?,
    }
    Ok(Outcome::Fine)
}

/// The letter of an answer in grids and rows.
fn letter(answer: AliasResult) -> u8 {
    match answer {
        AliasResult::MayAlias => b'M',
        AliasResult::NoAlias => b'N',
    }
}

/// A count and what is counted.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `12.5 %`, or nothing to take a part of.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}
