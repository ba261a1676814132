//! `tbaa diff`: compares the tags of two builds of one program.

mod align;
mod build;
mod pairs;
mod tags;

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use tbaa::AliasRule;

use super::Outcome;
use crate::convert::FlagsArg;
use crate::input::{Input, RulesArg};
use crate::output::{TextOrJson, counted, percent, write_json};
use crate::report::Result;

use build::Build;
use pairs::{Changes, Count, Counts, Pair};
use tags::{Tags, Used};

/// Compares two builds of one program: their tags, and the answers for pairs.
///
/// It matches tags by their content, not by their numbers. It lists tags that only one build has,
/// and tags that have one name and different types. It matches functions by name, and their
/// accesses in order, by opcode and type. A pair is lost if it is NoAlias in A and MayAlias in B,
/// and gained if it is the other way round. An access without a tag may alias everything. With
/// --without-tags, B is A without tags: the lost pairs are those that the tags separate.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/diff.txt"))]
pub(crate) struct Diff {
    /// One build: a .ll, .bc, C or C++ file, a .ron spec, or `-`.
    a: PathBuf,
    /// The other build.
    #[arg(required_unless_present = "without_tags")]
    b: Option<PathBuf>,
    /// Compare A with itself without tags.
    #[arg(long, conflicts_with = "b")]
    without_tags: bool,
    #[command(flatten)]
    flags: FlagsArg,
    #[command(flatten)]
    rules: RulesArg,
    /// The rules for B, if they differ from those for A.
    #[arg(long, value_name = "RULES")]
    rules_b: Option<AliasRule>,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
    /// List at most this many tags, functions, and pairs of each function; 0 lists all.
    #[arg(long, alias = "limit", value_name = "COUNT", default_value_t = 10)]
    top: usize,
}

#[derive(Serialize)]
struct Found {
    a: String,
    b: String,
    rules_a: String,
    rules_b: String,
    tags: Tags,
    counts: Counts,
    functions: Vec<Changes>,
}

pub(super) fn run(args: &Diff, out: &mut dyn Write) -> Result<Outcome> {
    let origin = |path| args.flags.among(path, [&args.a].into_iter().chain(&args.b));
    let first = Input::open(origin(&args.a))?;
    let rules = first.rules(args.rules.rules);
    let a = Build::new(&first, rules);
    let second;
    let b = match &args.b {
        Some(path) => {
            second = Input::open(origin(path))?;
            Build::new(&second, args.rules_b.unwrap_or_else(|| second.rules(args.rules.rules)))
        }
        None => Build::new(&first, rules).without_tags(),
    };
    let (counts, functions) = pairs::compare(&a, &b);
    let name = |side: &Build<'_>| side.input.file().to_owned();
    let mut found = Found {
        a: name(&a),
        b: if args.without_tags { format!("{} without tags", name(&b)) } else { name(&b) },
        rules_a: a.rules.to_string(),
        rules_b: b.rules.to_string(),
        tags: if args.without_tags { Tags::default() } else { tags::compare(&a, &b)? },
        counts,
        functions,
    };
    let tags = &found.tags;
    let differs = !found.functions.is_empty()
        || tags.changed.len() + tags.only_a.len() + tags.only_b.len() > 0
        || found.counts.functions_only_a + found.counts.functions_only_b > 0
        || found.counts.accesses_only_a + found.counts.accesses_only_b > 0;
    match args.format {
        TextOrJson::Text => found.write(args, out)?,
        TextOrJson::Json => {
            if args.top > 0 {
                found.cut(args.top);
            }
            write_json(&found, out)?;
        }
    }
    Ok(if differs && !args.without_tags { Outcome::Found } else { Outcome::Fine })
}

fn shown(limit: usize, len: usize) -> usize {
    if limit == 0 { len } else { limit.min(len) }
}

impl Found {
    fn cut(&mut self, limit: usize) {
        self.tags.only_a.truncate(limit);
        self.tags.only_b.truncate(limit);
        self.tags.changed.truncate(limit);
        self.functions.truncate(limit);
        self.functions.iter_mut().for_each(|function| function.pairs.truncate(limit));
    }

    fn write(&self, args: &Diff, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "A: {}, rule {}", self.a, self.rules_a)?;
        writeln!(out, "B: {}, rule {}", self.b, self.rules_b)?;
        if !args.without_tags {
            self.write_tags(args.top, out)?;
        }
        let Counts { functions, accesses, pairs, lost, gained, .. } = &self.counts;
        let functions = counted(*functions, "function");
        let [lost, gained] = [lost, gained].map(|count| words(count, *pairs));
        writeln!(out, "accesses  {accesses} compared in {functions}{}", self.unmatched())?;
        writeln!(
            out,
            "pairs     {pairs} compared; lost (NoAlias in A, MayAlias in B) {lost}; gained {gained}"
        )?;
        let most = shown(args.top, self.functions.len());
        for changes in &self.functions[..most] {
            write_function(changes, args, out)?;
        }
        if let more @ 1.. = self.functions.len() - most {
            writeln!(out, "and {more} more functions; `--top 0` lists all")?;
        }
        Ok(())
    }

    fn write_tags(&self, limit: usize, out: &mut dyn Write) -> io::Result<()> {
        let Tags { in_a, in_b, alike, only_a, only_b, changed } = &self.tags;
        writeln!(out, "tags      {in_a} in A, {in_b} in B, {alike} alike")?;
        for tag in &changed[..shown(limit, changed.len())] {
            writeln!(out, "  changed    {}: {} in A, {} in B", tag.meaning, tag.a, tag.b)?;
        }
        more(limit, changed.len(), "changed", out)?;
        for (title, list) in [("only in A", only_a), ("only in B", only_b)] {
            for Used { tag, meaning, accesses } in &list[..shown(limit, list.len())] {
                let accesses = counted(*accesses, "access");
                writeln!(out, "  {title}  {tag} {meaning}, on {accesses}")?;
            }
            more(limit, list.len(), title, out)?;
        }
        Ok(())
    }

    /// Returns a text that counts the functions and accesses that only one build has.
    fn unmatched(&self) -> String {
        let (counts, mut text) = (&self.counts, String::new());
        for (functions, accesses, side) in [
            (counts.functions_only_a, counts.accesses_only_a, "A"),
            (counts.functions_only_b, counts.accesses_only_b, "B"),
        ] {
            if functions + accesses as usize > 0 {
                let functions = counted(functions, "function");
                let accesses = counted(accesses, "other access");
                text += &format!("; only in {side}: {functions}, {accesses}");
            }
        }
        text
    }
}

fn more(limit: usize, len: usize, title: &str, out: &mut dyn Write) -> io::Result<()> {
    match len - shown(limit, len) {
        0 => Ok(()),
        more => writeln!(out, "  {title}  {more} more"),
    }
}

fn words(count: &Count, of: u64) -> String {
    let Count { pairs, with_a_write } = count;
    format!("{pairs} ({}), {with_a_write} with a write", percent(*pairs, of))
}

fn write_function(changes: &Changes, args: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let Changes { function, lost, gained, pairs } = changes;
    writeln!(out, "{function}: {} lost, {} gained", lost.pairs, gained.pairs)?;
    let most = shown(args.top, pairs.len());
    for Pair { lost, count, first, second } in &pairs[..most] {
        let word = if *lost { "lost  " } else { "gained" };
        let times = counted(count.pairs, "pair");
        let [in_a, other_in_a] = [first, second].map(|of| format!("{}, {}", of.place, of.a));
        writeln!(out, "  {word} {times}: {in_a}; {other_in_a}")?;
        // Print the tags of B if they differ from those of A.
        if !args.without_tags && (first.a != first.b || second.a != second.b) {
            writeln!(out, "         in B: {}; {}", first.b, second.b)?;
        }
    }
    if let more @ 1.. = pairs.len() - most {
        writeln!(out, "  and {more} more pairs of tags")?;
    }
    Ok(())
}
