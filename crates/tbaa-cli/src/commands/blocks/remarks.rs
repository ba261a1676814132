//! Writes the results of `tbaa blocks` for other programs: SARIF, and LLVM's optimisation records.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::show::{BlockerRow, Could, Row, ShownEvent};
use crate::commands::sarif;
use crate::input::Input;
use crate::printable::printable;
use crate::render::Source;

/// The most stores and calls that a record lists for one load.
const LISTED: usize = 8;

/// Returns a record's name. For loads these are the names that LLVM's GVN and LICM use; the others are ours.
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

/// Returns the SARIF results of one input.
pub(super) fn sarif(rows: &[Row], input: &Input) -> Vec<Value> {
    let text = Source::new(input.file(), input.text());
    let place = |word: &ShownEvent, message: Option<&str>| match &word.at {
        Some(at) => {
            let mut region = json!({ "startLine": at.line });
            if at.column > 0 {
                region["startColumn"] = json!(at.column);
            }
            sarif::location(&sarif::uri(&at.file), Some(region), message)
        }
        None => {
            let region = word.offset.map(|offset| {
                let (line, column) = text.position(offset);
                json!({ "startLine": line, "startColumn": column })
            });
            sarif::location(&sarif::uri(input.file()), region, message)
        }
    };
    let result = |row: &Row| {
        let mut message = format!("{}{}", said(row), blockers(row).join("; "));
        message += &row.heat();
        message.extend(row.helps().iter().map(|help| format!("\nhelp: {help}")));
        let related = row.blockers.iter().take(LISTED);
        let related = related.map(|related| {
            place(&related.place, Some(&format!("{}: {}", related.place.what, related.why)))
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

/// Returns a text for each blocker, and for the number of those that are not listed.
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

/// Writes LLVM's optimisation records in YAML.
///
/// LLVM: `YAMLRemarkSerializer`.
pub(super) fn yaml(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let place = |event: &ShownEvent| {
        event.at.as_ref().map(|at| {
            format!("{{ File: {}, Line: {}, Column: {} }}", quoted(&at.file), at.line, at.column)
        })
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
        for (at, BlockerRow { place: it, why, .. }) in row.blockers.iter().take(LISTED).enumerate()
        {
            if at > 0 {
                writeln!(out, "  - String:          '; '")?;
            }
            writeln!(out, "  - ClobberedBy:     {}", quoted(&it.what))?;
            if let Some(place) = place(it) {
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

/// Returns a YAML scalar in single quotes. Only the quote itself is escaped there: it is doubled.
fn quoted(text: &str) -> String {
    format!("'{}'", printable(text.as_bytes()).replace('\'', "''"))
}
