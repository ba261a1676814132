//! `tbaa lower`: makes new tags, for which LLVM answers MayAlias wherever the chosen rule does.

mod certificate;
mod rewrite;

use std::io::Write;

use clap::ValueEnum;
use tbaa::declare::Declarations;
use tbaa::spec::{Built, Spec};
use tbaa::{AliasRule, Format, Oracle, TagId};
use tbaa_check::lint::{self, Lint};
use tbaa_ir::{Module, Sizes};
use tbaa_lower::{Lowering, Options, Shared, Source, tags_of_clang};

use super::dump::{Numbers, Printed};
use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::output::NEW_NUMBERS;
use crate::report::{Context, Result, bail, note};
use certificate::{certificate, named};
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
    /// Code that clang 22 compiled, or that has tags with other roots (see --lineage),
    /// uses the same memory: accesses to it get clang's tags, or more general ones.
    #[arg(long, conflicts_with = "size_aware")]
    pub(crate) open: bool,
    /// Other code uses by their types only structs or unions of this name and what is
    /// inside them; it accesses all else as `char`. May be given several times.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["open", "size_aware"])]
    pub(crate) open_struct: Vec<String>,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LowerFormat,
    /// Add `!alias.scope` and `!noalias` for all NoAlias pairs, and keep the module's own.
    #[arg(long)]
    pub(crate) scopes: bool,
    /// Put accesses with equal answers in a class: add it to each as a scope, and which
    /// classes may alias as metadata. LLVM with the plugin (`tbaa plugin`) reads both.
    #[arg(long, conflicts_with = "scopes")]
    pub(crate) classes: bool,
    /// Print LLVM's size-aware format of TBAA metadata.
    #[arg(long)]
    pub(crate) size_aware: bool,
    /// The beginning of the name of the new tags' root.
    #[arg(long, value_name = "NAME")]
    pub(crate) lineage: Option<String>,
    /// The greatest depth of the tree of types, 1 to 64.
    #[arg(long, value_name = "TYPES")]
    pub(crate) depth: Option<usize>,
    #[command(flatten)]
    pub(crate) numbers: Numbers,
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
    let options = Options::new();
    let options = if args.size_aware { options.format(Format::New) } else { options };
    let options = args.depth.iter().fold(options, |options, &depth| options.depth(depth));
    let options = args.lineage.iter().fold(options, |options, name| options.lineage(name));
    if args.scopes { options.scopes() } else { options }
}

/// Returns the option that needs declared types, if one is given.
fn open_option(args: &Lower) -> Option<&'static str> {
    match args.open_struct.is_empty() {
        true => args.open.then_some("--open"),
        false => Some("--open-struct"),
    }
}

fn lower_module(args: &Lower, input: &Input, module: &Module<'_>, out: &mut dyn Write) -> Result {
    args.numbers.of_spec(input.file())?;
    if let Some(option) = open_option(args) {
        let file = input.file();
        bail!("{file}: {option} needs the types that are shared; name a spec that declares them");
    }
    let is_old = |line: &[u8]| {
        line.starts_with(b"!") && memchr::memmem::find(line, b" = metadata !").is_some()
    };
    let mut lines = input.text().split(|&byte| byte == b'\n');
    if matches!(args.format, LowerFormat::Llvm) && lines.any(is_old) {
        let why = "nodes of LLVM before 3.6, `metadata !{`, beside which LLVM reads no new ones: \
                   assemble the module with its own llvm-as, and name the bitcode";
        bail!("{}: {why}", input.file());
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
            let text = rewrite(module, &sizes, &lowering, classes.as_ref());
            Ok(out.write_all(&text.map_err(|error| input.wrong(&error))?)?)
        }
        format => certificate(&input.rows(), &lowering, &oracle, format, None, out),
    }
}

/// Returns `asked`, or else `union` for a spec with rule `llvm`, or else the spec's rule.
pub(super) fn rules_of_spec(spec: &Spec, asked: Option<AliasRule>) -> AliasRule {
    asked.unwrap_or(match spec.rules {
        AliasRule::Llvm => AliasRule::Union,
        rules => rules,
    })
}

fn lower_spec(
    args: &Lower,
    file: &str,
    built: Built,
    rows: &[(String, TagId)],
    out: &mut dyn Write,
) -> Result {
    let rules = rules_of_spec(built.spec(), args.rules);
    let types = built.tagged().map(|declared| declared.types().clone());
    if args.classes {
        bail!("{file}: --classes needs a module, whose accesses get the scopes");
    }
    let open = open_option(args);
    if let (Some(option), None) = (open, &types) {
        bail!("{file}: {option} needs declared types; the spec has no `declare`");
    }
    let mut graph = built.into_graph();
    let mut sources: Vec<Source> = rows.iter().map(|(_, tag)| tag.into()).collect();
    let mut theirs = None;
    if let Some(types) = types.filter(|_| open.is_some()) {
        let shared = shared(&types, &args.open_struct).context(file)?;
        let is_shared = |record| shared.as_ref().is_none_or(|shared| shared.has(record));
        theirs = Some(tags_of_clang(&types, &mut graph, is_shared).context(file)?);
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
    let graph = lowering.graph();
    let (numbering, named) = (args.numbers.of(graph)?, named(rows, &lowering));
    if let LowerFormat::Llvm = args.format {
        writeln!(out, "{NEW_NUMBERS}")?;
        return args.numbers.write(graph, &numbering, &named, out);
    }
    let printed = Printed::new(graph, &numbering, &named);
    certificate(rows, &lowering, &oracle, args.format, Some(printed), out)
}

/// Returns the structs and unions with these names (`--open-struct`); `None` if `names` is empty.
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

/// The number of scopes above which a note says that `-O2` may be slow (docs/performance.md).
const MANY_SCOPES: usize = 64;

/// Prints on standard error how many of the rule's NoAlias pairs LLVM still answers NoAlias.
fn summary(lowering: &Lowering) {
    let lost = lowering.lost();
    let mut more = "";
    if lost.unsearched {
        more = "; pairs beyond the limit of searches are taken to alias, and not counted: lower a \
                function or a module at a time";
    }
    let (kept, all) = (lost.no_alias - lost.pairs, lost.no_alias);
    note(format!(
        "with these tags LLVM answers NoAlias for {kept} of the rule's {all} NoAlias pairs{more}"
    ));
    let scopes = lowering.scope_names().len();
    if scopes > MANY_SCOPES {
        note(format!(
            "LLVM reads lists of up to {scopes} scopes at each query, which can make -O2 slow; with \
             --classes and the plugin the same answers cost less"
        ));
    }
}
