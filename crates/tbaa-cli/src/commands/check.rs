//! `tbaa check`, and the old commands `tbaa lint` and `tbaa verify`, which check one [`Part`] each.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use tbaa::AliasRule;
use tbaa::spec::{Built, SpecPath};
use tbaa_check::lint::{self, Lint, lint, lint_graph};
use tbaa_check::verify::{self, verify, verify_graph};
use tbaa_check::{Code, FindingLimits, Level};
use tbaa_ir::Keep;

use super::Outcome;
use super::findings::{self, FindingFormat, Findings};
use super::types::Globals;
use crate::convert::FlagsArg;
use crate::input::{Content, Input};
use crate::output::counted;
use crate::printable::{printable, printable_path};
use crate::report::{Result, bail, note, place};

/// Reports tags and types that LLVM rejects, or accepts although they are wrong.
///
/// For each tag that LLVM 22's verifier rejects it reports the first requirement that the tag
/// breaks, and for each type used by a tag all that the type breaks. Rule llvm answers MayAlias
/// to every query about a rejected tag. It also reports the lints: what LLVM accepts although it
/// is wrong or suspicious. For a spec it prints each expected answer that does not hold, by all
/// rules that the spec names, and a count; with --only it reports findings in the spec's tags.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/check.txt"))]
pub(crate) struct Check {
    /// .ll, .bc, C or C++ files, .ron specs, or `-`.
    #[arg(required_unless_present_any = ["lints", "explain"])]
    input: Vec<PathBuf>,
    #[command(flatten)]
    flags: FlagsArg,
    /// Report one part only.
    #[arg(long, value_enum, value_name = "PART")]
    pub(super) only: Option<Part>,
    /// llvm, union or union-strict. LLVM follows only the last member of a union. By the other
    /// two, report the tags that lead to no field, and whether LLVM accepts them.
    #[arg(long, value_name = "RULES", default_value = "llvm")]
    rules: AliasRule,
    /// Report a lint as an error.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    deny: Vec<Lint>,
    /// Report a lint as a warning.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    warn: Vec<Lint>,
    /// Do not report a lint.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    allow: Vec<Lint>,
    /// Report at most this many findings of one code, and ten times as many in all.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    limit: usize,
    /// The output for modules.
    #[arg(long, value_enum, default_value_t)]
    format: FindingFormat,
    /// List the lints with their levels.
    #[arg(long, alias = "list", conflicts_with_all = ["input", "explain"])]
    lints: bool,
    /// Print the explanation of a code such as TBAA104.
    #[arg(long, value_name = "CODE", conflicts_with = "input")]
    explain: Option<Code>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Part {
    /// Tags and types that LLVM rejects.
    Verify,
    /// Tags and types that LLVM accepts although they are wrong or suspicious.
    Lint,
}

/// The numbers of checked and of failed expected answers, in one spec or in all.
#[derive(Default)]
struct Count {
    specs: usize,
    checked: usize,
    failed: usize,
}

fn lint_code(text: &str) -> Result<Lint, String> {
    match text.parse::<Code>().map_err(|error| error.to_string())? {
        Code::Lint(lint) => Ok(lint),
        Code::Rule(_) => {
            Err("this is a rule of LLVM's verifier, and these are always on".to_owned())
        }
    }
}

pub(super) fn run(args: &Check, only: Option<Part>, out: &mut dyn Write) -> Result<Outcome> {
    if args.lints {
        for code in Code::all() {
            let Code::Lint(lint) = code else { continue };
            let level = lint.level().map_or_else(|| "off".to_owned(), |level| level.to_string());
            writeln!(out, "{code}  {level:<7}  {}", code.title())?;
        }
        return Ok(Outcome::Fine);
    }
    if let Some(code) = args.explain {
        writeln!(out, "{}", code.page())?;
        return Ok(Outcome::Fine);
    }
    let limits = FindingLimits { by_code: args.limit, in_all: args.limit.saturating_mul(10) };
    let rules = verify::Options::from(args.rules).limits(limits);
    let mut lints = lint::Options::default().limits(limits);
    for (codes, level) in
        [(&args.warn, Some(Level::Warning)), (&args.deny, Some(Level::Error)), (&args.allow, None)]
    {
        lints = codes.iter().fold(lints, |lints, &code| lints.set(code, level));
    }
    let (mut total, mut globals) = (Count::default(), Globals::default());
    let outcome = findings::run(&args.input, args.format, out, |path, out| {
        let origin = args.flags.among(path, args.input.iter());
        let input = match only {
            Some(Part::Verify) => Input::open(origin)?,
            // Keep all nodes: a node that nothing uses can have a finding too.
            _ => Input::open_keeping(origin.as_written(), Keep::All)?,
        };
        if only == Some(Part::Lint) {
            if input.is_compiled() {
                let file = printable_path(path);
                note(format!(
                    "lint looks at one function at a time; `tbaa run {file}` checks a program while it runs"
                ));
            }
            if memchr::memmem::find(input.text(), b"!noalias !").is_some() {
                let what = "has alias scopes (!alias.scope, !noalias), which are not checked";
                note(format!("{} {what}: wrong ones do what wrong tags do", input.file()));
            }
            globals.add(&input);
        }
        let found = match (&input.content, only) {
            (Content::Module(module), Some(Part::Verify)) => verify(module, rules),
            (Content::Module(module), Some(Part::Lint)) => lint(module, &lints),
            (Content::Module(module), None) => lint(module, &lints).and(verify(module, rules)),
            (Content::Spec(built, _), Some(Part::Verify)) => verify_graph(built.graph(), rules),
            (Content::Spec(built, _), Some(Part::Lint)) => lint_graph(built.graph(), &lints),
            (Content::Spec(..), None) if args.format != FindingFormat::Text => bail!(
                "{} is a spec, whose answers are checked as text: leave --format out",
                input.file()
            ),
            (Content::Spec(built, _), None) => {
                let count = spec(&input, built, out)?;
                total.specs += 1;
                total.checked += count.checked;
                total.failed += count.failed;
                return Ok(None);
            }
        };
        Ok(Some(Findings { input, found }))
    });
    if total.specs > 1 {
        writeln!(out, "total: {total}")?;
        out.flush()?;
    }
    Ok(if total.failed > 0 { outcome.and(Ok(Outcome::Found))? } else { outcome? })
}

/// Prints the failed expected answers of a spec, and the counts.
fn spec(input: &Input, built: &Built, out: &mut dyn Write) -> Result<Count> {
    let report = built.check();
    let text = String::from_utf8_lossy(input.text());
    let file = input.file();
    let places = report.failures.iter().map(|failure| &failure.place);
    for (failure, position) in report.failures.iter().zip(SpecPath::locate_all(places, &text)) {
        let at = place(file, position);
        let (a, b, why) = (&failure.a, &failure.b, printable(&failure.why));
        let (rule, expected, actual) = (failure.rule, failure.expected, failure.actual);
        let got = format!("expected {expected}, got {actual} ({why})");
        writeln!(out, "{at}: {a:?} and {b:?} by rule {rule}: {got}")?;
    }
    let count = Count { specs: 1, checked: report.checked, failed: report.failures.len() };
    writeln!(out, "{file}: {count}")?;
    Ok(count)
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} checked, {} failed", counted(self.checked, "answer"), self.failed)
    }
}
