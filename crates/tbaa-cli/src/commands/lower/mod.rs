//! `tbaa lower`.

mod rewrite;

use std::collections::HashMap;
use std::io::Write;

use clap::ValueEnum;
use serde::Serialize;
use tbaa::declare::Declarations;
use tbaa::spec::Built;
use tbaa::{Access, AliasRule, Format, Graph, Oracle, TagId};
use tbaa_check::lint::{self, Lint};
use tbaa_ir::{Module, Numbering, Sizes};
use tbaa_lower::{Lowering, Options, Shared, Source, tags_of_clang};

use super::dump::write_named;
use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::output::{NEW_NUMBERS, write_json};
use crate::printable::printable;
use crate::report::{Context, Failure, Result, note};
use rewrite::{classes, rewrite, sources};

/// Replaces tags by others that stock LLVM gets right.
///
/// LLVM follows one member of a union and ignores sizes. This command makes new tags from a type
/// system of its own. With them LLVM answers MayAlias wherever the rule (by default `union`) does,
/// and for as few other pairs as possible. For a .ll file it prints the whole module, with `!tbaa`,
/// `!tbaa.struct` and `!llvm.errno.tbaa` replaced; for a spec it prints the metadata. Standard
/// error says how many of the rule's NoAlias pairs LLVM still answers NoAlias.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/lower.txt"))]
pub(crate) struct Lower {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// The rule to follow: llvm, union or union-strict; by default union, or union-strict where a spec says so.
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<AliasRule>,
    /// Code that clang 22 compiled, or that has tags of other lineages, uses the same
    /// memory: accesses to it get clang's tags, or more general ones.
    #[arg(long, conflicts_with = "size_aware")]
    pub(crate) open: bool,
    /// Other code uses only structs or unions of this name, and what is inside them,
    /// and accesses everything else as `char`. May be given several times.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["open", "size_aware"])]
    pub(crate) open_struct: Vec<String>,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LowerFormat,
    /// Add `!alias.scope` and `!noalias` for all NoAlias pairs to those that the module has.
    #[arg(long)]
    pub(crate) scopes: bool,
    /// Add each access's class as a scope, and the exact relation of classes as metadata.
    /// LLVM with the plugin reads both (`tbaa plugin`).
    #[arg(long, conflicts_with = "scopes")]
    pub(crate) classes: bool,
    /// Print the size-aware format.
    #[arg(long)]
    pub(crate) size_aware: bool,
    /// The beginning of the root's name.
    #[arg(long, value_name = "NAME")]
    pub(crate) lineage: Option<String>,
    /// The greatest depth of the tree of types, 1 to 64.
    #[arg(long, value_name = "TYPES")]
    pub(crate) depth: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum LowerFormat {
    #[default]
    Llvm,
    Table,
    Json,
}

pub(super) fn run(args: &Lower, out: &mut dyn Write) -> Result {
    let input = Input::open(&args.input)?;
    if let Content::Module(module) = &input.content {
        return lower_module(args, &input, module, out);
    }
    let rows = input.rows();
    let Input { file, content: Content::Spec(built, _), .. } = input else {
        unreachable!("it is a spec")
    };
    lower_spec(args, &file, built, &rows, out)
}

fn options(args: &Lower) -> Options {
    let mut options = Options::new();
    if args.size_aware {
        options = options.format(Format::New);
    }
    if let Some(depth) = args.depth {
        options = options.depth(depth);
    }
    if let Some(lineage) = &args.lineage {
        options = options.lineage(lineage);
    }
    if args.scopes { options.scopes() } else { options }
}

/// The option that takes knowing clang's tags, if one is there.
fn open_option(args: &Lower) -> Option<&'static str> {
    match args.open_struct.is_empty() {
        true => args.open.then_some("--open"),
        false => Some("--open-struct"),
    }
}

fn unusable(file: &str, why: impl std::fmt::Display) -> Failure {
    Failure::unusable(format!("{file}: {why}"))
}

fn lower_module(args: &Lower, input: &Input, module: &Module<'_>, out: &mut dyn Write) -> Result {
    if let Some(option) = open_option(args) {
        let why = "needs the types that are shared; name a spec that declares them";
        return Err(unusable(input.file(), format!("{option} {why}")));
    }
    let old = |line: &[u8]| {
        line.starts_with(b"!") && memchr::memmem::find(line, b" = metadata !").is_some()
    };
    if matches!(args.format, LowerFormat::Llvm) && input.text().split(|&it| it == b'\n').any(old) {
        let why = "nodes of LLVM before 3.6, `metadata !{`, beside which LLVM reads no new ones: \
                   assemble the module with its own llvm-as, and name the bitcode";
        return Err(unusable(input.file(), why));
    }
    let oracle = Oracle::new(module.graph(), args.rules.unwrap_or(AliasRule::Union));
    let mut lowering = Lowering::new(options(args));
    let sizes = Sizes::new(module);
    lowering.lower(&oracle, sources(module, &sizes)).context(input.file())?;
    summary(&lowering);
    let wide = Lint::ALL.iter().fold(lint::Options::default(), |options, &it| match it {
        Lint::WidthMismatch => options,
        it => options.set(it, None),
    });
    for found in &lint::lint(module, &wide) {
        note(format!("{found}; `tbaa check` cannot see this once tags are lowered"));
    }
    match args.format {
        LowerFormat::Llvm => {
            let classes = args.classes.then(|| classes(module, &sizes, &oracle)).transpose();
            let classes = classes.context(input.file())?;
            rewrite(input, module, &sizes, &lowering, classes.as_ref(), out)
        }
        format => certificate(&input.rows(), &lowering, &oracle, format, out),
    }
}

fn lower_spec(
    args: &Lower,
    file: &str,
    built: Built,
    rows: &[(String, TagId)],
    out: &mut dyn Write,
) -> Result {
    let rules = args.rules.unwrap_or(match built.spec().rules {
        AliasRule::Llvm => AliasRule::Union,
        rules => rules,
    });
    let types = built.tagged().map(|declared| declared.types().clone());
    if args.classes {
        return Err(unusable(file, "--classes needs a module, whose accesses get the scopes"));
    }
    let open = open_option(args);
    if let (Some(option), None) = (open, &types) {
        let why = "needs declared types; the spec has no `declare`";
        return Err(unusable(file, format!("{option} {why}")));
    }
    let mut graph = built.into_graph();
    let mut sources: Vec<Source> = rows.iter().map(|(_, tag)| tag.into()).collect();
    let mut theirs = None;
    if let Some(types) = types.filter(|_| open.is_some()) {
        let shared = shared(&types, &args.open_struct).context(file)?;
        let found = tags_of_clang(&types, &mut graph, |record| {
            shared.as_ref().is_none_or(|shared| shared.has(record))
        });
        theirs = Some(found.context(file)?);
        if let Some(shared) = shared {
            sources = rows.iter().map(|(_, tag)| shared.source(&graph, *tag)).collect();
        }
    }
    let oracle = Oracle::new(graph, rules);
    let mut lowering = Lowering::new(options(args));
    if let Some((theirs, pairs)) = theirs {
        lowering.fix(&oracle, theirs, pairs).context(file)?;
    }
    lowering.lower(&oracle, sources).context(file)?;
    summary(&lowering);
    match args.format {
        LowerFormat::Llvm => named(rows, &lowering, out),
        format => certificate(rows, &lowering, &oracle, format, out),
    }
}

/// The records of these names that are shared; `None` if all are.
fn shared<'t>(types: &'t Declarations, names: &[String]) -> Result<Option<Shared<'t>>, String> {
    if names.is_empty() {
        return Ok(None);
    }
    let record = |name: &String| {
        let found = types.named(name).filter(|&ty| types.is_record(ty));
        found.ok_or_else(|| {
            let known = types.records().map(|record| types.display(record));
            let known = known.collect::<Vec<_>>().join(", ");
            format!("no struct or union is called `{name}`; declared are {known}")
        })
    };
    let named: Vec<_> = names.iter().map(record).collect::<Result<_, _>>()?;
    Ok(Some(Shared::new(types, named)))
}

/// Says on standard error what was lost.
fn summary(lowering: &Lowering) {
    let lost = lowering.lost();
    let more = match lost.unsearched {
        true => {
            "; pairs beyond the limit of searches are taken to alias, and not counted: lower a \
             function or a module at a time"
        }
        false => "",
    };
    note(format!(
        "with these tags LLVM answers NoAlias for {} of the rule's {} NoAlias pairs{more}",
        lost.no_alias - lost.pairs,
        lost.no_alias
    ));
}

/// Writes the metadata alone, each tag with the names of its sources.
fn named(rows: &[(String, TagId)], lowering: &Lowering, out: &mut dyn Write) -> Result {
    let named = rows.iter().filter_map(|(name, tag)| Some((name, lowering.tag(*tag)?)));
    let graph = lowering.graph();
    writeln!(out, "{NEW_NUMBERS}")?;
    Ok(write_named(graph, &Numbering::new(graph), named, out)?)
}

#[derive(Serialize)]
struct Line<'l> {
    source: &'l str,
    node: Option<&'l str>,
    why: String,
    scope: Option<u32>,
    noalias: Vec<u32>,
}

#[derive(Serialize)]
struct Document<'l> {
    no_alias: u64,
    lost: u64,
    /// True if pairs were taken to alias for want of steps.
    unsearched: bool,
    domain: Option<String>,
    scopes: &'l [String],
    sources: Vec<Line<'l>>,
    lost_pairs: Vec<[&'l str; 2]>,
}

/// Writes what became of each source, and the pairs lost.
fn certificate<G: std::borrow::Borrow<Graph>>(
    rows: &[(String, TagId)],
    lowering: &Lowering,
    oracle: &Oracle<G>,
    format: LowerFormat,
    out: &mut dyn Write,
) -> Result {
    let names: HashMap<TagId, &str> =
        rows.iter().rev().map(|(name, tag)| (*tag, name.as_str())).collect();
    let name = |access: Access| access.tag.and_then(|tag| names.get(&tag).copied()).unwrap_or("?");
    let sources: Vec<Line<'_>> = lowering
        .sources()
        .filter_map(|access| {
            let why = lowering.why(access)?;
            let scopes = lowering.scopes_of(access);
            Some(Line {
                source: name(access),
                node: why.node,
                why: why.why.to_string(),
                scope: scopes.as_ref().map(|of| of.scope),
                noalias: scopes.map(|of| of.noalias().collect()).unwrap_or_default(),
            })
        })
        .collect();
    let lost_pairs = lowering.lost_pairs(oracle).map(|(a, b)| [name(a), name(b)]).collect();
    let lost = lowering.lost();
    let document = Document {
        no_alias: lost.no_alias,
        lost: lost.pairs,
        unsearched: lost.unsearched,
        domain: (!lowering.scope_names().is_empty()).then(|| lowering.scope_domain()),
        scopes: lowering.scope_names(),
        sources,
        lost_pairs,
    };
    if let LowerFormat::Json = format {
        return Ok(write_json(&document, out)?);
    }
    for line in &document.sources {
        let node = line.node.unwrap_or("-");
        let [source, node] = [line.source, node].map(|text| printable(text.as_bytes()));
        writeln!(out, "{source}\t{node}\t{}", line.why)?;
    }
    for [a, b] in document.lost_pairs.iter().map(|pair| pair.map(|of| printable(of.as_bytes()))) {
        writeln!(out, "lost\t{a}\t{b}")?;
    }
    Ok(())
}
