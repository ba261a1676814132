//! `tbaa blocks --source`: prints source lines, with notes on what blocks an optimisation.
//!
//! A row is a load, store or loop. Its blockers are the accesses that keep LLVM from optimising it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use indexmap::IndexSet;
use serde::Serialize;
use tbaa_ir::Location;

use super::show::{BlockerRow, Could, Row, Shown};
use crate::output::listed;
use crate::report::{Result, bail, note};
use crate::sources::Sources;

/// The number of lines of context before and after a line with notes.
const AROUND: u32 = 1;
/// The largest number of blockers that a note names. The others are counted.
const SHOWN: usize = 4;

/// A source line. `reloads` counts the blocked loads and loops on it, `blocks` the blockers on it.
#[derive(Serialize)]
pub(crate) struct SourceLine {
    file: String,
    line: u32,
    text: String,
    reloads: usize,
    blocks: usize,
}

#[derive(Default)]
struct Said {
    reloads: usize,
    blocks: usize,
    notes: IndexSet<String>,
}

type Lines = BTreeMap<u32, Said>;

fn by_file<'r>(rows: &'r [Row], sources: &Sources) -> Vec<(&'r Location, Lines)> {
    let mut files: Vec<(&Location, Lines)> = Vec::new();
    let mut said = |at: &'r Location, add: &mut dyn FnMut(&mut Said)| {
        let is_file = |lines: &(&Location, Lines)| {
            lines.0.file == at.file && lines.0.directory == at.directory
        };
        let place = files.iter().position(is_file).unwrap_or_else(|| {
            files.push((at, Lines::new()));
            files.len() - 1
        });
        add(files[place].1.entry(at.line).or_default());
    };
    for row in rows {
        let Some(at) = &row.load.at else { continue };
        for BlockerRow { place, why, .. } in &row.blockers {
            if let Some(at) = &place.at {
                said(at, &mut |said| {
                    said.blocks += 1;
                    said.notes.insert(format!("{}: {why}", place.what));
                });
            }
        }
        let turn = match &row.around {
            Some(around) => format!(" in every turn of the loop at {}", short(around, at, sources)),
            None => String::new(),
        };
        let [verb, end] = match row.could {
            Could::Sink => ["stores", "use that memory"],
            Could::Vectorise => ["uses no vectors for", "be the same memory"],
            _ => ["reloads", "change it"],
        };
        let (what, blockers) = (&row.load.of, blockers(row, at, sources));
        let (name, heat) = (&row.function, row.heat());
        let reload = format!("{name} {verb} {what}{turn}, because {blockers} may {end}{heat}");
        said(at, &mut |said| {
            said.reloads += usize::from(row.could != Could::Sink);
            said.notes.insert(reload.clone());
            said.notes.extend(row.helps().iter().map(|help| format!("help: {help}")));
        });
    }
    files
}

fn blockers(row: &Row, at: &Location, sources: &Sources) -> String {
    let name = |row: &BlockerRow| match &row.place.source {
        Some(source) => short(source, at, sources),
        None => row.place.what.clone(),
    };
    let names: IndexSet<String> = row.blockers.iter().map(name).collect();
    listed(names.into_iter(), SHOWN, " or ", " or ")
}

/// Returns `line 7` if `source`, such as `f.c:7`, is in the file of `at`, otherwise `source`.
fn short(source: &str, at: &Location, sources: &Sources) -> String {
    let line = source.strip_prefix(&sources.name(at)).and_then(|rest| rest.strip_prefix(':'));
    line.map_or_else(|| source.to_owned(), |line| format!("line {line}"))
}

pub(super) fn write(rows: &[Row], shown: &Shown<'_>, out: &mut dyn Write) -> Result {
    let files = by_file(rows, &shown.sources);
    if files.is_empty() && !rows.is_empty() {
        bail!(
            "{} has no debug information that tells the lines of these loads: compile with -g, or \
             leave out --source",
            shown.input.file()
        );
    }
    for (at, lines) in &files {
        write_file(at, lines, &shown.sources, out)?;
    }
    Ok(())
}

fn write_file(
    at: &Location,
    lines: &Lines,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "reloads  blocks    line  {}", sources.name(at))?;
    let mut last = None;
    let (mut missing, mut found) = (0, 0);
    for (&line, said) in lines {
        let first = line.saturating_sub(AROUND).max(1);
        let from = last.map_or(first, |last: u32| first.max(last + 1));
        if last.is_some_and(|last| from > last + 1) {
            writeln!(out, "{:>22}", "...")?;
        }
        for number in from..=line.saturating_add(AROUND) {
            // This line has notes of its own, so the next turn of the outer loop prints it.
            if number > line && lines.contains_key(&number) {
                break;
            }
            let text = sources.line(at, number);
            let is_said = number == line;
            match text {
                Some(_) => found += 1,
                None if is_said => missing += 1,
                None => continue,
            }
            let figure = |count: usize| match count {
                1.. if is_said => count.to_string(),
                _ => String::new(),
            };
            let [reloads, blocks] = [said.reloads, said.blocks].map(figure);
            let row = format!("{reloads:>7}{blocks:>8}{number:>8}  {}", text.unwrap_or_default());
            writeln!(out, "{}", row.trim_end())?;
            if is_said {
                for note in &said.notes {
                    writeln!(out, "{:>22}> {note}", "")?;
                }
            }
            last = Some(number);
        }
    }
    writeln!(out)?;
    if missing > 0 && found == 0 {
        note(format!(
            "{} cannot be read, so its lines are not shown: run this where the program was compiled",
            sources.name(at)
        ));
    }
    Ok(())
}

/// Returns the source lines of a row and of its blockers, with the lines around them.
pub(super) fn around(row: &Row, shown: &Shown<'_>) -> Vec<SourceLine> {
    /// The largest number of lines that are returned.
    const MOST: usize = 16;
    let files = by_file(std::slice::from_ref(row), &shown.sources);
    let mut all = Vec::new();
    for (at, lines) in &files {
        let mut last = 0;
        for &line in lines.keys() {
            let from = line.saturating_sub(AROUND).max(last + 1);
            for number in from..=line.saturating_add(AROUND) {
                let Some(text) = shown.sources.line(at, number) else { continue };
                let file = shown.sources.name(at);
                let (reloads, blocks) =
                    lines.get(&number).map_or((0, 0), |said| (said.reloads, said.blocks));
                all.push(SourceLine { file, line: number, text, reloads, blocks });
                last = number;
            }
        }
    }
    all.truncate(MOST);
    all
}
