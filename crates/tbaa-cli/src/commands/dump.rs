//! `tbaa dump`.

use std::collections::HashMap;
use std::io::Write;

use clap::ValueEnum;
use tbaa::spec;
use tbaa::{Graph, TagId};

use super::write_json;
use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::printable::printable;
use crate::report::Failure;

/// Prints the metadata.
///
/// For a module: every node that `!tbaa`, `!tbaa.struct` and `!llvm.errno.tbaa` reach.
/// For a text without instructions: every node that has the form of a tag, a type or
/// a struct copy.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/dump.txt"))]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: DumpFormat,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum DumpFormat {
    /// Metadata that llvm-as accepts.
    #[default]
    Llvm,
    /// Attributes of MLIR's LLVM dialect.
    Mlir,
    /// A spec.
    Ron,
    /// All nodes with their operands, and which are tags, types and copies.
    Json,
}

pub(super) fn run(args: &Dump, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    input.warn_rejected(tbaa::AliasRule::Llvm, input.graph().tags());
    let graph = input.graph();
    match (args.format, &input.content) {
        (DumpFormat::Llvm, Content::Module(_)) => {
            out.write_all(tbaa_ir::write(graph).as_bytes())?;
        }
        (DumpFormat::Llvm, Content::Spec(built)) => {
            let named = built.tags().iter().map(|(name, &tag)| (name.as_str(), tag));
            write_named(graph, named, out)?;
        }
        (DumpFormat::Mlir, _) => {
            let mlir = tbaa_ir::write_mlir(graph).map_err(|error| {
                Failure::unusable(format!("{} cannot be expressed in MLIR: {error}", input.file()))
            })?;
            out.write_all(mlir.as_bytes())?;
        }
        (DumpFormat::Ron, _) => out.write_all(spec::write(graph).as_bytes())?,
        (DumpFormat::Json, _) => write_json(graph, out)?,
    }
    Ok(())
}

/// Writes a graph's metadata, with the names of each tag as a comment behind it.
pub(super) fn write_named<'n>(
    graph: &Graph,
    named: impl IntoIterator<Item = (&'n str, TagId)>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let text = tbaa_ir::write(graph);
    // Tags stand in the same order in both graphs.
    let module = tbaa_ir::read(text.as_bytes())
        .map_err(|error| Failure::unusable(format!("the metadata cannot be read back: {error}")))?;
    let mut names: HashMap<u32, Vec<&str>> = HashMap::new();
    let numbers: Vec<_> =
        module.graph().tags().map(|tag| module.number_of(module.graph().tag_node(tag))).collect();
    for (name, tag) in named {
        if let Some(&Some(number)) = numbers.get(tag.index()) {
            names.entry(number).or_default().push(name);
        }
    }
    for line in text.lines() {
        let number = line.strip_prefix('!').and_then(|line| line.split_once(" = ")?.0.parse().ok());
        match number.and_then(|number: u32| names.get(&number)) {
            Some(names) => writeln!(out, "{line} ; {}", printable(names.join(", ").as_bytes()))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}
