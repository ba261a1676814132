//! `tbaa alias` and `tbaa generic`: questions about two tags.

use std::io::Write;
use std::path::PathBuf;

use clap_complete::ArgValueCompleter;
use serde::Serialize;
use tbaa::explain::{Clause, Comparison, Explanation};
use tbaa::{AliasResult, AliasRule, Oracle};
use tbaa_ir::Names;

use super::completions::accesses;
use crate::convert::{FlagsArg, is_source};
use crate::find::Found;
use crate::input::RulesArg;
use crate::input::{Content, Input};
use crate::output::{TextOrJson, write_json};
use crate::printable::printable;
use crate::report::{Failure, note};

/// Prints MayAlias or NoAlias.
///
/// Any doubt is MayAlias: different roots, a malformed tag. The command warns of tags
/// that LLVM's verifier rejects. If a name means several accesses, as a line of the
/// source may, it prints a line for each pair.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/alias.txt"))]
pub(crate) struct Alias {
    #[command(flatten)]
    pub(crate) pair: Pair,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TextOrJson,
}

/// The answer to one pair in `--format json`.
#[derive(Serialize)]
pub(super) struct Answer {
    a: String,
    b: String,
    answer: AliasResult,
    rules: AliasRule,
    clause: Clause,
    /// The clause in words.
    because: String,
    /// Who met whom, and where: of `explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) words: Vec<String>,
    /// Both paths from a common type, if the rule compared them: of `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<Comparison>,
}

impl Answer {
    pub(super) fn new(
        input: &Input,
        names: &Names<'_>,
        pair: &[Found; 2],
        why: &Explanation,
    ) -> Self {
        let [a, b] = [0, 1].map(|at| input.found_name(names, &pair[at]));
        Answer {
            a,
            b,
            answer: why.answer,
            rules: why.rule,
            clause: why.clause,
            because: why.clause.to_string(),
            words: Vec::new(),
            comparison: None,
        }
    }
}

/// Two tags to compare.
#[derive(clap::Args)]
pub(crate) struct Pair {
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
}

/// Prints the tag for one access that replaces two, or `none`.
///
/// For assembly text it prints the tag as metadata with the file's own numbers, and an
/// unknown size as `i64 -1`, as LLVM does. For a spec it prints the names of the types.
/// `none` means that no tag covers both accesses, so the new access must have no tag.
/// The order of the two can matter, as it does in LLVM.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/generic.txt"))]
pub(crate) struct Generic {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

/// A question about accesses of an input: each of the one name with each of the
/// other.
pub(super) struct Question {
    pub(super) input: Input,
    pub(super) rules: AliasRule,
    pub(super) pairs: Vec<[Found; 2]>,
}

impl Question {
    /// Reads the input and finds the accesses; warns of tags that LLVM rejects.
    pub(super) fn read(args: &Pair) -> Result<Question, Failure> {
        let origin = args.flags.of(&args.input);
        let mut input = Input::open(origin)?;
        let [first, second] = match input.pair(&args.a, &args.b) {
            Ok(found) => found,
            Err(failure) if !is_source(&args.input) => return Err(failure),
            // LLVM removes accesses, most of all wrong ones.
            Err(failure) => {
                let mut written = Input::open(origin.as_written())?;
                let Ok(found) = written.pair(&args.a, &args.b) else { return Err(failure) };
                note(
                    "optimised code has no such access: this is about the code as it is written, whose \
                     numbers are others",
                );
                input = written;
                found
            }
        };
        let rules = input.rules(args.rules.rules);
        input.warn_rejected(rules, first.iter().chain(&second).filter_map(|found| found.tag));
        let pairs = first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b])).collect();
        Ok(Question { input, rules, pairs })
    }
}

pub(super) fn alias(args: &Alias, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, pairs } = Question::read(&args.pair)?;
    let oracle = Oracle::new(input.graph(), rules);
    let names = input.names();
    if let TextOrJson::Json = args.format {
        let answer = |pair: &[Found; 2]| {
            Answer::new(&input, &names, pair, &oracle.explain(pair[0].tag, pair[1].tag))
        };
        let answers: Vec<Answer> = pairs.iter().map(answer).collect();
        return Ok(write_json(&answers, out)?);
    }
    let is_rejected = |found: &Found| found.tag.is_some_and(|tag| !oracle.is_well_formed(tag));
    for [a, b] in &pairs {
        if rules != AliasRule::Llvm && (is_rejected(a) || is_rejected(b)) {
            note(format!("{}, and rule {rules} answers MayAlias", Clause::Malformed));
        }
        let answer = oracle.alias(a.tag, b.tag);
        match pairs.len() {
            1 => writeln!(out, "{answer}")?,
            _ => {
                let [a, b] = [a, b].map(|found| input.found_name(&names, found));
                writeln!(out, "{:8}  {a}  and  {b}", answer.to_string())?;
            }
        }
    }
    Ok(())
}

pub(super) fn generic(args: &Generic, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, pairs } = Question::read(&args.pair)?;
    let mut tags: Vec<_> = pairs.iter().map(|pair| pair.map(|found| found.tag)).collect();
    tags.dedup();
    let [[a, b]] = tags[..] else {
        return Err(Failure::unusable(format!(
            "{:?} and {:?} name several accesses with different tags; name one of each, as \
             `tbaa alias` lists them",
            args.pair.a, args.pair.b
        )));
    };
    let both = a.zip(b);
    let oracle = Oracle::new(input.graph(), rules);
    match both.and_then(|(a, b)| oracle.most_generic_as_written(a, b)) {
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
