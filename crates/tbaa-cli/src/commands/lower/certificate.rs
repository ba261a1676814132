//! What became of each source: the metadata by name, a table, JSON.

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use tbaa::lower::Lowering;
use tbaa::text;
use tbaa::{Access, Graph, Oracle, TagId};

use super::LowerFormat;
use crate::printable::printable;
use crate::report::Failure;

/// Writes the metadata alone, each tag with the names of its sources.
pub(super) fn named(
    rows: &[(String, TagId)],
    lowering: &Lowering,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let text = text::write(lowering.graph());
    let module = text::read(text.as_bytes())
        .map_err(|error| Failure::unusable(format!("the metadata cannot be read back: {error}")))?;
    let mut names: HashMap<u32, Vec<&str>> = HashMap::new();
    let numbers: Vec<_> =
        module.graph().tags().map(|tag| module.number_of(module.graph().tag_node(tag))).collect();
    for (name, tag) in rows {
        if let Some(&Some(number)) = lowering.tag(*tag).and_then(|tag| numbers.get(tag.index())) {
            names.entry(number).or_default().push(name);
        }
    }
    for line in text.lines() {
        let number = line.strip_prefix('!').and_then(|line| line.split_once(" = ")?.0.parse().ok());
        match number.and_then(|number: u32| names.get(&number)) {
            Some(names) => writeln!(out, "{line} ; {}", printable(names.join(", ").as_bytes()))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Line<'l> {
    source: &'l str,
    node: Option<&'l str>,
    why: String,
    scope: Option<u32>,
    noalias: Vec<u32>,
}

#[derive(Serialize)]
struct Document<'l> {
    no_alias: u64,
    lost: u64,
    lost_weight: u64,
    bound: u64,
    domain: Option<String>,
    scopes: &'l [String],
    sources: Vec<Line<'l>>,
    lost_pairs: Vec<[&'l str; 2]>,
}

/// Writes what became of each source, and the pairs lost.
pub(super) fn certificate<G: std::borrow::Borrow<Graph>>(
    rows: &[(String, TagId)],
    lowering: &Lowering,
    oracle: &Oracle<G>,
    format: LowerFormat,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let names: HashMap<TagId, &str> =
        rows.iter().rev().map(|(name, tag)| (*tag, name.as_str())).collect();
    let name = |access: Access| access.tag.and_then(|tag| names.get(&tag).copied()).unwrap_or("?");
    let sources: Vec<Line<'_>> = lowering
        .sources()
        .filter_map(|access| {
            let why = lowering.why(access)?;
            let scopes = lowering.scopes_of(access);
            Some(Line {
                source: name(access),
                node: why.node,
                why: why.why.to_string(),
                scope: scopes.as_ref().map(|of| of.scope),
                noalias: scopes.map(|of| of.noalias().collect()).unwrap_or_default(),
            })
        })
        .collect();
    let lost_pairs = lowering.lost_pairs(oracle).map(|(a, b)| [name(a), name(b)]).collect();
    let lost = lowering.lost();
    let document = Document {
        no_alias: lost.no_alias,
        lost: lost.pairs,
        lost_weight: lost.weight,
        bound: lost.bound,
        domain: (!lowering.scope_names().is_empty()).then(|| lowering.scope_domain()),
        scopes: lowering.scope_names(),
        sources,
        lost_pairs,
    };
    if let LowerFormat::Json = format {
        serde_json::to_writer(&mut *out, &document).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    for line in &document.sources {
        let node = line.node.unwrap_or("-");
        let [source, node] = [line.source, node].map(|text| printable(text.as_bytes()));
        writeln!(out, "{source}\t{node}\t{}", line.why)?;
    }
    for [a, b] in document.lost_pairs.iter().map(|pair| pair.map(|of| printable(of.as_bytes()))) {
        writeln!(out, "lost\t{a}\t{b}")?;
    }
    Ok(())
}
