//! Prints how `tbaa lower` replaced each original tag (a source), as a table or JSON.

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use tbaa::{Access, Graph, Oracle, TagId};
use tbaa_lower::Lowering;

use super::LowerFormat;
use crate::commands::dump::Printed;
use crate::output::write_json;
use crate::printable::printable;
use crate::report::Failure;

/// Returns the names in `rows` with their lowered tags. Leaves out tags without a lowered tag.
pub(super) fn named(rows: &[(String, TagId)], lowering: &Lowering) -> Vec<(String, TagId)> {
    rows.iter().filter_map(|(name, tag)| Some((name.clone(), lowering.tag(*tag)?))).collect()
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
    /// True if the limit of search steps was reached: `no_alias` and `lost` omit unsearched pairs.
    unsearched: bool,
    domain: Option<String>,
    scopes: &'l [String],
    sources: Vec<Line<'l>>,
    lost_pairs: Vec<[&'l str; 2]>,
    #[serde(flatten)]
    printed: Option<Printed>,
}

/// Writes what replaces each tag, and the pairs that the rule calls NoAlias and LLVM does not.
pub(super) fn certificate<G: std::borrow::Borrow<Graph>>(
    rows: &[(String, TagId)],
    lowering: &Lowering,
    oracle: &Oracle<G>,
    format: LowerFormat,
    printed: Option<Printed>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let names: HashMap<TagId, &str> =
        rows.iter().rev().map(|(name, tag)| (*tag, name.as_str())).collect();
    let name = |access: Access| access.tag.and_then(|tag| names.get(&tag).copied()).unwrap_or("?");
    let line = |access| {
        let (why, scopes) = (lowering.why(access)?, lowering.scopes_of(access));
        Some(Line {
            source: name(access),
            node: why.node,
            why: why.why.to_string(),
            scope: scopes.as_ref().map(|of| of.scope),
            noalias: scopes.map(|of| of.noalias().collect()).unwrap_or_default(),
        })
    };
    let lost = lowering.lost();
    let document = Document {
        no_alias: lost.no_alias,
        lost: lost.pairs,
        unsearched: lost.unsearched,
        domain: (!lowering.scope_names().is_empty()).then(|| lowering.scope_domain()),
        scopes: lowering.scope_names(),
        sources: lowering.sources().filter_map(line).collect(),
        lost_pairs: lowering.lost_pairs(oracle).map(|(a, b)| [name(a), name(b)]).collect(),
        printed,
    };
    if let LowerFormat::Json = format {
        return Ok(write_json(&document, out)?);
    }
    for line in &document.sources {
        let node = line.node.unwrap_or("-");
        let [source, node] = [line.source, node].map(printable);
        writeln!(out, "{source}\t{node}\t{}", line.why)?;
    }
    for [a, b] in document.lost_pairs.iter().map(|pair| pair.map(printable)) {
        writeln!(out, "lost\t{a}\t{b}")?;
    }
    Ok(())
}
