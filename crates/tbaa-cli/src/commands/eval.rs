//! `tbaa eval`: the tagged accesses of each function against one another.
//!
//! A function with thousands of accesses has millions of pairs, but the answer
//! depends on the tags alone: it is asked once for each pair of distinct tags,
//! and counted for the pairs of accesses.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;
use tbaa::{AliasResult, Oracle, TagId};
use tbaa_ir::{Instruction, Module, Names, Opcode};

use super::{AnswersLimit, counted, letter, percent};
use crate::convert::InputArg;
use crate::find::by_function;
use crate::input::RulesArg;
use crate::input::{Content, Input};
use crate::printable::{function_name, printable};
use crate::report::{Failure, note};

/// Compares all tagged accesses of each function with one another.
///
/// A pair is two instructions of one function that both have a `!tbaa`
/// attachment. Untagged accesses may alias everything: they are counted, but they
/// are in no pair.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  text   for each function: its accesses; then each tag, the number of accesses
         with it, and the tags that it aliases and does not alias; and the counts
  pairs  a line for each pair, separated by tabs: function; index, opcode, type and
         tag of one access; the same of the other; MayAlias or NoAlias
  json   one document, a row of M and N for each tag of a function
The index is the instruction's position in its function, from 0. In text
each access has its number among the function's accesses, from 1: @f:1 is its name.

Examples:
  tbaa eval f.ll
  tbaa eval f.ll --format pairs | grep -c NoAlias
  tbaa eval f.ll --function @f
  clang -O1 -S -emit-llvm -o - f.c | tbaa eval -

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Eval {
    #[command(flatten)]
    pub(crate) input: InputArg,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// Only this function, such as @f; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Vec<String>,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: EvalFormat,
    #[command(flatten)]
    pub(crate) limit: AnswersLimit,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum EvalFormat {
    #[default]
    Text,
    Pairs,
    Json,
}

pub(super) fn run(args: &Eval, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let Content::Module(module) = &input.content else {
        return Err(Failure::unusable(format!(
            "{} is a spec, which has no functions; `tbaa matrix` compares its tags",
            input.file()
        )));
    };
    let rules = input.rules(args.rules.rules);
    input.warn_rejected(rules, module.attached_tags());
    let oracle = Oracle::new(module.graph(), rules);
    let wanted = wanted(&input, module, &args.function)?;
    let is_wanted =
        |it: &Instruction| wanted.as_ref().is_none_or(|wanted| wanted.contains(&it.function));
    if args.format == EvalFormat::Pairs {
        say_how_many(module.instructions().iter().filter(|&it| is_wanted(it)));
    }
    let functions = || by_function(module).filter(|(_, all)| is_wanted(&all[0]));
    for (name, instructions) in functions() {
        let tags: HashSet<_> = instructions.iter().filter_map(|it| it.tag).collect();
        args.limit.check(tags.len(), &format!("@{}", function_name(name)))?;
    }
    let meanings = input.names();
    let mut total = Count::default();
    let mut separator = "";
    if args.format == EvalFormat::Json {
        write!(out, "{{\"rules\":\"{}\",\"functions\":[", rules)?;
    }
    for (name, instructions) in functions() {
        let function = Function::new((&input, &meanings), module, &oracle, name, instructions);
        total.add(&function.count);
        if function.accesses.is_empty() {
            continue;
        }
        match args.format {
            EvalFormat::Text => function.text(out)?,
            EvalFormat::Pairs => function.pairs(out)?,
            EvalFormat::Json => {
                write!(out, "{separator}")?;
                separator = ",";
                serde_json::to_writer(&mut *out, &function).map_err(io::Error::from)?;
            }
        }
    }
    match args.format {
        EvalFormat::Text => {
            let functions = wanted.map_or(module.functions().len(), |wanted| wanted.len());
            let functions = counted(functions as u64, "function", "functions");
            writeln!(out, "total: {functions}, {total}")?;
        }
        EvalFormat::Pairs => {}
        EvalFormat::Json => {
            write!(out, "],\"total\":")?;
            serde_json::to_writer(&mut *out, &total).map_err(io::Error::from)?;
            writeln!(out, "}}")?;
        }
    }
    Ok(())
}

/// The functions that are asked for; `None` for all.
fn wanted(
    input: &Input,
    module: &Module,
    asked: &[String],
) -> Result<Option<HashSet<u32>>, Failure> {
    let number = |name: &String| input.function(module, name.strip_prefix('@').unwrap_or(name));
    let wanted: HashSet<u32> = asked.iter().map(number).collect::<Result<_, _>>()?;
    Ok((!asked.is_empty()).then_some(wanted))
}

/// Above this many pairs, some 100 MB, it is said how many are written.
const MANY_PAIRS: u64 = 1_000_000;

/// Says how many pairs are written, if they are many.
fn say_how_many<'i>(instructions: impl Iterator<Item = &'i Instruction>) {
    let mut counts: HashMap<u32, u64> = HashMap::new();
    for instruction in instructions.filter(|it| it.tag.is_some()) {
        *counts.entry(instruction.function).or_default() += 1;
    }
    let pairs: u64 = counts.values().map(|count| count * (count - 1) / 2).sum();
    if pairs > MANY_PAIRS {
        note(format!(
            "{pairs} pairs, a line each; --function NAME writes those of one function, and the other formats have counts and rows"
        ));
    }
}

/// Accesses and pairs, of a function or of all.
#[derive(Default, Serialize)]
struct Count {
    tagged: u64,
    untagged: u64,
    pairs: u64,
    no_alias: u64,
    may_alias: u64,
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.tagged += other.tagged;
        self.untagged += other.untagged;
        self.pairs += other.pairs;
        self.no_alias += other.no_alias;
        self.may_alias += other.may_alias;
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}, {} untagged; {}: {} NoAlias ({}), {} MayAlias",
            counted(self.tagged, "tagged access", "tagged accesses"),
            self.untagged,
            counted(self.pairs, "pair", "pairs"),
            self.no_alias,
            percent(self.no_alias, self.pairs),
            self.may_alias
        )
    }
}

/// A tagged access.
#[derive(Serialize)]
struct Access {
    index: u32,
    /// Among the function's accesses, untagged ones included, from 1.
    access: usize,
    opcode: &'static str,
    #[serde(rename = "type")]
    ty: String,
    /// Which of the function's tags.
    tag: usize,
}

#[derive(Serialize)]
struct Function {
    name: String,
    #[serde(flatten)]
    count: Count,
    /// The function's distinct tags in order of appearance.
    tags: Vec<String>,
    /// What each of them means.
    meanings: Vec<String>,
    /// Accesses with each tag.
    #[serde(skip)]
    uses: Vec<u64>,
    accesses: Vec<Access>,
    /// A row of `M` and `N` for each tag.
    rows: Vec<String>,
}

impl Function {
    fn new(
        (input, meanings): (&Input, &Names<'_>),
        module: &Module,
        oracle: &Oracle<&tbaa::Graph>,
        name: &[u8],
        instructions: &[Instruction],
    ) -> Function {
        let mut tags: Vec<TagId> = Vec::new();
        let mut places = HashMap::new();
        let mut uses = Vec::new();
        let mut accesses = Vec::new();
        let mut count = Count::default();
        for (instruction, access) in instructions.iter().zip(1..) {
            let Some(tag) = instruction.tag else {
                count.untagged += u64::from(instruction.opcode.accesses_memory());
                continue;
            };
            let place = *places.entry(tag).or_insert(tags.len());
            if place == tags.len() {
                tags.push(tag);
                uses.push(0);
            }
            uses[place] += 1;
            accesses.push(Access {
                index: instruction.index,
                access,
                opcode: opcode(instruction.opcode),
                ty: match module.access_type(instruction) {
                    b"" => "-".to_owned(),
                    ty => printable(ty),
                },
                tag: place,
            });
        }
        let matrix = oracle.matrix(&tags);
        for i in 0..tags.len() {
            for j in 0..=i {
                let pairs = if i == j { uses[i] * (uses[i] - 1) / 2 } else { uses[i] * uses[j] };
                count.pairs += pairs;
                let answered =
                    if matrix.may_alias(i, j) { &mut count.may_alias } else { &mut count.no_alias };
                *answered += pairs;
            }
        }
        let cell = |i, j| char::from(letter(matrix.may_alias(i, j)));
        let rows = (0..tags.len()).map(|i| (0..tags.len()).map(|j| cell(i, j)).collect());
        count.tagged = accesses.len() as u64;
        Function {
            name: format!("@{}", function_name(name)),
            count,
            tags: tags.iter().map(|&tag| input.label(tag)).collect(),
            meanings: tags.iter().map(|&tag| meanings.tag(tag)).collect(),
            uses,
            accesses,
            rows: rows.collect(),
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.name, self.count)?;
        let digits = self.accesses.last().map_or(0, |last| last.access.to_string().len());
        let ty = self.accesses.iter().map(|access| access.ty.chars().count()).max().unwrap_or(0);
        for access in &self.accesses {
            let tag = &self.tags[access.tag];
            let Access { access: number, opcode, ty: accessed, .. } = access;
            writeln!(out, "  {number:>digits$}  {opcode:9}  {accessed:ty$}  {tag}")?;
        }
        for (i, row) in self.rows.iter().enumerate() {
            let meaning = printable(self.meanings[i].as_bytes());
            let uses = counted(self.uses[i], "access", "accesses");
            writeln!(out, "  {} {meaning}, on {uses}", self.tags[i])?;
            for (wanted, word) in [(b'N', "NoAlias "), (b'M', "MayAlias")] {
                // A tag with itself is a pair where two accesses have it.
                let others: Vec<_> = row
                    .bytes()
                    .enumerate()
                    .filter(|&(j, answer)| answer == wanted && (i != j || self.uses[i] > 1))
                    .map(|(j, _)| &*self.tags[j])
                    .collect();
                if !others.is_empty() {
                    writeln!(out, "    {word}  {}", others.join(" "))?;
                }
            }
        }
        writeln!(out)
    }

    fn pairs(&self, out: &mut dyn Write) -> io::Result<()> {
        for (i, a) in self.accesses.iter().enumerate() {
            for b in &self.accesses[i + 1..] {
                write!(out, "{}", self.name)?;
                for access in [a, b] {
                    let tag = &self.tags[access.tag];
                    write!(out, "\t{}\t{}\t{}\t{tag}", access.index, access.opcode, access.ty)?;
                }
                let answer = match self.rows[a.tag].as_bytes()[b.tag] {
                    b'N' => AliasResult::NoAlias,
                    _ => AliasResult::MayAlias,
                };
                writeln!(out, "\t{answer}")?;
            }
        }
        Ok(())
    }
}

fn opcode(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::Load => "load",
        Opcode::Store => "store",
        Opcode::Call => "call",
        Opcode::AtomicRmw => "atomicrmw",
        Opcode::CmpXchg => "cmpxchg",
        Opcode::VaArg => "va_arg",
        _ => "other",
    }
}
