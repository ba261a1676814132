//! What `check`, `verify` and `lint` print.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use tbaa_check::{Code, Diagnostic, FindingLimits, LeftOut, Level};

use super::{Outcome, counted, for_each_input, sarif, write_json};
use crate::input::Input;
use crate::render::Source;
use crate::report::{Failure, note};

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum FindingFormat {
    #[default]
    Text,
    Json,
    Sarif,
}

/// What was found in one input.
pub(super) struct Findings {
    pub(super) input: Input,
    pub(super) found: tbaa_check::Findings,
}

/// What `--limit` asks for.
pub(super) fn limits(by_code: usize) -> FindingLimits {
    FindingLimits { by_code, in_all: by_code.saturating_mul(10) }
}

/// A finding in `--format json`.
#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    /// From 1; none of a spec's.
    line: Option<usize>,
    column: Option<usize>,
    #[serde(flatten)]
    finding: &'a Diagnostic,
}

/// Judges each input and prints what was found. `judge` returns nothing if it printed
/// its findings itself.
pub(super) fn run(
    inputs: &[PathBuf],
    format: FindingFormat,
    out: &mut dyn Write,
    mut judge: impl FnMut(&Path, &mut dyn Write) -> Result<Option<Findings>, Failure>,
) -> Result<Outcome, Failure> {
    let mut all = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    let mut left_out: BTreeMap<Code, LeftOut> = BTreeMap::new();
    let unusable = for_each_input(inputs, |path| {
        let Some(findings) = judge(path, out)? else { return Ok(()) };
        let level = |level| findings.found.iter().filter(|it| it.level == level).count();
        errors += level(Level::Error);
        warnings += level(Level::Warning);
        for more in findings.found.left_out() {
            let all = left_out.entry(more.code);
            let all = all.or_insert(LeftOut { count: 0, at_least: false, ..more });
            all.count = all.count.saturating_add(more.count);
            all.at_least |= more.at_least;
        }
        match format {
            FindingFormat::Text => write_text(&findings, out)?,
            _ => all.push(findings),
        }
        Ok(())
    })?;
    match format {
        FindingFormat::Text => {}
        FindingFormat::Json => write_rows(&all, out)?,
        FindingFormat::Sarif => {
            sarif::write(all.iter().map(|it| (&it.input, &it.found)), out)?;
        }
    }
    out.flush()?;
    left_out.values().for_each(tell_left_out);
    let found = errors + warnings > 0 || !left_out.is_empty();
    if found && format == FindingFormat::Text {
        let [errors, warnings] = [(errors, "error"), (warnings, "warning")]
            .map(|(count, what)| counted(count as u64, what, &format!("{what}s")));
        note(format!("{errors}, {warnings}; `tbaa lint --explain CODE` explains a code"));
    }
    match unusable {
        Some(failure) => {
            out.flush()?;
            Err(failure)
        }
        None if found => Ok(Outcome::Found),
        None => Ok(Outcome::Fine),
    }
}

fn tell_left_out(LeftOut { code, count, at_least, .. }: &LeftOut) {
    let of_code = format!("of {code} ({})", code.title());
    note(match (count, at_least) {
        (0, _) => {
            format!(
                "there may be more {of_code}: the input is too large to search all of it; try parts of it"
            )
        }
        (_, false) => format!("and {count} more {of_code}: raise --limit to see them"),
        (_, true) => format!("and {count} more or above {of_code}: raise --limit to see some"),
    });
}

fn write_text(Findings { input, found }: &Findings, out: &mut dyn Write) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let source = Source::new(input.file(), input.text());
    let mut text = Vec::new();
    for finding in found {
        source.write(finding, &mut text)?;
        write_in_color(&text, out)?;
        text.clear();
    }
    Ok(())
}

/// Writes text that is coloured, and takes the colour off unless standard output
/// is to have it.
fn write_in_color(text: &[u8], out: &mut dyn Write) -> io::Result<()> {
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => {
            out.write_all(&anstream::adapter::strip_bytes(text).into_vec())
        }
        _ => out.write_all(text),
    }
}

fn write_rows(all: &[Findings], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    for Findings { input, found } in all {
        let source = Source::new(input.file(), input.text());
        for finding in found {
            let position = finding.primary.as_ref().map(|at| source.position(at.span.start));
            let (line, column) = position.unzip();
            rows.push(Row { file: input.file(), line, column, finding });
        }
    }
    write_json(&rows, out)
}
