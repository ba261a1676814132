//! `tbaa explain`, and its parts under their old names: `tbaa alias` and `tbaa generic`.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use indexmap::IndexMap;
use serde::Serialize;
use tbaa::explain::{AccessPath, Clause, Comparison, Explanation};
use tbaa::parts::TagParts;
use tbaa::{AliasResult, AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{Names, Opcode, name_in_source};

use super::completions::accesses;
use super::words::in_words;
use crate::convert::{FlagsArg, is_source};
use crate::drawing::{Drawing, Named, common, of_explanation, write_svg, write_text};
use crate::find::{Found, access_name};
use crate::input::{Content, Input, RulesArg};
use crate::output::write_json;
use crate::printable::printable;
use crate::report::{Failure, Result, note};

/// Prints MayAlias or NoAlias, and why.
///
/// The first line is the answer. Any doubt is MayAlias: different roots, a malformed tag. The next lines are
/// the clause of the rule that decided, and the two tags. If the rule compared paths, these follow: from a
/// common type to each access, with the bytes that it touches. Offsets are in bytes from the start of the type
/// that has the field. Then come the reason in words, and the answers of the other two rules.
///
/// Last come drawings of the bytes: one of the common type, or one of each base type. Each has a line for the
/// fields of each type on the path, and a line for each access. Columns are not to scale, and `...` stands for
/// bytes far from both accesses. A dot at the end means that the end is unknown.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/explain.txt"))]
pub(crate) struct Explain {
    /// A .ll, .bc, C or C++ file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// A tag or an access; see `tbaa --help`.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) a: String,
    /// The other.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// Print the answer alone, with a line for each pair if a name means several accesses, as a
    /// line of the source may.
    #[arg(long)]
    pub(crate) brief: bool,
    /// Print the tag for one access that replaces both: for assembly text as metadata with the
    /// file's own numbers, for a spec with the names of the types. `none` means that no tag
    /// covers both, so the new access must have no tag. The order of the two can matter.
    #[arg(long, conflicts_with_all = ["brief", "format"])]
    pub(crate) generic: bool,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ExplainFormat,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum ExplainFormat {
    /// Words, and a drawing in characters.
    #[default]
    Text,
    /// Answer, clause, words and paths of each pair; with --brief no words and paths.
    Json,
    /// A picture of the bytes, of one pair.
    Svg,
}

/// The answer to one pair in `--format json`.
#[derive(Serialize)]
struct Answer {
    a: String,
    b: String,
    answer: AliasResult,
    rules: AliasRule,
    clause: Clause,
    /// The clause in words.
    because: String,
    /// The reason in words: which walk meets which type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
    /// Both paths from a common type, if the rule compared them.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
}

impl Explain {
    /// Reads the input, and finds the accesses: each of the one name with each of the other. Warns
    /// of tags that LLVM rejects.
    fn read(&self) -> Result<(Input, AliasRule, Vec<[Found; 2]>)> {
        let origin = self.flags.of(&self.input);
        let mut input = Input::open(origin)?;
        let [first, second] = match input.pair(&self.a, &self.b) {
            Ok(found) => found,
            Err(failure) if !is_source(&self.input) => return Err(failure),
            // LLVM removes accesses, most of all wrong ones.
            Err(failure) => {
                let mut written = Input::open(origin.as_written())?;
                let Ok(found) = written.pair(&self.a, &self.b) else { return Err(failure) };
                note(
                    "optimised code has no such access: this is about the code as it is written, whose \
                     numbers are others",
                );
                input = written;
                found
            }
        };
        let rules = input.rules(self.rules.rules);
        input.warn_rejected(rules, first.iter().chain(&second).filter_map(|found| found.tag));
        let pairs = first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b])).collect();
        Ok((input, rules, pairs))
    }
}

pub(super) fn run(args: &Explain, out: &mut dyn Write) -> Result {
    let (input, rules, mut pairs) = args.read()?;
    let oracle = Oracle::new(input.graph(), rules);
    if args.generic {
        return generic(args, &input, &oracle, &pairs, out);
    }
    // Two loads may change places, whatever their tags say.
    if let Content::Module(module) = &input.content
        && !args.brief
    {
        let is_load = |found: &Found| {
            found.instruction.is_some_and(|instruction| {
                module.instructions()[instruction].opcode == Opcode::Load
            })
        };
        pairs.sort_by_key(|[a, b]| is_load(a) && is_load(b));
    }
    let asked = [&args.a, &args.b];
    match args.format {
        ExplainFormat::Svg => {
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
        ExplainFormat::Json => {
            let names = input.names();
            let answer = |pair: &[Found; 2]| {
                let why = oracle.explain(pair[0].tag, pair[1].tag);
                let [a, b] = pair.map(|pair| input.found_name(&names, &pair));
                let words =
                    if args.brief { Vec::new() } else { in_words(&input, &names, &why, *pair) };
                Answer {
                    a,
                    b,
                    answer: why.answer,
                    rules,
                    clause: why.clause,
                    because: why.clause.to_string(),
                    words,
                    comparison: why.comparison.filter(|_| !args.brief),
                }
            };
            return Ok(write_json(&pairs.iter().map(answer).collect::<Vec<_>>(), out)?);
        }
        ExplainFormat::Text if args.brief => return brief(&input, &oracle, &pairs, out),
        ExplainFormat::Text => {}
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
                let [a, b] = accesses.map(|access| {
                    access.instruction.map(|instruction| access_name(module, instruction))
                });
                let [a, b] = [a, b].map(Option::unwrap_or_default);
                writeln!(out, "the same holds for {a} and {b}")?;
            }
        }
    }
    Ok(())
}

/// Prints the answers alone.
fn brief(
    input: &Input,
    oracle: &Oracle<&Graph>,
    pairs: &[[Found; 2]],
    out: &mut dyn Write,
) -> Result {
    let (names, rules) = (input.names(), oracle.rule());
    let is_rejected = |found: &Found| found.tag.is_some_and(|tag| !oracle.is_well_formed(tag));
    for pair in pairs {
        if rules != AliasRule::Llvm && pair.iter().any(is_rejected) {
            note(format!("{}, and rule {rules} answers MayAlias", Clause::Malformed));
        }
        let answer = oracle.alias(pair[0].tag, pair[1].tag);
        if pairs.len() == 1 {
            writeln!(out, "{answer}")?;
        } else {
            let [a, b] = pair.map(|found| input.found_name(&names, &found));
            writeln!(out, "{:8}  {a}  and  {b}", answer.to_string())?;
        }
    }
    Ok(())
}

/// Prints the tag for one access that replaces two.
fn generic(
    args: &Explain,
    input: &Input,
    oracle: &Oracle<&Graph>,
    pairs: &[[Found; 2]],
    out: &mut dyn Write,
) -> Result {
    let mut tags: Vec<_> = pairs.iter().map(|pair| pair.map(|found| found.tag)).collect();
    tags.dedup();
    let [[a, b]] = tags[..] else {
        return Err(Failure::unusable(format!(
            "{:?} and {:?} name several accesses with different tags; name one of each, as \
             `tbaa explain --brief` lists them",
            args.a, args.b
        )));
    };
    match a.zip(b).and_then(|(a, b)| oracle.most_generic_as_written(a, b)) {
        // Metadata, and what it means as a comment.
        Some((tag, size)) if matches!(input.content, Content::Module(_)) => {
            let means = input.names().tag_of(&tag);
            writeln!(out, "{} ; {}", input.tag_text(&tag, size), printable(means.as_bytes()))?;
        }
        Some((tag, size)) => writeln!(out, "{}", input.tag_text(&tag, size))?,
        None => writeln!(out, "none")?,
    }
    Ok(())
}

/// The pairs of equal tags that are accessed in the same way together: the same words explain them.
fn alike(input: &Input, pairs: &[[Found; 2]]) -> Vec<Vec<[Found; 2]>> {
    let mut groups: IndexMap<_, Vec<[Found; 2]>> = IndexMap::new();
    for pair in pairs {
        let key = pair.map(|pair| match (&input.content, pair.instruction) {
            (Content::Module(module), Some(at)) => {
                let access = &module.instructions()[at];
                (pair.tag, Some((access.opcode, module.access_type(access))))
            }
            _ => (pair.tag, None),
        });
        groups.entry(key).or_default().push(*pair);
    }
    groups.into_values().collect()
}

/// Explains one pair, each access with what was asked for.
fn one(
    input: &Input,
    oracle: &Oracle<&Graph>,
    others: &[Oracle<&Graph>],
    [a, b]: [(&String, Found); 2],
    out: &mut dyn Write,
) -> Result {
    let explain = |oracle: &Oracle<&Graph>| oracle.explain(a.1.tag, b.1.tag);
    let why = explain(oracle);
    writeln!(out, "{}\nrule {}: {}", why.answer, oracle.rule(), why.clause)?;
    let names = input.names();
    for (side, (asked, found)) in [("a", a), ("b", b)] {
        // The name that was asked for may be a path, which is no tag's name. A malformed tag means nothing.
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
) -> Result {
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

/// Returns the steps of a path, and the bytes at its end. A field goes by its name where a spec gives it one.
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
