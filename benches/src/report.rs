//! Writes the report, as Markdown.

use std::fmt::Write;

/// The figures that the report shows.
#[derive(Default)]
pub(crate) struct Report {
    summary: Vec<Vec<String>>,
    reached: Vec<Vec<String>>,
    missed: Vec<Vec<String>>,
    sections: String,
}

impl Report {
    /// Adds a target, reached if `holds` accepts `worst`. `None` (not measured) counts as a miss.
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

    /// Like [`Report::target`], for figures that must not exceed a limit.
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

    /// Like [`Report::target`], for figures that must not be below a limit.
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

    /// Adds a line to the summary, which compares our figures with LLVM's.
    pub(crate) fn summary(
        &mut self,
        work: &str,
        unit: &str,
        ours: impl IntoIterator<Item = Option<f64>> + Clone,
        llvm: impl IntoIterator<Item = Option<f64>> + Clone,
    ) {
        self.summary.push(vec![work.to_owned(), range(ours, unit), range(llvm, unit)]);
    }

    /// Adds a section: its text in `sections.md`, and a table. Prints title and table to stderr.
    pub(crate) fn section(&mut self, title: &str, table: &str) {
        let sections = include_str!("../sections.md");
        let found =
            sections.split("\n## ").find_map(|part| part.strip_prefix(title)?.strip_prefix('\n'));
        let explanation = found.expect("each section is explained").trim();
        let _ = write!(self.sections, "\n## {title}\n\n{explanation}\n\n{table}");
        eprintln!("\n{title}\n\n{table}");
    }

    pub(crate) fn print(&self, machine: &str) -> String {
        let summary = table(&["work", "tbaa", "LLVM 22"], &self.summary);
        let [reached, missed] = [&self.reached, &self.missed]
            .map(|targets| table(&["work", "must reach", "figure"], targets));
        include_str!("../report.md")
            .replace("{summary}", &summary)
            .replace("{machine}", machine)
            .replace("{sections}", &self.sections)
            .replace("{reached}", &reached)
            .replace("{missed}", &missed)
    }
}

/// A column: its title, and a function that returns its text for an item.
pub(crate) type Column<'c, T> = (&'c str, &'c dyn Fn(&T) -> String);

pub(crate) fn table_of<T>(items: &[T], columns: &[Column<'_, T>]) -> String {
    let header: Vec<_> = columns.iter().map(|(title, _)| *title).collect();
    let row = |item: &T| columns.iter().map(|(_, cell)| cell(item)).collect();
    table(&header, &items.iter().map(row).collect::<Vec<_>>())
}

pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(&header.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
    out += &format!("|{}\n", "---|".repeat(header.len()));
    rows.iter().for_each(|row| out += &line(row));
    out
}

/// Formats a figure, with up to three decimals if it is small, or as `-` if there is none.
pub(crate) fn figure(value: impl Into<Option<f64>>) -> String {
    match value.into() {
        None => "-".to_owned(),
        Some(value) if value >= 100.0 => grouped(value),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) if value >= 0.1 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// Formats a figure with its unit, or as `-` if there is none.
pub(crate) fn with_unit(value: impl Into<Option<f64>>, unit: &str) -> String {
    value.into().map_or("-".to_owned(), |value| format!("{}{unit}", figure(value)))
}

/// Rounds a number to an integer, and formats it with commas between groups of three digits.
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

fn smallest_and_largest(
    figures: impl IntoIterator<Item = Option<f64>> + Clone,
) -> (Option<f64>, Option<f64>) {
    let figures = || figures.clone().into_iter().flatten();
    (figures().reduce(f64::min), figures().reduce(f64::max))
}

/// Formats figures with a unit: `3.00 ns` if all look the same, otherwise `3.00 to 5.00 ns`.
pub(crate) fn range(values: impl IntoIterator<Item = Option<f64>> + Clone, unit: &str) -> String {
    match smallest_and_largest(values) {
        (Some(low), Some(high)) if figure(low) != figure(high) => {
            format!("{} to {}{unit}", figure(low), figure(high))
        }
        (low, _) => with_unit(low, unit),
    }
}
