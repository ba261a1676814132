//! Writes drawings of objects as SVG.

use std::io::{Result, Write};

use super::ruler::{self, COLUMNS, Ruler};
use super::{Drawing, Lane, Mark};
use crate::svg::{cut, height_of_head, text, width, write_head};

/// Height of a lane, in pixels.
const LANE: usize = 24;
/// Space between two drawings, in pixels.
const SPACE: usize = 28;
const MARGIN: usize = 16;
/// The smallest width of a column, in pixels. `WIDE` is the largest width without a long label.
const NARROW: usize = 36;
const WIDE: usize = 130;
/// The largest number of characters shown of a title, or of a label that widens its column.
const TITLE: usize = 32;

/// Writes a picture of some objects, under a title and lines of text.
pub(crate) fn write(
    drawings: &[Drawing],
    title: &str,
    about: &[String],
    out: &mut dyn Write,
) -> Result<()> {
    let parts: Vec<Part<'_>> = drawings.iter().map(Part::of).collect();
    let top = height_of_head(about.len()) + MARGIN;
    let height: usize = parts.iter().map(|part| part.height() + SPACE).sum();
    let wide = parts.iter().map(Part::width).max().unwrap_or(0);
    write_head((wide + 2 * MARGIN, top + height), title, about, out)?;
    writeln!(
        out,
        "<defs>\n\
         <pattern id=\"a\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect width=\"6\" height=\"6\" fill=\"#cfe0fc\"/><rect width=\"2\" height=\"6\" fill=\"#0b57d0\"/></pattern>\n\
         <pattern id=\"b\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\">\
         <rect width=\"6\" height=\"6\" fill=\"#fde3d3\"/><rect width=\"2\" height=\"6\" fill=\"#c2410c\"/></pattern>\n\
         </defs>\n<g font-family=\"monospace\" font-size=\"11\" fill=\"#222\">"
    )?;
    let mut y = top;
    for part in &parts {
        writeln!(out, "<g transform=\"translate({MARGIN} {y})\">")?;
        part.write(out)?;
        writeln!(out, "</g>")?;
        y += part.height() + SPACE;
    }
    writeln!(out, "</g>\n</svg>")
}

struct Part<'d> {
    drawing: &'d Drawing,
    ruler: Ruler,
    left: usize,
    edges: Vec<usize>,
}

impl<'d> Part<'d> {
    fn of(drawing: &'d Drawing) -> Part<'d> {
        let ruler = Ruler::of(&drawing.lanes, COLUMNS);
        let titles = drawing.lanes.iter().map(|lane| width(&cut(&lane.title, TITLE)));
        let left = titles.max().unwrap_or(0) + 12;
        let width_of = |_, bytes: Option<Option<u64>>| match bytes {
            None => NARROW,
            Some(None) => NARROW * 2,
            Some(Some(bytes)) => {
                bytes.saturating_mul(14).clamp(NARROW as u64, WIDE as u64) as usize
            }
        };
        let label = |label: &str| width(&cut(label, TITLE)) + 12;
        let edges = ruler::edges(left, (&ruler, &drawing.lanes), width_of, label);
        Part { drawing, ruler, left, edges }
    }

    fn width(&self) -> usize {
        let notes = self.drawing.lanes.iter().map(|lane| width(&lane.note));
        self.edges[self.edges.len() - 1] + notes.max().unwrap_or(0) + 24
    }

    fn height(&self) -> usize {
        LANE * (self.drawing.lanes.len() + 1)
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let bottom = self.height();
        text(out, (self.left - 12, 12), " text-anchor=\"end\" fill=\"#5f6368\"", "byte")?;
        writeln!(out)?;
        for (column, offset) in self.ruler.numbered() {
            let x = self.edges[column];
            writeln!(
                out,
                "<path d=\"M{x} 16V{bottom}\" stroke=\"#dadce0\"/>\
                 <text x=\"{x}\" y=\"12\" text-anchor=\"middle\" fill=\"#5f6368\">{offset}</text>"
            )?;
        }
        for (at, lane) in self.drawing.lanes.iter().enumerate() {
            self.lane(lane, LANE * (at + 1), out)?;
        }
        Ok(())
    }

    fn lane(&self, lane: &Lane, y: usize, out: &mut dyn Write) -> Result<()> {
        let ink = match lane.mark {
            Mark::Fields => " text-anchor=\"end\" fill=\"#222\"",
            Mark::A => " text-anchor=\"end\" fill=\"#0b57d0\" font-weight=\"bold\"",
            Mark::B => " text-anchor=\"end\" fill=\"#c2410c\" font-weight=\"bold\"",
        };
        let baseline = y + 14;
        text(out, (self.left - 12, baseline), ink, &cut(&lane.title, TITLE))?;
        writeln!(out)?;
        for span in &lane.spans {
            let (first, last) = self.ruler.columns(span);
            let (x, end) = (self.edges[first], self.edges[last]);
            let (fill, stroke) = match lane.mark {
                Mark::Fields => ("#f8f9fa", "#5f6368"),
                Mark::A => ("url(#a)", "#0b57d0"),
                Mark::B => ("url(#b)", "#c2410c"),
            };
            // A span without an end has no border on the right.
            let (w, top, h) = (end - x, y, LANE - 6);
            let border = if span.end.is_none() { "" } else { "z" };
            writeln!(
                out,
                "<path d=\"M{end} {top}H{x}v{h}H{end}{border}\" fill=\"{fill}\" stroke=\"{stroke}\"/>"
            )?;
            let label = match self.ruler.hides(span) {
                true => "…".to_owned(),
                false => cut(&span.label, (w * 100 / 665).saturating_sub(1)),
            };
            if !label.is_empty() {
                text(out, (x + w / 2, baseline), " text-anchor=\"middle\"", &label)?;
                writeln!(out)?;
            }
        }
        if !lane.note.is_empty() {
            let x = self.edges[self.edges.len() - 1] + 12;
            text(out, (x, baseline), " fill=\"#5f6368\"", &lane.note)?;
            writeln!(out)?;
        }
        Ok(())
    }
}
