//! The DAG as SVG.

use std::io::{self, Write};

use super::dag::{Arrow, Dag, DrawnKind, DrawnType, Row};
use super::dot::{array, color, note};
use super::layout::{Layout, Size, WIDTH, layout};
use super::mark::{A, B};
use crate::svg::{Head, cut, escape, width};

/// Characters of a name that are shown.
const NAME: usize = 40;
/// Height of a row, in pixels.
const LINE: usize = 15;
const PAD: usize = 7;
/// Space around all.
const MARGIN: usize = 16;
/// Rows of a box of many types before a further column begins.
const COLUMN: usize = 32;

pub(super) fn write(
    dag: &Dag,
    title: &str,
    about: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let sizes: Vec<Size> = dag.nodes.iter().map(size).collect();
    let edges: Vec<(usize, usize)> = dag.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    // A small graph is drawn with all its arrows, which bands would lead back.
    let most = if dag.omitted.is_some() { WIDTH } else { usize::MAX };
    let Layout { mut places, width, height } = layout(&sizes, &edges, most);
    let top = Head::height_of(about.len()) + MARGIN;
    for place in &mut places {
        *place = (place.0 + MARGIN, place.1 + top);
    }
    let (width, height) = (width + 2 * MARGIN, height + top + MARGIN);
    Head { width, height, title, about }.write(out)?;
    writeln!(
        out,
        "<defs><marker id=\"into\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"context-stroke\"/></marker></defs>\n\
         <g fill=\"none\" stroke=\"#9aa0a6\">"
    )?;
    // Marked arrows are drawn last, over all others.
    for marked in [false, true] {
        for edge in dag.edges.iter().filter(|edge| (edge.marks != 0) == marked) {
            arrow(edge, &dag.nodes[edge.from], &sizes, &places, out)?;
        }
    }
    writeln!(out, "</g>\n<g font-family=\"monospace\" font-size=\"11\" fill=\"#222\">")?;
    for (at, node) in dag.nodes.iter().enumerate() {
        draw(node, sizes[at], places[at], out)?;
    }
    writeln!(out, "</g>\n</svg>")
}

/// Returns the number of columns that a box of many types has. One with arrows leaves room for others beside it.
fn columns(node: &DrawnType) -> usize {
    let most = match node.kind {
        DrawnKind::Scalars => WIDTH / 3,
        DrawnKind::Apart => WIDTH,
        _ => return 1,
    };
    node.rows.len().div_ceil(COLUMN).min(most / row_width(node)).max(1)
}

/// Width of a column of rows: offset, mark and text.
fn row_width(node: &DrawnType) -> usize {
    let texts = node.rows.iter().map(|row| {
        let text = cut(&row.text, NAME);
        width(&text) + width(&array(row))
    });
    offset_width(node) + texts.max().unwrap_or(0) + PAD
}

fn offset_width(node: &DrawnType) -> usize {
    let offsets = node.rows.iter().filter_map(|row| row.offset);
    offsets.map(|offset| width(&offset.to_string()) + 2 * PAD).max().unwrap_or(0)
}

fn size(node: &DrawnType) -> Size {
    let title = width(&cut(&node.name, NAME)) + PAD + width(&note(node));
    let columns = columns(node);
    let lines = node.rows.len().div_ceil(columns) + 1;
    let width = title.max(columns * row_width(node) + PAD) + 2 * PAD;
    let left = matches!(node.kind, DrawnKind::Struct | DrawnKind::Union);
    Size { width, height: lines * LINE + PAD, left }
}

fn arrow(
    edge: &Arrow,
    from: &DrawnType,
    sizes: &[Size],
    places: &[(usize, usize)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let (x, y) = places[edge.from];
    let line = edge.row.map_or(0, |row| row + 1);
    let lines = from.rows.len() + 1;
    let start = (x + sizes[edge.from].width, y + LINE * line.min(lines) + LINE / 2 + PAD / 2);
    let (u, v) = places[edge.to];
    let end = (u, v + LINE / 2 + PAD / 2);
    // Enough of a bow to tell arrows apart that lead back.
    let bow = (start.0.abs_diff(end.0) / 2).clamp(24, 120);
    write!(
        out,
        "<path d=\"M{} {}C{} {} {} {} {} {}\" marker-end=\"url(#into)\"",
        start.0,
        start.1,
        start.0 + bow,
        start.1,
        end.0.saturating_sub(bow),
        end.1,
        end.0,
        end.1
    )?;
    match edge.marks {
        0 if edge.parent => write!(out, " stroke=\"#5f6368\"")?,
        0 => write!(out, " stroke=\"#c3c7cc\"")?,
        B => write!(out, " stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"7 4\"", color(B))?,
        marks => write!(out, " stroke=\"{}\" stroke-width=\"2.5\"", color(marks))?,
    }
    writeln!(out, "/>")
}

fn draw(
    node: &DrawnType,
    size: Size,
    (x, y): (usize, usize),
    out: &mut dyn Write,
) -> io::Result<()> {
    let Size { width: w, height: h, .. } = size;
    let (fill, stroke) = match node.kind {
        DrawnKind::Root => ("#e8eaed", "#5f6368"),
        DrawnKind::Scalar | DrawnKind::Scalars => ("#f1f8f2", "#5b8c64"),
        DrawnKind::Struct | DrawnKind::Apart => ("#ffffff", "#5f6368"),
        DrawnKind::Union => ("#fdf3ff", "#7b3f98"),
        DrawnKind::Malformed => ("#fdecea", "#b3261e"),
    };
    let (stroke, thick) = match node.marks {
        0 => (stroke, ""),
        B => (color(B), " stroke-width=\"3\" stroke-dasharray=\"7 4\""),
        marks => (color(marks), " stroke-width=\"3\""),
    };
    // A union has round corners and a band of its own.
    let round = if node.kind == DrawnKind::Union { 10 } else { 2 };
    writeln!(
        out,
        "<g transform=\"translate({x} {y})\"><title>{} {}</title>\n\
         <rect width=\"{w}\" height=\"{h}\" rx=\"{round}\" fill=\"{fill}\" stroke=\"{stroke}\"{thick}/>",
        escape(&note(node)),
        escape(&node.name)
    )?;
    let baseline = LINE - 3 + PAD / 2;
    writeln!(
        out,
        "<text x=\"{PAD}\" y=\"{baseline}\" font-weight=\"bold\">{}</text>\
         <text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\" fill=\"#5f6368\">{}</text>",
        escape(&cut(&node.name, NAME)),
        w - PAD,
        escape(&note(node))
    )?;
    let (column_width, left) = (row_width(node), offset_width(node));
    let lines = node.rows.len().div_ceil(columns(node)).max(1);
    for (at, row) in node.rows.iter().enumerate() {
        let (column, line) = (at / lines, at % lines);
        draw_row(row, (PAD + column * column_width, LINE * (line + 1)), left, w, out)?;
    }
    writeln!(out, "</g>")
}

fn draw_row(
    row: &Row,
    (x, y): (usize, usize),
    left: usize,
    width_of_box: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let baseline = y + LINE - 3 + PAD / 2;
    let (text_x, top) = (x + left, y + PAD / 2);
    if row.marks != 0 {
        let dashes = if row.marks == B { " stroke-dasharray=\"5 3\"" } else { "" };
        writeln!(
            out,
            "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{LINE}\" fill=\"#ffe9a8\" stroke=\"{}\"{dashes}/>",
            text_x - 3,
            width_of_box - text_x,
            color(row.marks)
        )?;
    }
    if row.overlaps {
        // A bar beside all that share bytes.
        writeln!(
            out,
            "<rect x=\"{}\" y=\"{top}\" width=\"3\" height=\"{LINE}\" fill=\"#7b3f98\"/>",
            text_x - 8
        )?;
    }
    if let Some(offset) = row.offset {
        writeln!(
            out,
            "<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\" fill=\"#5f6368\">{offset}</text>",
            (x + left).saturating_sub(PAD + 5)
        )?;
    }
    let text = cut(&row.text, NAME);
    write!(out, "<text x=\"{text_x}\" y=\"{baseline}\">{}</text>", escape(&text))?;
    if row.array.is_some() {
        let (at, wide) = (text_x + width(&text), width(&array(row)));
        // One sheet behind another.
        write!(
            out,
            "<path d=\"M{} {}h{wide}v-{}\" fill=\"none\" stroke=\"#222\"/>\
             <text x=\"{at}\" y=\"{baseline}\" font-weight=\"bold\">{}</text>",
            at + 3,
            baseline + 3,
            LINE - 4,
            array(row)
        )?;
    }
    writeln!(out)
}

/// What the colours mean.
pub(super) fn legend(pair: bool) -> &'static str {
    match pair {
        false => "blue: where the tag leads",
        true => "blue: the first access; orange and dashed: the second; purple: both",
    }
}

const _: () = assert!(A | B == 3);
