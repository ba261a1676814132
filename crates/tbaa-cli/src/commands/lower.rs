//! `tbaa lower`.

use std::collections::HashMap;
use std::io::Write;

use clap::ValueEnum;
use serde::Serialize;
use tbaa::declare::Declarations;
use tbaa::lower::{Lowering, Options, ScopeForm, Shared, Source, tags_of_clang};
use tbaa::text::{self, Module, Opcode, RewriteError, Rewriter, TextError};
use tbaa::{Access, Format, Graph, NodeId, Oracle, Rules, TagId};

use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::printable::printable;
use crate::report::{Failure, note};

/// Replaces tags by others that stock LLVM gets right.
///
/// LLVM follows one member of a union and ignores sizes. The tags printed here
/// are of another type system, on which it answers MayAlias wherever the rule
/// does, by default `union`, and on as few other pairs as can be. Of a .ll file
/// the whole module is printed, with `!tbaa`, `!tbaa.struct` and
/// `!llvm.errno.tbaa` replaced; of a spec the metadata. How many NoAlias pairs
/// LLVM keeps is said on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  llvm   the module, or the metadata of a spec with the names of its tags
  table  a line for each source: its name, its new type, and why this one; then
         a line for each pair that is lost
  json   the same, with the scopes

Examples:
  tbaa lower f.ll | opt -O2 -S
  tbaa lower f.ll --scopes lost              what the tags lose, by !noalias
  tbaa lower ravi-declared.ron --format table
  tbaa lower ravi-declared.ron --open        for memory that clang's code shares
  tbaa lower ravi-declared.ron --open-struct TValue --open-struct GCObject
                                             if it shares no other structs

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Lower {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// The rule to be sound by: llvm, union or union-strict; by default union,
    /// or union-strict where a spec says so.
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Share the memory with what clang 22 makes of the declared types: its
    /// tags stay, and the others stand among them.
    #[arg(long, conflicts_with = "size_aware")]
    pub(crate) open: bool,
    /// Share only structs or unions of this name, and what is inside them:
    /// other code reaches all others by `char` alone. May be given several times.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["open", "closed", "size_aware"])]
    pub(crate) open_struct: Vec<String>,
    /// The memory is tagged by nobody else under the same root: the default.
    #[arg(long, conflicts_with = "open")]
    pub(crate) closed: bool,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LowerFormat,
    /// Add `!alias.scope` and `!noalias`, to what the module has of them.
    #[arg(long, value_enum, value_name = "PAIRS")]
    pub(crate) scopes: Option<LowerScopes>,
    /// Print the size-aware format.
    #[arg(long)]
    pub(crate) size_aware: bool,
    /// What the root's name begins with.
    #[arg(long, value_name = "NAME")]
    pub(crate) lineage: Option<String>,
    /// The most types one below the other, 1 to 64.
    #[arg(long, value_name = "TYPES")]
    pub(crate) depth: Option<usize>,
    /// How long to search for the optimum.
    #[arg(long, value_name = "STEPS")]
    pub(crate) steps: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum LowerFormat {
    #[default]
    Llvm,
    Table,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LowerScopes {
    /// Those that the tags lose.
    Lost,
    /// All.
    All,
}

pub(super) fn run(args: &Lower, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let rules = args.rules.unwrap_or(match &input.content {
        Content::Spec(built) if built.spec().rules != Rules::Llvm => built.spec().rules,
        _ => Rules::Union,
    });
    let mut options = Options::new();
    if args.size_aware {
        options = options.format(Format::New);
    }
    if let Some(depth) = args.depth {
        options = options.depth(depth);
    }
    if let Some(steps) = args.steps {
        options = options.steps(steps);
    }
    if let Some(lineage) = &args.lineage {
        options = options.lineage(lineage);
    }
    options = options.scopes(match args.scopes {
        None => ScopeForm::None,
        Some(LowerScopes::Lost) => ScopeForm::Lost,
        Some(LowerScopes::All) => ScopeForm::All,
    });
    // What it takes to know clang's tags.
    let open = match args.open_struct.is_empty() {
        true => args.open.then_some("--open"),
        false => Some("--open-struct"),
    };
    let file = input.file().to_owned();
    let fail = |error: &dyn std::fmt::Display| Failure::unusable(format!("{file}: {error}"));
    let mut lowering = Lowering::new(options);
    match &input.content {
        Content::Module(_) if open.is_some() => Err(Failure::unusable(format!(
            "{file}: {} needs the types that are shared; name a spec that declares them",
            open.unwrap_or_default()
        ))),
        Content::Module(module) => {
            let oracle = Oracle::new(module.graph(), rules);
            lowering.lower(&oracle, sources(module)).map_err(|error| fail(&error))?;
            summary(&lowering);
            match args.format {
                LowerFormat::Llvm => rewrite(&input, module, &lowering, out),
                format => {
                    let rows = input.rows();
                    certificate(&rows, &lowering, &oracle, format, out)
                }
            }
        }
        Content::Spec(built) => {
            let rows = input.rows();
            let types = built.lowering().map(|declared| declared.types().clone());
            if let (Some(option), None) = (open, &types) {
                return Err(Failure::unusable(format!(
                    "{file}: {option} needs declared types; the spec has no `declare`"
                )));
            }
            let Content::Spec(built) = input.content else { unreachable!("it is a spec") };
            let mut graph = built.into_graph();
            let mut sources: Vec<Source> = rows.iter().map(|(_, tag)| tag.into()).collect();
            let mut theirs = None;
            if let Some(types) = types.filter(|_| open.is_some()) {
                let shared = shared(&types, &args.open_struct).map_err(|error| fail(&error))?;
                let found = tags_of_clang(&types, &mut graph, |record| {
                    shared.as_ref().is_none_or(|shared| shared.has(record))
                });
                theirs = Some(found.map_err(|error| fail(&error))?);
                if let Some(shared) = shared {
                    sources = rows.iter().map(|(_, tag)| shared.source(&graph, *tag)).collect();
                }
            }
            let oracle = Oracle::new(graph, rules);
            if let Some((theirs, pairs)) = theirs {
                lowering.fix(&oracle, theirs, pairs).map_err(|error| fail(&error))?;
            }
            lowering.lower(&oracle, sources).map_err(|error| fail(&error))?;
            summary(&lowering);
            match args.format {
                LowerFormat::Llvm => named(&rows, &lowering, out),
                format => certificate(&rows, &lowering, &oracle, format, out),
            }
        }
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
    let proof = match (lost.pairs, lost.is_optimal()) {
        (0, _) => String::new(),
        (_, true) => "; no forest loses less".to_owned(),
        (_, false) if lost.weight == lost.pairs => {
            format!("; any forest loses at least {}", lost.bound)
        }
        // A pair weighs as often as its accesses are there.
        (_, false) => format!(
            "; by use those lost weigh {}, and in any forest at least {}",
            lost.weight, lost.bound
        ),
    };
    note(format!(
        "LLVM keeps {} of {} NoAlias pairs{proof}",
        lost.no_alias - lost.pairs,
        lost.no_alias
    ));
}

/// The accesses of a module: each tag, and beside it each access that is wider
/// than its tag says.
fn sources(module: &Module) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for instruction in module.instructions() {
        sources.extend(instruction.tag.map(|tag| source(module, tag, instruction)));
        let copy = instruction.copy.and_then(|copy| module.graph().copy(copy));
        for entry in copy.into_iter().flatten() {
            sources.push(entry_source(module.graph(), entry.tag, entry.size));
        }
    }
    sources.extend(module.errno_tags().iter().map(Source::from));
    sources
}

/// A tag as a source, with the bytes of the access where these are more than
/// the tag says, or are not known.
fn source(module: &Module, tag: TagId, instruction: &text::Instruction) -> Source {
    if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
        return tag.into();
    }
    let ty = module.access_type(instruction);
    let scalar = !matches!(ty.first(), Some(b'<' | b'[' | b'{' | b'%'));
    let bytes = bytes_of(ty);
    let said = module.graph().tag(tag).ok().and_then(|tag| tag.size);
    match (said.filter(|&size| size != 0 && size != u64::MAX), bytes) {
        (Some(said), Some(bytes)) if bytes <= said => tag.into(),
        (None, _) if scalar => tag.into(),
        (_, bytes) if scalar && bytes.is_none() => tag.into(),
        // 0 is an unknown number.
        (_, bytes) => Source::sized(tag, bytes.unwrap_or(0)),
    }
}

/// One tag of a struct copy, which accesses so many bytes.
fn entry_source(graph: &Graph, tag: TagId, bytes: u64) -> Source {
    let said = graph.tag(tag).ok().and_then(|tag| tag.size);
    if said == Some(bytes) { tag.into() } else { Source::sized(tag, bytes) }
}

/// The bytes of a scalar type or a vector of them; `None` where its text does
/// not say.
fn bytes_of(ty: &[u8]) -> Option<u64> {
    let ty = std::str::from_utf8(ty).ok()?;
    if let Some(vector) = ty.strip_prefix('<') {
        let (count, element) = vector.strip_suffix('>')?.split_once(" x ")?;
        return count.parse::<u64>().ok()?.checked_mul(bytes_of(element.as_bytes())?);
    }
    match ty {
        "half" | "bfloat" => Some(2),
        "float" => Some(4),
        "double" => Some(8),
        "x86_fp80" => Some(10),
        "fp128" | "ppc_fp128" => Some(16),
        _ => Some(ty.strip_prefix('i')?.parse::<u64>().ok()?.div_ceil(8)),
    }
}

/// Metadata on its way into a module, each node once.
struct Definitions<'d, 't> {
    rewriter: &'d mut Rewriter<'t>,
    nodes: HashMap<NodeId, u32>,
    lists: HashMap<String, u32>,
    /// The operands of the lists in the text, by number, once asked for.
    there: Option<HashMap<&'t str, &'t str>>,
}

impl<'t> Definitions<'_, 't> {
    fn graph(&mut self, graph: &Graph) -> Result<(), TextError> {
        for node in graph.nodes() {
            let number = if graph.is_distinct(node) {
                let number = self.rewriter.next_number().unwrap_or_default();
                self.rewriter.define(format_args!("distinct !{{!{number}}}"))?
            } else {
                let nodes = &self.nodes;
                let operands =
                    text::write_operands(graph, node, |node| format!("!{}", nodes[&node]));
                self.rewriter.define(format_args!("!{{{operands}}}"))?
            };
            self.nodes.insert(node, number);
        }
        Ok(())
    }

    /// Attaches scopes to an instruction, beside those in the text. These are of
    /// other domains, and LLVM looks at each domain for itself.
    fn add_scopes(
        &mut self,
        text: &'t [u8],
        instruction: usize,
        kind: &'t str,
        scopes: &[u32],
    ) -> Result<(), TextError> {
        let mut operands = references(scopes);
        if let Some(node) = self.rewriter.metadata(instruction, kind) {
            let lists = self.there.get_or_insert_with(|| lists(text));
            match std::str::from_utf8(node).ok().and_then(|node| listed(lists, node)) {
                Some("") => {}
                Some(there) => operands = format!("{there}, {operands}"),
                // What cannot be read stays: without ours LLVM knows less.
                None => return Ok(()),
            }
        }
        let number = match self.lists.get(&operands) {
            Some(&number) => number,
            None => {
                let number = self.rewriter.define(format_args!("!{{{operands}}}"))?;
                self.lists.insert(operands, number);
                number
            }
        };
        self.rewriter.set_metadata(instruction, kind, Some(number));
        Ok(())
    }
}

/// The operands of each node of a text that is a list of nodes alone, by its
/// reference.
fn lists(text: &[u8]) -> HashMap<&str, &str> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"!"));
    let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
    lines
        .filter_map(|line| {
            let (reference, body) = line.split_once(" = ")?;
            Some((reference, operands(body.strip_prefix("distinct ").unwrap_or(body))?))
        })
        .collect()
}

/// What stands in the braces of a list of nodes alone.
fn operands(list: &str) -> Option<&str> {
    let inside = list.trim().strip_prefix("!{")?.strip_suffix('}')?;
    let plain = |at: char| at.is_ascii_digit() || matches!(at, '!' | ',' | ' ');
    inside.chars().all(plain).then_some(inside)
}

/// The operands of a list that is a reference or written in place.
fn listed<'t>(lists: &HashMap<&'t str, &'t str>, node: &'t str) -> Option<&'t str> {
    lists.get(node).copied().or_else(|| operands(node))
}

fn references(numbers: &[u32]) -> String {
    numbers.iter().map(|number| format!("!{number}")).collect::<Vec<_>>().join(", ")
}

/// Writes the module with its tags replaced.
fn rewrite(
    input: &Input,
    module: &Module,
    lowering: &Lowering,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let at = |error: TextError| {
        Failure::at(input.file(), input.text(), error.offset, error.kind.to_string())
    };
    let graph = lowering.graph();
    let mut rewriter = Rewriter::new(input.text(), module);
    let mut definitions = Definitions {
        rewriter: &mut rewriter,
        nodes: HashMap::new(),
        lists: HashMap::new(),
        there: None,
    };
    definitions.graph(graph).map_err(at)?;
    let scopes = write_scopes(lowering, &mut definitions).map_err(at)?;
    let mut copies: HashMap<NodeId, Option<u32>> = HashMap::new();
    for (index, instruction) in module.instructions().iter().enumerate() {
        if let Some(tag) = instruction.tag {
            let access = access(source(module, tag, instruction));
            let number = lowering.tag(access).map(|tag| definitions.nodes[&graph.tag_node(tag)]);
            definitions.rewriter.set_metadata(index, "tbaa", number);
            if let Some(of) = lowering.scopes_of(access) {
                let own = [scopes[of.scope as usize]];
                let apart: Vec<u32> = of.noalias().map(|scope| scopes[scope as usize]).collect();
                definitions.add_scopes(input.text(), index, "alias.scope", &own).map_err(at)?;
                if !apart.is_empty() {
                    definitions.add_scopes(input.text(), index, "noalias", &apart).map_err(at)?;
                }
            }
        }
        if let Some(copy) = instruction.copy {
            let number = match copies.get(&copy.node()) {
                Some(&number) => number,
                None => {
                    let number =
                        write_copy(module, copy, lowering, &mut definitions).map_err(at)?;
                    copies.insert(copy.node(), number);
                    number
                }
            };
            definitions.rewriter.set_metadata(index, "tbaa.struct", number);
        }
    }
    let errno: Option<Vec<u32>> = module
        .errno_tags()
        .iter()
        .map(|&tag| Some(definitions.nodes[&graph.tag_node(lowering.tag(tag)?)]))
        .collect();
    let mut text = Vec::with_capacity(input.text().len() * 5 / 4);
    rewriter.write(&mut text).map_err(|error| match error {
        RewriteError::Text(error) => at(error),
        error => Failure::unusable(error.to_string()),
    })?;
    if !module.errno_tags().is_empty() {
        text = replace_errno(&text, errno).ok_or_else(|| {
            Failure::unusable(format!(
                "{}: `!llvm.errno.tbaa` must begin a line to be replaced",
                input.file()
            ))
        })?;
    }
    Ok(out.write_all(&text)?)
}

fn access(source: Source) -> Access {
    let access = Access::from(source.tag);
    source.size.map_or(access, |size| access.with_size(size))
}

/// Defines the domain and the scopes; returns the scopes' numbers.
fn write_scopes(
    lowering: &Lowering,
    definitions: &mut Definitions<'_, '_>,
) -> Result<Vec<u32>, TextError> {
    if lowering.scope_names().is_empty() {
        return Ok(Vec::new());
    }
    let name = |name: &str| printable(name.as_bytes()).replace(['"', '\\'], "?");
    let domain = name(&lowering.scope_domain());
    let domain = definitions.rewriter.define(format_args!("!{{!\"{domain}\"}}"))?;
    let scope = |scope: &String| {
        definitions.rewriter.define(format_args!("!{{!\"{}\", !{domain}}}", name(scope)))
    };
    lowering.scope_names().iter().map(scope).collect()
}

/// Defines a struct copy with lowered tags; `None` where one of its accesses
/// has none, for what a copy does not list is padding.
fn write_copy(
    module: &Module,
    copy: tbaa::CopyId,
    lowering: &Lowering,
    definitions: &mut Definitions<'_, '_>,
) -> Result<Option<u32>, TextError> {
    let Some(entries) = module.graph().copy(copy) else { return Ok(None) };
    let mut operands = Vec::new();
    for entry in entries {
        let of = access(entry_source(module.graph(), entry.tag, entry.size));
        let Some(tag) = lowering.tag(of) else { return Ok(None) };
        let tag = definitions.nodes[&lowering.graph().tag_node(tag)];
        operands.push(format!("i64 {}, i64 {}, !{tag}", entry.offset, entry.size));
    }
    definitions.rewriter.define(format_args!("!{{{}}}", operands.join(", "))).map(Some)
}

/// Replaces the tags of `errno`, or takes the list out: without it nothing is
/// known of `errno`.
fn replace_errno(text: &[u8], tags: Option<Vec<u32>>) -> Option<Vec<u8>> {
    const NAME: &[u8] = b"!llvm.errno.tbaa";
    let mut starts = (0..text.len().saturating_sub(NAME.len()))
        .filter(|&at| text[at..].starts_with(NAME) && (at == 0 || text[at - 1] == b'\n'));
    let start = starts.next()?;
    if starts.next().is_some() {
        return None;
    }
    let end = start + text[start..].iter().position(|&byte| byte == b'}')? + 1;
    let mut new = text[..start].to_vec();
    if let Some(tags) = tags {
        new.extend_from_slice(format!("!llvm.errno.tbaa = !{{{}}}", references(&tags)).as_bytes());
    }
    new.extend_from_slice(&text[end..]);
    Some(new)
}

/// Writes the metadata alone, each tag with the names of its sources.
fn named(
    rows: &[(String, TagId)],
    lowering: &Lowering,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let text = text::write(lowering.graph());
    let module = text::read(text.as_bytes())
        .map_err(|error| Failure::unusable(format!("the metadata cannot be read back: {error}")))?;
    let mut names: HashMap<u32, Vec<&str>> = HashMap::new();
    let numbers: Vec<_> =
        module.graph().tags().map(|tag| module.number_of(module.graph().tag_node(tag))).collect();
    for (name, tag) in rows {
        if let Some(&Some(number)) = lowering.tag(*tag).and_then(|tag| numbers.get(tag.index())) {
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
    lost_weight: u64,
    bound: u64,
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
) -> Result<(), Failure> {
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
        lost_weight: lost.weight,
        bound: lost.bound,
        domain: (!lowering.scope_names().is_empty()).then(|| lowering.scope_domain()),
        scopes: lowering.scope_names(),
        sources,
        lost_pairs,
    };
    if let LowerFormat::Json = format {
        serde_json::to_writer(&mut *out, &document).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
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
