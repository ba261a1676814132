//! `tbaa dump`.

use std::collections::HashMap;
use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;
use tbaa::{Graph, TagId, spec};
use tbaa_ir::Numbering;

use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::output::write_json;
use crate::printable::printable;
use crate::report::{Context, Result};

/// Prints the metadata.
///
/// For a module: every node that `!tbaa`, `!tbaa.struct` and `!llvm.errno.tbaa` reach. For a text
/// without instructions: every node that has the form of a tag, a type or a struct copy.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/dump.txt"))]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// The output.
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

pub(super) fn run(args: &Dump, out: &mut dyn Write) -> Result {
    let input = Input::open(&args.input)?;
    input.warn_rejected(tbaa::AliasRule::Llvm, input.graph().tags());
    let (graph, numbering) = (input.graph(), input.numbering());
    match args.format {
        DumpFormat::Llvm => match &input.content {
            Content::Module(_) => {
                let names = input.names();
                let named = graph.tags().map(|tag| (names.tag(tag), tag));
                write_named(graph, &numbering, named, out)?;
            }
            Content::Spec(built, _) => {
                let named = built.tags().iter().map(|(name, &tag)| (name, tag));
                write_named(graph, &numbering, named, out)?;
            }
        },
        DumpFormat::Mlir => {
            let mlir = tbaa_ir::write_mlir_numbered(graph, &numbering);
            let what = format_args!("{} cannot be expressed in MLIR", input.file());
            out.write_all(mlir.context(what)?.as_bytes())?;
        }
        DumpFormat::Ron => out.write_all(spec::write(graph).as_bytes())?,
        DumpFormat::Json => {
            let numbers = graph.nodes().map(|node| numbering.get(node)).collect();
            write_json(&Numbered { graph, numbers }, out)?;
        }
    }
    Ok(())
}

/// Writes a graph's metadata, with the names of each tag as a comment behind it.
pub(super) fn write_named<S: AsRef<str>>(
    graph: &Graph,
    numbering: &Numbering,
    named: impl IntoIterator<Item = (S, TagId)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut names: HashMap<TagId, String> = HashMap::new();
    for (name, tag) in named {
        let known = names.entry(tag).or_default();
        known.push_str(if known.is_empty() { "" } else { ", " });
        known.push_str(name.as_ref());
    }
    let remark = |node| Some(printable(names.get(&graph.tag_of(node)?)?.as_bytes()));
    out.write_all(tbaa_ir::write_numbered(graph, numbering, remark).as_bytes())
}

/// A graph, and the number of each of its nodes.
#[derive(Serialize)]
struct Numbered<'g> {
    #[serde(flatten)]
    graph: &'g Graph,
    numbers: Vec<Option<u32>>,
}
