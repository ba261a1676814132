//! `tbaa graph`: draws the type DAG.

mod dag;
mod dot;
mod layout;
mod mark;
mod picture;

use std::io::{self, Write};

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use tbaa::{Oracle, TagId, TypeId};
use tbaa_ir::Names;

use super::completions::accesses;
use crate::convert::InputArg;
use crate::find::Found;
use crate::input::{Input, RulesArg};
use crate::output::{counted, listed};
use crate::printable::printable;
use crate::report::{Result, bail};
use crate::walk::type_name;

use dag::{Dag, around};
use mark::Marks;

/// Draws the types: structs, unions, arrays and scalars, and what is in what.
///
/// A union is a box with round corners. A bar marks fields that share bytes. An array's field shows
/// its number of elements, if the metadata has it. Fields have names if debug information or a
/// spec has them. A picture of more than 60 types shows only the fields that lead to other structs:
/// `--around TYPE` draws one type with all its fields and its neighbours.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/graph.txt"))]
pub(crate) struct Graph {
    #[command(flatten)]
    input: InputArg,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Highlight where a tag leads: under rule llvm the types that LLVM visits, under the others every path.
    #[arg(long, alias = "tag", value_name = "TAG", add = ArgValueCompleter::new(accesses))]
    highlight: Option<String>,
    /// Highlight the two paths that `tbaa explain` compares for A and B.
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "highlight")]
    #[arg(add = ArgValueCompleter::new(accesses))]
    pair: Vec<String>,
    /// Draw only this type, the types of its fields, and the structs that it is a field of.
    #[arg(long, value_name = "TYPE")]
    around: Option<String>,
    /// Draw types up to this many steps from TYPE: each to a field's type, or back.
    #[arg(long, alias = "depth", value_name = "STEPS", default_value_t = 1, requires = "around")]
    steps: usize,
    #[command(flatten)]
    rules: RulesArg,
}

#[derive(Clone, Copy, ValueEnum, Default)]
enum Format {
    #[default]
    Svg,
    Dot,
}

pub(super) fn run(args: &Graph, out: &mut dyn Write) -> Result {
    let mut input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules);
    let (mut marks, mut about) = (Marks::default(), Vec::new());
    if let [a, b] = &args.pair[..] {
        let [a_tag, b_tag] = [one(&mut input, a)?, one(&mut input, b)?];
        let why = Oracle::new(input.graph(), rules).explain(a_tag, b_tag);
        about.extend([
            format!("{a} and {b}: {}", why.answer),
            format!("rule {rules}: {}", why.clause),
            "blue: the first access; orange and dashed: the second; purple: both".to_owned(),
        ]);
        marks = Marks::of_pair(input.graph(), &why, a_tag, b_tag);
    } else if let Some(name) = &args.highlight {
        let tag = one(&mut input, name)?;
        about.push(format!("{name}, by rule {rules}"));
        about.push("blue: where the tag leads".to_owned());
        marks = Marks::of_tag(input.graph(), rules, tag);
    }
    let types = match &args.around {
        Some(name) => {
            about.push(format!("{name}, and what is within {}", counted(args.steps, "step")));
            around(input.graph(), &named(&input, name)?, args.steps)
        }
        None => input.graph().type_dag(),
    };
    let dag = Dag::of(&input, &input.names(), &marks, &types);
    about.extend(dag.omitted.clone());
    let about: Vec<String> = about.iter().map(printable).collect();
    let title = format!("Types of {}", input.file());
    match args.format {
        Format::Svg => picture::write(&dag, &title, &about, out)?,
        Format::Dot => dot::write(&dag, &title, &about, out)?,
    }
    Ok(())
}

/// Returns a picture of a type and its neighbours, as `tbaa graph --around` draws it.
pub(super) fn near(input: &Input, names: &Names<'_>, ty: TypeId) -> io::Result<Vec<u8>> {
    let types = around(input.graph(), &[ty], 1);
    let dag = Dag::of(input, names, &Marks::default(), &types);
    let mut svg = Vec::new();
    picture::write(&dag, &format!("Types around {}", names.ty(ty)), &[], &mut svg)?;
    Ok(svg)
}

/// The largest number of types that a message lists.
const LISTED: usize = 8;

/// Finds the types whose name, raw or printable, is `name`. Fails if there are none.
fn named(input: &Input, name: &str) -> Result<Vec<TypeId>> {
    let (graph, names) = (input.graph(), input.names());
    let is_called = |ty: &TypeId| names.ty(*ty) == name || type_name(&names, *ty) == name;
    let found: Vec<TypeId> = graph.types().filter(is_called).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let lower = name.to_lowercase();
    let mut near: Vec<String> = graph.types().map(|ty| names.ty(ty)).collect();
    near.sort_by_key(|name| !name.to_lowercase().contains(&lower));
    let (file, near) = (input.file(), listed(near.into_iter(), LISTED, ", ", " and "));
    bail!("no type of {file} is called {name:?}; its types are {near}")
}

/// Finds the tag that a name stands for. Fails if there are several accesses, or no tag.
fn one(input: &mut Input, name: &str) -> Result<TagId> {
    let found = input.find(&[name])?;
    match found[0][..] {
        [Found { tag: Some(tag), .. }] => Ok(tag),
        [_] => bail!("{name} has no tag, and so leads nowhere"),
        _ => bail!("{name} names {} accesses: name one of them", found[0].len()),
    }
}
