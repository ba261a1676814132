//! Pairs that rule `llvm` takes for apart and rule `union` does not.

use super::{Lint, Report};
use crate::graph::TagId;
use crate::oracle::{Clause, Oracle, Rules};
use crate::subject::Subject;
use crate::table::HashSet;
use crate::text::Instruction;

/// Pairs that are compared in all: the union rules take microseconds a pair.
const PAIRS: usize = 1 << 20;

/// Compares the tags of each function with one another, or, without code, all
/// tags of a graph.
pub(super) fn lint(subject: &Subject<'_>, report: &mut Report<'_>) {
    if !report.wants(Lint::UnionMiscompiled) {
        return;
    }
    let graph = subject.graph;
    let llvm = Oracle::new(graph, Rules::Llvm);
    let union = Oracle::new(graph, Rules::Union);
    let mut seen: HashSet<(TagId, TagId)> = HashSet::default();
    let mut compare = |report: &mut Report<'_>, tags: &[(TagId, Option<&Instruction>)]| {
        for (i, &(a, first)) in tags.iter().enumerate() {
            for &(b, second) in &tags[i + 1..] {
                if seen.len() >= PAIRS {
                    return;
                }
                if !seen.insert((a.min(b), a.max(b))) || llvm.may_alias(a, b) {
                    continue;
                }
                // Anything else that says MayAlias is doubt, not knowledge.
                if union.explain(a, b).clause == Clause::Overlap {
                    add(subject, report, (a, first), (b, second));
                }
            }
        }
    };
    let Some(module) = subject.module else {
        let tags: Vec<_> = graph.tags().map(|tag| (tag, None)).collect();
        compare(report, &tags);
        return;
    };
    let mut instructions = module.instructions();
    while let Some(first) = instructions.first() {
        let len = instructions.iter().take_while(|it| it.function == first.function).count();
        let (function, rest) = instructions.split_at(len);
        instructions = rest;
        let mut known = HashSet::default();
        let tagged = function.iter().filter_map(|it| Some((it.tag?, Some(it))));
        let tags: Vec<_> = tagged.filter(|&(tag, _)| known.insert(tag)).collect();
        compare(report, &tags);
    }
}

type Use<'a> = (TagId, Option<&'a Instruction>);

fn add(subject: &Subject<'_>, report: &mut Report<'_>, (a, first): Use<'_>, (b, second): Use<'_>) {
    let (of_a, of_b) = (subject.tag_meaning(a), subject.tag_meaning(b));
    let message = || format!("{of_a} and {of_b} share bytes, and LLVM takes them for apart");
    let Some(found) = report.add(Lint::UnionMiscompiled, message) else { return };
    let label = |tag, instruction: Option<&Instruction>, text: &str| match instruction {
        Some(instruction) => Some(subject.tag_label(instruction, text)),
        None => subject.node_label(subject.graph.tag_node(tag), text),
    };
    found.primary = label(b, second, &of_b);
    found.secondary.extend(label(a, first, &of_a));
    found
        .notes
        .push("by rule union the accesses overlap: `tbaa explain` shows the bytes".to_owned());
    found.help = Some("tag accesses to both as `char`, or as the union's own type".to_owned());
}
