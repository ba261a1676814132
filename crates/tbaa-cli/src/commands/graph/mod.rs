//! `tbaa graph`: the type DAG, drawn.

mod dag;
mod dot;
mod layout;
mod mark;
mod picture;

use std::io::Write;

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use tbaa::{Oracle, TagId};

use super::completions::accesses;
use crate::args::RulesArg;
use crate::convert::InputArg;
use crate::find::Found;
use crate::input::Input;
use crate::printable::printable;
use crate::report::Failure;

use dag::Dag;
use mark::Marks;

/// Draws the types: structs, unions, arrays and scalars, and what is in what.
///
/// A union is a box with round corners, and fields that share bytes have a bar
/// beside them; an array's field has its number of elements, where the format
/// records it. Of more than 60 types a box shows a few fields, and scalars under
/// one parent share a box.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  svg  a picture, laid out here
  dot  for Graphviz

Examples:
  tbaa graph ravi.ron > ravi.svg
  tbaa graph ravi.ron --tag CallInfo.l.base > base.svg
  tbaa graph f.ll --pair 8 12 --rules union > pair.svg
  tbaa graph f.ll --format dot > f.dot

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Graph {
    #[command(flatten)]
    input: InputArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Highlight where a tag leads: under rule llvm the types that LLVM visits,
    /// under the others every path.
    #[arg(long, value_name = "TAG", add = ArgValueCompleter::new(accesses))]
    tag: Option<String>,
    /// Highlight the two paths that `explain` compares.
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with = "tag",
        add = ArgValueCompleter::new(accesses)
    )]
    pair: Vec<String>,
    #[command(flatten)]
    rules: RulesArg,
}

#[derive(Clone, Copy, ValueEnum, Default)]
enum Format {
    #[default]
    Svg,
    Dot,
}

pub(super) fn run(args: &Graph, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules);
    let (mut marks, mut about) = (Marks::default(), Vec::new());
    let highlighted = match &args.pair[..] {
        [a, b] => {
            let [a_tag, b_tag] = [one(&mut input, a)?, one(&mut input, b)?];
            let why = Oracle::new(input.graph(), rules).explain(a_tag, b_tag);
            about.push(format!("{a} and {b}: {}", why.answer));
            about.push(format!("rule {rules}: {}", why.clause));
            marks = Marks::of_pair(input.graph(), &why, a_tag, b_tag);
            true
        }
        _ => match &args.tag {
            Some(name) => {
                let tag = one(&mut input, name)?;
                about.push(format!("{name}, by rule {rules}"));
                marks = Marks::of_tag(input.graph(), rules, tag);
                true
            }
            None => false,
        },
    };
    if highlighted {
        about.push(picture::legend(!args.pair.is_empty()).to_owned());
    }
    let dag = Dag::of(&input, &marks);
    about.extend(dag.omitted.clone());
    let about: Vec<String> = about.iter().map(|line| printable(line.as_bytes())).collect();
    let title = format!("Types of {}", input.file());
    match args.format {
        Format::Svg => picture::write(&dag, &title, &about, out)?,
        Format::Dot => dot::write(&dag, &title, &about, out)?,
    }
    Ok(())
}

/// Finds the one tag that a name stands for.
fn one(input: &mut Input, name: &str) -> Result<TagId, Failure> {
    let found = input.find(&[name])?;
    match found[0][..] {
        [Found { tag: Some(tag), .. }] => Ok(tag),
        [_] => Err(Failure::unusable(format!("{name} has no tag, and so leads nowhere"))),
        _ => {
            let count = found[0].len();
            Err(Failure::unusable(format!("{name} names {count} accesses: name one of them")))
        }
    }
}
