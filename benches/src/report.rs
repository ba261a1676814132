//! The report, as Markdown.

use std::fmt::Write;

/// What is written into `docs/performance.md`.
#[derive(Default)]
pub(crate) struct Report {
    summary: Vec<Vec<String>>,
    reached: Vec<Vec<String>>,
    missed: Vec<Vec<String>>,
    sections: String,
}

impl Report {
    /// Says whether a target was reached, by its worst figure. `None` where
    /// nothing was measured.
    pub(crate) fn target(
        &mut self,
        work: &str,
        must: &str,
        worst: Option<f64>,
        figure: String,
        holds: impl Fn(f64) -> bool,
    ) {
        let figure = if worst.is_none() { "not measured".to_owned() } else { figure };
        let is_reached = worst.is_some_and(holds);
        let targets = if is_reached { &mut self.reached } else { &mut self.missed };
        targets.push(vec![work.to_owned(), must.to_owned(), figure]);
    }

    /// The same for figures of which none may be above a limit.
    pub(crate) fn at_most(
        &mut self,
        work: &str,
        must: &str,
        figures: impl IntoIterator<Item = Option<f64>> + Clone,
        unit: &str,
        limit: f64,
    ) {
        let worst = smallest_and_largest(figures.clone()).1;
        self.target(work, must, worst, range(figures, unit), |worst| worst <= limit);
    }

    /// The same for figures of which none may be below a limit.
    pub(crate) fn at_least(
        &mut self,
        work: &str,
        must: &str,
        figures: impl IntoIterator<Item = Option<f64>> + Clone,
        unit: &str,
        limit: f64,
    ) {
        let worst = smallest_and_largest(figures.clone()).0;
        self.target(work, must, worst, range(figures, unit), |worst| worst >= limit);
    }

    /// Says in a line what a user gets, in a unit, beside LLVM.
    pub(crate) fn summary(
        &mut self,
        work: &str,
        unit: &str,
        ours: impl IntoIterator<Item = Option<f64>> + Clone,
        llvm: impl IntoIterator<Item = Option<f64>> + Clone,
    ) {
        self.summary.push(vec![work.to_owned(), range(ours, unit), range(llvm, unit)]);
    }

    pub(crate) fn section(&mut self, title: &str, explanation: &str, table: &str) {
        let _ = write!(self.sections, "\n## {title}\n\n{explanation}\n\n{table}");
        eprintln!("\n{title}\n\n{table}");
    }

    pub(crate) fn print(&self, machine: &str) -> String {
        let summary = table(&["work", "tbaa", "LLVM 22"], &self.summary);
        let [reached, missed] = [&self.reached, &self.missed]
            .map(|targets| table(&["work", "must reach", "figure"], targets));
        let sections = &self.sections;
        format!(
            "{INTRODUCTION}\n{summary}\n{METHOD}\n{machine}{sections}\n\
             ## Targets reached\n\n{reached}\n## Targets missed\n\n{missed}\n{REASONS}"
        )
    }
}

const INTRODUCTION: &str = "# Performance

<!-- Written by `cargo run --release -p tbaa-bench`. Do not edit. -->

## What you get

The range over the programs and formats that are measured; each figure is in a table below.
";

const METHOD: &str = "## How it is measured

```sh
cargo run --release -p tbaa-bench              # measures everything and writes this page
cargo run --release -p tbaa-bench -- --help    # parts of it
```

compares this library with LLVM 22, loaded into the same process and asked about the same pairs of
tags, and with what the machine allows. The first run fetches and compiles the programs it measures,
which takes a quarter of an hour; without `clang-22` and `llvm-22-dev` it measures the synthetic ones alone.

Figures are medians. Every sample runs all contenders of a row one after the other, and a ratio is
the median of the ratios within the samples, so that a machine that slows down for a while slows all
of them. Everything is asked on random pairs, in windows of thousands, each after one that only
warms up the caches. Before the clock starts, the answers are compared with LLVM's, on a hundred
thousand to a million pairs a row; a difference ends the run.
";

const REASONS: &str = "Where a target is missed, it is for one of these reasons:

- **Tags that are not regular.** A query on two regular tags reads two intervals, and hardly ever
  branches the other way. Tags that access a whole class (new format: 3 to 4 % of those of a C++
  program) or pass a struct with overlapping fields (the union rules: 8 to 9 % of SQLite's, whose
  structs have bit-fields) take a branch that no processor foresees, and then two records and two
  filters: some 10 ns. Of up to 2,048 tags, of which one in 32 is such, the answers are remembered instead,
  in two bits a pair; of more these bits would leave the fast caches. In the old format, without sizes, that is the rule's
  meaning: everything in such a struct may overlap.
- **Few tags.** LLVM walks a few steps only, and a query is the two dozen instructions that check two
  ids and compare; all pairs of a few hundred tags are mostly the sorting of the tags.
- **The most generic tag** reads both tags' nodes and climbs to where their walks meet: a dozen places
  of memory, one after the other.
- **Adding** a struct of two fields and a tag: half of the time is the verdict on the tag, which LLVM does not
  give, and its walk's places in the index.
- **Reading metadata**: each node is read, hashed and merged with its equals one by one; there are no function
  bodies to pass over, from which the other ratios come.
- **Memory.** A tag is a node, its operands and an entry in the table of unique nodes (38 to 45
  bytes), and in the oracle an interval, a record, and mostly a cursor of its own with an entry in the
  table of cursors (55 to 61 bytes; more where walks have cursors between). LLVM's node alone takes 130
  to 213.
- **Accesses larger than their types** (the union rules) may touch whatever lies
  beside any object of that type. They have no place in the tables, and are searched in microseconds, the
  first time: the last 16,384 answers on accesses with sizes of their own are remembered.
- **Adversaries under the union rules** leave the tables where these would grow with the square, and
  are searched, in up to a few milliseconds; see the limits in [rules].

[rules]: rules.md
";

/// The title of a column, and what it says of an item.
pub(crate) type Column<'c, T> = (&'c str, &'c dyn Fn(&T) -> String);

/// A Markdown table with a row for each item.
pub(crate) fn table_of<T>(items: &[T], columns: &[Column<'_, T>]) -> String {
    let header: Vec<_> = columns.iter().map(|(title, _)| *title).collect();
    let row = |item: &T| columns.iter().map(|(_, cell)| cell(item)).collect();
    table(&header, &items.iter().map(row).collect::<Vec<_>>())
}

/// A Markdown table.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(&header.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
    out += &format!("|{}\n", "---|".repeat(header.len()));
    rows.iter().for_each(|row| out += &line(row));
    out
}

/// A figure in three digits, or `-`.
pub(crate) fn figure(value: impl Into<Option<f64>>) -> String {
    match value.into() {
        None => "-".to_owned(),
        Some(value) if value >= 100.0 => grouped(value),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) if value >= 0.1 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// A figure with its unit, or `-`.
pub(crate) fn with_unit(value: impl Into<Option<f64>>, unit: &str) -> String {
    value.into().map_or("-".to_owned(), |value| format!("{}{unit}", figure(value)))
}

/// An integer in groups of three digits.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The smallest and the largest of the figures that there are.
fn smallest_and_largest(
    figures: impl IntoIterator<Item = Option<f64>> + Clone,
) -> (Option<f64>, Option<f64>) {
    let figures = || figures.clone().into_iter().flatten();
    (figures().reduce(f64::min), figures().reduce(f64::max))
}

/// `3`, or `3 to 5`, with a unit.
pub(crate) fn range(values: impl IntoIterator<Item = Option<f64>> + Clone, unit: &str) -> String {
    match smallest_and_largest(values) {
        (Some(low), Some(high)) if figure(low) != figure(high) => {
            format!("{} to {}{unit}", figure(low), figure(high))
        }
        (low, _) => with_unit(low, unit),
    }
}
