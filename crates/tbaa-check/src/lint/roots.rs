//! Finds functions with tags under two roots.

use super::{Lint, Report, Subject};
use tbaa::parts::is_clang_root;
use tbaa::parts::table::HashSet;
use tbaa::{Format, TypeId};
use tbaa_ir::Instruction;

/// Compares the root of a function's first tag with the roots of the function's other tags. Reports
/// each pair of roots at most once.
pub(super) fn lint(subject: &Subject, report: &mut Report) {
    let Some(module) = subject.module.filter(|_| report.wants(Lint::TwoRoots)) else { return };
    let graph = subject.graph;
    let root = |tag| {
        let tag = graph.tag(tag).ok()?;
        Some(Root(graph.root_of(tag.access)?, tag.format))
    };
    let roots: Vec<Option<Root>> = graph.tags().map(root).collect();
    let distinct: HashSet<Root> = roots.iter().copied().flatten().collect();
    if distinct.len() < 2 {
        return;
    }
    let mut reported = HashSet::default();
    for function in module.instructions().chunk_by(|a, b| a.function == b.function) {
        let mut first: Option<(Root, &Instruction)> = None;
        for instruction in function {
            let Some(root) = instruction.tag.and_then(|tag| roots[tag.index()]) else { continue };
            let (earlier, of_earlier) = *first.get_or_insert((root, instruction));
            if !earlier.is_by_mistake_beside(root, subject) || !reported.insert((earlier, root)) {
                continue;
            }
            reported.insert((root, earlier));
            let [a, b] = [earlier, root].map(|Root(root, _)| subject.type_name(root.node()));
            let name = subject.function_of(instruction);
            let message = || format!("{name} has tags under two roots: {a} and {b}");
            let Some(found) = report.add(Lint::TwoRoots, message) else { continue };
            found.primary = Some(subject.tag_label(instruction, format!("under {b}")));
            found.secondary.push(subject.tag_label(of_earlier, format!("under {a}")));
            found.explain(
                "LLVM answers MayAlias for every two tags under different roots, so these tags \
                 cannot separate their accesses",
                "put all types of a front end under one root; allow this lint if the function was \
                 inlined from another language",
            );
        }
    }
}

/// A root, with the format of the types below it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Root(TypeId, Format);

impl Root {
    /// Returns whether two roots in one function differ for no known good reason.
    /// clang has one root for C and another for C++, and Flang has a root for each function:
    /// inlining mixes them. Each of the two formats needs its own root.
    fn is_by_mistake_beside(self, other: Root, subject: &Subject) -> bool {
        let name = |root: Root| subject.graph.ty(root.0).name().unwrap_or_default();
        let are_clangs = [self, other].iter().all(|&it| is_clang_root(name(it)));
        let any = |start: &[u8]| [self, other].iter().any(|&it| name(it).starts_with(start));
        let same_format = self.1 == other.1;
        self.0 != other.0 && same_format && !are_clangs && !any(b"Flang function root ")
    }
}
