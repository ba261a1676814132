//! `tbaa matrix`: the answers for all pairs of tags.

pub(super) mod order;
mod picture;

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use tbaa::{Oracle, TagId};

use super::{AnswersLimit, counted, letter, percent};
use crate::convert::InputArg;
use crate::input::RulesArg;
use crate::input::{Content, Input};
use crate::printable::printable;
use crate::report::Failure;

use picture::Picture;

/// Prints the answers for all pairs of tags.
///
/// There is one row and one column per tag, in the order in which the file's
/// instructions first use them. If no instruction has a tag, the tags are those of
/// `!tbaa.struct`, `!tbaa.tags` and `!llvm.errno.tbaa`. If the text has no
/// instructions, they are all nodes that have the form of a tag. For a spec there is
/// one row per name, in file order, even if two names mean the same tag.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  grid   one line a tag, one letter a tag: M (MayAlias) or N (NoAlias)
  table  the same with names, for people: `.` is NoAlias
  json   {\"rules\": \"llvm\", \"tags\": [\"!8\", ...], \"rows\": [\"MN...\", ...]}
  svg    a picture, its rows sorted by the types accessed; above 512 tags each
         cell is a block of pairs
The default is table on a terminal if there are at most 64 tags, and grid
otherwise.

Examples:
  tbaa matrix f.ll --rules llvm --format grid
  tbaa matrix ravi.ron --format svg > ravi.svg

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Matrix {
    #[command(flatten)]
    pub(crate) input: InputArg,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// What to print.
    #[arg(long, value_enum)]
    pub(crate) format: Option<MatrixFormat>,
    #[command(flatten)]
    pub(crate) limit: AnswersLimit,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MatrixFormat {
    Grid,
    Table,
    Json,
    Svg,
}

/// The most tags that a terminal gets as a table unasked.
const TABLE_TAGS: usize = 64;

/// Up to this many tags, all pairs are answered at once, and kept in a bit each:
/// 32 MB at most.
const KEPT_TAGS: usize = 1 << 14;

pub(super) fn run(args: &Matrix, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules);
    let (names, tags): (Vec<_>, Vec<_>) = input.rows().into_iter().unzip();
    args.limit.check(tags.len(), input.file())?;
    let describe = || match &input.content {
        Content::Module(_) => {
            let meanings = input.names();
            tags.iter().map(|&tag| input.described(&meanings, tag)).collect()
        }
        // Several names of one tag are as many rows.
        Content::Spec(_) => names.iter().map(|name| printable(name.as_bytes())).collect::<Vec<_>>(),
    };
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
        MatrixFormat::Table => table(&oracle, &describe(), &tags, out)?,
        MatrixFormat::Json => {
            write!(out, "{{\"rules\":\"{}\",\"tags\":", rules)?;
            serde_json::to_writer(&mut *out, &names).map_err(io::Error::from)?;
            let meanings = input.names();
            let meanings: Vec<_> = tags.iter().map(|&tag| meanings.tag(tag)).collect();
            write!(out, ",\"meanings\":")?;
            serde_json::to_writer(&mut *out, &meanings).map_err(io::Error::from)?;
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
            let order = order::preorder(input.graph(), &tags);
            let names = describe();
            let tags: Vec<TagId> = order.iter().map(|&at| tags[at]).collect();
            let names: Vec<&str> = order.iter().map(|&at| names[at].as_str()).collect();
            let mut picture = Picture::new(tags.len());
            each_row(&oracle, &tags, |row| {
                picture.row(row);
                Ok(())
            })?;
            let groups = order::groups(input.graph(), &tags);
            picture.write(&title, &names, &groups, out)?;
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
    let kept = (tags.len() <= KEPT_TAGS).then(|| oracle.matrix(tags));
    let mut row = Vec::with_capacity(tags.len());
    for (i, &tag) in tags.iter().enumerate() {
        row.clear();
        match &kept {
            Some(matrix) => row.extend((0..tags.len()).map(|j| letter(matrix.may_alias(i, j)))),
            None => row.extend(oracle.row(tag, tags).into_iter().map(letter)),
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
