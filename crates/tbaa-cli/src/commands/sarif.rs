//! `--format sarif`: writes findings as SARIF 2.1.0, a standard format for analysers' results.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use std::io::{self, Write};
use std::rc::Rc;

use serde_json::{Value, json};
use tbaa_check::{Code, Diagnostic, Label, Level};

use crate::output::write_json_text;
use crate::render::Source;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write<'a>(
    all: impl Iterator<Item = (Rc<Source<'a>>, &'a Diagnostic)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let codes: Vec<Code> = Code::all().collect();
    let results = all
        .map(|(source, finding)| result(&codes, &source, &uri(source.file()), finding))
        .collect();
    log(codes.iter().map(|&code| rule(code)).collect(), results, out)
}

pub(super) fn log(rules: Vec<Value>, results: Vec<Value>, out: &mut dyn Write) -> io::Result<()> {
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tbaa",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            // Columns count characters.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    write_json_text(&serde_json::to_string_pretty(&log).map_err(io::Error::from)?, out)?;
    writeln!(out)
}

pub(super) fn location(uri: &str, region: Option<Value>, text: Option<&str>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(region) = region {
        physical["region"] = region;
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        location["message"] = json!({ "text": text });
    }
    location
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.to_string(),
        "shortDescription": { "text": code.title() },
        "help": { "text": code.page(), "markdown": code.page() },
        "defaultConfiguration": {
            "enabled": code.level().is_some(),
            "level": level(code.level().unwrap_or(Level::Warning)),
        },
    })
}

fn result(codes: &[Code], source: &Source<'_>, uri: &str, finding: &Diagnostic) -> Value {
    let location = |label: Option<&Label>, text: Option<&str>| {
        let region = label.map(|Label { span, .. }| {
            let [start, end] = [span.start, span.end].map(|offset| source.position(offset));
            json!({
                "startLine": start.0,
                "startColumn": start.1,
                "endLine": end.0,
                "endColumn": end.1,
                "byteOffset": span.start,
                "byteLength": span.len(),
            })
        });
        location(uri, region, text)
    };
    let mut message = finding.message.clone();
    message
        .extend(finding.notes.iter().chain(&finding.help).flat_map(|more| ["\n", more.as_str()]));
    let mut result = json!({
        "ruleId": finding.code.to_string(),
        "level": level(finding.level),
        "message": { "text": message },
        "locations": [location(finding.primary.as_ref(), None)],
    });
    if let Some(index) = codes.iter().position(|&code| code == finding.code) {
        result["ruleIndex"] = json!(index);
    }
    if !finding.secondary.is_empty() {
        let related =
            finding.secondary.iter().map(|label| location(Some(label), Some(&label.text)));
        result["relatedLocations"] = related.collect();
    }
    result
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
    }
}

/// Converts a path to a URI reference. Percent-encodes all but `/` and unreserved characters.
pub(super) fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte as char);
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
