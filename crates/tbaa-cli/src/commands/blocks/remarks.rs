//! Writes the results of `tbaa blocks` for other programs: SARIF, and LLVM's optimisation records.

use std::io::{self, Write};

use serde_json::{Value, json};
use tbaa_ir::Location;

use super::show::{BlockerRow, Could, Row, ShownEvent};
use crate::commands::sarif;
use crate::input::Input;
use crate::printable::printable;
use crate::render::Source;

/// The largest number of stores and calls that a record lists for one load.
const LISTED: usize = 8;

/// Returns a record's name: for loads the name that LLVM's GVN or LICM uses, otherwise a new name.
fn name(could: Could) -> &'static str {
    match could {
        Could::Hoist => "LoadWithLoopInvariantAddressInvalidated",
        Could::Sink => "StoreStaysInLoop",
        Could::Vectorise => "LoopNotVectorized",
        Could::Reuse | Could::Partly => "LoadClobbered",
    }
}

/// Returns a record's text up to the list of stores and calls.
fn said(row: &Row) -> String {
    let what = &row.load.what;
    match (row.could, &row.around) {
        (Could::Vectorise, around) => {
            let at = around.as_ref().map(|around| format!(" at {around}")).unwrap_or_default();
            format!(
                "{what} keeps the loop{at} from vectors, or behind a check: it may be the memory of "
            )
        }
        (Could::Sink, Some(around)) => {
            format!("{what} stays in the loop at {around}: its memory may be used by ")
        }
        (_, Some(around)) => format!("{what} stays in the loop at {around}: it may be changed by "),
        (Could::Hoist, None) => format!("{what} stays in its loop: it may be changed by "),
        _ => format!("{what} is repeated: its value may be changed by "),
    }
}

pub(super) fn sarif(rows: &[Row], input: &Input) -> Vec<Value> {
    let text = Source::new(input.file(), input.text());
    let place = |event: &ShownEvent, message: Option<&str>| {
        let (file, region) = match &event.at {
            Some(at) if at.column > 0 => {
                (&*at.file, Some(json!({ "startLine": at.line, "startColumn": at.column })))
            }
            Some(at) => (&*at.file, Some(json!({ "startLine": at.line }))),
            None => {
                let position = event.offset.map(|offset| text.position(offset));
                let region = |(line, column): (usize, usize)| json!({ "startLine": line, "startColumn": column });
                (input.file(), position.map(region))
            }
        };
        sarif::location(&sarif::uri(file), region, message)
    };
    let result = |row: &Row| {
        let mut message = said(row) + &blockers(row).join("; ") + &row.heat();
        message.extend(row.helps().iter().map(|help| format!("\nhelp: {help}")));
        let related = row.blockers.iter().take(LISTED).map(|blocker| {
            place(&blocker.place, Some(&format!("{}: {}", blocker.place.what, blocker.why)))
        });
        json!({
            "ruleId": name(row.could),
            "level": "note",
            "message": { "text": message },
            "locations": [place(&row.load, None)],
            "relatedLocations": related.collect::<Vec<Value>>(),
        })
    };
    rows.iter().map(result).collect()
}

pub(super) fn write_sarif(results: Vec<Value>, out: &mut dyn Write) -> io::Result<()> {
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    let rules = [
        (Could::Reuse, "a store or call prevents LLVM from reusing a loaded value"),
        (Could::Sink, "another access prevents LLVM from moving a store out of its loop"),
        (Could::Vectorise, "two accesses that may overlap keep LLVM from using vectors"),
        (Could::Hoist, "a store or call prevents LLVM from moving a load out of its loop"),
    ];
    sarif::log(rules.map(|(of, text)| rule(name(of), text)).into(), results, out)
}

/// Returns a text for each of the first [`LISTED`] blockers, and one that counts the others.
fn blockers(row: &Row) -> Vec<String> {
    let named = row.blockers.iter().take(LISTED).map(|blocker| match &blocker.place.source {
        Some(source) => format!("{} at {source} ({})", blocker.place.what, blocker.why),
        None => format!("{} ({})", blocker.place.what, blocker.why),
    });
    let mut named: Vec<String> = named.collect();
    if let more @ 1.. = row.blockers.len().saturating_sub(LISTED) {
        named.push(format!("{more} more"));
    }
    named
}

/// Writes LLVM's optimisation records in YAML. LLVM: `YAMLRemarkSerializer`.
pub(super) fn yaml(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let place = |event: &ShownEvent| {
        let Location { file, line, column, .. } = event.at.as_ref()?;
        Some(format!("{{ File: {}, Line: {line}, Column: {column} }}", quoted(file)))
    };
    for row in rows {
        writeln!(out, "--- !Missed\nPass:            tbaa\nName:            {}", name(row.could))?;
        if let Some(place) = place(&row.load) {
            writeln!(out, "DebugLoc:        {place}")?;
        }
        writeln!(out, "Function:        {}", quoted(row.function.trim_start_matches('@')))?;
        if let Some(heat) = &row.heat {
            writeln!(out, "Hotness:         {}", heat.count)?;
        }
        writeln!(out, "Args:\n  - String:          {}", quoted(&said(row)))?;
        for (at, blocker) in row.blockers.iter().take(LISTED).enumerate() {
            let BlockerRow { place: event, why, .. } = blocker;
            if at > 0 {
                writeln!(out, "  - String:          '; '")?;
            }
            writeln!(out, "  - ClobberedBy:     {}", quoted(&event.what))?;
            if let Some(place) = place(event) {
                writeln!(out, "    DebugLoc:        {place}")?;
            }
            writeln!(out, "  - String:          {}", quoted(&format!(" ({why})")))?;
        }
        if let more @ 1.. = row.blockers.len().saturating_sub(LISTED) {
            writeln!(out, "  - String:          '; and {more} more'")?;
        }
        writeln!(out, "...")?;
    }
    Ok(())
}

/// Returns a YAML scalar in single quotes, in which each single quote of the text is doubled.
fn quoted(text: &str) -> String {
    format!("'{}'", printable(text).replace('\'', "''"))
}
