//! `tbaa dump`: prints the TBAA metadata of an input.

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
use crate::report::{Context, Result, bail};

/// Prints the TBAA metadata of a module or a spec.
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
    /// Number a spec's nodes from NUMBER on, and print no named metadata such as !tbaa.tags: to
    /// append the nodes to a module whose own metadata has smaller numbers.
    #[arg(long, value_name = "NUMBER")]
    first_number: Option<u32>,
}

impl Numbers {
    pub(super) fn of(&self, graph: &Graph) -> Result<Numbering> {
        let Some(mut next) = self.first_number else { return Ok(Numbering::new(graph)) };
        if (next as usize).saturating_add(graph.node_count()) > u32::MAX as usize {
            bail!("--first-number leaves no numbers for the nodes: give a smaller one");
        }
        let mut number = || {
            next += 1;
            next - 1
        };
        Ok(Numbering::keeping(graph, &[], &mut number))
    }

    /// Fails if `--first-number` is given: the nodes of a module already have numbers.
    pub(super) fn of_spec(&self, file: &str) -> Result {
        if self.first_number.is_some() {
            bail!("{file}: --first-number needs a spec; the nodes of a module have numbers");
        }
        Ok(())
    }

    /// Writes metadata with tags' names as comments. `--first-number` leaves out named metadata.
    pub(super) fn write(
        &self,
        graph: &Graph,
        numbering: &Numbering,
        named: &[(String, TagId)],
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
    let is_node = |line: &&str| line.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    text.lines().filter(is_node)
}

/// A spec's tags as JSON: the metadata number of each name, and the node definitions.
#[derive(Serialize)]
pub(super) struct Printed {
    names: BTreeMap<String, u32>,
    metadata: Vec<String>,
}

impl Printed {
    pub(super) fn new(graph: &Graph, numbering: &Numbering, named: &[(String, TagId)]) -> Self {
        let number = |(name, tag): &(String, TagId)| {
            Some((name.clone(), numbering.get(graph.tag_node(*tag))?))
        };
        let text = tbaa_ir::write_numbered(graph, numbering, |_| None);
        Printed {
            names: named.iter().filter_map(number).collect(),
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
    /// A spec (.ron).
    Ron,
    /// All nodes with their operands, and which are tags, types and struct copies.
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
    let names = input.names();
    let named: Vec<(String, TagId)> = match spec {
        Some(spec) => spec.tags().iter().map(|(name, &tag)| (name.clone(), tag)).collect(),
        None if matches!(args.format, DumpFormat::Llvm) => {
            graph.tags().map(|tag| (names.tag(tag), tag)).collect()
        }
        None => Vec::new(),
    };
    match args.format {
        DumpFormat::Llvm => args.numbers.write(graph, &numbering, &named, out)?,
        DumpFormat::Mlir => {
            let mlir = tbaa_ir::write_mlir_numbered(graph, &numbering);
            let what = format_args!("{} cannot be expressed in MLIR", input.file());
            out.write_all(mlir.context(what)?.as_bytes())?;
        }
        DumpFormat::Ron => out.write_all(spec::write(graph).as_bytes())?,
        DumpFormat::Json => {
            let numbers = graph.nodes().map(|node| numbering.get(node)).collect();
            let printed = spec.map(|_| Printed::new(graph, &numbering, &named));
            write_json(&Numbered { graph, numbers, printed }, out)?;
        }
    }
    Ok(())
}

/// Returns a graph's metadata. A comment after each named tag lists the tag's names.
fn text_named(graph: &Graph, numbering: &Numbering, named: &[(String, TagId)]) -> String {
    let mut names: HashMap<TagId, Vec<&str>> = HashMap::new();
    for (name, tag) in named {
        names.entry(*tag).or_default().push(name);
    }
    let remark = |node| Some(printable(names.get(&graph.tag_of(node)?)?.join(", ")));
    tbaa_ir::write_numbered(graph, numbering, remark)
}

#[derive(Serialize)]
struct Numbered<'g> {
    #[serde(flatten)]
    graph: &'g Graph,
    numbers: Vec<Option<u32>>,
    #[serde(flatten)]
    printed: Option<Printed>,
}
