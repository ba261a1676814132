//! Prints the findings of `tbaa check`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anstream::adapter::strip_bytes;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use serde::Serialize;
use tbaa_check::{Code, Diagnostic, LeftOut, Level};
use tbaa_ir::DebugInfo;

use super::{Outcome, sarif};
use crate::input::Input;
use crate::output::{counted, for_each_input, write_json};
use crate::render::Source;
use crate::report::{Result, note};
use crate::sources::Sources;

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum FindingFormat {
    #[default]
    Text,
    Json,
    Sarif,
}

pub(super) struct Findings {
    pub(super) input: Input,
    pub(super) found: tbaa_check::Findings,
}

/// Findings and the texts that they point into: the input, or the source files compiled to it.
pub(super) struct Placed<'f> {
    /// The file name and contents of each text. The input is the first.
    texts: Vec<(Cow<'f, str>, Cow<'f, [u8]>)>,
    /// Each finding with the index of its text.
    findings: Vec<(usize, Cow<'f, Diagnostic>)>,
}

impl Placed<'_> {
    pub(super) fn with_sources(&self) -> impl Iterator<Item = (Rc<Source<'_>>, &Diagnostic)> {
        let sources = self.texts.iter().map(|(file, text)| Rc::new(Source::new(file, text)));
        let sources: Vec<_> = sources.collect();
        self.findings.iter().map(move |(at, finding)| (sources[*at].clone(), &**finding))
    }
}

impl Findings {
    /// Moves findings to lines of the source, if clang compiled the input and locations are known.
    fn placed(&self) -> Placed<'_> {
        let input = &self.input;
        let module = input.module().ok().filter(|_| input.is_compiled());
        let debug = module.map(DebugInfo::new);
        let own = (Cow::Borrowed(input.file()), Cow::Borrowed(input.text()));
        let mut texts = vec![own];
        let findings = self.found.iter().map(|finding| {
            let found = debug.as_ref().and_then(|debug| in_source(debug, &mut texts, finding));
            found.unwrap_or((0, Cow::Borrowed(finding)))
        });
        Placed { findings: findings.collect(), texts }
    }
}

/// Moves a finding to a source file, which is added to `texts` if it is new. Returns the index of
/// the file and the new finding; `None` if not all labels can be moved to one file.
fn in_source<'f>(
    debug: &DebugInfo<'_>,
    texts: &mut Vec<(Cow<'_, str>, Cow<'_, [u8]>)>,
    finding: &Diagnostic,
) -> Option<(usize, Cow<'f, Diagnostic>)> {
    let at = debug.location_at(finding.primary.as_ref()?.span.start)?;
    let index = match texts.iter().skip(1).position(|(file, _)| *file == at.file) {
        Some(index) => index + 1,
        None => {
            let text = Sources::text(&at)?;
            texts.push((Cow::Owned(at.file.clone()), Cow::Owned(text)));
            texts.len() - 1
        }
    };
    let text = &texts[index].1;
    let mut finding = finding.clone();
    for label in finding.primary.iter_mut().chain(&mut finding.secondary) {
        let of_label = debug.location_at(label.span.start)?;
        (of_label.file == at.file).then_some(())?;
        let line = text.split(|&byte| byte == b'\n').nth(of_label.line.checked_sub(1)? as usize)?;
        // `line` is a slice of `text`, so the difference of the pointers is its offset.
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let column = (of_label.column.max(1) as usize - 1).min(line.len());
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
        let word = line[column..].iter().take_while(is_word).count();
        label.span = start + column..start + column + word.max(1).min(line.len() - column);
    }
    Some((index, Cow::Owned(finding)))
}

/// A finding in `--format json`.
#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    /// The line, from 1; `None` for a finding without a position.
    line: Option<usize>,
    column: Option<usize>,
    #[serde(flatten)]
    finding: &'a Diagnostic,
}

/// Runs `judge` on each input, and prints the findings that it returns.
pub(super) fn run(
    inputs: &[PathBuf],
    format: FindingFormat,
    out: &mut dyn Write,
    mut judge: impl FnMut(&Path, &mut dyn Write) -> Result<Option<Findings>>,
) -> Result<Outcome> {
    let mut all = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    let mut left_out: BTreeMap<Code, LeftOut> = BTreeMap::new();
    let unusable = for_each_input(inputs, |path| {
        let Some(findings) = judge(path, out)? else { return Ok(()) };
        let level = |level| findings.found.iter().filter(|found| found.level == level).count();
        errors += level(Level::Error);
        warnings += level(Level::Warning);
        for more in findings.found.left_out() {
            let none = LeftOut { count: 0, at_least: false, ..more };
            let all = left_out.entry(more.code).or_insert(none);
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
            let placed: Vec<_> = all.iter().map(Findings::placed).collect();
            sarif::write(placed.iter().flat_map(Placed::with_sources), out)?;
        }
    }
    out.flush()?;
    left_out.values().for_each(tell_left_out);
    let found = errors + warnings > 0 || !left_out.is_empty();
    if found && format == FindingFormat::Text {
        let [errors, warnings] =
            [(errors, "error"), (warnings, "warning")].map(|(count, what)| counted(count, what));
        note(format!("{errors}, {warnings}; `tbaa check --explain CODE` explains a code"));
    }
    match unusable {
        Some(failure) => Err(failure),
        None => Ok(if found { Outcome::Found } else { Outcome::Fine }),
    }
}

fn tell_left_out(LeftOut { code, count, at_least, .. }: &LeftOut) {
    let of_code = format!("of {code} ({})", code.title());
    note(match (count, at_least) {
        (0, _) => format!(
            "there may be more {of_code}: the input is too large to search all of it; try parts of it"
        ),
        (_, false) => format!("and {count} more {of_code}: raise --limit to see them"),
        (_, true) => format!("and {count} more or above {of_code}: raise --limit to see some"),
    });
}

fn write_text(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    for (source, finding) in findings.placed().with_sources() {
        source.write(finding, &mut text)?;
        write_in_color(&text, out)?;
        text.clear();
    }
    Ok(())
}

/// Writes coloured text, without the colours if standard output does not want them.
fn write_in_color(text: &[u8], out: &mut dyn Write) -> io::Result<()> {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => out.write_all(&strip_bytes(text).into_vec()),
        _ => out.write_all(text),
    }
}

fn write_rows(all: &[Findings], out: &mut dyn Write) -> io::Result<()> {
    let placed: Vec<_> = all.iter().map(Findings::placed).collect();
    let rows = placed.iter().flat_map(Placed::with_sources).map(|(source, finding)| {
        let position = finding.primary.as_ref().map(|at| source.position(at.span.start));
        let (line, column) = position.unzip();
        Row { file: source.file(), line, column, finding }
    });
    write_json(&rows.collect::<Vec<_>>(), out)
}
