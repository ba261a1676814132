//! `tbaa matrix`: prints the answers for all pairs of tags.

mod accesses;
pub(super) mod order;
mod picture;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use tbaa::{Access, Graph, Oracle, Size, TagId};
use tbaa_ir::{Instruction, Module, Names, Sizes};

use super::completions::accesses as completed;
use crate::convert::FlagsArg;
use crate::find::by_function;
use crate::input::{Content, Input, RulesArg};
use crate::output::{AnswersLimit, counted, letter, percent, write_json_text};
use crate::printable::{function_name, printable};
use crate::report::{Result, note};

use accesses::{Accesses, count_pairs, distinct_tags};
use picture::Picture;

/// Prints MayAlias or NoAlias for all pairs of tags.
///
/// There is one row and one column per tag, in the order in which the file's instructions first use
/// them. If no instruction has a tag, the tags are those of `!tbaa.struct`, `!tbaa.tags` and
/// `!llvm.errno.tbaa`. If the text has no instructions, they are all nodes that have the form of a
/// tag. For a spec there is one row per name, in file order, even if two names mean the same tag.
///
/// With a function, the tags are those of its accesses. Untagged accesses may alias
/// everything: they are counted, but they are in no pair.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/matrix.txt"))]
pub(crate) struct Matrix {
    /// A .ll, .bc, C or C++ file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// A function, such as @f: only its accesses.
    #[arg(add = ArgValueCompleter::new(completed))]
    pub(crate) function: Option<String>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// The output.
    #[arg(long, value_enum)]
    pub(crate) format: Option<MatrixFormat>,
    #[command(flatten)]
    pub(crate) limit: AnswersLimit,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum MatrixFormat {
    Grid,
    Table,
    Json,
    Svg,
    Pairs,
}

/// The largest number of tags for which the default on a terminal is a table.
const TABLE_TAGS: usize = 64;

/// The largest number of tags whose answers are kept in memory, one bit each: at most 32 MB.
const KEPT_TAGS: usize = 1 << 14;

/// The number of pairs (about 100 MB of text) above which a message announces their number.
const MANY_PAIRS: u64 = 1_000_000;

pub(super) fn run(args: &Matrix, out: &mut dyn Write) -> Result {
    let input = Input::open(args.flags.of(&args.input))?;
    let rules = input.rules(args.rules.rules);
    let oracle = Oracle::new(input.graph(), rules);
    if args.format == Some(MatrixFormat::Pairs) {
        let module = input.module()?;
        input.warn_rejected(rules, module.attached_tags());
        return pairs(args, &input, module, &oracle, out);
    }
    let of = args.function.as_deref().map(|name| function(args, &input, name, &oracle));
    let of = of.transpose()?;
    let (names, rows): (Vec<_>, Vec<_>) = match &of {
        Some(of) => of.labels.iter().cloned().zip(of.rows.iter().copied()).unzip(),
        None => input.rows().into_iter().map(|(name, tag)| (name, Access::from(tag))).unzip(),
    };
    let tags: Vec<TagId> = rows.iter().filter_map(|row| row.tag).collect();
    args.limit.check(tags.len(), input.file())?;
    let meanings = input.names();
    let describe = || match &input.content {
        Content::Module(_) => rows.iter().map(|row| described(&input, &meanings, row)).collect(),
        // If several names mean one tag, each name has its own row.
        Content::Spec(..) => names.iter().map(printable).collect::<Vec<_>>(),
    };
    input.warn_rejected(rules, tags.iter().copied());
    let default = match tags.len() <= TABLE_TAGS && io::stdout().is_terminal() {
        true => MatrixFormat::Table,
        false => MatrixFormat::Grid,
    };
    match args.format.unwrap_or(default) {
        MatrixFormat::Grid => each_row(&oracle, &rows, |row| {
            out.write_all(row)?;
            out.write_all(b"\n")
        })?,
        MatrixFormat::Table => {
            of.iter().try_for_each(|of| of.list(out))?;
            table(&oracle, &describe(), &rows, out)?;
        }
        MatrixFormat::Json => {
            write!(out, "{{\"rules\":\"{}\",", rules)?;
            if let Some(of) = &of {
                let of = serde_json::to_string(of).map_err(io::Error::from)?;
                // Put the fields of this object into the outer one.
                write_json_text(&of[1..of.len() - 1], out)?;
                write!(out, ",")?;
            }
            let meanings: Vec<_> = tags.iter().map(|&tag| meanings.tag(tag)).collect();
            let json = |of: &[String]| serde_json::to_string(of).map_err(io::Error::from);
            let (names, meanings) = (json(&names)?, json(&meanings)?);
            let begin = format!("\"tags\":{names},\"meanings\":{meanings},\"rows\":[");
            write_json_text(&begin, out)?;
            let mut separator: &[u8] = b"\"";
            each_row(&oracle, &rows, |row| {
                out.write_all(separator)?;
                separator = b",\"";
                out.write_all(row)?;
                out.write_all(b"\"")
            })?;
            writeln!(out, "]}}")?;
        }
        MatrixFormat::Svg => {
            let title = format!("{}, rules {rules}", input.file());
            let (order, names) = (order::preorder(input.graph(), &tags), describe());
            let tags: Vec<TagId> = order.iter().map(|&at| tags[at]).collect();
            let rows: Vec<Access> = order.iter().map(|&at| rows[at]).collect();
            let names: Vec<&str> = order.iter().map(|&at| names[at].as_str()).collect();
            let mut picture = Picture::new(tags.len());
            each_row(&oracle, &rows, |row| {
                picture.row(row);
                Ok(())
            })?;
            let groups = order::groups(input.graph(), &tags);
            picture.write(&title, &names, &groups, out)?;
        }
        MatrixFormat::Pairs => unreachable!("written above"),
    }
    Ok(())
}

/// Returns the names and accesses of all functions with accesses, or only of the function `name`.
fn functions<'m>(
    input: &Input,
    module: &'m Module<'m>,
    name: Option<&str>,
) -> Result<impl Iterator<Item = (&'m [u8], &'m [Instruction])> + Clone> {
    let wanted = name.map(|name| input.function(module, name)).transpose()?;
    let all: Vec<_> = by_function(module).collect();
    let is_wanted = move |function| wanted.is_none_or(|wanted| wanted == function);
    Ok(all.into_iter().filter(move |(_, all)| is_wanted(all[0].function)))
}

fn function(args: &Matrix, input: &Input, name: &str, oracle: &Oracle<&Graph>) -> Result<Accesses> {
    let module = input.module()?;
    let found = functions(input, module, Some(name))?.next();
    // A function without accesses still has a name to print.
    let found = found.unwrap_or((name.trim_start_matches('@').as_bytes(), &[]));
    check(&args.limit, found)?;
    Ok(Accesses::new(input, (module, &Sizes::new(module)), oracle, found))
}

fn check(limit: &AnswersLimit, (name, all): (&[u8], &[Instruction])) -> Result {
    limit.check(distinct_tags(all), &format!("@{}", function_name(name)))
}

fn pairs(
    args: &Matrix,
    input: &Input,
    module: &Module<'_>,
    oracle: &Oracle<&Graph>,
    out: &mut dyn Write,
) -> Result {
    let functions = functions(input, module, args.function.as_deref())?;
    functions.clone().try_for_each(|function| check(&args.limit, function))?;
    let count = count_pairs(functions.clone().map(|(_, all)| all));
    if count > MANY_PAIRS {
        note(format!("{count} pairs, a line each; name a function for its pairs alone"));
    }
    let sizes = Sizes::new(module);
    for function in functions {
        Accesses::new(input, (module, &sizes), oracle, function).pairs(oracle, out)?;
    }
    Ok(())
}

/// Returns a function that says whether two rows may alias. If no row has a size, it keeps answers.
fn answers(oracle: &Oracle<&Graph>, rows: &[Access]) -> impl Fn(usize, usize) -> bool {
    let tags = rows.iter().map(|row| row.tag.filter(|_| row.size.is_none()));
    let tags = tags.collect::<Option<Vec<_>>>().filter(|tags| tags.len() <= KEPT_TAGS);
    let kept = tags.map(|tags| oracle.matrix(&tags));
    let ask = move |i, j| oracle.may_alias(rows[i], rows[j]);
    move |i, j| kept.as_ref().map_or_else(|| ask(i, j), |kept| kept.may_alias(i, j))
}

/// Calls `use_row` with each row of the matrix, a string of `M` (MayAlias) and `N` (NoAlias).
fn each_row(
    oracle: &Oracle<&Graph>,
    rows: &[Access],
    mut use_row: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let may_alias = answers(oracle, rows);
    let mut row = Vec::with_capacity(rows.len());
    for i in 0..rows.len() {
        row.clear();
        row.extend((0..rows.len()).map(|j| letter(may_alias(i, j))));
        use_row(&row)?;
    }
    Ok(())
}

fn described(input: &Input, names: &Names<'_>, row: &Access) -> String {
    let tag = row.tag.map(|tag| input.described(names, tag)).unwrap_or_default();
    let bytes = row.size.and_then(Size::bytes).map(|bytes| format!(", {bytes} bytes"));
    tag + &bytes.unwrap_or_default()
}

/// Writes a table with the names of the tags before the rows, and numbers above the columns.
fn table(oracle: &Oracle<&Graph>, names: &[String], of: &[Access], out: &mut dyn Write) -> Result {
    let number_width = of.len().to_string().len();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    write!(out, "{:number_width$}  {:name_width$} ", "", "")?;
    for column in 1..=of.len() {
        write!(out, " {column:>number_width$}")?;
    }
    writeln!(out)?;
    let (mut index, mut pairs, mut disjoint) = (0, 0, 0);
    each_row(oracle, of, |row| {
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
    let (share, rule) = (percent(disjoint, pairs), oracle.rule());
    let (tags, pairs) = (counted(of.len(), "tag"), counted(pairs, "pair"));
    writeln!(
        out,
        "\nM MayAlias   . NoAlias   {tags}, {pairs}, {disjoint} NoAlias ({share}) by rule {rule}"
    )?;
    Ok(())
}
