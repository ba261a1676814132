//! `tbaa dump`.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use clap::ValueEnum;
use serde::Serialize;
use tbaa::{Graph, TagId, spec};
use tbaa_ir::Numbering;

use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::output::write_json;
use crate::printable::printable;
use crate::report::{Context, Failure, Result};

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
    #[command(flatten)]
    pub(crate) numbers: Numbers,
}

/// The numbers of a spec's nodes.
#[derive(clap::Args)]
pub(crate) struct Numbers {
    /// Number a spec's nodes from here on, and print no lists of them: to append the nodes to a
    /// module whose own metadata has smaller numbers.
    #[arg(long, value_name = "NUMBER")]
    first_number: Option<u32>,
}

impl Numbers {
    /// Returns the numbers of a spec's nodes.
    pub(super) fn of(&self, graph: &Graph) -> Result<Numbering> {
        let Some(mut next) = self.first_number else { return Ok(Numbering::new(graph)) };
        if (next as usize).saturating_add(graph.node_count()) > u32::MAX as usize {
            let why = "--first-number leaves no numbers for the nodes: give a smaller one";
            return Err(Failure::unusable(why));
        }
        let mut number = || {
            next += 1;
            next - 1
        };
        Ok(Numbering::keeping(graph, &[], &mut number))
    }

    /// Refuses a module, whose nodes have numbers.
    pub(super) fn of_spec(&self, file: &str) -> Result {
        match self.first_number {
            None => Ok(()),
            Some(_) => Err(Failure::unusable(format!(
                "{file}: --first-number needs a spec; the nodes of a module have numbers"
            ))),
        }
    }

    /// Writes a spec's metadata, with the names of each tag.
    pub(super) fn write<S: AsRef<str>>(
        &self,
        graph: &Graph,
        numbering: &Numbering,
        named: impl IntoIterator<Item = (S, TagId)>,
        out: &mut dyn Write,
    ) -> Result {
        let text = text_named(graph, numbering, named);
        match self.first_number {
            None => out.write_all(text.as_bytes())?,
            Some(_) => nodes(&text).try_for_each(|line| writeln!(out, "{line}"))?,
        }
        Ok(())
    }
}

/// Returns the lines of metadata that define nodes.
fn nodes(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| line[1.min(line.len())..].starts_with(|byte: char| byte.is_ascii_digit()))
}

/// A spec's tags for a program that writes a module's text: the number of each by its name, and
/// the definition of each node.
#[derive(Serialize)]
pub(super) struct Printed {
    names: BTreeMap<String, u32>,
    metadata: Vec<String>,
}

impl Printed {
    pub(super) fn new<S: AsRef<str>>(
        graph: &Graph,
        numbering: &Numbering,
        named: impl IntoIterator<Item = (S, TagId)>,
    ) -> Self {
        let number = |(name, tag): (S, TagId)| {
            Some((name.as_ref().to_owned(), numbering.get(graph.tag_node(tag))?))
        };
        let text = tbaa_ir::write_numbered(graph, numbering, |_| None);
        Printed {
            names: named.into_iter().filter_map(number).collect(),
            metadata: nodes(&text).map(str::to_owned).collect(),
        }
    }
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
    let graph = input.graph();
    let (numbering, spec) = match &input.content {
        Content::Module(module) => {
            args.numbers.of_spec(input.file())?;
            (module.numbering(), None)
        }
        Content::Spec(built, _) => (args.numbers.of(graph)?, Some(built)),
    };
    let named = || spec.into_iter().flat_map(|spec| spec.tags()).map(|(name, &tag)| (name, tag));
    match args.format {
        DumpFormat::Llvm if spec.is_some() => {
            args.numbers.write(graph, &numbering, named(), out)?;
        }
        DumpFormat::Llvm => {
            let names = input.names();
            let named = graph.tags().map(|tag| (names.tag(tag), tag));
            out.write_all(text_named(graph, &numbering, named).as_bytes())?;
        }
        DumpFormat::Mlir => {
            let mlir = tbaa_ir::write_mlir_numbered(graph, &numbering);
            let what = format_args!("{} cannot be expressed in MLIR", input.file());
            out.write_all(mlir.context(what)?.as_bytes())?;
        }
        DumpFormat::Ron => out.write_all(spec::write(graph).as_bytes())?,
        DumpFormat::Json => {
            let numbers = graph.nodes().map(|node| numbering.get(node)).collect();
            let printed = spec.map(|_| Printed::new(graph, &numbering, named()));
            write_json(&Numbered { graph, numbers, printed }, out)?;
        }
    }
    Ok(())
}

/// Returns a graph's metadata, with the names of each tag as a comment behind it.
fn text_named<S: AsRef<str>>(
    graph: &Graph,
    numbering: &Numbering,
    named: impl IntoIterator<Item = (S, TagId)>,
) -> String {
    let mut names: HashMap<TagId, String> = HashMap::new();
    for (name, tag) in named {
        let known = names.entry(tag).or_default();
        known.push_str(if known.is_empty() { "" } else { ", " });
        known.push_str(name.as_ref());
    }
    let remark = |node| Some(printable(names.get(&graph.tag_of(node)?)?.as_bytes()));
    tbaa_ir::write_numbered(graph, numbering, remark)
}

/// A graph, and the number of each of its nodes.
#[derive(Serialize)]
struct Numbered<'g> {
    #[serde(flatten)]
    graph: &'g Graph,
    numbers: Vec<Option<u32>>,
    #[serde(flatten)]
    printed: Option<Printed>,
}
