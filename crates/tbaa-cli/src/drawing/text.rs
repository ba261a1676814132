//! Writes a drawing in characters.

use std::io::{self, Write};

use super::ruler::{self, COLUMNS, Ruler};
use super::{Drawing, Lane, Mark};
use crate::svg::cut;

/// The largest number of characters shown of a lane's title.
const TITLE: usize = 28;
/// The width of titles and columns above which at most `FEW_COLUMNS` columns are drawn.
const WIDTH: usize = 96;
const FEW_COLUMNS: usize = 8;
/// The smallest width of a column, in characters. `WIDE` is the largest without long text.
const NARROW: usize = 4;
const WIDE: usize = 14;

/// Prints the drawing. Each line begins with two spaces.
pub(crate) fn write(drawing: &Drawing, out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<String> = drawing.lanes.iter().map(|lane| cut(&lane.title, TITLE)).collect();
    let left = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0).max(4);
    let mut ruler = Ruler::of(&drawing.lanes, COLUMNS);
    let mut edges = self::edges(&ruler, &drawing.lanes);
    if left + edges[ruler.len()] > WIDTH {
        ruler = Ruler::of(&drawing.lanes, FEW_COLUMNS);
        edges = self::edges(&ruler, &drawing.lanes);
    }
    let numbers = row(&edges, |line| {
        for (column, offset) in ruler.numbered() {
            put(line, edges[column], &offset.to_string());
        }
    });
    writeln!(out, "  {:left$}  {numbers}", "byte")?;
    for (lane, title) in drawing.lanes.iter().zip(&titles) {
        let line = row(&edges, |line| draw(lane, &ruler, &edges, line));
        let pad = left - title.chars().count();
        let note = if lane.note.is_empty() { String::new() } else { format!("   {}", lane.note) };
        writeln!(out, "  {title}{:pad$}  {line}{note}", "")?;
    }
    Ok(())
}

fn edges(ruler: &Ruler, lanes: &[Lane]) -> Vec<usize> {
    let width = |column, bytes: Option<Option<u64>>| {
        // Each column has room for its offset and a space.
        let digits = ruler.offset(column).map_or(0, |offset| offset.to_string().len());
        let width = match bytes {
            None => NARROW,
            Some(None) => NARROW + 2,
            Some(Some(bytes)) => usize::try_from(bytes).unwrap_or(WIDE).clamp(NARROW, WIDE),
        };
        width.max(digits + 1)
    };
    let label = |label: &str| (label.chars().count() + 3).min(WIDE + 3);
    ruler::edges(0, (ruler, lanes), width, label)
}

/// Returns a line of characters, without spaces at its end.
fn row(edges: &[usize], draw: impl FnOnce(&mut Vec<char>)) -> String {
    let mut line = vec![' '; edges[edges.len() - 1] + 1];
    draw(&mut line);
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn put(line: &mut Vec<char>, at: usize, text: &str) {
    for (at, c) in (at..).zip(text.chars()) {
        if at >= line.len() {
            line.resize(at + 1, ' ');
        }
        line[at] = c;
    }
}

fn draw(lane: &Lane, ruler: &Ruler, edges: &[usize], line: &mut Vec<char>) {
    for span in &lane.spans {
        let (first, last) = ruler.columns(span);
        let (from, to) = (edges[first], edges[last]);
        match lane.mark {
            Mark::Fields if ruler.hides(span) => {
                put(line, from, "|...");
                line[to] = '|';
                continue;
            }
            Mark::Fields => {
                line[from] = '|';
                line[to] = '|';
                put(line, from + 2, &cut(&span.label, (to - from).saturating_sub(3)));
            }
            Mark::A => line[from + 1..to].fill('a'),
            Mark::B => line[from + 1..to].fill('b'),
        }
        if span.end.is_none() {
            line[to] = '.';
        }
    }
}
