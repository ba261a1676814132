//! `tbaa explain`.

use std::collections::HashMap;
use std::io::Write;

use clap::ValueEnum;
use tbaa::explain::{AccessPath, Explanation};
use tbaa::parts::TagParts;
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{Names, Opcode, name_in_source};

use super::query::{Answer, Pair, Question};
use super::words::in_words;
use crate::drawing::{Drawing, Named, common, of_explanation, write_svg, write_text};
use crate::find::{Found, access_name};
use crate::input::{Content, Input};
use crate::output::write_json;
use crate::printable::printable;
use crate::report::Failure;

/// Prints MayAlias or NoAlias, and why.
///
/// The first line is the answer, as `alias` prints it. The next lines are the clause of
/// the rule that decided, and the two tags. If the rule compared paths, these follow:
/// from a common type to each access, with the bytes that it touches. Offsets are in
/// bytes from the start of the type that has the field. Then come the reason in words,
/// and the answers of the other two rules.
///
/// Last come drawings of the bytes: one of the common type, or one of each base type.
/// Each has a line for the fields of each type on the path, and a line for each access.
/// Columns are not to scale, and `...` stands for bytes far from both accesses. A dot at
/// the end means that the end is unknown.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/explain.txt"))]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) pair: Pair,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ExplainFormat,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum ExplainFormat {
    /// Words, and a drawing in characters.
    #[default]
    Text,
    /// Answer, clause, words and paths of each pair.
    Json,
    /// A picture of the bytes, of one pair.
    Svg,
}

pub(super) fn run(args: &Explain, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, mut pairs } = Question::read(&args.pair)?;
    // Two loads may change places, whatever their tags say.
    if let Content::Module(module) = &input.content {
        let is_load = |it: &Found| {
            it.instruction.is_some_and(|it| module.instructions()[it].opcode == Opcode::Load)
        };
        pairs.sort_by_key(|[a, b]| is_load(a) && is_load(b));
    }
    let oracle = Oracle::new(input.graph(), rules);
    let asked = [&args.pair.a, &args.pair.b];
    if let ExplainFormat::Svg = args.format {
        let [[a, b]] = pairs[..] else {
            return Err(Failure::unusable(format!(
                "{} and {} are {} pairs, and a picture is of one: name one access each",
                asked[0],
                asked[1],
                pairs.len()
            )));
        };
        return picture(&input, &oracle, asked, [a, b], out);
    }
    if let ExplainFormat::Json = args.format {
        let names = input.names();
        let answer = |pair: &[Found; 2]| {
            let why = oracle.explain(pair[0].tag, pair[1].tag);
            let mut answer = Answer::new(&input, &names, pair, &why);
            answer.words = in_words(&input, &names, &why, *pair);
            answer.comparison = why.comparison;
            answer
        };
        let answers: Vec<Answer> = pairs.iter().map(answer).collect();
        return Ok(write_json(&answers, out)?);
    }
    let others = AliasRule::ALL.into_iter().filter(|&other| other != rules);
    let others: Vec<_> = others.map(|other| Oracle::new(input.graph(), other)).collect();
    for (index, group) in alike(&input, &pairs).iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let [a, b] = group[0];
        one(&input, &oracle, &others, [(asked[0], a), (asked[1], b)], out)?;
        if let Content::Module(module) = &input.content {
            for accesses in &group[1..] {
                let [a, b] = accesses.map(|it| it.instruction.map(|it| access_name(module, it)));
                let [a, b] = [a, b].map(Option::unwrap_or_default);
                writeln!(out, "the same holds for {a} and {b}")?;
            }
        }
    }
    Ok(())
}

/// The pairs of equal tags that are accessed in the same way together: the same words explain them.
fn alike(input: &Input, pairs: &[[Found; 2]]) -> Vec<Vec<[Found; 2]>> {
    let mut groups: Vec<Vec<[Found; 2]>> = Vec::new();
    let mut known = HashMap::new();
    for pair in pairs {
        let key = pair.map(|it| match (&input.content, it.instruction) {
            (Content::Module(module), Some(at)) => {
                let access = &module.instructions()[at];
                (it.tag, Some((access.opcode, module.access_type(access))))
            }
            _ => (it.tag, None),
        });
        let group = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(*pair),
            None => groups.push(vec![*pair]),
        }
    }
    groups
}

/// Explains one pair, each access with what was asked for.
fn one(
    input: &Input,
    oracle: &Oracle<&Graph>,
    others: &[Oracle<&Graph>],
    [a, b]: [(&String, Found); 2],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let explain = |oracle: &Oracle<&Graph>| oracle.explain(a.1.tag, b.1.tag);
    let why = explain(oracle);
    writeln!(out, "{}\nrule {}: {}", why.answer, oracle.rule(), why.clause)?;
    let names = input.names();
    for (side, (asked, found)) in [("a", a), ("b", b)] {
        // The name that was asked for may be a path, which is no tag's name. A malformed
        // tag means nothing.
        let name = match (&input.content, found.tag) {
            (Content::Module(_), Some(tag)) if input.graph().tag(tag).is_err() => input.label(tag),
            (Content::Module(_), _) => input.found_name(&names, &found),
            (Content::Spec(..), _) => printable(asked.as_bytes()),
        };
        match found.tag {
            Some(tag) => writeln!(out, "  {side}: {name} = {}", says(input, tag))?,
            None => writeln!(out, "  {side}: {name}")?,
        }
    }
    if let Some(comparison) = &why.comparison {
        let tag = |found: Found| input.graph().tag(found.tag?).ok();
        let base = tag(a.1).zip(tag(b.1)).map(|(a, b)| names.ty(common(comparison, &[a, b])));
        writeln!(out, "from {}", printable(base.unwrap_or_default().as_bytes()))?;
        writeln!(out, "  a: {}", path(input, &comparison.a))?;
        writeln!(out, "  b: {}", path(input, &comparison.b))?;
        if let Some(apart) = &comparison.apart {
            writeln!(out, "  {apart}")?;
        }
    }
    for line in in_words(input, &names, &why, [a.1, b.1]) {
        writeln!(out, "{}", printable(line.as_bytes()))?;
    }
    for oracle in others {
        let why = explain(oracle);
        writeln!(out, "rule {}: {}, {}", oracle.rule(), why.answer, why.clause)?;
    }
    for drawing in drawings(input, &names, &why, [a, b]) {
        writeln!(out, "bytes of {}", drawing.base)?;
        write_text(&drawing, out)?;
    }
    Ok(())
}

/// Draws the bytes of one pair.
fn picture(
    input: &Input,
    oracle: &Oracle<&Graph>,
    asked: [&String; 2],
    [a, b]: [Found; 2],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (why, names) = (oracle.explain(a.tag, b.tag), input.names());
    let drawings = drawings(input, &names, &why, [(asked[0], a), (asked[1], b)]);
    let title = format!("{} and {} in {}: {}", asked[0], asked[1], input.file(), why.answer);
    let mut about = vec![format!("rule {}: {}", oracle.rule(), why.clause)];
    if drawings.is_empty() {
        about.push("an access has no tag that can be read, and so no bytes to draw".to_owned());
    }
    Ok(write_svg(&drawings, &title, &about, out)?)
}

/// The bytes of a pair; none where an access has no tag.
fn drawings(
    input: &Input,
    names: &Names<'_>,
    why: &Explanation,
    pair: [(&String, Found); 2],
) -> Vec<Drawing> {
    let [Some(a), Some(b)] = pair.map(|(_, found)| found.tag) else { return Vec::new() };
    let [name_a, name_b] = pair.map(|(asked, found)| match (&input.content, found.tag) {
        (Content::Module(_), Some(tag)) => names.place(tag),
        _ => asked.clone(),
    });
    let named = |name, tag| Named { name, tag };
    of_explanation((input, names), why, named(&name_a, a), named(&name_b, b))
}

/// Returns the tag's operands, or what is wrong with them.
fn says(input: &Input, tag: TagId) -> String {
    let graph = input.graph();
    match graph.tag(tag) {
        Ok(said) => input.tag_text(&said, TagParts::size_number(graph, graph.tag_node(tag))),
        Err(malformed) => format!("malformed: {malformed}"),
    }
}

/// Returns the steps of a path, and the bytes at its end. A field goes by its
/// name where a spec gives it one.
fn path(input: &Input, path: &AccessPath) -> String {
    let steps: Vec<_> = path
        .steps
        .iter()
        .map(|step| {
            let name = match input.field_name(&step.ty, step.field, step.offset) {
                Some(name) => printable(name.as_bytes()),
                None => format!("field {}", step.field),
            };
            let elements = if step.array { "[]" } else { "" };
            let into = name_in_source(step.into.as_bytes());
            format!("{name} at {}: {}{elements}", step.offset, printable(into.as_bytes()))
        })
        .collect();
    let steps = if steps.is_empty() { "the object itself".to_owned() } else { steps.join(", ") };
    match &path.bytes {
        Some(bytes) => format!("{steps}; {bytes}"),
        None => steps,
    }
}
