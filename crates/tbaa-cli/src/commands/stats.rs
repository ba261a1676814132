//! `tbaa stats`.

use std::collections::HashSet;
use std::io::{self, Write};

use serde::Serialize;
use tbaa::petgraph::algo::toposort;
use tbaa::petgraph::graph::EdgeReference;
use tbaa::petgraph::visit::{EdgeFiltered, IntoNeighbors};
use tbaa::{AliasRule, Edge, Format, Graph, TypeDag, TypeId, TypeKind};
use tbaa_ir::{Module, Opcode};

use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::output::{TextOrJson, percent, write_json};
use crate::printable::printable;
use crate::report::Failure;
use crate::walk::named_parent;

/// Counts nodes, tags, types, fields and levels, and the loads and stores with a tag.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/stats.txt"))]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TextOrJson,
}

pub(super) fn run(args: &Stats, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let rejected = input.warn_rejected(AliasRule::Llvm, input.graph().tags());
    let figures = Figures::of(&input, rejected);
    match args.format {
        TextOrJson::Text => figures.write(out)?,
        TextOrJson::Json => write_json(&figures, out)?,
    }
    Ok(())
}

#[derive(Serialize)]
struct Figures {
    nodes: usize,
    tags: Tags,
    types: Types,
    struct_copies: usize,
    /// Of a module only.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
}

#[derive(Serialize, Default)]
struct Tags {
    all: usize,
    old_format: usize,
    size_aware: usize,
    /// Base and access type are one.
    whole: usize,
    immutable: usize,
    rejected_by_llvm: usize,
}

#[derive(Serialize, Default)]
struct Types {
    all: usize,
    roots: usize,
    /// One-operand nodes with nothing under them: in the old format, what
    /// clang makes of a C++ class without data.
    lone: usize,
    scalars: usize,
    aggregates: usize,
    malformed: usize,
    fields: usize,
    most_fields: usize,
    /// Types on the longest way from a type up to its root; none where a type
    /// is its own ancestor.
    longest_parent_chain: Option<usize>,
    /// Aggregates in one another; none where one contains itself.
    deepest_nesting: Option<usize>,
}

#[derive(Serialize, Default)]
struct Code {
    functions: usize,
    loads: Coverage,
    stores: Coverage,
    /// `atomicrmw`, `cmpxchg` and `va_arg`.
    others: Coverage,
    tagged_calls: usize,
    copying_instructions: usize,
    errno_tags: usize,
    /// The tags that most instructions have.
    most_used: Vec<Used>,
}

#[derive(Serialize)]
struct Used {
    instructions: usize,
    tag: String,
    meaning: String,
}

/// Of the tags that most instructions have, how many are shown.
const MOST_USED: usize = 10;

#[derive(Serialize, Default)]
struct Coverage {
    all: u64,
    tagged: u64,
}

impl Figures {
    fn of(input: &Input, rejected_by_llvm: usize) -> Figures {
        let graph = input.graph();
        Figures {
            nodes: graph.node_count(),
            tags: Tags { rejected_by_llvm, ..tags(graph) },
            types: types(graph),
            struct_copies: graph.copies().count(),
            code: match &input.content {
                Content::Module(module) => Some(code(input, module)),
                Content::Spec(..) => None,
            },
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Figures { nodes, tags, types, struct_copies, code } = self;
        let depth = |depth: Option<usize>| match depth {
            Some(depth) => depth.to_string(),
            None => "endless: a type contains itself".to_owned(),
        };
        let mut rows = vec![
            ("nodes", nodes.to_string()),
            ("tags", tags.all.to_string()),
            ("  old format", tags.old_format.to_string()),
            ("  size-aware", tags.size_aware.to_string()),
            ("  of whole objects", tags.whole.to_string()),
            ("  immutable", tags.immutable.to_string()),
            ("  rejected by LLVM", tags.rejected_by_llvm.to_string()),
            ("types", types.all.to_string()),
            ("  roots", types.roots.to_string()),
            ("  one-operand, childless", types.lone.to_string()),
            ("  scalars", types.scalars.to_string()),
            ("  aggregates", types.aggregates.to_string()),
            ("  malformed", types.malformed.to_string()),
            ("fields of aggregates", types.fields.to_string()),
            ("  most in one", types.most_fields.to_string()),
            ("longest parent chain", depth(types.longest_parent_chain)),
            ("deepest nesting", depth(types.deepest_nesting)),
            ("struct copies", struct_copies.to_string()),
        ];
        if let Some(code) = code {
            let coverage = |of: &Coverage| {
                let Coverage { all, tagged } = *of;
                format!("{all}, {tagged} tagged ({})", percent(tagged, all))
            };
            rows.extend([
                ("functions", code.functions.to_string()),
                ("  loads", coverage(&code.loads)),
                ("  stores", coverage(&code.stores)),
                ("  atomics and va_arg", coverage(&code.others)),
                ("  tagged calls", code.tagged_calls.to_string()),
                ("  with tbaa.struct", code.copying_instructions.to_string()),
                ("errno tags", code.errno_tags.to_string()),
            ]);
        }
        for (name, figure) in rows {
            writeln!(out, "{name:26}{figure}")?;
        }
        for (i, used) in code.iter().flat_map(|code| &code.most_used).enumerate() {
            let Used { instructions, tag, meaning } = used;
            let title = if i == 0 { "most used tags" } else { "" };
            let [tag, meaning] = [tag, meaning].map(|it| printable(it.as_bytes()));
            writeln!(out, "{title:26}{instructions:<7} {tag} {meaning}")?;
        }
        Ok(())
    }
}

/// Counts what the tags say of themselves; what LLVM says of them is not here.
fn tags(graph: &Graph) -> Tags {
    let mut tags = Tags { all: graph.tag_count(), ..Tags::default() };
    for id in graph.tags() {
        let Ok(tag) = graph.tag(id) else { continue };
        tags.immutable += usize::from(tag.immutable);
        tags.whole += usize::from(tag.is_whole());
        match tag.format {
            Format::Old => tags.old_format += 1,
            Format::New => tags.size_aware += 1,
        }
    }
    tags
}

fn types(graph: &Graph) -> Types {
    let mut types = Types::default();
    let parent = |ty: TypeId| named_parent(graph.ty(ty));
    let parents: HashSet<_> = graph.types().filter_map(parent).collect();
    for ty in graph.types() {
        types.all += 1;
        let node = graph.ty(ty);
        match node.kind() {
            TypeKind::Root if parents.contains(&ty) => types.roots += 1,
            TypeKind::Root => types.lone += 1,
            TypeKind::Scalar => types.scalars += 1,
            TypeKind::Aggregate => {
                types.aggregates += 1;
                let fields = node.fields().count();
                types.fields += fields;
                types.most_fields = types.most_fields.max(fields);
            }
            _ => types.malformed += 1,
        }
    }
    let dag = graph.type_dag();
    let is_parent = |edge: EdgeReference<'_, Edge>| *edge.weight() == Edge::Parent;
    let is_aggregate = |ty: TypeId| graph.ty(ty).kind() == TypeKind::Aggregate;
    types.longest_parent_chain = longest(&dag, is_parent, |_| true);
    types.deepest_nesting = longest(&dag, |edge| !is_parent(edge), is_aggregate);
    types
}

/// Returns the length of the longest way along such edges, in the types for which `counts`
/// answers so; `None` if one comes back to where it was.
fn longest(
    dag: &TypeDag,
    follow: impl Fn(EdgeReference<'_, Edge>) -> bool,
    counts: impl Fn(TypeId) -> bool,
) -> Option<usize> {
    let ways = EdgeFiltered::from_fn(dag, follow);
    let mut length = vec![0; dag.node_count()];
    // Each type comes after those that it leads to.
    for &ty in toposort(&ways, None).ok()?.iter().rev() {
        let below = ways.neighbors(ty).map(|to| length[to.index()]).max();
        length[ty.index()] = below.unwrap_or(0) + usize::from(counts(dag[ty]));
    }
    Some(length.into_iter().max().unwrap_or(0))
}

fn most_used(input: &Input, module: &Module<'_>) -> Vec<Used> {
    let mut counts = vec![0; module.graph().tag_count()];
    for tag in module.instructions().iter().filter_map(|instruction| instruction.tag) {
        counts[tag.index()] += 1;
    }
    let mut tags: Vec<_> = module.graph().tags().filter(|tag| counts[tag.index()] > 0).collect();
    // Equal counts stay in the order of the tags.
    tags.sort_by_key(|tag| std::cmp::Reverse(counts[tag.index()]));
    tags.truncate(MOST_USED);
    let names = input.names();
    let used = tags.into_iter().map(|tag| Used {
        instructions: counts[tag.index()],
        tag: input.label(tag),
        meaning: names.tag(tag),
    });
    used.collect()
}

fn code(input: &Input, module: &Module<'_>) -> Code {
    let mut code = Code {
        functions: module.functions().len(),
        errno_tags: module.errno_tags().len(),
        most_used: most_used(input, module),
        ..Code::default()
    };
    for instruction in module.instructions() {
        let tagged = instruction.tag.is_some();
        code.copying_instructions += usize::from(instruction.copy.is_some());
        let coverage = match instruction.opcode {
            Opcode::Load => &mut code.loads,
            Opcode::Store => &mut code.stores,
            Opcode::Call => {
                code.tagged_calls += usize::from(tagged);
                continue;
            }
            opcode if opcode.accesses_memory() => &mut code.others,
            _ => continue,
        };
        coverage.all += 1;
        coverage.tagged += u64::from(tagged);
    }
    code
}
