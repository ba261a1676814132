//! Renders findings for people to read, with excerpts of the input.
//!
//! An input may be hostile: lines may be very long or contain control characters. So only a part of
//! a long line is drawn, and a visible character replaces each hidden one, so columns stay right.
//! `annotate-snippets` draws the result, and cuts lines to the width of a terminal.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Level as Title, Origin, Renderer, Snippet,
};
use tbaa_check::{Diagnostic, Label, Level};

use crate::printable::{printable, printable_in_columns};

/// The number of bytes drawn on each side of a line's first label: more than a terminal shows.
const WINDOW: usize = 1 << 10;

/// The largest difference between the line numbers of neighbouring labels in one excerpt.
const GAP: usize = 2;

/// A label's line, counted from 0, its kind, and the label.
type PlacedLabel<'d> = (usize, AnnotationKind, &'d Label);

/// An input's text, with the offset at which each line starts.
pub(crate) struct Source<'a> {
    file: &'a str,
    text: &'a [u8],
    starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(file: &'a str, text: &'a [u8]) -> Self {
        let newlines = text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Source { file, text, starts }
    }

    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    /// Returns the line, from 0, that contains a byte.
    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1).max(start);
        start..end - usize::from(self.text[start..end].ends_with(b"\r"))
    }

    /// Returns the line and the column of a byte, both from 1. Columns count characters.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line_of(offset.min(self.text.len()));
        let before = &self.text[self.starts[line]..offset.min(self.text.len())];
        (line + 1, String::from_utf8_lossy(before).chars().count() + 1)
    }

    /// Prints one finding in colour. The caller removes the colour if it is not wanted.
    pub(crate) fn write(&self, finding: &Diagnostic, out: &mut impl Write) -> io::Result<()> {
        let level = match finding.level {
            Level::Error => Title::ERROR,
            Level::Warning => Title::WARNING,
        };
        let code = finding.code.to_string();
        let title = level.primary_title(printable(&finding.message)).id(&code);
        // If the finding has no place in the text, only name the file.
        let file = finding.primary.is_none().then(|| Origin::path(self.file));
        let snippets = self.clusters(finding).into_iter().flat_map(|of| self.snippet(&of));
        let notes = finding.notes.iter().map(|note| Title::NOTE.message(printable(note)));
        let help = finding.help.iter().map(|help| Title::HELP.message(printable(help)));
        let group = title.elements(file).elements(snippets).elements(notes.chain(help));
        writeln!(out, "{}\n", Renderer::styled().render(&[group]))
    }

    /// Groups labels: neighbours are at most [`GAP`] lines apart. The primary label's group leads.
    fn clusters<'d>(&self, finding: &'d Diagnostic) -> Vec<Vec<PlacedLabel<'d>>> {
        let primary = finding.primary.iter().map(|label| (AnnotationKind::Primary, label));
        let secondary = finding.secondary.iter().map(|label| (AnnotationKind::Context, label));
        let labels = primary.chain(secondary);
        let mut labels: Vec<PlacedLabel<'_>> =
            labels.map(|(kind, label)| (self.line_of(label.span.start), kind, label)).collect();
        labels.sort_by_key(|&(line, ..)| line);
        let clusters = labels.chunk_by(|a, b| b.0 - a.0 <= GAP);
        let mut clusters: Vec<_> = clusters.map(<[_]>::to_vec).collect();
        let is_primary = |label: &PlacedLabel<'_>| label.1 == AnnotationKind::Primary;
        clusters.sort_by_key(|cluster| !cluster.iter().any(is_primary));
        clusters
    }

    fn snippet<'s>(&'s self, cluster: &[PlacedLabel<'s>]) -> Vec<Element<'s>> {
        let (first, last) = (cluster[0].0, cluster[cluster.len() - 1].0);
        let (mut source, mut annotations) = (String::new(), Vec::new());
        let mut cut = None;
        for number in first..=last {
            let line = self.line(number);
            let here: Vec<_> = cluster.iter().filter(|&&(at, ..)| at == number).collect();
            // Choose the part of the line around its first label, or else the line's beginning.
            let start = here.iter().map(|(_, _, label)| label.span.start).min();
            let start = start.map_or(line.start, |start| start.clamp(line.start, line.end));
            let from = if start - line.start > WINDOW { start - WINDOW } else { line.start };
            let to = line.end.min(start.saturating_add(WINDOW));
            if from > line.start {
                cut = cut.or(Some(start));
            }
            let begin = source.len();
            let at = |offset: usize| {
                begin + printable_in_columns(&self.text[from..offset.clamp(from, to)]).len()
            };
            for (_, kind, label) in here {
                let span = at(label.span.start)..at(label.span.end);
                let text = (!label.text.is_empty()).then(|| printable(&label.text));
                annotations.push(kind.span(span).label(text.map(Cow::Owned)));
            }
            source += &printable_in_columns(&self.text[from..to]);
            if number < last {
                source.push('\n');
            }
        }
        let snippet: Snippet<'s, Annotation<'s>> =
            Snippet::source(source).line_start(first + 1).fold(true).annotations(annotations);
        // If the beginning of a line is cut off, state the column separately.
        let Some(start) = cut else { return vec![snippet.path(self.file).into()] };
        let (line, column) = self.position(start);
        let origin = Origin::path(self.file).line(line).char_column(column);
        vec![origin.into(), snippet.into()]
    }

    /// Draws an error at a byte of the text, in colour.
    pub(crate) fn error(&self, offset: usize, message: &str) -> String {
        let label = Label { span: offset..offset + 1, text: String::new() };
        let place = (self.line_of(offset.min(self.text.len())), AnnotationKind::Primary, &label);
        let title = Title::ERROR.primary_title(printable(message));
        Renderer::styled().render(&[title.elements(self.snippet(&[place]))])
    }
}
