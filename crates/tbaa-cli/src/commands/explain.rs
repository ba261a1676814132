//! `tbaa explain`, and its old forms `tbaa alias` (`--brief`) and `tbaa generic` (`--generic`).

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use indexmap::IndexMap;
use serde::Serialize;
use tbaa::explain::{AccessPath, Clause, Comparison, Explanation, PathStep};
use tbaa::parts::TagParts;
use tbaa::{AliasResult, AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{Names, Opcode, name_in_source};

use super::completions::accesses;
use super::words::in_words;
use crate::convert::{FlagsArg, is_source};
use crate::drawing::{Drawing, common, of_explanation, write_svg, write_text};
use crate::find::{Found, access_name};
use crate::input::{Content, Input, RulesArg};
use crate::output::write_json;
use crate::printable::printable;
use crate::report::{Result, bail, note};

/// Prints MayAlias or NoAlias, and why.
///
/// The first line is the answer. Any doubt is MayAlias: different roots, a malformed tag. The next lines are
/// the clause of the rule that decided, and the two tags. If the rule compared paths, these follow: from a
/// common type to each access, with the bytes that it touches. Offsets are in bytes from the start of the type
/// that has the field. Then come the reason in words, and the answers of the other two rules.
///
/// Last come drawings of the bytes: one of the common type, or one of each base type. Each has a line for the
/// fields of each type on the path, and a line for each access. Columns are not to scale, and `...` stands for
/// bytes far from both accesses. A dot after an access means its end is unknown.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/explain.txt"))]
pub(crate) struct Explain {
    /// A .ll, .bc, C or C++ file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// A tag or an access; see `tbaa --help`.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) a: String,
    /// The other tag or access.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// Print the answer alone; if A or B names several accesses, as f.c:7 may, print one answer
    /// for each pair.
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

/// The answer for one pair in `--format json`.
#[derive(Serialize)]
struct Answer {
    a: String,
    b: String,
    answer: AliasResult,
    rules: AliasRule,
    clause: Clause,
    /// The clause in words.
    because: String,
    /// The reason in words; empty with `--brief`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
    /// The paths that the rule compared, if any, from a common type; `None` with `--brief`.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
}

impl Explain {
    /// Finds all pairs of accesses with the two names in the input. Warns of tags LLVM rejects.
    fn read(&self) -> Result<(Input, AliasRule, Vec<[Found; 2]>)> {
        let origin = self.flags.of(&self.input);
        let mut input = Input::open(origin)?;
        let [first, second] = match input.pair(&self.a, &self.b) {
            Ok(found) => found,
            Err(failure) if !is_source(&self.input) => return Err(failure),
            // Optimisation may have removed the access: look in the unoptimised code.
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
    let (names, oracle) = (input.names(), Oracle::new(input.graph(), rules));
    let question = Question { input: &input, names, oracle, asked: [&args.a, &args.b] };
    if args.generic {
        return question.generic(&pairs, out);
    }
    // Two loads may be reordered, whatever their tags say, so pairs of loads come last.
    if let Content::Module(module) = &input.content
        && !args.brief
    {
        let is_load = |found: &Found| {
            found.instruction.is_some_and(|at| module.instructions()[at].opcode == Opcode::Load)
        };
        pairs.sort_by_key(|[a, b]| is_load(a) && is_load(b));
    }
    match args.format {
        ExplainFormat::Svg => {
            let [pair] = pairs[..] else {
                let (a, b, count) = (&args.a, &args.b, pairs.len());
                bail!(
                    "{a} and {b} are {count} pairs, and a picture is of one: name one access each"
                );
            };
            return question.picture(pair, out);
        }
        ExplainFormat::Json => {
            let answers = pairs.iter().map(|&pair| question.answer(pair, args.brief));
            return Ok(write_json(&answers.collect::<Vec<_>>(), out)?);
        }
        ExplainFormat::Text if args.brief => return question.brief(&pairs, out),
        ExplainFormat::Text => {}
    }
    let others = AliasRule::ALL.into_iter().filter(|&other| other != rules);
    let others: Vec<_> = others.map(|other| Oracle::new(input.graph(), other)).collect();
    for (index, group) in alike(&input, &pairs).iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        question.one(&others, group[0], out)?;
        if let Content::Module(module) = &input.content {
            for accesses in &group[1..] {
                let name = |at| access_name(module, at);
                let [a, b] =
                    accesses.map(|access| access.instruction.map(name).unwrap_or_default());
                writeln!(out, "the same holds for {a} and {b}")?;
            }
        }
    }
    Ok(())
}

/// An input, and the names of the two accesses that the user asks about.
struct Question<'a> {
    input: &'a Input,
    names: Names<'a>,
    oracle: Oracle<&'a Graph>,
    asked: [&'a String; 2],
}

impl Question<'_> {
    /// Returns the answer to one pair, without words and paths if `is_brief`.
    fn answer(&self, pair: [Found; 2], is_brief: bool) -> Answer {
        let why = self.oracle.explain(pair[0].access, pair[1].access);
        let [a, b] = pair.map(|found| self.input.found_name(&self.names, &found));
        Answer {
            a,
            b,
            answer: why.answer,
            rules: self.oracle.rule(),
            clause: why.clause,
            because: why.clause.to_string(),
            words: match is_brief {
                true => Vec::new(),
                false => in_words(self.input, &self.names, &why, pair),
            },
            comparison: why.comparison.filter(|_| !is_brief),
        }
    }

    fn brief(&self, pairs: &[[Found; 2]], out: &mut dyn Write) -> Result {
        let Question { input, oracle, .. } = self;
        let is_rejected = |found: &Found| found.tag.is_some_and(|tag| !oracle.is_well_formed(tag));
        for pair in pairs {
            if oracle.rule() != AliasRule::Llvm && pair.iter().any(is_rejected) {
                note(format!("{}, and rule {} answers MayAlias", Clause::Malformed, oracle.rule()));
            }
            let answer = oracle.alias(pair[0].access, pair[1].access);
            if pairs.len() == 1 {
                writeln!(out, "{answer}")?;
            } else {
                let [a, b] = pair.map(|found| input.found_name(&self.names, &found));
                writeln!(out, "{:8}  {a}  and  {b}", answer.to_string())?;
            }
        }
        Ok(())
    }

    /// Prints the tag for one access that replaces both accesses of a pair.
    fn generic(&self, pairs: &[[Found; 2]], out: &mut dyn Write) -> Result {
        let Question { input, oracle, .. } = self;
        let mut tags: Vec<_> = pairs.iter().map(|pair| pair.map(|found| found.tag)).collect();
        tags.dedup();
        let [[a, b]] = tags[..] else {
            let [a, b] = self.asked;
            bail!(
                "{a:?} and {b:?} name several accesses with different tags; name one of each, as \
                 `tbaa explain --brief` lists them"
            );
        };
        match a.zip(b).and_then(|(a, b)| oracle.most_generic_as_written(a, b)) {
            Some((tag, size)) if matches!(input.content, Content::Module(_)) => {
                let means = printable(self.names.tag_of(&tag));
                writeln!(out, "{} ; {means}", input.tag_text(&tag, size))?;
            }
            Some((tag, size)) => writeln!(out, "{}", input.tag_text(&tag, size))?,
            None => writeln!(out, "none")?,
        }
        Ok(())
    }

    fn one(&self, others: &[Oracle<&Graph>], pair: [Found; 2], out: &mut dyn Write) -> Result {
        let Question { input, names, oracle, asked } = self;
        let explain = |oracle: &Oracle<&Graph>| oracle.explain(pair[0].access, pair[1].access);
        let why = explain(oracle);
        writeln!(out, "{}\nrule {}: {}", why.answer, oracle.rule(), why.clause)?;
        for ((side, asked), found) in ["a", "b"].iter().zip(asked).zip(pair) {
            // Name a spec's tag as the user did, and a malformed tag of a module by its label.
            let name = match (&input.content, found.tag) {
                (Content::Module(_), Some(tag)) if input.graph().tag(tag).is_err() => {
                    input.label(tag)
                }
                (Content::Module(_), _) => input.found_name(names, &found),
                (Content::Spec(..), _) => printable(asked),
            };
            match found.tag {
                Some(tag) => writeln!(out, "  {side}: {name} = {}", says(input, tag))?,
                None => writeln!(out, "  {side}: {name}")?,
            }
        }
        if let Some(comparison) = &why.comparison {
            let tags = pair.map(|found| input.graph().tag(found.tag?).ok());
            let base = match tags {
                [Some(a), Some(b)] => names.ty(common(comparison, &[a, b])),
                _ => String::new(),
            };
            writeln!(out, "from {}", printable(base))?;
            writeln!(out, "  a: {}", path(input, &comparison.a))?;
            writeln!(out, "  b: {}", path(input, &comparison.b))?;
            if let Some(apart) = &comparison.apart {
                writeln!(out, "  {apart}")?;
            }
        }
        for line in in_words(input, names, &why, pair) {
            writeln!(out, "{}", printable(line))?;
        }
        for oracle in others {
            let why = explain(oracle);
            writeln!(out, "rule {}: {}, {}", oracle.rule(), why.answer, why.clause)?;
        }
        for drawing in self.drawings(&why, pair) {
            writeln!(out, "bytes of {}", drawing.base)?;
            write_text(&drawing, out)?;
        }
        Ok(())
    }

    fn picture(&self, pair: [Found; 2], out: &mut dyn Write) -> Result {
        let why = self.oracle.explain(pair[0].access, pair[1].access);
        let drawings = self.drawings(&why, pair);
        let [a, b] = self.asked;
        let title = format!("{a} and {b} in {}: {}", self.input.file(), why.answer);
        let mut about = vec![format!("rule {}: {}", self.oracle.rule(), why.clause)];
        if drawings.is_empty() {
            about.push("an access has no tag that can be read, and so no bytes to draw".to_owned());
        }
        Ok(write_svg(&drawings, &title, &about, out)?)
    }

    /// Returns drawings of the bytes of a pair; none if a tag is missing or malformed.
    fn drawings(&self, why: &Explanation, pair: [Found; 2]) -> Vec<Drawing> {
        let [Some(a), Some(b)] = pair.map(|found| found.tag) else { return Vec::new() };
        let [name_a, name_b] = match self.input.content {
            Content::Module(_) => [a, b].map(|tag| self.names.place(tag)),
            Content::Spec(..) => self.asked.map(String::clone),
        };
        of_explanation((self.input, &self.names), why, [(&name_a, a), (&name_b, b)])
    }
}

/// Groups the pairs that have equal tags, opcodes and types: the same words explain them.
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

/// Returns the tag's operands, or what is wrong with them.
fn says(input: &Input, tag: TagId) -> String {
    let graph = input.graph();
    match graph.tag(tag) {
        Ok(said) => input.tag_text(&said, TagParts::size_number(graph, graph.tag_node(tag))),
        Err(malformed) => format!("malformed: {malformed}"),
    }
}

/// Returns the steps of a path, and the bytes at its end. Fields have names if a spec gives them.
fn path(input: &Input, path: &AccessPath) -> String {
    let step = |step: &PathStep| {
        let name = match input.field_name(&step.ty, step.field, step.offset) {
            Some(name) => printable(name),
            None => format!("field {}", step.field),
        };
        let elements = if step.array { "[]" } else { "" };
        let into = printable(name_in_source(step.into.as_bytes()));
        format!("{name} at {}: {into}{elements}", step.offset)
    };
    let steps: Vec<_> = path.steps.iter().map(step).collect();
    let steps = if steps.is_empty() { "the object itself".to_owned() } else { steps.join(", ") };
    match &path.bytes {
        Some(bytes) => format!("{steps}; {bytes}"),
        None => steps,
    }
}
