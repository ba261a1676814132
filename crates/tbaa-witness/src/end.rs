//! Writes the summary of all reports when the program ends, as text, JSON and SARIF.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::kinds::{self, Kind, place};
use crate::log;
use crate::options::options;
use crate::outside;
use crate::sites::Described;
use crate::states;
use crate::symbols::{Frame, source_name};

/// The largest number of functions without instrumentation that the text lists. JSON lists all.
const FUNCTIONS: usize = 20;

/// Writes the summary as text, to standard error or to the log file.
pub(crate) fn say() {
    let (count, kinds) = (kinds::count(), kinds::kinds(false));
    if count > 0 {
        let which = match options().all || kinds.len() == count as usize {
            true => "",
            false => "; only the first of each kind was printed (all=1 prints all)",
        };
        let [all, of] = [(count as usize, "contradiction"), (kinds.len(), "kind")].map(counted);
        log::say(&format!("{all} in all, of {of}{which}"));
        if count > 1 {
            log::say(&by_kind(kinds));
        }
    }
    let warnings = kinds::kinds(true);
    if !warnings.is_empty() {
        let pairs: u32 = warnings.iter().map(|kind| kind.pairs).sum();
        let [all, of] = [(pairs as usize, "warning"), (warnings.len(), "kind")].map(counted);
        log::say(&format!(
            "{all} in all, of {of}; warnings do not change the exit status. Not checked are such writes in two \
             functions or through loaded pointers (report_stores=1 checks them), and writes over bytes \
             that another type has read (reuse=1 checks them)"
        ));
    }
    let forgotten = states::forgotten();
    if forgotten > 0 {
        log::say(&format!(
            "a table was full, so the program was checked in part: {forgotten} accesses were not \
             recorded; check fewer of its files at once"
        ));
    }
    let calls = outside::unknown();
    if !calls.is_empty() && (count > 0 || options().calls) {
        let mut text = String::from(
            "the program called functions that are not checked and not known; the memory that they \
             can reach was forgotten",
        );
        for (name, calls) in calls.iter().take(FUNCTIONS) {
            let _ = write!(text, "\n  {} times, {} bytes", calls.times, calls.bytes);
            if calls.all > 0 {
                let _ = write!(text, ", all memory {} times", calls.all);
            }
            let _ = write!(text, ": {}", source_name(name));
        }
        if let more @ 1.. = calls.len().saturating_sub(FUNCTIONS) {
            let _ = write!(text, "\n  and {more} more; json=FILE lists all");
        }
        log::say(&text);
    }
}

fn counted((count, what): (usize, &str)) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn by_kind(kinds: Vec<Kind>) -> String {
    let mut text = String::from(
        "the kinds, beginning with those that LLVM can exploit most easily; each line has the number \
         of pairs of accesses, and the pair that shows the kind best",
    );
    let mut needs = "";
    for kind in &kinds {
        if std::mem::replace(&mut needs, kind.needs()) != kind.needs() {
            let _ = write!(text, "\n {needs}");
        }
        let _ = write!(text, "\n  {:>5}", kind.pairs);
        for ((word, site), says) in kind.words().into_iter().zip(&kind.best).zip(&kind.says) {
            let _ = write!(text, "  {word} {says}, in {}{}", site.function_name(), place(site));
        }
    }
    text
}

#[cold]
pub(crate) fn halt() {
    if options().halt {
        write_files();
        // SAFETY: ends the process.
        unsafe { libc::_exit(if options().exitcode == 0 { 1 } else { options().exitcode }) };
    }
}

pub(crate) fn write_files() {
    for (file, document) in
        [(&options().json, json as fn() -> Value), (&options().sarif, sarif as fn() -> Value)]
    {
        let Some(file) = file else { continue };
        let file = file.replace("%p", &std::process::id().to_string());
        let written = log::open(&file, false).and_then(|mut out| writeln!(out, "{:#}", document()));
        if let Err(error) = written {
            log::say(&format!("cannot write {file}: {error}"));
        }
    }
}

fn json() -> Value {
    let access = |word: &str, site: &Described, says: &str| {
        json!({
            "does": word, "says": says, "instruction": site.what, "function": site.function,
            "file": site.file, "line": site.line, "column": site.column, "bytes": site.size,
        })
    };
    let frame = |frame: &Frame| {
        json!({
            "function": frame.function, "file": frame.file, "line": frame.line, "column": frame.column,
            "place": frame.place,
        })
    };
    let (kinds, warnings) = (kinds::kinds(false), kinds::kinds(true));
    let kind = |kind: &Kind| {
        let [first, second] =
            [0, 1].map(|at| access(kind.words()[at], &kind.best[at], &kind.says[at]));
        let rules: Vec<_> = kind.rules.iter().map(ToString::to_string).collect();
        json!({
            "happens": kind.happens(), "needs": kind.needs(), "pairs": kind.pairs, "first": first, "second": second,
            "rules": rules, "reason": kind.reason, "so": kind.so(), "help": kind.help,
            "stack": kind.stack.iter().map(frame).collect::<Vec<_>>(),
        })
    };
    let calls = outside::unknown().into_iter().map(|(name, calls)| {
        json!({
            "function": name, "times": calls.times, "bytes": calls.bytes, "all_memory": calls.all,
        })
    });
    json!({
        "process": std::process::id(),
        "contradictions": kinds::count(),
        "pairs_compared": states::met(),
        "forgotten_for_want_of_room": states::forgotten(),
        "kinds": kinds.iter().map(kind).collect::<Vec<_>>(),
        "warnings": warnings.iter().map(kind).collect::<Vec<_>>(),
        "unknown_calls": calls.collect::<Vec<_>>(),
    })
}

/// Returns the kinds of reports in the format SARIF 2.1.0 (OASIS), each kind as one result.
fn sarif() -> Value {
    let physical = |file: &str, line: u32, column: u32| {
        json!({
            "artifactLocation": { "uri": file },
            "region": { "startLine": line.max(1), "startColumn": column.max(1) },
        })
    };
    let location = |site: &Described| {
        json!({
            "physicalLocation": physical(&site.file, site.line, site.column),
            "logicalLocations": [{ "name": site.function, "kind": "function" }],
        })
    };
    let frame = |frame: &Frame| {
        json!({ "location": {
            "physicalLocation": physical(&frame.file, frame.line, frame.column),
            "message": { "text": frame.function },
        }})
    };
    let kinds = [kinds::kinds(false), kinds::kinds(true)].concat();
    let result = |kind: &Kind| {
        let level = if kinds::warns(kind.order) { "note" } else { "warning" };
        let [first, second] = kind.words();
        let text = format!(
            "{first} of {}, then {second} of {}: {}; {}. {} of such accesses. Help: {}.",
            kind.says[0],
            kind.says[1],
            kind.reason.replace('\n', "; "),
            kind.so(),
            counted((kind.pairs as usize, "pair")),
            kind.help,
        );
        json!({
            "ruleId": "contradiction", "level": level, "message": { "text": text },
            "locations": [location(&kind.best[1])],
            "relatedLocations": [location(&kind.best[0])],
            "stacks": [{ "frames": kind.stack.iter().map(frame).collect::<Vec<_>>() }],
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tbaa-witness",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [{
                    "id": "contradiction",
                    "shortDescription": { "text": "two accesses contradict their !tbaa tags" },
                }],
            }},
            "results": kinds.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}
