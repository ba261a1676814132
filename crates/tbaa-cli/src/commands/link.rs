//! `tbaa link`: links the TBAA metadata and the struct types of several modules.
//!
//! A clash is a name that types with different bodies have.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tbaa::types::{self, Context, MergedTypes, Type};
use tbaa::{Format, Graph, TypeId, TypeKind};
use tbaa_check::link::{Clash, Linked, Summary};
use tbaa_ir::Names;
use tbaa_ir::types::ReadTypes;

use super::types::{FileTypes, Globals};
use crate::convert::{FlagsArg, Origin};
use crate::files::read_file;
use crate::input::Input;
use crate::output::{NEW_NUMBERS, counted, listed, write_json};
use crate::printable::{printable, printable_path};
use crate::report::{Context as _, Failure, Result, bail, warn};
use crate::walk::type_name;

/// Links the TBAA and the struct types of modules.
///
/// Equal nodes become one. The command warns of types that have one name and different
/// bodies: LLVM's linker keeps both, and answers NoAlias for accesses that may be to
/// one object. The printed metadata has both too. A file's name identifies its module.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/link.txt"))]
pub(crate) struct Link {
    /// .ll, .bc, C or C++ files, .ron specs, .json summaries, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LinkFormat,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum LinkFormat {
    #[default]
    Llvm,
    Report,
    Summary,
}

/// The document of `--format summary`, and of a `.json` input.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    /// The definitions of struct types.
    types: Vec<String>,
    tbaa: Summary,
}

pub(super) fn run(args: &Link, out: &mut dyn Write) -> Result {
    let (mut contexts, mut summaries) = (Vec::new(), Vec::new());
    let mut globals = Globals::default();
    for input in &args.inputs {
        let (context, summary) = open(args.flags.among(input, args.inputs.iter()), &mut globals)?;
        contexts.push(context);
        summaries.push(summary);
    }
    refuse_namesakes(&args.inputs, &summaries)?;
    let merge = match args.format {
        LinkFormat::Summary => MergedTypes::part,
        LinkFormat::Llvm | LinkFormat::Report => MergedTypes::new,
    };
    let types = merge(&contexts.iter().collect::<Vec<_>>()).map_err(Failure::unusable)?;
    drop(contexts);
    let summary = match summaries.len() {
        // A single summary is sorted already.
        1 => summaries.remove(0),
        _ => Summary::link(&summaries.iter().collect::<Vec<_>>()).0,
    };
    drop(summaries);
    let linked = Linked::from_summary(summary).map_err(Failure::unusable)?;
    if args.format != LinkFormat::Report {
        let of_formats = of_formats(&linked);
        warn(of_formats.as_slice(), |text| (None, text.clone()));
        let clashes: Vec<&Clash> = clashes(&linked).collect();
        warn(&clashes, |clash| (None, warning(linked.graph(), clash)));
    }
    match args.format {
        LinkFormat::Llvm => {
            for line in definitions(types.context()) {
                writeln!(out, "{line}")?;
            }
            if linked.graph().node_count() > 0 {
                writeln!(out, "{NEW_NUMBERS}")?;
            }
            out.write_all(tbaa_ir::write(linked.graph()).as_bytes())?;
        }
        LinkFormat::Report => report(&linked, &types, out)?,
        LinkFormat::Summary => {
            let part = Part { types: definitions(types.context()), tbaa: linked.summary().clone() };
            write_json(&part, out)?;
        }
    }
    Ok(())
}

/// Fails if two different summaries have modules of one name, which may be different modules.
fn refuse_namesakes(inputs: &[PathBuf], summaries: &[Summary]) -> Result {
    let mut first = HashMap::new();
    for (at, summary) in summaries.iter().enumerate() {
        for name in summary.modules() {
            let known = *first.entry(name).or_insert(at);
            if known != at && summaries[known] != *summary {
                let [a, b] = [known, at].map(|at| printable_path(&inputs[at]));
                let name = printable(name);
                bail!(
                    "{a} and {b} differ, and each has a module named {name}: if it is one module, \
                     link it into only one of the two; otherwise give one of its files another name"
                );
            }
        }
    }
    Ok(())
}

fn open(origin: Origin<'_>, globals: &mut Globals) -> Result<(Context, Summary)> {
    if origin.path.extension().is_none_or(|extension| extension != "json") {
        let input = Input::open(origin)?;
        globals.add(&input);
        let types = FileTypes::of(&input)?;
        return Ok((types.context, Summary::of(input.file(), input.graph()).0));
    }
    origin.is_compiled()?;
    let (file, text) = read_file(origin.path)?;
    let part: Part =
        serde_json::from_slice(&text).context(format_args!("{file} is not a summary"))?;
    let mut context = Context::new();
    let read = context.read_definitions(part.types.join("\n").as_bytes());
    read.map_err(|error| error.kind).context(format_args!("{file}, among its types"))?;
    let types = MergedTypes::part(&[&context]).map_err(Failure::unusable)?;
    Ok((types.into_context(), part.tbaa))
}

fn definitions(context: &Context) -> Vec<String> {
    context.structs().map(|ty| context.definition(ty).to_string()).collect()
}

fn warning(graph: &Graph, clash: &Clash) -> String {
    let bodies = clash.bodies.iter();
    let bodies = bodies.map(|of| format!("{} in {}", body(graph, of.ty, 3), of.module));
    let (name, bodies) = (printable(&clash.name), bodies.collect::<Vec<_>>().join(", "));
    format!("type {name} is {bodies}; accesses through them may alias")
}

/// Describes an aggregate by its first `most` fields, such as `{int @0, float @4}`, and another
/// type by its parent: `under <parent>`, or `{}` without one.
pub(super) fn body(graph: &Graph, ty: TypeId, most: usize) -> String {
    let names = Names::of_graph(graph);
    let name = |ty: TypeId| type_name(&names, ty);
    let node = graph.ty(ty);
    if node.kind() != TypeKind::Aggregate {
        let parent = node.parent().map(|parent| format!("under {}", name(parent)));
        return parent.unwrap_or_else(|| "{}".to_owned());
    }
    let field = |field: tbaa::Field| match field.extent {
        Some(extent) => format!("{} @{}+{extent}", name(field.ty), field.offset),
        None => format!("{} @{}", name(field.ty), field.offset),
    };
    let fields: Vec<String> = node.fields().map(field).collect();
    format!("{{{}}}", listed(fields.into_iter(), most, ", ", ", "))
}

/// Returns the modules of a clash's first old-format type and of its first new-format type.
fn formats<'c>(graph: &Graph, clash: &'c Clash) -> [Option<&'c str>; 2] {
    [Format::Old, Format::New].map(|format| {
        let body = clash.bodies.iter().find(|body| graph.ty(body.ty).format() == format);
        body.map(|body| body.module.as_str())
    })
}

/// Returns the clashes whose types are all in one format.
fn clashes(linked: &Linked) -> impl Iterator<Item = &Clash> {
    let is_of_one = |clash: &&Clash| formats(linked.graph(), clash).contains(&None);
    linked.clashes().iter().filter(is_of_one)
}

/// Returns a message if a clash has types of both formats, otherwise `None`.
fn of_formats(linked: &Linked) -> Option<String> {
    let mixed = linked.clashes().iter().filter_map(|clash| match formats(linked.graph(), clash) {
        [Some(old), Some(new)] => Some((&clash.name, old, new)),
        _ => None,
    });
    let mixed: Vec<_> = mixed.collect();
    let &(name, old, new) = mixed.first()?;
    let (names, name) = (counted(mixed.len(), "name"), printable(name));
    let [old, new] = [old, new].map(printable);
    Some(format!(
        "{names} of types, {name} first, are in the old format in {old} and in the size-aware one in {new}: \
         types of the two are never equal, and accesses through them may alias; compile all modules in one \
         format (clang: -Xclang -new-struct-path-tbaa, or without it)"
    ))
}

fn report(linked: &Linked, merged: &MergedTypes, out: &mut dyn Write) -> io::Result<()> {
    let graph = linked.graph();
    let context = merged.context();
    writeln!(
        out,
        "{}: {}, {}, {}",
        counted(linked.summary().modules().len(), "module"),
        counted(graph.tag_count(), "tag"),
        counted(graph.types().count(), "type node"),
        counted(context.structs().len(), "struct type"),
    )?;
    if let Some(text) = of_formats(linked) {
        writeln!(out, "{text}")?;
    }
    let several =
        |count: usize, what: &str| format!("{} {what} with several bodies", counted(count, "name"));
    writeln!(out, "{}", several(clashes(linked).count(), "of type nodes"))?;
    for clash in clashes(linked) {
        writeln!(out, "  {}", printable(&clash.name))?;
        for body in &clash.bodies {
            let module = printable(&body.module);
            writeln!(out, "    {module}: {}", self::body(graph, body.ty, 12))?;
        }
    }
    writeln!(out, "{}", several(merged.clashes().len(), "of struct types"))?;
    for clash in merged.clashes() {
        for &ty in &clash.types {
            writeln!(out, "  {}", context.definition(ty))?;
        }
    }
    let is_opaque =
        |&ty: &Type| matches!(context.kind(ty), types::TypeKind::Identified { body: None, .. });
    let opaque = context.structs().filter(is_opaque).count();
    writeln!(out, "{}", counted(opaque, "opaque struct type"))
}
