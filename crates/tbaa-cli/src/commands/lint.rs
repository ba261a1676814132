//! `tbaa lint`.

use std::io::Write;
use std::path::PathBuf;

use tbaa_check::lint::{Options, lint, lint_graph};
use tbaa_check::{Code, Level};
use tbaa_ir::Keep;

use super::Outcome;
use super::findings::{self, FindingFormat, Findings, limits};
use super::globals::Globals;
use crate::convert::{FlagsArg, Origin};
use crate::input::{Content, Input};
use crate::printable::printable_path;
use crate::report::{Failure, note};

/// Reports tags and types that LLVM accepts although they are wrong or suspicious.
///
/// `tbaa check` reports these and what LLVM rejects. `--list` lists the lints with their
/// levels. `--explain CODE` prints the page of a code.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/lint.txt"))]
pub(crate) struct Lint {
    /// .ll, .bc, C or C++ files, .ron specs, or `-`.
    #[arg(required_unless_present_any = ["list", "explain"])]
    pub(crate) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FindingFormat,
    /// List the lints.
    #[arg(long, conflicts_with_all = ["input", "explain"])]
    pub(crate) list: bool,
    /// Print the page of a code.
    #[arg(long, value_name = "CODE", conflicts_with = "input")]
    pub(crate) explain: Option<Code>,
}

/// Which lints are reported, and as what.
#[derive(clap::Args)]
pub(crate) struct Levels {
    /// Report a lint as an error.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    pub(crate) deny: Vec<tbaa_check::lint::Lint>,
    /// Report a lint as a warning.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    pub(crate) warn: Vec<tbaa_check::lint::Lint>,
    /// Do not report a lint.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    pub(crate) allow: Vec<tbaa_check::lint::Lint>,
    /// Findings of one code that are reported, and ten times as many in all.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: usize,
}

impl Levels {
    pub(super) fn options(&self) -> Options {
        let options = Options::default().limits(limits(self.limit));
        let levels = [
            (&self.warn, Some(Level::Warning)),
            (&self.deny, Some(Level::Error)),
            (&self.allow, None),
        ];
        levels.into_iter().fold(options, |options, (lints, level)| {
            lints.iter().fold(options, |options, &lint| options.set(lint, level))
        })
    }
}

fn lint_code(text: &str) -> Result<tbaa_check::lint::Lint, String> {
    match text.parse::<Code>() {
        Ok(Code::Lint(lint)) => Ok(lint),
        Ok(Code::Rule(_)) => Err("this is a code of `verify`, and these are always on".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn run(args: &Lint, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if args.list {
        list(out)?;
        return Ok(Outcome::Fine);
    }
    if let Some(code) = args.explain {
        writeln!(out, "{}", code.page())?;
        return Ok(Outcome::Fine);
    }
    let options = args.levels.options();
    let mut globals = Globals::default();
    findings::run(&args.input, args.format, out, |path, _| {
        let input = open(args.flags.among(path, args.input.iter()))?;
        if input.is_compiled() {
            let file = printable_path(path);
            note(format!(
                "lint looks at one function at a time; `tbaa run {file}` checks a program while it runs"
            ));
        }
        globals.add(&input);
        let found = match &input.content {
            Content::Module(module) => lint(module, &options),
            Content::Spec(built, _) => lint_graph(built.graph(), &options),
        };
        Ok(Some(Findings { input, found }))
    })
}

/// Reads what is to be linted: nodes that nothing uses are worth a finding too.
pub(super) fn open(origin: Origin<'_>) -> Result<Input, Failure> {
    let input = Input::open_keeping(origin.as_written(), Keep::All)?;
    if memchr::memmem::find(input.text(), b"!noalias !").is_some() {
        let what = "has alias scopes (!alias.scope, !noalias), which are not checked";
        note(format!("{} {what}: wrong ones do what wrong tags do", input.file()));
    }
    Ok(input)
}

fn list(out: &mut dyn Write) -> Result<(), Failure> {
    for code in Code::all() {
        let Code::Lint(lint) = code else { continue };
        let level = lint.level().map_or_else(|| "off".to_owned(), |level| level.to_string());
        writeln!(out, "{code}  {level:<7}  {}", code.title())?;
    }
    Ok(())
}
