//! `tbaa matrix`: the answers for all pairs of tags.

use std::io::{self, IsTerminal, Write};

use tbaa::{Oracle, TagId};

use super::{counted, letter, percent, svg};
use crate::args::{Matrix, MatrixFormat};
use crate::excerpt::printable;
use crate::input::Input;
use crate::report::Failure;

/// The most tags that a terminal gets as a table unasked.
const TABLE_TAGS: usize = 64;

/// Up to this many tags, answers are kept (a bit each, 32 MB at most), so that
/// each pair is asked once.
const KEPT_TAGS: usize = 1 << 14;

pub(super) fn run(args: &Matrix, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules);
    let (names, tags): (Vec<_>, Vec<_>) = input.rows().into_iter().unzip();
    input.warn_rejected(rules, tags.iter().copied());
    let oracle = Oracle::new(input.graph(), rules);
    let default = if tags.len() <= TABLE_TAGS && io::stdout().is_terminal() {
        MatrixFormat::Table
    } else {
        MatrixFormat::Grid
    };
    match args.format.unwrap_or(default) {
        MatrixFormat::Grid => each_row(&oracle, &tags, |row| {
            out.write_all(row)?;
            out.write_all(b"\n")
        })?,
        MatrixFormat::Table => table(&oracle, &names, &tags, out)?,
        MatrixFormat::Json => {
            write!(out, "{{\"rules\":\"{}\",\"tags\":", rules)?;
            serde_json::to_writer(&mut *out, &names).map_err(io::Error::from)?;
            write!(out, ",\"rows\":[")?;
            let mut separator: &[u8] = b"\"";
            each_row(&oracle, &tags, |row| {
                out.write_all(separator)?;
                separator = b",\"";
                out.write_all(row)?;
                out.write_all(b"\"")
            })?;
            writeln!(out, "]}}")?;
        }
        MatrixFormat::Svg => {
            let title = format!("{}, rules {}", input.file(), rules);
            let mut picture = svg::Picture::new(tags.len());
            each_row(&oracle, &tags, |row| {
                picture.row(row);
                Ok(())
            })?;
            picture.write(&title, &names, out)?;
        }
    }
    Ok(())
}

/// Asks for all pairs, and hands on each row of `M` and `N`.
fn each_row(
    oracle: &Oracle<&tbaa::Graph>,
    tags: &[TagId],
    mut use_row: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let count = tags.len();
    let keep = count <= KEPT_TAGS;
    // A bit for each pair of a tag with a later one that it does not alias.
    let words = count.div_ceil(64);
    let mut no_alias = vec![0_u64; if keep { words * count } else { 0 }];
    let mut row = vec![0_u8; count];
    for (i, &a) in tags.iter().enumerate() {
        for (j, &b) in tags.iter().enumerate() {
            row[j] = if keep && j < i {
                if no_alias[j * words + i / 64] >> (i % 64) & 1 == 1 { b'N' } else { b'M' }
            } else {
                letter(oracle.alias(a, b))
            };
            if keep && j > i && row[j] == b'N' {
                no_alias[i * words + j / 64] |= 1 << (j % 64);
            }
        }
        use_row(&row)?;
    }
    Ok(())
}

/// A grid with the names of the tags before the rows, and their places above
/// the columns.
fn table(
    oracle: &Oracle<&tbaa::Graph>,
    names: &[String],
    tags: &[TagId],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let names: Vec<_> = names.iter().map(|name| printable(name.as_bytes())).collect();
    let number_width = tags.len().to_string().len();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    write!(out, "{:number_width$}  {:name_width$} ", "", "")?;
    for column in 1..=tags.len() {
        write!(out, " {column:>number_width$}")?;
    }
    writeln!(out)?;
    let (mut index, mut pairs, mut disjoint) = (0, 0, 0);
    each_row(oracle, tags, |row| {
        write!(out, "{:>number_width$}  {:name_width$} ", index + 1, names[index])?;
        for (column, &answer) in row.iter().enumerate() {
            let shown = if answer == b'M' { "M" } else { "." };
            write!(out, " {shown:>number_width$}")?;
            if column > index {
                pairs += 1;
                disjoint += u64::from(answer == b'N');
            }
        }
        index += 1;
        writeln!(out)
    })?;
    writeln!(
        out,
        "\nM MayAlias   . NoAlias   {}, {}, {disjoint} NoAlias ({})",
        counted(tags.len() as u64, "tag", "tags"),
        counted(pairs, "pair", "pairs"),
        percent(disjoint, pairs)
    )?;
    Ok(())
}
