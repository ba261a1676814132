//! `tbaa check`.

use std::io::Write;
use std::path::{Path, PathBuf};

use tbaa::spec::SpecPath;

use super::{Outcome, counted, for_each_input};
use crate::files::read_file;
use crate::input::load_spec;
use crate::printable::{Position, printable};
use crate::report::{Failure, place};

/// Checks the expected answers of specs, by all rules that they name.
///
/// Prints each that does not hold, and a count for each spec.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa check specs/*.ron

Exit status:
  0  every expectation holds
  1  one does not
  2  a spec is unusable; the others are checked all the same")]
pub(crate) struct Check {
    /// Specs.
    #[arg(required = true, value_name = "SPEC")]
    pub(crate) specs: Vec<PathBuf>,
}

/// What came of one or all specs.
#[derive(Default)]
struct Count {
    checked: u64,
    failed: u64,
}

pub(super) fn run(args: &Check, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let mut total = Count::default();
    let unusable = for_each_input(&args.specs, |path| {
        let count = one(path, out)?;
        total.checked += count.checked;
        total.failed += count.failed;
        Ok(())
    })?;
    if args.specs.len() > 1 {
        writeln!(out, "total: {total}")?;
    }
    match unusable {
        Some(failure) => {
            out.flush()?;
            Err(failure)
        }
        None if total.failed > 0 => Ok(Outcome::Found),
        None => Ok(Outcome::Fine),
    }
}

fn one(path: &Path, out: &mut dyn Write) -> Result<Count, Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::unusable(
            "specs are not read from standard input; name a file, or `./-` for one of that name",
        ));
    }
    let (file, bytes) = read_file(path)?;
    let built = load_spec(&file, &bytes)?;
    let report = built.check();
    let text = String::from_utf8_lossy(&bytes);
    let places = report.failures.iter().map(|failure| &failure.place);
    for (failure, (line, column)) in report.failures.iter().zip(SpecPath::locate_all(places, &text))
    {
        let at = place(&file, Position { line, column });
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
    let count = Count { checked: report.checked as u64, failed: report.failures.len() as u64 };
    writeln!(out, "{file}: {count}")?;
    Ok(count)
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} checked, {} failed", counted(self.checked, "answer", "answers"), self.failed)
    }
}
