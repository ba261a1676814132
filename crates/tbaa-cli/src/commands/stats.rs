//! `tbaa stats`: counts the nodes, tags, types and accesses of an input.

use std::collections::HashSet;
use std::io::{self, Write};

use indexmap::IndexMap;
use serde::Serialize;
use tbaa::petgraph::algo::toposort;
use tbaa::petgraph::graph::EdgeReference;
use tbaa::petgraph::visit::{EdgeFiltered, IntoNeighbors};
use tbaa::{AliasRule, Edge, Format, Graph, Tag, TypeDag, TypeId, TypeKind};
use tbaa_ir::{Instruction, Module, Opcode};

use crate::convert::InputArg;
use crate::input::{Content, Input};
use crate::output::{TextOrJson, percent, write_json};
use crate::printable::printable;
use crate::report::Result;
use crate::walk::named_parent;

/// Counts nodes, tags, types, fields and levels, and the loads and stores with a tag.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/stats.txt"))]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TextOrJson,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Figure {
    Count(usize),
    /// The result of [`longest`].
    Depth(Option<usize>),
    /// The number of accesses, and of accesses with a tag.
    Tagged {
        all: usize,
        tagged: usize,
    },
    MostUsed(Vec<Used>),
}

#[derive(Serialize)]
struct Used {
    instructions: usize,
    tag: String,
    meaning: String,
}

const MOST_USED: usize = 10;

/// A figure's group and key in JSON, its name in text, and the figure. If the key is empty, the
/// group in JSON is the figure itself.
type Row = (&'static str, &'static str, &'static str, Figure);

pub(super) fn run(args: &Stats, out: &mut dyn Write) -> Result {
    let input = Input::open(&args.input)?;
    let rejected = input.warn_rejected(AliasRule::Llvm, input.graph().tags());
    let graph = input.graph();
    let mut rows = vec![("nodes", "", "nodes", Figure::Count(graph.node_count()))];
    rows.extend(tags(graph, rejected));
    rows.extend(types(graph));
    rows.push(("struct_copies", "", "struct copies", Figure::Count(graph.copies().count())));
    if let Content::Module(module) = &input.content {
        rows.extend(code(&input, module));
    }
    match args.format {
        TextOrJson::Text => write(&rows, out)?,
        TextOrJson::Json => {
            let groups = rows.chunk_by(|a, b| a.0 == b.0).map(|rows| match rows {
                [(group, "", _, figure)] => (*group, Group::One(figure)),
                _ => (rows[0].0, Group::Several(rows.iter().map(|row| (row.1, &row.3)).collect())),
            });
            write_json(&groups.collect::<IndexMap<_, _>>(), out)?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(untagged)]
enum Group<'r> {
    One(&'r Figure),
    Several(IndexMap<&'r str, &'r Figure>),
}

fn write(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    for &(_, _, name, ref figure) in rows {
        match figure {
            Figure::Count(count) => writeln!(out, "{name:26}{count}")?,
            Figure::Depth(Some(depth)) => writeln!(out, "{name:26}{depth}")?,
            Figure::Depth(None) => writeln!(out, "{name:26}endless: a type contains itself")?,
            Figure::Tagged { all, tagged } => {
                let percent = percent(*tagged as u64, *all as u64);
                writeln!(out, "{name:26}{all}, {tagged} tagged ({percent})")?;
            }
            Figure::MostUsed(all) => {
                for (at, Used { instructions, tag, meaning }) in all.iter().enumerate() {
                    let title = if at == 0 { name } else { "" };
                    let [tag, meaning] = [tag, meaning].map(printable);
                    writeln!(out, "{title:26}{instructions:<7} {tag} {meaning}")?;
                }
            }
        }
    }
    Ok(())
}

fn tags(graph: &Graph, rejected: usize) -> [Row; 6] {
    let tags: Vec<_> = graph.tags().filter_map(|id| graph.tag(id).ok()).collect();
    let count =
        |is: &dyn Fn(&Tag) -> bool| Figure::Count(tags.iter().filter(|tag| is(tag)).count());
    [
        ("tags", "all", "tags", Figure::Count(graph.tag_count())),
        ("tags", "old_format", "  old format", count(&|it| it.format == Format::Old)),
        ("tags", "size_aware", "  size-aware", count(&|it| it.format == Format::New)),
        ("tags", "whole", "  of whole objects", count(&Tag::is_whole)),
        ("tags", "immutable", "  immutable", count(&|it| it.immutable)),
        ("tags", "rejected_by_llvm", "  rejected by LLVM", Figure::Count(rejected)),
    ]
}

fn types(graph: &Graph) -> [Row; 10] {
    let parent = |ty: TypeId| named_parent(graph.ty(ty));
    let parents: HashSet<_> = graph.types().filter_map(parent).collect();
    let count = |is: &dyn Fn(TypeId, TypeKind) -> bool| {
        Figure::Count(graph.types().filter(|&ty| is(ty, graph.ty(ty).kind())).count())
    };
    let is_aggregate = |ty: TypeId| graph.ty(ty).kind() == TypeKind::Aggregate;
    let fields = || {
        let all = graph.types().filter(move |&ty| is_aggregate(ty));
        all.map(move |ty| graph.ty(ty).fields().count())
    };
    let dag = graph.type_dag();
    let is_parent = |edge: EdgeReference<'_, Edge>| *edge.weight() == Edge::Parent;
    // In clang's old format, a C++ class without data has one operand, so its kind is `Root`.
    let lone = count(&|ty, kind| kind == TypeKind::Root && !parents.contains(&ty));
    let roots = count(&|ty, kind| kind == TypeKind::Root && parents.contains(&ty));
    let known = [TypeKind::Root, TypeKind::Scalar, TypeKind::Aggregate];
    let chain = longest(&dag, is_parent, |_| true);
    let nesting = longest(&dag, |edge| !is_parent(edge), is_aggregate);
    [
        ("types", "all", "types", count(&|_, _| true)),
        ("types", "roots", "  roots", roots),
        ("types", "lone", "  one-operand, childless", lone),
        ("types", "scalars", "  scalars", count(&|_, kind| kind == TypeKind::Scalar)),
        ("types", "aggregates", "  aggregates", count(&|ty, _| is_aggregate(ty))),
        ("types", "malformed", "  malformed", count(&|_, kind| !known.contains(&kind))),
        ("types", "fields", "fields of aggregates", Figure::Count(fields().sum())),
        ("types", "most_fields", "  most in one", Figure::Count(fields().max().unwrap_or(0))),
        ("types", "longest_parent_chain", "longest parent chain", Figure::Depth(chain)),
        ("types", "deepest_nesting", "deepest nesting", Figure::Depth(nesting)),
    ]
}

/// Follows the edges for which `follow` is true. Returns the largest number of types on one path,
/// counting the types for which `counts` is true; `None` if these edges form a cycle.
fn longest(
    dag: &TypeDag,
    follow: impl Fn(EdgeReference<'_, Edge>) -> bool,
    counts: impl Fn(TypeId) -> bool,
) -> Option<usize> {
    let ways = EdgeFiltered::from_fn(dag, follow);
    let mut length = vec![0; dag.node_count()];
    // In this order, each type comes after the types that it leads to.
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
    // The sort is stable: equal counts stay in the order of the tags.
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

fn code(input: &Input, module: &Module<'_>) -> [Row; 8] {
    let count = |is: &dyn Fn(&Instruction) -> bool| {
        module.instructions().iter().filter(|instruction| is(instruction)).count()
    };
    let tagged = |is: &dyn Fn(Opcode) -> bool| Figure::Tagged {
        all: count(&|it| is(it.opcode)),
        tagged: count(&|it| is(it.opcode) && it.tag.is_some()),
    };
    let is_other = |opcode: Opcode| {
        !matches!(opcode, Opcode::Load | Opcode::Store | Opcode::Call) && opcode.accesses_memory()
    };
    let calls = count(&|it| it.opcode == Opcode::Call && it.tag.is_some());
    let copies = count(&|it| it.copy.is_some());
    let most_used = Figure::MostUsed(most_used(input, module));
    [
        ("code", "functions", "functions", Figure::Count(module.functions().len())),
        ("code", "loads", "  loads", tagged(&|it| it == Opcode::Load)),
        ("code", "stores", "  stores", tagged(&|it| it == Opcode::Store)),
        ("code", "others", "  atomics and va_arg", tagged(&is_other)),
        ("code", "tagged_calls", "  tagged calls", Figure::Count(calls)),
        ("code", "copying_instructions", "  with tbaa.struct", Figure::Count(copies)),
        ("code", "errno_tags", "errno tags", Figure::Count(module.errno_tags().len())),
        ("code", "most_used", "most used tags", most_used),
    ]
}
