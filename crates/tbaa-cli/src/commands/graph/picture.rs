//! Draws the type DAG as SVG.

use std::io::{Result, Write};

use super::dag::{Arrow, Dag, DrawnKind, DrawnType, Row};
use super::dot::{color, note};
use super::layout::{Layout, Size, WIDTH, layout};
use super::mark::B;
use crate::svg::{cut, escape, height_of_head, text, width, write_head};
use crate::walk::brackets;

/// The largest number of characters shown of a name.
const NAME: usize = 40;
/// Height of a row, in pixels.
const LINE: usize = 15;
const PAD: usize = 7;
/// Space around the whole picture, in pixels.
const MARGIN: usize = 16;
/// The number of rows in a column of a box of several types, if the columns fit.
const COLUMN: usize = 32;
const BOLD: &str = " font-weight=\"bold\"";
const GREY_END: &str = " text-anchor=\"end\" fill=\"#5f6368\"";

pub(super) fn write(dag: &Dag, title: &str, about: &[String], out: &mut dyn Write) -> Result<()> {
    let sizes: Vec<Size> = dag.nodes.iter().map(size).collect();
    let edges: Vec<(usize, usize)> = dag.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    // Draw a small graph in one band of columns, because arrows between bands would lead back.
    let most = if dag.omitted.is_some() { WIDTH } else { usize::MAX };
    let Layout { mut places, width, height } = layout(&sizes, &edges, most);
    let top = height_of_head(about.len()) + MARGIN;
    for place in &mut places {
        *place = (place.0 + MARGIN, place.1 + top);
    }
    write_head((width + 2 * MARGIN, height + top + MARGIN), title, about, out)?;
    writeln!(
        out,
        "<defs><marker id=\"into\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"context-stroke\"/></marker></defs>\n\
         <g fill=\"none\" stroke=\"#9aa0a6\">"
    )?;
    // Highlighted arrows are drawn last, above all others.
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

/// Returns the number of columns of a box. A box of scalars leaves space for boxes beside it.
fn columns(node: &DrawnType) -> usize {
    let most = match node.kind {
        DrawnKind::Scalars => WIDTH / 3,
        DrawnKind::Apart => WIDTH,
        _ => return 1,
    };
    node.rows.len().div_ceil(COLUMN).min(most / row_width(node)).max(1)
}

/// Returns the width of a column of rows, in pixels: offset, bar and text.
fn row_width(node: &DrawnType) -> usize {
    let text = |row: &Row| width(&cut(&row.text, NAME)) + width(&brackets(row.array));
    let texts = node.rows.iter().map(text);
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
) -> Result<()> {
    let (x, y) = places[edge.from];
    let line = edge.row.map_or(0, |row| row + 1);
    let lines = from.rows.len() + 1;
    let start = (x + sizes[edge.from].width, y + LINE * line.min(lines) + LINE / 2 + PAD / 2);
    let (u, v) = places[edge.to];
    let end = (u, v + LINE / 2 + PAD / 2);
    // Bend the arrow enough to show beside its boxes, even if it leads to the left.
    let bow = (start.0.abs_diff(end.0) / 2).clamp(24, 120);
    let ((x, y), (u, v)) = (start, end);
    let (right, left) = (x + bow, u.saturating_sub(bow));
    write!(out, "<path d=\"M{x} {y}C{right} {y} {left} {v} {u} {v}\" marker-end=\"url(#into)\"")?;
    match edge.marks {
        0 if edge.parent => write!(out, " stroke=\"#5f6368\"")?,
        0 => write!(out, " stroke=\"#c3c7cc\"")?,
        B => write!(out, " stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"7 4\"", color(B))?,
        marks => write!(out, " stroke=\"{}\" stroke-width=\"2.5\"", color(marks))?,
    }
    writeln!(out, "/>")
}

fn draw(node: &DrawnType, size: Size, (x, y): (usize, usize), out: &mut dyn Write) -> Result<()> {
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
    let round = if node.kind == DrawnKind::Union { 10 } else { 2 };
    writeln!(
        out,
        "<g transform=\"translate({x} {y})\"><title>{} {}</title>\n\
         <rect width=\"{w}\" height=\"{h}\" rx=\"{round}\" fill=\"{fill}\" stroke=\"{stroke}\"{thick}/>",
        escape(&note(node)),
        escape(&node.name)
    )?;
    let baseline = LINE - 3 + PAD / 2;
    text(out, (PAD, baseline), BOLD, &cut(&node.name, NAME))?;
    text(out, (w - PAD, baseline), GREY_END, &note(node))?;
    writeln!(out)?;
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
) -> Result<()> {
    let baseline = y + LINE - 3 + PAD / 2;
    let (text_x, top) = (x + left, y + PAD / 2);
    if row.marks != 0 {
        let dashes = if row.marks == B { " stroke-dasharray=\"5 3\"" } else { "" };
        let (x, wide, ink) = (text_x - 3, width_of_box - text_x, color(row.marks));
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{top}\" width=\"{wide}\" height=\"{LINE}\" fill=\"#ffe9a8\" stroke=\"{ink}\"{dashes}/>"
        )?;
    }
    if row.overlaps {
        let x = text_x - 8;
        writeln!(out, r##"<rect x="{x}" y="{top}" width="3" height="{LINE}" fill="#7b3f98"/>"##)?;
    }
    if let Some(offset) = row.offset {
        let at = ((x + left).saturating_sub(PAD + 5), baseline);
        text(out, at, GREY_END, &offset.to_string())?;
        writeln!(out)?;
    }
    let said = cut(&row.text, NAME);
    text(out, (text_x, baseline), "", &said)?;
    if row.array.is_some() {
        let (at, wide, high) = (text_x + width(&said), width(&brackets(row.array)), LINE - 4);
        let (x, y) = (at + 3, baseline + 3);
        // Draw the edges of a second sheet behind the field, for an array.
        write!(out, "<path d=\"M{x} {y}h{wide}v-{high}\" fill=\"none\" stroke=\"#222\"/>")?;
        text(out, (at, baseline), BOLD, &brackets(row.array))?;
    }
    writeln!(out)
}
