//! `tbaa declare`: lays out declared C types and turns them into TBAA nodes.

mod header;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use tbaa::declare::{BitRange, DeclId, Declarations, LlvmTypes, Policy, TaggedTypes, Target};
use tbaa::parts::TagParts;
use tbaa::spec::write_declarations;
use tbaa::types::Context;
use tbaa::{Graph, TagId};
use tbaa_ir::types::ReadTypes;

use crate::convert::no_compiler;
use crate::files::read_file;
use crate::input::load_spec;
use crate::output::NEW_NUMBERS;
use crate::printable::{printable, printable_path};
use crate::report::{Context as _, Failure, Result, bail, warn};

/// Lays out the types of a C header, and prints their layout, nodes or tags.
///
/// INPUT is one of: a C header or source (laid out by clang); a .ll file (its struct
/// types have no member names); a spec that declares types. For a path such as
/// `CallInfo.l.base` it prints where the path leads, and the tag of an access there.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/declare.txt"))]
pub(crate) struct Declare {
    /// A C header or source, a .ll file, or a .ron spec.
    pub(crate) input: PathBuf,
    /// Paths to members.
    pub(crate) paths: Vec<String>,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// The policy by which types become nodes [default: the spec's, or else clang].
    #[arg(long, value_enum)]
    pub(crate) policy: Option<PolicyName>,
    /// The target: a preset, a triple or a data layout string [default: the input's].
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// Print only these structs and unions, and those inside them.
    #[arg(long = "struct", alias = "record", value_name = "NAME")]
    pub(crate) records: Vec<String>,
    /// The clang to run, 13 or newer [default: $CLANG, or else clang-22 or the newest clang].
    #[arg(long, value_name = "COMMAND")]
    pub(crate) clang: Option<OsString>,
    /// Arguments for clang, after `--`.
    #[arg(last = true, value_name = "CLANG_ARGUMENTS")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub(crate) enum Format {
    /// A table of members, with offsets and sizes in bytes.
    #[default]
    Layout,
    /// The LLVM types, and TBAA metadata.
    Llvm,
    /// A spec that declares the types.
    Ron,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PolicyName {
    /// The old format, as clang emits it.
    Clang,
    /// The size-aware format, with unions.
    Rfc,
}

/// The input's types, and their target and policy. `complete` is false if types were left out.
struct Loaded {
    types: Declarations,
    target: String,
    policy: Policy,
    complete: bool,
}

pub(super) fn run(args: &Declare, out: &mut dyn Write) -> Result<super::Outcome> {
    let Loaded { types, target, policy, mut complete } = load(args)?;
    let policy = args.policy.map_or(policy, |policy| match policy {
        PolicyName::Clang => Policy::Clang,
        PolicyName::Rfc => Policy::Rfc,
    });
    let records = chosen(&types, &args.records)?;
    match args.format {
        Format::Ron => {
            let name = args.input.file_stem().unwrap_or_default().to_string_lossy();
            out.write_all(write_declarations(&name, &types, &records, &target, policy).as_bytes())?;
        }
        Format::Layout if args.paths.is_empty() => {
            for (position, &record) in records.iter().enumerate() {
                if position > 0 {
                    writeln!(out)?;
                }
                layout(&types, record, 0, 0, out)?;
            }
        }
        Format::Layout | Format::Llvm => {
            complete &= lowered(args, types.into_tagged(policy), &records, out)?;
        }
    }
    Ok(if complete { super::Outcome::Fine } else { super::Outcome::Found })
}

/// Prints the tags of the paths, or LLVM types and TBAA nodes. Returns false if a path is wrong.
fn lowered(
    args: &Declare,
    mut types: TaggedTypes,
    records: &[DeclId],
    out: &mut dyn Write,
) -> Result<bool> {
    let mut graph = Graph::new();
    let mut wrong = Vec::new();
    for path in &args.paths {
        match types.place(&mut graph, path) {
            Err(error) => wrong.push(error.to_string()),
            Ok(place) if args.format == Format::Layout => {
                let bits = place.bits.map_or(String::new(), |BitRange { first, width }| {
                    format!(", bits {first} to {}", first + u64::from(width.saturating_sub(1)))
                });
                let tag = place.tag.map_or_else(|| "no tag".to_owned(), |tag| show(&graph, tag));
                writeln!(out, "{path}: offset {}, size {}{bits}, {tag}", place.offset, place.size)?;
            }
            Ok(_) => {}
        }
    }
    warn(&wrong, |message| (None, message.clone()));
    if args.format == Format::Llvm {
        let mut context = Context::new();
        let mut llvm = LlvmTypes::new(types.types(), &mut context);
        for &record in records {
            llvm.ty(record).map_err(Failure::unusable)?;
        }
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = context.write_definitions(&mut text);
        for &record in records.iter().filter(|_| args.paths.is_empty()) {
            types.node(&mut graph, record).map_err(Failure::unusable)?;
        }
        let layout = types.types().target().data_layout();
        writeln!(out, "{NEW_NUMBERS}\ntarget datalayout = \"{layout}\"\n\n{text}")?;
        out.write_all(tbaa_ir::write(&graph).as_bytes())?;
    }
    Ok(wrong.is_empty())
}

fn show(graph: &Graph, tag: TagId) -> String {
    let size = TagParts::size_number(graph, graph.tag_node(tag));
    let Ok(tag) = graph.tag(tag) else { return "malformed tag".to_owned() };
    let name = |ty| printable(graph.ty(ty).name().unwrap_or_default());
    let size = size.map_or(String::new(), |size| format!(", {size}"));
    let immutable = if tag.immutable { ", immutable" } else { "" };
    format!("tag ({}, {}, {}{size}{immutable})", name(tag.base), name(tag.access), tag.offset)
}

fn chosen(types: &Declarations, names: &[String]) -> Result<Vec<DeclId>> {
    if names.is_empty() {
        return Ok(types.records().collect());
    }
    let find = |name: &String| {
        let found = types.records().find(|&record| types.display(record) == *name);
        found.ok_or_else(|| Failure::unusable(format!("no struct or union {name:?} in the input")))
    };
    names.iter().map(find).collect()
}

/// Prints the members of a record, and the members of unnamed records inside it.
fn layout(
    types: &Declarations,
    record: DeclId,
    base: u64,
    indent: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let word = |ty| if types.is_union(ty) { "union" } else { "struct" };
    if indent == 0 {
        let (size, align) = (types.size_of(record).unwrap_or(0), types.align_of(record));
        let (word, name) = (word(record), types.display(record));
        writeln!(out, "{word} {name}: {size} bytes, aligned to {align}")?;
    }
    for member in types.members(record) {
        let at = base + member.offset;
        let size = types.size_of(member.ty).unwrap_or(0);
        let (place, size) = match member.bits {
            Some(width) => (format!("{}:{}", at / 8, at % 8), format!("{width}b")),
            None => ((at / 8).to_string(), size.to_string()),
        };
        let (space, name) = ("  ".repeat(indent), member.name);
        if types.is_unnamed(member.ty) {
            let line = format!("{place:>8} {size:>6}  {space}{} {name}", word(member.ty));
            writeln!(out, "{}", line.trim_end())?;
            layout(types, member.ty, at, indent + 1, out)?;
        } else {
            let ty = types.display(member.ty);
            writeln!(out, "{place:>8} {size:>6}  {space}{name}: {ty}")?;
        }
    }
    Ok(())
}

fn load(args: &Declare) -> Result<Loaded> {
    let extension = args.input.extension().unwrap_or_default();
    if (extension == "ron" || extension == "ll") && !args.arguments.is_empty() {
        return Err(no_compiler(&args.input, &args.arguments));
    }
    if extension == "ron" {
        let (file, text) = read_file(&args.input)?;
        let built = load_spec(&file, &text)?;
        let Some(declare) = &built.spec().declare else {
            bail!("{file} declares no types with a layout; give it a `declare` section");
        };
        let mut declare = declare.clone();
        declare.target = args.target.clone().unwrap_or(declare.target);
        let types = declare.declare().map_err(Failure::unusable)?;
        let (target, policy) = (declare.target, declare.policy);
        return Ok(Loaded { types, target, policy, complete: true });
    }
    if extension == "ll" {
        let (_, text) = read_file(&args.input)?;
        return of_module(args, &text);
    }
    header::load(args)
}

/// Returns the target that `--target` names, or else the module's, or else the host's. Also returns
/// its name: the value of `--target`, or else a preset's name, or else the data layout.
fn target(args: &Declare, module: &str) -> Result<(Target, String)> {
    let named = |name: &str| {
        let preset = Target::by_name(name);
        preset.or_else(|| name.parse().ok().map(Target::from_data_layout))
    };
    if let Some(name) = &args.target {
        let Some(found) = named(name) else {
            let names = Target::names().collect::<Vec<_>>().join(", ");
            bail!("no target {name:?}: give one of {names}, or a data layout string");
        };
        return Ok((found, name.clone()));
    }
    let line = |start: &str| {
        let line = module.lines().find_map(|line| line.strip_prefix(start))?;
        Some(line.trim().trim_matches('"'))
    };
    let triple = line("target triple = ");
    let layout = line("target datalayout = ").and_then(|layout| layout.parse().ok());
    let Some(found) = Target::of_module(triple, layout).or_else(Target::host) else {
        bail!("the input does not say its target: give it with --target");
    };
    let preset = Target::names().find(|name| Target::by_name(name).as_ref() == Some(&found));
    let name = preset.map_or_else(|| found.data_layout().to_string(), str::to_owned);
    Ok((found, name))
}

fn of_module(args: &Declare, text: &[u8]) -> Result<Loaded> {
    let file = printable_path(&args.input);
    let lossy = String::from_utf8_lossy(text);
    let (target, name) = target(args, &lossy)?;
    let is_type =
        |line: &&[u8]| line.starts_with(b"%") && line.windows(8).any(|part| part == b" = type ");
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').filter(is_type).collect();
    let mut context = Context::new();
    let read = context.read_definitions(&lines.join(&b'\n')).map_err(|error| error.kind);
    read.context(&file)?;
    let mut types = Declarations::new(target);
    types.import_llvm(&context).context(&file)?;
    Ok(Loaded { types, target: name, policy: Policy::Clang, complete: true })
}
