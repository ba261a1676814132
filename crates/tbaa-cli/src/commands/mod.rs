//! The commands, one file each.

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
mod lint;
mod lower;
mod man;
mod matrix;
mod query;
mod report;
mod sarif;
mod stats;
mod strip;
mod tag;
mod types;
mod verify;
mod words;
mod worth;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use crate::printable::is_hidden;
use crate::report::Failure;

pub(crate) use cc::arguments;
pub(crate) use completions::ASKED;

#[derive(Subcommand)]
pub(crate) enum Command {
    Dump(dump::Dump),
    Alias(query::Alias),
    Explain(explain::Explain),
    Generic(query::Generic),
    Matrix(matrix::Matrix),
    Graph(graph::Graph),
    Diff(diff::Diff),
    Check(check::Check),
    Verify(verify::Verify),
    Lint(lint::Lint),
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
    Plugin(worth::Plugin),
    Completions(completions::Completions),
    Man(man::Man),
}

/// How a command ended that could do its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Fine,
    /// The input is readable, and something is wrong with what it says.
    Found,
    /// Another program ended so.
    Ended(u8),
}

/// Runs a command of the program, its answer going to `out`.
pub(crate) fn run(
    command: Command,
    program: fn() -> clap::Command,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    match command {
        Command::Diff(args) => return diff::run(&args, out),
        Command::Dump(args) => dump::run(&args, out)?,
        Command::Alias(args) => query::alias(&args, out)?,
        Command::Explain(args) => explain::run(&args, out)?,
        Command::Generic(args) => query::generic(&args, out)?,
        Command::Graph(args) => graph::run(&args, out)?,
        Command::Matrix(args) => matrix::run(&args, out)?,
        Command::Check(args) => return check::run(&args, out),
        Command::Verify(args) => return verify::run(&args, out),
        Command::Lint(args) => return lint::run(&args, out),
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
        Command::Plugin(args) => worth::plugin(&args, out)?,
        Command::Report(args) => report::run(&args, out)?,
        Command::Completions(args) => completions::run(&args, out)?,
        Command::Man(args) => man::run(&args, program(), out)?,
    }
    Ok(Outcome::Fine)
}

/// What a command prints that has no other formats.
#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum TextOrJson {
    #[default]
    Text,
    Json,
}

/// Stands before metadata whose numbers are not an input's.
const NEW_NUMBERS: &str = "; these nodes have new numbers, which are not those of the input";

/// Writes a document of `--format json`, and ends its line.
fn write_json(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_json_text(&serde_json::to_string(document)?, out)?;
    writeln!(out)
}

/// Writes JSON with an escape for each character that a terminal would obey: one can only be
/// in a string.
fn write_json_text(json: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = json;
    while let Some(at) = rest.find(is_hidden) {
        out.write_all(&rest.as_bytes()[..at])?;
        let hidden = rest[at..].chars().next().filter(|&it| it != '\n');
        let width = hidden.map_or(1, char::len_utf8);
        match hidden {
            None => out.write_all(b"\n")?,
            Some(it) => {
                for unit in it.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
        }
        rest = &rest[at + width..];
    }
    out.write_all(rest.as_bytes())
}

/// Does something for each input. One that cannot be used does not keep the others
/// from being looked at: the last of these is returned, and the others are reported.
fn for_each_input(
    inputs: &[PathBuf],
    mut work: impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<Option<Failure>, Failure> {
    let mut unusable = None::<Failure>;
    for path in inputs {
        match work(path) {
            Ok(()) => {}
            Err(Failure::Output(error)) => return Err(Failure::Output(error)),
            Err(failure) => {
                if let Some(earlier) = unusable.replace(failure) {
                    earlier.report();
                }
            }
        }
    }
    Ok(unusable)
}

/// The number of answers that are held and printed.
#[derive(clap::Args)]
pub(crate) struct AnswersLimit {
    /// The most answers of one matrix, one for each pair of its tags.
    #[arg(long, value_name = "COUNT", default_value_t = 1 << 28)]
    limit: u64,
}

impl AnswersLimit {
    /// Refuses to compare so many tags of `what` if the answers are too many.
    fn check(&self, tags: usize, what: &str) -> Result<(), Failure> {
        let answers = (tags as u64).saturating_mul(tags as u64);
        if answers <= self.limit {
            return Ok(());
        }
        Err(Failure::unusable(format!(
            "the {tags} tags of {what} have {answers} answers, above the limit of {}: raise it by \
             --limit, or ask about some of the tags by `tbaa alias`",
            self.limit
        )))
    }
}

/// The letter of an answer in grids and rows.
fn letter(may_alias: bool) -> u8 {
    if may_alias { b'M' } else { b'N' }
}

/// A count and what is counted.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `12.5 %`, or nothing to take a part of.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}
