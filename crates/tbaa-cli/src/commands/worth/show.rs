//! Prints the findings of `tbaa worth` in words.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use tbaa::{Tag, TagId, TypeId};
use tbaa_plugin::{Code, Found, Loss, Question};

use crate::input::Input;
use crate::output::{self, counted, percent};
use crate::printable::{function_name, printable};

/// The largest number of functions and of source lines that a pair's entry names.
const LINES: usize = 3;

#[derive(Serialize)]
pub(super) struct Findings {
    questions: Questions,
    code: Totals,
    /// How much worse the code is without any tag, as with `-fno-strict-aliasing`.
    without_types: Entry,
    /// The gain from each pair of tags, in descending order.
    pairs: Vec<PairEntry>,
    tags: Tags,
    /// Functions that were not fully measured: all their tags count as needed.
    unfinished: Vec<String>,
    /// Functions whose code changes if all answers that seem worth nothing are removed at once.
    inexact: Vec<String>,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Questions {
    /// The number of queries that reached TBAA because no other analysis had an answer.
    asked: u64,
    /// The number of queries in `asked` with the answer NoAlias or, for one tag, immutable memory.
    decided: u64,
    /// The number of different answers in `decided`. Each is for a function and one or two tags.
    answers: usize,
    /// The number of answers that change the code.
    worth: usize,
    /// The number of NoAlias pairs of the module's tags.
    pairs_apart: u64,
    /// The number of NoAlias pairs that LLVM asks about if TBAA comes before other analyses.
    pairs_asked: usize,
    /// The number of NoAlias pairs that only TBAA answers.
    pairs_decided: usize,
    /// The number of NoAlias pairs that change the code.
    pairs_worth: usize,
}

#[derive(Serialize)]
struct Totals {
    functions: usize,
    functions_that_differ: usize,
    /// Spearman's rank correlation, over functions, of answers and of extra loads without TBAA.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers_and_loads: Option<f64>,
    loads: i64,
    stores: i64,
    vector_loops: i64,
    instructions: i64,
}

#[derive(Serialize)]
struct Entry {
    #[serde(flatten)]
    loss: Loss,
    functions: Vec<String>,
}

#[derive(Serialize)]
struct PairEntry {
    a: String,
    /// `None` if the gain comes from the tag `a` alone, which says that memory never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<String>,
    #[serde(flatten)]
    buys: Entry,
}

#[derive(Serialize)]
struct Tags {
    all: usize,
    /// With only these tags LLVM generates the same code.
    needed: Vec<String>,
    worth_nothing: Vec<String>,
}

#[derive(Serialize)]
struct Seconds {
    with_types: f64,
    without_types: f64,
}

impl Entry {
    fn of(mut loss: Loss, functions: Vec<String>) -> Entry {
        loss.lines.retain(|_, more| *more > 0);
        Entry { loss, functions }
    }

    /// Returns words such as `38 loads, 2 vectorised loops`, or `1 load, for 2 more stores`.
    fn words(&self) -> String {
        let counts = [
            (self.loss.loads, "load"),
            (self.loss.stores, "store"),
            (self.loss.vector_loops, "vectorised loop"),
        ];
        let listed = |sign: i64, more: &str| {
            let counts = counts.iter().filter(|count| count.0.signum() == sign);
            let words = counts.map(|(count, noun)| counted(count.abs(), &format!("{more}{noun}")));
            words.collect::<Vec<_>>().join(", ")
        };
        let (saved, spent) = (listed(1, ""), listed(-1, "more "));
        match (saved.is_empty(), spent.is_empty()) {
            (false, true) => saved,
            (false, false) => format!("{saved}, for {spent}"),
            (true, false) => format!("other code, with {spent}"),
            (true, true) => "other code".to_owned(),
        }
    }
}

impl Findings {
    pub(super) fn of(input: &Input, found: &Found, times: [Duration; 2]) -> Self {
        let [with_types, without_types] = times.map(|time| time.as_secs_f64());
        let names = places(input);
        let place = |key: &String| names.get(key).unwrap_or(key).clone();
        let decided: Vec<_> = found.questions.iter().filter(|asked| asked.is_decided()).collect();
        let differs = |(name, code): (&String, &Code)| {
            let none = found.none.get(name).filter(|none| none.code == code.code);
            none.is_none().then(|| name.clone())
        };
        let differ: Vec<String> = found.all.iter().filter_map(differs).collect();
        let loss = Loss::between(&found.all, &found.none, found.all.keys());
        let mut pairs: BTreeMap<_, (Loss, BTreeSet<String>)> = BTreeMap::new();
        for worth in &found.worth {
            let entry = pairs.entry(worth.pair.clone()).or_default();
            entry.0.add(&worth.loss);
            entry.1.insert(worth.function.clone());
        }
        let entry = |((a, b), (loss, functions)): ((String, String), (Loss, BTreeSet<String>))| {
            let functions = functions.iter().map(|name| function_name(name.as_bytes())).collect();
            let b = (!b.is_empty()).then(|| place(&b));
            PairEntry { a: place(&a), b, buys: Entry::of(loss, functions) }
        };
        let mut pairs: Vec<PairEntry> = pairs.into_iter().map(entry).collect();
        pairs.sort_by(|x, y| {
            let (x, y) = (&x.buys.loss, &y.buys.loss);
            let rank = |loss: &Loss| (loss.vector_loops, loss.loads, loss.stores);
            rank(y).cmp(&rank(x)).then_with(|| y.cost.total_cmp(&x.cost))
        });
        let open = decided.iter().filter(|decided| found.open.contains(&decided.function));
        let open = open.flat_map(|open| [&open.a, &open.b]);
        let kept = found.worth.iter().flat_map(|worth| [&worth.pair.0, &worth.pair.1]);
        let kept: BTreeSet<&String> = kept.chain(open).collect();
        let words = |is_needed: bool| {
            let tags = names.iter().filter(|(key, _)| kept.contains(key) == is_needed);
            tags.map(|(_, place)| place.clone()).collect()
        };
        let answers: BTreeSet<_> = decided.iter().map(|of| (&of.function, &of.a, &of.b)).collect();
        // An access to memory that never changes is decided alone, without a second tag.
        let two_tags = |of: &&Question| !of.b.is_empty();
        let pairs_decided = decided.iter().copied().filter(two_tags);
        let pairs_decided: BTreeSet<_> = pairs_decided.map(|of| (&of.a, &of.b)).collect();
        let asked = found.asked.iter().filter(|asked| asked.is_decided()).filter(two_tags);
        let pairs_asked: BTreeSet<_> = asked.map(|asked| (&asked.a, &asked.b)).collect();
        let total = |of: fn(&Code) -> i64| found.all.values().map(of).sum();
        Findings {
            questions: Questions {
                asked: found.questions.iter().map(|question| question.count).sum(),
                decided: decided.iter().map(|decided| decided.count).sum(),
                answers: answers.len(),
                worth: found.worth.len(),
                pairs_apart: apart(input),
                pairs_asked: pairs_asked.len(),
                pairs_decided: pairs_decided.len(),
                pairs_worth: pairs.iter().filter(|pair| pair.b.is_some()).count(),
            },
            code: Totals {
                functions: found.all.len(),
                functions_that_differ: differ.len(),
                answers_and_loads: found.answers_and_loads(),
                loads: total(|it| it.loads),
                stores: total(|it| it.stores),
                vector_loops: total(|it| it.vector_loops),
                instructions: total(|it| it.instructions),
            },
            without_types: Entry::of(loss, differ),
            pairs,
            tags: Tags { all: names.len(), needed: words(true), worth_nothing: words(false) },
            unfinished: found.open.iter().cloned().collect(),
            inexact: found.differ.iter().cloned().collect(),
            seconds: Seconds { with_types, without_types },
        }
    }

    pub(super) fn write(&self, top: usize, out: &mut dyn Write) -> io::Result<()> {
        let Findings { questions, code, without_types: Entry { loss: lost, .. }, tags, .. } = self;
        writeln!(out, "{:24}{:>12}{:>12}", "", "with tags", "without")?;
        let rows = [
            ("loads", code.loads, lost.loads),
            ("stores", code.stores, lost.stores),
            ("vectorised loops", code.vector_loops, -lost.vector_loops),
            ("instructions", code.instructions, lost.instructions),
        ];
        for (what, with, more) in rows {
            writeln!(out, "{what:24}{with:>12}{:>12}", with + more)?;
        }
        let Seconds { with_types, without_types } = self.seconds;
        writeln!(out, "{:24}{with_types:>12.2}{without_types:>12.2}", "LLVM's time, s")?;
        writeln!(
            out,
            "Without tags, as with -fno-strict-aliasing, {} of {} functions have other code.",
            code.functions_that_differ, code.functions
        )?;
        let Questions { asked, decided, answers, worth, pairs_apart, .. } = questions;
        let share = percent(*decided, *asked);
        writeln!(
            out,
            "\nLLVM asked about types {asked} times where no other analysis had an answer; {decided} answers \
             ({share}) were NoAlias."
        )?;
        let share = |count: usize| format!("{count} ({})", percent(count as u64, *pairs_apart));
        writeln!(
            out,
            "Of {pairs_apart} pairs of tags that are apart, LLVM asked about {}. Types alone decided {}, and {} \
             change the code.\nOf {answers} answers to functions, {worth} ({}) change the code.",
            share(questions.pairs_asked),
            share(questions.pairs_decided),
            share(questions.pairs_worth),
            percent(*worth as u64, *answers as u64)
        )?;
        if let Some(correlation) = code.answers_and_loads {
            writeln!(
                out,
                "Over the functions, the number of answers and the number of loads that come back \
                 without them have a rank correlation of {correlation:.2}."
            )?;
        }
        if !self.pairs.is_empty() {
            writeln!(out, "\nThe pairs that buy most:")?;
        }
        for (at, pair) in self.pairs.iter().take(top).enumerate() {
            let who = match &pair.b {
                Some(b) => format!("{} against {}", word(&pair.a), word(b)),
                None => format!("{}, which never changes", word(&pair.a)),
            };
            let functions = listed(&pair.buys.functions, LINES);
            writeln!(out, "{:>4}. {who}: {} in {functions}", at + 1, pair.buys.words())?;
            let mut lines: Vec<_> =
                pair.buys.loss.lines.iter().filter(|line| !line.0.is_empty()).collect();
            lines.sort_by_key(|&(line, count)| (-count, line));
            for (line, count) in lines.into_iter().take(LINES) {
                writeln!(out, "        {line}: {}", counted(*count, "load"))?;
            }
        }
        let Tags { all, needed, worth_nothing } = tags;
        let (needed_tags, others) = (listed(needed, top), listed(worth_nothing, top));
        match needed.len() {
            0 => writeln!(out, "\nNo tag of this file changes the code: {others}.")?,
            count => writeln!(
                out,
                "\nWith {count} of the {all} tags LLVM makes the same code as with all: {needed_tags}."
            )?,
        }
        if !needed.is_empty() && !worth_nothing.is_empty() {
            writeln!(out, "The other {} buy nothing: {others}.", worth_nothing.len())?;
        }
        let functions = |names: &[String]| (counted(names.len(), "function"), listed(names, top));
        if !self.unfinished.is_empty() {
            let (functions, names) = functions(&self.unfinished);
            writeln!(
                out,
                "\nNot all answers were tried in {functions}: {names}. Raise --runs to go on; their tags count \
                 as needed."
            )?;
        }
        if !self.inexact.is_empty() {
            let (functions, names) = functions(&self.inexact);
            writeln!(
                out,
                "\nIf all tags that buy nothing are left out at once, the code of {functions} differs: {names}. \
                 Functions that are inlined there change each other's code."
            )?;
        }
        Ok(())
    }
}

fn word(name: &str) -> String {
    format!("`{}`", printable(name))
}

fn listed(names: &[String], most: usize) -> String {
    output::listed(names.iter().map(|name| word(name)), most, ", ", ", and ")
}

/// Maps `tbaa_plugin`'s name for a tag, `base+offset:access`, to the field that the tag accesses.
fn places(input: &Input) -> BTreeMap<String, String> {
    let (names, graph) = (input.names(), input.graph());
    let name =
        |ty: TypeId| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default()).into_owned();
    let key = |tag: &Tag| format!("{}+{}:{}", name(tag.base), tag.offset, name(tag.access));
    let tags = graph.tags().filter_map(|tag| Some((tag, graph.tag(tag).ok()?)));
    tags.map(|(id, tag)| (key(&tag), names.place(id))).collect()
}

/// Returns the number of pairs of the module's tags for which LLVM answers NoAlias.
fn apart(input: &Input) -> u64 {
    let oracle = tbaa::Oracle::new(input.graph(), tbaa::AliasRule::Llvm);
    let tags: Vec<TagId> = input.rows().into_iter().map(|(_, tag)| tag).collect();
    let apart = |(at, &a): (usize, &TagId)| {
        tags[at + 1..].iter().filter(|&&b| !oracle.may_alias(a, b)).count() as u64
    };
    tags.iter().enumerate().map(apart).sum()
}
