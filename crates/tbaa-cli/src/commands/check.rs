//! `tbaa check`.

use std::io::Write;
use std::path::PathBuf;

use tbaa::AliasRule;
use tbaa::spec::{Built, SpecPath};
use tbaa_check::lint::lint;
use tbaa_check::verify::{Options, verify};

use super::Outcome;
use super::findings::{self, FindingFormat, Findings, limits};
use super::lint::{Levels, open};
use crate::convert::FlagsArg;
use crate::input::{Content, Input};
use crate::output::counted;
use crate::printable::{Position, printable};
use crate::report::{Failure, place};

/// Checks modules, and the expected answers of specs.
///
/// For a module it reports what `verify` and `lint` report: what LLVM rejects, and what
/// it accepts although it is wrong or suspicious. For a spec it prints each expected
/// answer that does not hold, by all rules that the spec names, and a count.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/check.txt"))]
pub(crate) struct Check {
    /// .ll, .bc, C or C++ files, .ron specs, or `-`.
    #[arg(required = true)]
    pub(crate) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// What to print of modules.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FindingFormat,
}

/// The results for one or all specs.
#[derive(Default)]
struct Count {
    specs: u64,
    checked: u64,
    failed: u64,
}

pub(super) fn run(args: &Check, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let mut total = Count::default();
    let lints = args.levels.options();
    let rules = Options::from(AliasRule::Llvm).limits(limits(args.levels.limit));
    let outcome = findings::run(&args.input, args.format, out, |path, out| {
        let input = open(args.flags.among(path, args.input.iter()))?;
        let found = match &input.content {
            Content::Module(module) => lint(module, &lints).and(verify(module, rules)),
            Content::Spec(..) if args.format != FindingFormat::Text => {
                return Err(Failure::unusable(format!(
                    "{} is a spec, whose answers are checked as text: leave --format out",
                    input.file()
                )));
            }
            Content::Spec(built, _) => {
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

/// Prints the expected answers of a spec that do not hold.
fn spec(input: &Input, built: &Built, out: &mut dyn Write) -> Result<Count, Failure> {
    let report = built.check();
    let text = String::from_utf8_lossy(input.text());
    let file = input.file();
    let places = report.failures.iter().map(|failure| &failure.place);
    for (failure, (line, column)) in report.failures.iter().zip(SpecPath::locate_all(places, &text))
    {
        let at = place(file, Position { line, column });
        writeln!(
            out,
            "{at}: {:?} and {:?} by rule {}: expected {}, got {} ({})",
            failure.a,
            failure.b,
            failure.rule,
            failure.expected,
            failure.actual,
            printable(failure.why.as_bytes())
        )?;
    }
    let count =
        Count { specs: 1, checked: report.checked as u64, failed: report.failures.len() as u64 };
    writeln!(out, "{file}: {count}")?;
    Ok(count)
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} checked, {} failed", counted(self.checked, "answer", "answers"), self.failed)
    }
}
