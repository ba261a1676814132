//! What the page is made of: one document for each input, which the page's
//! script reads.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use tbaa::parts::TagParts;
use tbaa::{AliasRule, Field, Graph, TagId, TypeId, TypeKind};
use tbaa_check::Diagnostic;
use tbaa_check::lint::{Options, lint, lint_graph};
use tbaa_check::verify::{Verifier, verify, verify_graph};
use tbaa_ir::{DebugInfo, Module, Names, Opcode};

use super::answers::Answers;
use crate::commands::blocks::blocked_loads;
use crate::commands::graph::near;
use crate::commands::matrix::order::preorder;
use crate::find::by_function;
use crate::input::{Content, Input};
use crate::printable::{function_name, printable};
use crate::render::Source;
use crate::report::Failure;

/// Loads that are listed at most, and stores and calls that keep one.
const LOADS: usize = 400;
const BLOCKERS: usize = 4;
/// Types that have a picture of what is around them at most, and the bytes of one.
const PICTURES: usize = 40;
const PICTURE: usize = 30_000;

/// How much of each kind is kept; the most used first.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) tags: usize,
    /// Tags of which every pair is explained.
    pub(super) explained: usize,
    pub(super) types: usize,
    pub(super) fields: usize,
    pub(super) findings: usize,
    pub(super) functions: usize,
    /// Loads that stores and calls keep.
    pub(super) loads: usize,
    /// Types with a picture of what is around them.
    pub(super) pictures: usize,
}

impl Limits {
    pub(super) const START: Limits = Limits {
        tags: 3000,
        explained: 1500,
        types: 4000,
        fields: 40_000,
        findings: 500,
        functions: 2000,
        loads: LOADS,
        pictures: PICTURES,
    };

    /// Half of everything; `None` where nothing is left.
    pub(super) fn halved(self) -> Option<Limits> {
        let Limits { tags, explained, types, fields, findings, functions, loads, pictures } = self;
        (tags > 8).then_some(Limits {
            tags: tags / 2,
            explained: explained / 2,
            types: types / 2,
            fields: fields / 2,
            findings: findings / 2,
            functions: functions / 2,
            loads: loads / 2,
            pictures: pictures / 2,
        })
    }
}

/// One input.
#[derive(Serialize)]
pub(super) struct Data {
    file: String,
    /// Figures for the top of the page, in order.
    summary: Vec<(&'static str, String)>,
    /// What is not on the page.
    left_out: Vec<String>,
    types: Vec<Type>,
    tags: Vec<TagRow>,
    answers: Answers,
    findings: Vec<Finding>,
    functions: Vec<Function>,
    /// As `tbaa blocks --format json` has them, with `more` for blockers that are
    /// left out.
    loads: Vec<Value>,
    kept_loads: usize,
}

#[derive(Serialize)]
struct Type {
    name: String,
    kind: &'static str,
    /// In bytes, where the format records it.
    size: Option<u64>,
    /// Position of the parent among the types.
    parent: Option<usize>,
    fields: Vec<FieldRow>,
    /// What is around it, as SVG; of the types of the most used tags.
    picture: Option<String>,
}

/// Offset, extent, position of the type, and name.
#[derive(Serialize)]
struct FieldRow(u64, Option<u64>, Option<usize>, String);

#[derive(Serialize)]
struct TagRow {
    label: String,
    meaning: String,
    /// Positions of the types; none for a tag that cannot be read.
    base: Option<usize>,
    access: Option<usize>,
    offset: u64,
    size: Option<u64>,
    uses: u64,
    /// Why LLVM's verifier rejects it.
    rejected: Option<String>,
}

#[derive(Serialize)]
struct Finding {
    code: String,
    level: String,
    message: String,
    line: Option<usize>,
    /// The line, what is before the place in it, and what is the place.
    text: Option<(String, String, String)>,
    notes: Vec<String>,
    help: Option<String>,
}

#[derive(Serialize, Clone)]
struct Function {
    name: String,
    line: usize,
    /// Accesses with a tag, and without.
    tagged: u64,
    untagged: u64,
    /// Pairs of tagged accesses, and how many of them each rule tells apart; not
    /// counted for more than [`COUNTED`] tags.
    pairs: u64,
    apart: Option<[u64; 3]>,
}

/// What is found out once, however much of it is kept.
pub(super) struct Facts {
    used: Vec<(TagId, u64)>,
    functions: Vec<Function>,
    /// And how many more there are.
    findings: (Vec<Diagnostic>, usize),
    loads: Vec<Value>,
    kept_loads: usize,
    pictures: Vec<(TypeId, String)>,
}

impl Facts {
    pub(super) fn of(input: &Input, profile: Option<&Path>) -> Result<Facts, Failure> {
        let used = used(input);
        let (rows, kept_loads) = blocked_loads(input, profile, LOADS)?;
        let loads = rows.iter().filter_map(|(row, lines)| {
            let mut row = short(serde_json::to_value(row).ok()?);
            row["lines"] = serde_json::to_value(lines).ok()?;
            Some(row)
        });
        let loads = loads.collect();
        let (functions, findings) = (functions(input, &used), judge(input));
        let pictures = pictures(input, &used);
        Ok(Facts { functions, findings, used, loads, kept_loads, pictures })
    }
}

/// Draws what is around the structs that most instructions access.
fn pictures(input: &Input, used: &[(TagId, u64)]) -> Vec<(TypeId, String)> {
    let (graph, names) = (input.graph(), input.names());
    let mut uses: HashMap<TypeId, u64> = HashMap::new();
    for &(tag, count) in used {
        let base = graph.tag(tag).ok().map(|tag| tag.base);
        if let Some(base) = base.filter(|&ty| graph.ty(ty).kind() == TypeKind::Aggregate) {
            *uses.entry(base).or_default() += count;
        }
    }
    // Equal counts stay in the order of the text.
    let mut ranked: Vec<TypeId> = graph.types().filter(|ty| uses.contains_key(ty)).collect();
    ranked.sort_by_key(|ty| std::cmp::Reverse(uses[ty]));
    let draw = |ty| Some((ty, String::from_utf8(near(input, &names, ty).ok()?).ok()?));
    let drawn = ranked.into_iter().take(PICTURES).filter_map(draw);
    drawn.filter(|(_, svg)| svg.len() <= PICTURE).collect()
}

/// Leaves out all but the first blockers of a load.
fn short(mut row: Value) -> Value {
    let blockers = row["blockers"].as_array_mut();
    let more = blockers.map_or(0, |blockers| {
        let more = blockers.len().saturating_sub(BLOCKERS);
        blockers.truncate(BLOCKERS);
        more
    });
    row["more"] = more.into();
    row
}

impl Data {
    pub(super) fn of(input: &Input, facts: &Facts, limits: Limits) -> Data {
        let graph = input.graph();
        let names = input.names();
        let mut left_out = Vec::new();
        let used = &facts.used;
        let (tags, uses) = kept_tags(graph, used, limits, &mut left_out);
        let (mut types, place) = types(input, &names, &tags, limits, &mut left_out);
        for (ty, svg) in facts.pictures.iter().take(limits.pictures) {
            if let Some(&at) = place.get(ty) {
                types[at].picture = Some(svg.clone());
            }
        }
        let answers = Answers::of(graph, &tags, &uses, &place, limits.explained);
        if answers.explained < tags.len() {
            left_out.push(format!(
                "reasons: of pairs of the {} most used tags only; answers are of all",
                answers.explained
            ));
        }
        let functions = kept_functions(&facts.functions, limits, &mut left_out);
        let findings = kept_findings(input, &facts.findings, limits, &mut left_out);
        let loads: Vec<Value> = facts.loads.iter().take(limits.loads).cloned().collect();
        if loads.len() < facts.kept_loads {
            left_out.push(format!("loads: the first {} of {}", loads.len(), facts.kept_loads));
        }
        let kept_loads = facts.kept_loads;
        let figure = |count: usize| count.to_string();
        let mut summary =
            vec![("types", figure(graph.types().count())), ("tags", figure(used.len()))];
        if let Content::Module(module) = &input.content {
            summary.push(("functions", figure(module.functions().len())));
            summary.extend(coverage(module));
        }
        summary.push(("findings", figure(facts.findings.0.len() + facts.findings.1)));
        let tags = rows(input, &names, &tags, &uses, &place);
        let file = input.file().to_owned();
        Data {
            file,
            summary,
            left_out,
            types,
            tags,
            answers,
            findings,
            functions,
            loads,
            kept_loads,
        }
    }
}

/// How many loads and stores have a tag.
fn coverage(module: &Module<'_>) -> Vec<(&'static str, String)> {
    let of = |opcode| {
        let all = || module.instructions().iter().filter(move |it| it.opcode == opcode);
        let tagged = all().filter(|it| it.tag.is_some()).count();
        format!("{}, {tagged} with a tag", all().count())
    };
    vec![("loads", of(Opcode::Load)), ("stores", of(Opcode::Store))]
}

/// The tags that matter, in order of appearance, and how many instructions have
/// each.
fn used(input: &Input) -> Vec<(TagId, u64)> {
    let mut counts: HashMap<TagId, u64> = HashMap::new();
    if let Content::Module(module) = &input.content {
        for tag in module.instructions().iter().filter_map(|instruction| instruction.tag) {
            *counts.entry(tag).or_default() += 1;
        }
    }
    let mut seen = std::collections::HashSet::new();
    let rows = input.rows().into_iter().map(|(_, tag)| tag);
    rows.filter(|&tag| seen.insert(tag))
        .map(|tag| (tag, counts.get(&tag).copied().unwrap_or(0)))
        .collect()
}

/// The most used tags, in the order of the matrix.
fn kept_tags(
    graph: &Graph,
    used: &[(TagId, u64)],
    limits: Limits,
    left_out: &mut Vec<String>,
) -> (Vec<TagId>, Vec<u64>) {
    let mut kept: Vec<(TagId, u64)> = used.to_vec();
    kept.sort_by_key(|&(_, uses)| std::cmp::Reverse(uses));
    if kept.len() > limits.tags {
        left_out.push(format!("tags: the {} most used of {}", limits.tags, kept.len()));
        kept.truncate(limits.tags);
    }
    let tags: Vec<TagId> = kept.iter().map(|&(tag, _)| tag).collect();
    let order = preorder(graph, &tags);
    order.into_iter().map(|at| kept[at]).unzip()
}

/// The types, those of the tags first where not all are kept.
fn types(
    input: &Input,
    names: &Names<'_>,
    tags: &[TagId],
    limits: Limits,
    left_out: &mut Vec<String>,
) -> (Vec<Type>, HashMap<TypeId, usize>) {
    let graph = input.graph();
    let mut all: Vec<TypeId> = graph.types().collect();
    if all.len() > limits.types {
        left_out.push(format!("types: {} of {}", limits.types, all.len()));
        let of_tags = tags.iter().filter_map(|&tag| graph.tag(tag).ok());
        let first: std::collections::HashSet<TypeId> =
            of_tags.flat_map(|tag| [tag.base, tag.access]).collect();
        all.sort_by_key(|ty| !first.contains(ty));
        all.truncate(limits.types);
    }
    let place: HashMap<TypeId, usize> = all.iter().enumerate().map(|(at, &ty)| (ty, at)).collect();
    let (mut room, mut cut) = (limits.fields, 0);
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
            let name = input.any_name_of_field(names, ty, at, &field).unwrap_or_default();
            FieldRow(field.offset, field.extent, place.get(&field.ty).copied(), name)
        };
        Type {
            name: names.ty(ty),
            kind,
            size: node.size(),
            parent: node
                .parent()
                .filter(|_| !aggregate)
                .and_then(|parent| place.get(&parent).copied()),
            fields: node.fields().enumerate().take(shown).map(row).collect(),
            picture: None,
        }
    });
    let types = types.collect();
    if cut > 0 {
        left_out.push(format!("fields: {cut}"));
    }
    (types, place)
}

fn rows(
    input: &Input,
    names: &Names<'_>,
    tags: &[TagId],
    uses: &[u64],
    place: &HashMap<TypeId, usize>,
) -> Vec<TagRow> {
    let graph = input.graph();
    let mut verifier = Verifier::new(graph);
    let row = |(&id, &uses): (&TagId, &u64)| {
        let tag = graph.tag(id).ok();
        let at = |ty: Option<TypeId>| ty.and_then(|ty| place.get(&ty).copied());
        TagRow {
            label: input.label(id),
            meaning: names.tag(id),
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

/// What `verify` and `lint` find, and how much more they counted.
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

fn kept_findings(
    input: &Input,
    (all, more): &(Vec<Diagnostic>, usize),
    limits: Limits,
    left_out: &mut Vec<String>,
) -> Vec<Finding> {
    let (kept, count) = (all.len().min(limits.findings), all.len() + more);
    if kept < count {
        left_out.push(format!("findings: the first {kept} of {count}"));
    }
    let source = Source::new(input.file(), input.text());
    all.iter().take(kept).map(|found| finding(input, &source, found)).collect()
}

/// Characters of a line that are shown on either side of a place.
const AROUND: usize = 120;

fn finding(input: &Input, source: &Source<'_>, found: &Diagnostic) -> Finding {
    let line = found.primary.as_ref().map(|label| source.position(label.span.start).0);
    let text = found.primary.as_ref().map(|label| {
        let (text, span) = (input.text(), &label.span);
        let newline = |byte: &u8| *byte == b'\n';
        let start = text[..span.start].iter().rposition(newline).map_or(0, |at| at + 1);
        let end =
            text[span.start..].iter().position(newline).map_or(text.len(), |at| span.start + at);
        let to = span.end.clamp(span.start, end);
        let (from, till) = (start.max(span.start.saturating_sub(AROUND)), end.min(to + AROUND));
        let part = |from: usize, to: usize| printable(&text[from..to]);
        (part(from, span.start), part(span.start, to.min(span.start + 2 * AROUND)), part(to, till))
    });
    Finding {
        code: found.code.to_string(),
        level: found.level.to_string(),
        message: found.message.clone(),
        line,
        text,
        notes: found.notes.clone(),
        help: found.help.clone(),
    }
}

/// Tags of a function of which all pairs are counted.
const COUNTED: usize = 4000;

fn functions(input: &Input, used: &[(TagId, u64)]) -> Vec<Function> {
    let Content::Module(module) = &input.content else { return Vec::new() };
    let debug = DebugInfo::new(module);
    let source = Source::new(input.file(), input.text());
    let oracles = AliasRule::ALL.map(|rules| tbaa::Oracle::new(module.graph(), rules));
    let mut all = Vec::new();
    let mut order: HashMap<TagId, usize> = HashMap::new();
    for &(tag, _) in used {
        let next = order.len();
        order.entry(tag).or_insert(next);
    }
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
                let pairs = tags
                    .iter()
                    .enumerate()
                    .flat_map(|(at, a)| tags[at..].iter().map(move |b| (a, b)));
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

/// The functions with the most pairs, in file order.
fn kept_functions(all: &[Function], limits: Limits, left_out: &mut Vec<String>) -> Vec<Function> {
    let mut kept: Vec<usize> = (0..all.len()).collect();
    if all.len() > limits.functions {
        left_out.push(format!(
            "functions: the {} with the most pairs of {}",
            limits.functions,
            all.len()
        ));
        kept.sort_by_key(|&at| std::cmp::Reverse(all[at].pairs));
        kept.truncate(limits.functions);
        kept.sort_unstable();
    }
    kept.into_iter().map(|at| all[at].clone()).collect()
}
