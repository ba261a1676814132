//! The findings of `tbaa worth`, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use tbaa::{Graph, Tag, TypeId};
use tbaa_ir::Module;
use tbaa_plugin::{Found, Loss};

use crate::input::Input;
use crate::output::{self, counted, percent};
use crate::printable::{function_name, printable};

/// Lines of the source that a pair's entry names.
const LINES: usize = 3;

#[derive(Serialize)]
pub(super) struct Findings {
    questions: Questions,
    code: Totals,
    /// The loss without any tag, as with `-fno-strict-aliasing`.
    without_types: Entry,
    /// The gain by each pair of places, the greatest first.
    pairs: Vec<PairEntry>,
    tags: Tags,
    /// Functions whose answers were not all tried: their tags count as needed.
    unfinished: Vec<String>,
    /// Functions whose code is other if all answers that are worth nothing are left out at once.
    inexact: Vec<String>,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Questions {
    /// Asked of the analysis by types, when no other had an answer.
    asked: u64,
    /// Questions that only types answer.
    decided: u64,
    /// Different answers: a function, and two tags or one immutable one.
    answers: usize,
    /// Answers that change the code.
    worth: usize,
    /// Different pairs of the module's tags that are apart; of these some are never asked about.
    pairs_apart: u64,
    /// Pairs of tags asked about and apart,
    pairs_asked: usize,
    /// those among them that only types answer,
    pairs_decided: usize,
    /// and those that change the code.
    pairs_worth: usize,
}

#[derive(Serialize)]
struct Totals {
    functions: usize,
    functions_that_differ: usize,
    /// Spearman's rank correlation, over the functions, of the number of answers and the
    /// number of loads that come back without any.
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
    /// Nothing where the tag alone is of use, as it says that memory never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<String>,
    #[serde(flatten)]
    buys: Entry,
}

#[derive(Serialize)]
struct Tags {
    all: usize,
    /// With these alone LLVM makes the same code.
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

    /// `38 loads, 2 vectorised loops`, or `1 load, for 2 more stores`.
    fn words(&self) -> String {
        let counts = [
            (self.loss.loads, "load"),
            (self.loss.stores, "store"),
            (self.loss.vector_loops, "vectorised loop"),
        ];
        let listed = |of: &dyn Fn(i64) -> bool, more: &str| {
            let counts = counts.iter().filter(|count| of(count.0));
            let words = counts
                .map(|&(count, noun)| counted(count.unsigned_abs(), &format!("{more}{noun}")));
            words.collect::<Vec<_>>().join(", ")
        };
        let (saved, spent) = (listed(&|it| it > 0, ""), listed(&|it| it < 0, "more "));
        match (saved.is_empty(), spent.is_empty()) {
            (false, true) => saved,
            (false, false) => format!("{saved}, for {spent}"),
            (true, false) => format!("other code, with {spent}"),
            (true, true) => "other code".to_owned(),
        }
    }
}

impl Findings {
    pub(super) fn of(
        input: &Input,
        module: &Module<'_>,
        found: &Found,
        times: [Duration; 2],
    ) -> Self {
        let names = places(input, module.graph());
        let place = |key: &String| names.get(key).unwrap_or(key).clone();
        let decided: Vec<_> =
            found.questions.iter().filter(|question| question.is_decided()).collect();
        let differ: Vec<String> = found
            .all
            .iter()
            .filter(|(name, code)| found.none.get(*name).is_none_or(|none| none.code != code.code))
            .map(|(name, _)| name.clone())
            .collect();
        let loss = Loss::between(&found.all, &found.none, found.all.keys());

        let mut pairs: BTreeMap<_, (Loss, BTreeSet<String>)> = BTreeMap::new();
        for worth in &found.worth {
            let entry = pairs.entry(worth.pair.clone()).or_default();
            entry.0.add(&worth.loss);
            entry.1.insert(worth.function.clone());
        }
        let mut pairs: Vec<PairEntry> = pairs
            .into_iter()
            .map(|((a, b), (loss, functions))| PairEntry {
                a: place(&a),
                b: (!b.is_empty()).then(|| place(&b)),
                buys: Entry::of(
                    loss,
                    functions.iter().map(|function| function_name(function.as_bytes())).collect(),
                ),
            })
            .collect();
        pairs.sort_by(|x, y| {
            let rank = |entry: &PairEntry| {
                (entry.buys.loss.vector_loops, entry.buys.loss.loads, entry.buys.loss.stores)
            };
            rank(y).cmp(&rank(x)).then_with(|| y.buys.loss.cost.total_cmp(&x.buys.loss.cost))
        });

        let open = decided.iter().filter(|decided| found.open.contains(&decided.function));
        let kept = found.worth.iter().map(|worth| &worth.pair);
        let kept: BTreeSet<&String> = kept
            .flat_map(|(a, b)| [a, b])
            .chain(open.flat_map(|open| [&open.a, &open.b]))
            .collect();
        let (needed, nothing): (Vec<_>, Vec<_>) =
            names.iter().partition(|(key, _)| kept.contains(key));
        let words =
            |tags: Vec<(&String, &String)>| tags.into_iter().map(|tag| tag.1.clone()).collect();
        let answers: BTreeSet<_> =
            decided.iter().map(|decided| (&decided.function, &decided.a, &decided.b)).collect();
        let pairs_decided: BTreeSet<_> =
            decided.iter().map(|decided| (&decided.a, &decided.b)).collect();
        let asked = found.asked.iter().filter(|asked| asked.is_decided());
        let pairs_asked: BTreeSet<_> = asked.map(|asked| (&asked.a, &asked.b)).collect();
        let total = |of: fn(&tbaa_plugin::Code) -> i64| found.all.values().map(of).sum();
        Findings {
            questions: Questions {
                asked: found.questions.iter().map(|question| question.count).sum(),
                decided: decided.iter().map(|decided| decided.count).sum(),
                answers: answers.len(),
                worth: found.worth.len(),
                pairs_apart: apart(input, module),
                pairs_asked: pairs_asked.len(),
                pairs_decided: pairs_decided.len(),
                pairs_worth: pairs.len(),
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
            tags: Tags { all: names.len(), needed: words(needed), worth_nothing: words(nothing) },
            unfinished: found.open.iter().cloned().collect(),
            inexact: found.differ.iter().cloned().collect(),
            seconds: Seconds {
                with_types: times[0].as_secs_f64(),
                without_types: times[1].as_secs_f64(),
            },
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
        writeln!(
            out,
            "\nLLVM asked about types {} times where no other analysis had an answer; {} answers \
             ({}) were NoAlias.",
            questions.asked,
            questions.decided,
            percent(questions.decided, questions.asked)
        )?;
        let share =
            |count: usize| format!("{count} ({})", percent(count as u64, questions.pairs_apart));
        writeln!(
            out,
            "Of {} pairs of tags that are apart, LLVM asked about {}. Types alone decided {}, and {} \
             change the code.\nOf {} answers to functions, {} ({}) change the code.",
            questions.pairs_apart,
            share(questions.pairs_asked),
            share(questions.pairs_decided),
            share(questions.pairs_worth),
            questions.answers,
            questions.worth,
            percent(questions.worth as u64, questions.answers as u64)
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
        let (needed, others) = (&tags.needed, listed(&tags.worth_nothing, top));
        if needed.is_empty() {
            writeln!(out, "\nNo tag of this file changes the code: {others}.")?;
        } else {
            writeln!(
                out,
                "\nWith {} of the {} tags LLVM makes the same code as with all: {}.",
                needed.len(),
                tags.all,
                listed(needed, top)
            )?;
            if !tags.worth_nothing.is_empty() {
                writeln!(out, "The other {} buy nothing: {others}.", tags.worth_nothing.len())?;
            }
        }
        if !self.unfinished.is_empty() {
            writeln!(
                out,
                "\nNot all answers were tried in {}: {}. Raise --runs to go on; their tags count \
                 as needed.",
                counted(self.unfinished.len(), "function"),
                listed(&self.unfinished, top)
            )?;
        }
        if !self.inexact.is_empty() {
            writeln!(
                out,
                "\nIf all tags that buy nothing are left out at once, the code of {} differs: {}. \
                 Functions that are inlined there change each other's code.",
                counted(self.inexact.len(), "function"),
                listed(&self.inexact, top)
            )?;
        }
        Ok(())
    }
}

fn word(name: &str) -> String {
    format!("`{}`", printable(name.as_bytes()))
}

fn listed(names: &[String], most: usize) -> String {
    output::listed(names.iter().map(|name| word(name)), most, ", ", ", and ")
}

/// The places that tags name, by the plugin's name for a tag: `base+offset:access`.
fn places(input: &Input, graph: &Graph) -> BTreeMap<String, String> {
    let names = input.names();
    let name =
        |ty: TypeId| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default()).into_owned();
    let key = |tag: &Tag| format!("{}+{}:{}", name(tag.base), tag.offset, name(tag.access));
    let tags = graph.tags().filter_map(|tag| Some((tag, graph.tag(tag).ok()?)));
    tags.map(|(id, tag)| (key(&tag), names.place(id))).collect()
}

/// Returns the number of pairs of the module's tags for which LLVM answers NoAlias.
fn apart(input: &Input, module: &Module<'_>) -> u64 {
    let oracle = tbaa::Oracle::new(input.graph(), tbaa::AliasRule::Llvm);
    let tags = module.attached_tags();
    let pairs =
        tags.iter().enumerate().flat_map(|(at, a)| tags[at + 1..].iter().map(move |b| (*a, *b)));
    pairs.filter(|&(a, b)| oracle.alias(a, b) == tbaa::AliasResult::NoAlias).count() as u64
}
