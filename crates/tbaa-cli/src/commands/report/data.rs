//! The content of the report page: one JSON document for each input, which the page's script reads.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tbaa::parts::TagParts;
use tbaa::{AliasRule, Field, TagId, TypeId, TypeKind};
use tbaa_check::Diagnostic;
use tbaa_check::lint::{Options, lint, lint_graph};
use tbaa_check::verify::{Verifier, verify, verify_graph};
use tbaa_ir::{DebugInfo, Names, Opcode};

use super::answers::Answers;
use crate::commands::blocks::blocked_loads;
use crate::commands::graph::near;
use crate::commands::matrix::order::preorder;
use crate::find::by_function;
use crate::input::{Content, Input};
use crate::printable::{function_name, printable};
use crate::render::Source;
use crate::report::Result;

/// The largest number of tags shown. If the document is too large, most limits are halved.
pub(super) const TAGS: usize = 3000;
/// The largest number of tags for which all pairs are explained.
const EXPLAINED: usize = 1500;
const TYPES: usize = 4000;
const FIELDS: usize = 40_000;
const FINDINGS: usize = 500;
const FUNCTIONS: usize = 2000;
const LOADS: usize = 400;
/// The largest number of listed stores and calls that block one load.
const BLOCKERS: usize = 4;
/// The largest number of types with a picture. A picture has at most `PICTURE` bytes.
const PICTURES: usize = 40;
const PICTURE: usize = 30_000;

#[derive(Serialize)]
pub(super) struct Data<'f> {
    file: String,
    /// Figures for the top of the page.
    summary: Vec<(&'static str, String)>,
    /// What the page shows only in part, such as `types: 4000 of 5000`.
    left_out: Vec<String>,
    types: Vec<Type>,
    tags: Vec<TagRow>,
    answers: Answers,
    findings: Vec<Finding<'f>>,
    functions: Vec<Function>,
    /// The rows of `tbaa blocks --format json`. In a row, `more` counts the blockers left out.
    loads: Vec<Value>,
    kept_loads: usize,
}

#[derive(Serialize)]
struct Type {
    name: String,
    kind: &'static str,
    /// The size in bytes, if the format records it.
    size: Option<u64>,
    /// The index of the parent, if it is on the page; `None` for aggregates and roots.
    parent: Option<usize>,
    fields: Vec<FieldRow>,
    /// An SVG picture of the type's neighbours, if [`pictures`] drew one.
    picture: Option<String>,
}

/// A field's offset, its size if known, the index of its type if listed, and its name or `""`.
#[derive(Serialize)]
struct FieldRow(u64, Option<u64>, Option<usize>, String);

#[derive(Serialize)]
struct TagRow {
    label: String,
    meaning: String,
    /// The index of the base type; `None` if the tag is malformed or the type is not on the page.
    base: Option<usize>,
    access: Option<usize>,
    offset: u64,
    size: Option<u64>,
    uses: u64,
    /// The reason why LLVM's verifier rejects the tag.
    rejected: Option<String>,
}

#[derive(Serialize)]
struct Finding<'f> {
    #[serde(flatten)]
    found: &'f Diagnostic,
    line: Option<usize>,
    /// Three parts of a line: before the place of the finding, at this place, and after it.
    text: Option<(String, String, String)>,
}

#[derive(Serialize, Clone)]
struct Function {
    name: String,
    line: usize,
    /// The number of accesses with a tag.
    tagged: u64,
    untagged: u64,
    /// The number of pairs of tagged accesses. `apart` counts each rule's NoAlias pairs.
    pairs: u64,
    apart: Option<[u64; 3]>,
}

/// Facts that are computed once, and then cut to fit the page.
pub(super) struct Facts {
    used: Vec<(TagId, u64)>,
    functions: Vec<Function>,
    /// The findings, and the number of findings beyond the limit.
    findings: (Vec<Diagnostic>, usize),
    loads: Vec<Value>,
    kept_loads: usize,
    pictures: Vec<(TypeId, String)>,
}

impl Facts {
    pub(super) fn of(input: &Input, profile: Option<&Path>) -> Result<Facts> {
        let used = used(input);
        let (rows, kept_loads) = blocked_loads(input, profile, LOADS)?;
        let load = |(row, lines)| {
            let mut row = short(serde_json::to_value(row).ok()?);
            row["lines"] = serde_json::to_value(lines).ok()?;
            Some(row)
        };
        Ok(Facts {
            functions: functions(input, &used),
            findings: judge(input),
            loads: rows.into_iter().filter_map(load).collect(),
            kept_loads,
            pictures: pictures(input, &used),
            used,
        })
    }
}

/// Draws the neighbours of the `PICTURES` structs with the most accesses. Drops large pictures.
fn pictures(input: &Input, used: &[(TagId, u64)]) -> Vec<(TypeId, String)> {
    let (graph, names) = (input.graph(), input.names());
    let mut uses: HashMap<TypeId, u64> = HashMap::new();
    for &(tag, count) in used {
        let base = graph.tag(tag).ok().map(|tag| tag.base);
        if let Some(base) = base.filter(|&ty| graph.ty(ty).kind() == TypeKind::Aggregate) {
            *uses.entry(base).or_default() += count;
        }
    }
    // The sort is stable: types with equal counts stay in the order of the graph.
    let mut ranked: Vec<TypeId> = graph.types().filter(|ty| uses.contains_key(ty)).collect();
    ranked.sort_by_key(|ty| Reverse(uses[ty]));
    let draw = |ty| Some((ty, String::from_utf8(near(input, &names, ty).ok()?).ok()?));
    let drawn = ranked.into_iter().take(PICTURES).filter_map(draw);
    drawn.filter(|(_, svg)| svg.len() <= PICTURE).collect()
}

/// Keeps the first `BLOCKERS` blockers of a load, and stores the number of the others as `more`.
fn short(mut row: Value) -> Value {
    if let Some(blockers) = row["blockers"].as_array_mut() {
        let more = blockers.len().saturating_sub(BLOCKERS);
        blockers.truncate(BLOCKERS);
        row["more"] = more.into();
    }
    row
}

impl<'f> Data<'f> {
    /// Selects the facts for a page. The limits on numbers of entries are halved `halvings` times.
    pub(super) fn of(input: &Input, facts: &'f Facts, halvings: u32) -> Data<'f> {
        let (graph, names, left_out) = (input.graph(), input.names(), Vec::new());
        let used = &facts.used;
        let mut part = Part { input, names: &names, halvings, left_out };
        let (tags, uses) = part.tags(used);
        let (mut types, place) = part.types(&tags);
        for (ty, svg) in facts.pictures.iter().take(PICTURES >> halvings) {
            if let Some(&at) = place.get(ty) {
                types[at].picture = Some(svg.clone());
            }
        }
        let answers = Answers::of(graph, &tags, &uses, &place, EXPLAINED >> halvings);
        if answers.explained < tags.len() {
            part.left_out.push(format!(
                "reasons: of pairs of the {} most used tags only; answers are of all",
                answers.explained
            ));
        }
        let functions = part.functions(&facts.functions);
        let findings = part.findings(&facts.findings);
        let loads: Vec<Value> = facts.loads.iter().take(LOADS >> halvings).cloned().collect();
        if loads.len() < facts.kept_loads {
            let left_out = format!("loads: the first {} of {}", loads.len(), facts.kept_loads);
            part.left_out.push(left_out);
        }
        let figure = |count: usize| count.to_string();
        let mut summary =
            vec![("types", figure(graph.types().count())), ("tags", figure(used.len()))];
        if let Content::Module(module) = &input.content {
            summary.push(("functions", figure(module.functions().len())));
            let of = |opcode| {
                let all = || module.instructions().iter().filter(|it| it.opcode == opcode);
                let tagged = all().filter(|it| it.tag.is_some()).count();
                format!("{}, {tagged} with a tag", all().count())
            };
            summary.extend([("loads", of(Opcode::Load)), ("stores", of(Opcode::Store))]);
        }
        summary.push(("findings", figure(facts.findings.0.len() + facts.findings.1)));
        Data {
            file: input.file().to_owned(),
            summary,
            tags: part.rows(&tags, &uses, &place),
            left_out: part.left_out,
            types,
            answers,
            findings,
            functions,
            loads,
            kept_loads: facts.kept_loads,
        }
    }
}

/// Returns the tags in the order of [`Input::rows`], each with the number of its instructions.
fn used(input: &Input) -> Vec<(TagId, u64)> {
    let mut counts: IndexMap<TagId, u64> =
        input.rows().into_iter().map(|(_, tag)| (tag, 0)).collect();
    if let Content::Module(module) = &input.content {
        for tag in module.instructions().iter().filter_map(|instruction| instruction.tag) {
            counts.entry(tag).and_modify(|count| *count += 1);
        }
    }
    counts.into_iter().collect()
}

/// Selects the part of an input's facts that a page shows.
struct Part<'a> {
    input: &'a Input,
    names: &'a Names<'a>,
    halvings: u32,
    left_out: Vec<String>,
}

/// The index of each type on the page.
type Places = HashMap<TypeId, usize>;

impl Part<'_> {
    /// Returns the most used tags in [`preorder`], and the number of instructions of each.
    fn tags(&mut self, used: &[(TagId, u64)]) -> (Vec<TagId>, Vec<u64>) {
        let (mut kept, most) = (used.to_vec(), TAGS >> self.halvings);
        kept.sort_by_key(|&(_, uses)| Reverse(uses));
        if kept.len() > most {
            self.left_out.push(format!("tags: the {most} most used of {}", kept.len()));
            kept.truncate(most);
        }
        let tags: Vec<TagId> = kept.iter().map(|&(tag, _)| tag).collect();
        preorder(self.input.graph(), &tags).into_iter().map(|at| kept[at]).unzip()
    }

    /// Returns the types and their indices. If there are too many, prefers the types of `tags`.
    fn types(&mut self, tags: &[TagId]) -> (Vec<Type>, Places) {
        let graph = self.input.graph();
        let mut all: Vec<TypeId> = graph.types().collect();
        let most = TYPES >> self.halvings;
        if all.len() > most {
            self.left_out.push(format!("types: {most} of {}", all.len()));
            let of_tags = tags.iter().filter_map(|&tag| graph.tag(tag).ok());
            let first: HashSet<TypeId> = of_tags.flat_map(|tag| [tag.base, tag.access]).collect();
            all.sort_by_key(|ty| !first.contains(ty));
            all.truncate(most);
        }
        let place: Places = all.iter().enumerate().map(|(at, &ty)| (ty, at)).collect();
        let (mut room, mut cut) = (FIELDS >> self.halvings, 0);
        let types = all.iter().map(|&ty| {
            let node = graph.ty(ty);
            let kind = match node.kind() {
                TypeKind::Root => "root",
                TypeKind::Scalar => "scalar",
                TypeKind::Aggregate => "aggregate",
                _ => "malformed",
            };
            let aggregate = node.kind() == TypeKind::Aggregate;
            let count = if aggregate { node.fields().count() } else { 0 };
            let shown = count.min(room);
            room -= shown;
            cut += count - shown;
            let row = |(at, field): (usize, Field)| {
                let name = self.input.any_name_of_field(self.names, ty, at, &field);
                let into = place.get(&field.ty).copied();
                FieldRow(field.offset, field.extent, into, name.unwrap_or_default())
            };
            let parent = node.parent().filter(|_| !aggregate);
            Type {
                name: self.names.ty(ty),
                kind,
                size: node.size(),
                parent: parent.and_then(|parent| place.get(&parent).copied()),
                fields: node.fields().enumerate().take(shown).map(row).collect(),
                picture: None,
            }
        });
        let types = types.collect();
        if cut > 0 {
            self.left_out.push(format!("fields: {cut}"));
        }
        (types, place)
    }

    fn rows(&self, tags: &[TagId], uses: &[u64], place: &Places) -> Vec<TagRow> {
        let graph = self.input.graph();
        let mut verifier = Verifier::new(graph);
        let row = |(&id, &uses): (&TagId, &u64)| {
            let tag = graph.tag(id).ok();
            let at = |ty: Option<TypeId>| ty.and_then(|ty| place.get(&ty).copied());
            TagRow {
                label: self.input.label(id),
                meaning: self.names.tag(id),
                base: at(tag.map(|tag| tag.base)),
                access: at(tag.map(|tag| tag.access)),
                offset: tag.map_or(0, |tag| tag.offset),
                size: TagParts::size_number(graph, graph.tag_node(id)),
                uses,
                rejected: verifier.check(id).err().map(|violation| violation.to_string()),
            }
        };
        tags.iter().zip(uses).map(row).collect()
    }

    fn findings<'f>(&mut self, (all, more): &'f (Vec<Diagnostic>, usize)) -> Vec<Finding<'f>> {
        let (kept, count) = (all.len().min(FINDINGS >> self.halvings), all.len() + more);
        if kept < count {
            self.left_out.push(format!("findings: the first {kept} of {count}"));
        }
        let source = Source::new(self.input.file(), self.input.text());
        all.iter().take(kept).map(|found| finding(self.input, &source, found)).collect()
    }

    /// Returns the functions with the most pairs, in file order.
    fn functions(&mut self, all: &[Function]) -> Vec<Function> {
        let (mut kept, most): (Vec<usize>, _) =
            ((0..all.len()).collect(), FUNCTIONS >> self.halvings);
        if all.len() > most {
            let left_out = format!("functions: the {most} with the most pairs of {}", all.len());
            self.left_out.push(left_out);
            kept.sort_by_key(|&at| Reverse(all[at].pairs));
            kept.truncate(most);
            kept.sort_unstable();
        }
        kept.into_iter().map(|at| all[at].clone()).collect()
    }
}

fn judge(input: &Input) -> (Vec<Diagnostic>, usize) {
    let options = Options::default();
    let (verified, linted) = match &input.content {
        Content::Module(module) => (verify(module, AliasRule::Llvm), lint(module, &options)),
        Content::Spec(built, _) => {
            (verify_graph(built.graph(), AliasRule::Llvm), lint_graph(built.graph(), &options))
        }
    };
    let more = verified.left_out().chain(linted.left_out()).map(|more| more.count).sum();
    (verified.into_iter().chain(linted).collect(), more)
}

/// The largest number of bytes shown before and after the place of a finding in its line.
const AROUND: usize = 120;

fn finding<'f>(input: &Input, source: &Source<'_>, found: &'f Diagnostic) -> Finding<'f> {
    let line = found.primary.as_ref().map(|label| source.position(label.span.start).0);
    let text = found.primary.as_ref().map(|label| {
        let (text, span) = (input.text(), &label.span);
        let start = memchr::memrchr(b'\n', &text[..span.start]).map_or(0, |at| at + 1);
        let end =
            memchr::memchr(b'\n', &text[span.start..]).map_or(text.len(), |at| span.start + at);
        let to = span.end.clamp(span.start, end);
        let (from, till) = (start.max(span.start.saturating_sub(AROUND)), end.min(to + AROUND));
        let part = |from: usize, to: usize| printable(&text[from..to]);
        (part(from, span.start), part(span.start, to.min(span.start + 2 * AROUND)), part(to, till))
    });
    Finding { found, line, text }
}

/// The largest number of distinct tags in a function whose NoAlias pairs are counted.
const COUNTED: usize = 4000;

fn functions(input: &Input, used: &[(TagId, u64)]) -> Vec<Function> {
    let Content::Module(module) = &input.content else { return Vec::new() };
    let debug = DebugInfo::new(module);
    let source = Source::new(input.file(), input.text());
    let oracles = AliasRule::ALL.map(|rules| tbaa::Oracle::new(module.graph(), rules));
    let mut all = Vec::new();
    let order: HashMap<_, usize> = used.iter().map(|used| used.0).zip(0..).collect();
    for (name, instructions) in by_function(module) {
        let mut counts: HashMap<TagId, u64> = HashMap::new();
        let mut untagged = 0;
        for instruction in instructions {
            match instruction.tag {
                Some(tag) => *counts.entry(tag).or_default() += 1,
                None => untagged += u64::from(instruction.opcode.accesses_memory()),
            }
        }
        let tagged: u64 = counts.values().sum();
        let mut tags: Vec<(TagId, u64)> = counts.into_iter().collect();
        tags.sort_by_key(|(tag, _)| order.get(tag));
        let apart = (tags.len() <= COUNTED).then(|| {
            [0, 1, 2].map(|rule| {
                let tags = &tags;
                let pairs =
                    (0..tags.len()).flat_map(|at| tags[at..].iter().map(move |b| (tags[at], b)));
                let apart = pairs.filter(|(a, b)| !oracles[rule].may_alias(a.0, b.0));
                apart.map(|(a, b)| a.1 * b.1).sum()
            })
        });
        let first = &instructions[0];
        let line = match debug.location(first) {
            Some(at) if at.line > 0 => at.line as usize,
            _ => source.position(first.offset as usize).0,
        };
        let pairs = tagged * tagged.saturating_sub(1) / 2;
        let name = format!("@{}", function_name(name));
        all.push(Function { name, line, tagged, untagged, pairs, apart });
    }
    all
}
