//! Writes the type DAG in Graphviz's DOT language.

use std::io::{Result, Write};

use super::dag::{Arrow, Dag, DrawnKind, DrawnType};
use super::mark::{A, B, Bits};
use crate::svg::{cut, escape};
use crate::walk::brackets;

/// The largest number of characters shown of a name.
const NAME: usize = 48;

pub(super) fn write(dag: &Dag, title: &str, about: &[String], out: &mut dyn Write) -> Result<()> {
    let label: Vec<String> =
        std::iter::once(title).chain(about.iter().map(String::as_str)).map(escape).collect();
    writeln!(
        out,
        "digraph types {{\n  rankdir=LR;\n  label=<{}>;\n  labelloc=t;\n  \
         node [shape=plain, fontname=\"monospace\", fontsize=11];\n  edge [color=\"#888888\"];",
        label.join("<br/>")
    )?;
    for (at, node) in dag.nodes.iter().enumerate() {
        self::node(at, node, out)?;
    }
    for edge in &dag.edges {
        self::edge(edge, out)?;
    }
    writeln!(out, "}}")
}

fn node(at: usize, node: &DrawnType, out: &mut dyn Write) -> Result<()> {
    let (border, fill) = match node.marks {
        0 => ("#555555", "#ffffff"),
        marks => (color(marks), "#fff7e0"),
    };
    let style = if node.kind == DrawnKind::Union { " STYLE=\"ROUNDED\"" } else { "" };
    write!(
        out,
        "  n{at} [label=<<TABLE BORDER=\"{}\" CELLBORDER=\"0\" CELLSPACING=\"0\" COLOR=\"{border}\" \
         BGCOLOR=\"{fill}\"{style}><TR><TD PORT=\"t\" COLSPAN=\"2\"><B>{}</B> {}</TD></TR>",
        if node.marks == 0 { 1 } else { 2 },
        escape(&cut(&node.name, NAME)),
        escape(&note(node))
    )?;
    for (number, row) in node.rows.iter().enumerate() {
        let offset = row.offset.map_or_else(String::new, |offset| offset.to_string());
        let color = match row.marks {
            0 => String::new(),
            marks => format!(" BGCOLOR=\"#ffe9a8\" COLOR=\"{}\" BORDER=\"1\"", color(marks)),
        };
        let shared = if row.overlaps { "| " } else { "" };
        write!(
            out,
            "<TR><TD ALIGN=\"RIGHT\">{offset}</TD><TD ALIGN=\"LEFT\" PORT=\"r{number}\"{color}>{shared}{}{}</TD></TR>",
            escape(&cut(&row.text, NAME)),
            brackets(row.array)
        )?;
    }
    writeln!(out, "</TABLE>>];")
}

fn edge(edge: &Arrow, out: &mut dyn Write) -> Result<()> {
    let port = edge.row.map_or_else(|| "t".to_owned(), |row| format!("r{row}"));
    write!(out, "  n{}:{port}:e -> n{}:t:w [", edge.from, edge.to)?;
    if edge.parent {
        write!(out, "arrowhead=empty, ")?;
    }
    match edge.marks {
        0 => write!(out, "penwidth=1")?,
        B => write!(out, "color=\"{}\", penwidth=3, style=dashed", color(B))?,
        marks => write!(out, "color=\"{}\", penwidth=3", color(marks))?,
    }
    writeln!(out, "];")
}

/// Returns the kind of a type, and its size if known; empty for a box of scalars.
pub(super) fn note(node: &DrawnType) -> String {
    match (node.kind, node.size) {
        (DrawnKind::Scalars, _) => String::new(),
        (kind, None) => kind.word().to_owned(),
        (kind, Some(size)) => format!("{}, {size} B", kind.word()),
    }
}

/// Returns blue for the first access, orange for the second, purple for both.
pub(super) fn color(marks: Bits) -> &'static str {
    match marks {
        A => "#0b57d0",
        B => "#c2410c",
        _ => "#7b1fa2",
    }
}
