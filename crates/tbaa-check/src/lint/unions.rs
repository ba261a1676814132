//! Finds pairs of tags that share bytes by `AliasRule::Union`, although LLVM answers NoAlias.

use super::{Lint, Report, Subject, width};
use tbaa::explain::{AccessPath, ByteRange, Clause, Explanation};
use tbaa::parts::table::HashSet;
use tbaa::{Access, AliasRule, Graph, Oracle, Size, TagId, TypeId, TypeKind};
use tbaa_ir::Instruction;

/// The largest number of pairs that are compared.
const PAIRS: usize = 1 << 18;

/// The largest total number of operands of the base types in explained pairs. The time of an
/// explanation is proportional to the number of operands.
const OPERANDS: usize = 1 << 24;

/// A tag, and the first instruction with the tag in a function; `None` without code.
type Use<'a> = (TagId, Option<&'a Instruction>);

/// Returns the access of a tag. If the tag's size is unknown (clang writes 0 for members of
/// unions), the access has the instruction's width, if known.
fn access(subject: &Subject, (tag, instruction): Use<'_>) -> Access {
    let unknown = subject.graph.tag(tag).is_ok_and(|tag| tag.size == Some(Size::Unknown));
    let instruction = instruction.filter(|_| unknown);
    let width = instruction.and_then(|instruction| width::of_access(subject, instruction));
    width.map_or(tag.into(), |width| Access::of_width(subject.graph, tag, width))
}

/// Compares the tags within each function, or all tags of a graph if there is no code.
pub(super) fn lint(subject: &Subject, report: &mut Report) {
    if !report.wants(Lint::UnionMiscompiled) {
        return;
    }
    let graph = subject.graph;
    let candidates = candidates(graph);
    if !candidates.contains(&true) {
        return;
    }
    let llvm = Oracle::new(graph, AliasRule::Llvm);
    let union = Oracle::new(graph, AliasRule::Union);
    let mut seen: HashSet<(TagId, TagId)> = HashSet::default();
    let (mut operands, mut steps) = (OPERANDS, union.steps_to_compare());
    // Returns false once the search must end.
    let mut compare = |report: &mut Report, tags: &[Use<'_>]| {
        for (i, &a) in tags.iter().enumerate().filter(|(_, (tag, _))| candidates[tag.index()]) {
            // A pair of two candidates is compared only once.
            let others = tags.iter().enumerate();
            for (_, &b) in others.filter(|&(j, (tag, _))| j > i || !candidates[tag.index()]) {
                if seen.len() >= PAIRS {
                    return false;
                }
                let new = seen.insert((a.0.min(b.0), a.0.max(b.0)));
                if !new || llvm.may_alias(a.0, b.0) {
                    continue;
                }
                let (of_a, of_b) = (access(subject, a), access(subject, b));
                match union.may_alias_within(of_a, of_b, &mut steps) {
                    None => return false,
                    Some(false) => continue,
                    Some(true) => {}
                }
                let of_bases = operands_of(graph, a.0) + operands_of(graph, b.0);
                // An explanation takes steps too.
                if steps == 0 || report.is_full(Lint::UnionMiscompiled) || of_bases > operands {
                    return false;
                }
                operands -= of_bases;
                if is_certain(&union.explain_within(of_a, of_b, &mut steps)) {
                    add(subject, report, a, b);
                }
            }
        }
        true
    };
    let is_done = match subject.module {
        None => compare(report, &graph.tags().map(|tag| (tag, None)).collect::<Vec<_>>()),
        Some(module) => {
            let mut functions = module.instructions().chunk_by(|a, b| a.function == b.function);
            functions.all(|function| {
                let mut known = HashSet::default();
                let tagged = function.iter().filter_map(|access| Some((access.tag?, Some(access))));
                let tags: Vec<_> = tagged.filter(|&(tag, _)| known.insert(tag)).collect();
                compare(report, &tags)
            })
        }
    };
    if !is_done {
        report.stop(Lint::UnionMiscompiled);
    }
}

fn operands_of(graph: &Graph, tag: TagId) -> usize {
    graph.tag(tag).map_or(0, |tag| graph.operand_count(tag.base.node()))
}

/// Returns for each tag whether it is a candidate. A reported pair has at least one. A candidate's
/// base type holds a union; or the candidate accesses a part of the base type, and the access type
/// is an aggregate or may be smaller than the tag's size.
fn candidates(graph: &Graph) -> Vec<bool> {
    let mut users: Vec<Vec<TypeId>> = vec![Vec::new(); graph.node_count()];
    let mut holds = vec![false; graph.node_count()];
    let mut work = Vec::new();
    for ty in graph.types() {
        let node = graph.ty(ty);
        if node.kind() != TypeKind::Aggregate {
            continue;
        }
        let (mut previous, mut end) = (None, 0);
        for field in node.fields() {
            users[field.ty.node().index()].push(ty);
            // In the old format, fields that begin at one offset share bytes.
            if previous.replace(field.offset) == Some(field.offset) || field.offset < end {
                work.push(ty);
            }
            end = end.max(field.offset.saturating_add(field.extent.unwrap_or(0)));
        }
    }
    while let Some(ty) = work.pop() {
        if !std::mem::replace(&mut holds[ty.node().index()], true) {
            work.extend(&users[ty.node().index()]);
        }
    }
    let is_candidate = |tag| {
        let Ok(tag) = graph.tag(tag) else { return false };
        let access = graph.ty(tag.access);
        let sizes = tag.size.zip(access.size());
        let beyond = sizes.is_some_and(|(tag, ty)| !Size::Bytes(ty).covers(tag));
        let parts = access.kind() == TypeKind::Aggregate || beyond;
        holds[tag.base.node().index()] || parts && !tag.is_whole()
    };
    graph.tags().map(is_candidate).collect()
}

/// Returns whether two accesses certainly share bytes. `AliasRule::Union` answers `MayAlias` in
/// doubt, and for bit-fields, which clang declares as wide as their type and never tags.
fn is_certain(why: &Explanation) -> bool {
    let (Clause::Overlap, Some(comparison)) = (why.clause, &why.comparison) else { return false };
    let (a, b) = (&comparison.a, &comparison.b);
    if let (Some(x), Some(y)) = (&a.bytes, &b.bytes)
        && (is_run(x) || is_run(y))
        && !(y.end.is_none_or(|end| x.start < end) && x.end.is_none_or(|end| y.start < end))
    {
        return false;
    }
    // True if the path goes on from the tag's base type to a field, and the bytes are known.
    let names_field = |path: &AccessPath| path.to_base < path.steps.len() && path.bytes.is_some();
    match a.steps.iter().zip(&b.steps).find(|(a, b)| a.field != b.field) {
        // The paths separate: at two members of a union, or where an access reaches the next field.
        Some((a_step, b_step)) => {
            a_step.offset == b_step.offset || names_field(a) && names_field(b)
        }
        // One path continues the other: an access to an aggregate, and one to a part of it.
        None => names_field(a) && names_field(b),
    }
}

/// Returns whether an access is wider than the array elements at which it may start. clang declares
/// atomics, for example, as arrays of `char`, and accesses the whole array.
fn is_run(bytes: &ByteRange) -> bool {
    let reaches = |stride| bytes.end.is_none_or(|end| end - bytes.start > stride);
    bytes.repeats.iter().any(|elements| reaches(elements.stride))
}

fn add(subject: &Subject, report: &mut Report, (a, first): Use<'_>, (b, second): Use<'_>) {
    let (of_a, of_b) = (subject.tag_meaning(a), subject.tag_meaning(b));
    let message = || format!("{of_a} and {of_b} share bytes, but LLVM answers NoAlias");
    let Some(found) = report.add(Lint::UnionMiscompiled, message) else { return };
    let label = |tag, instruction: Option<&Instruction>, text: &str| match instruction {
        Some(instruction) => Some(subject.tag_label(instruction, text)),
        None => subject.node_label(subject.graph.tag_node(tag), text),
    };
    found.primary = label(b, second, &of_b);
    found.secondary.extend(label(a, first, &of_a));
    found.note("`tbaa explain --rules union` shows the bytes that overlap");
    let is_whole = |tag| {
        let access = subject.graph.tag(tag).map(|tag| subject.graph.ty(tag.access).kind());
        access == Ok(TypeKind::Aggregate)
    };
    found.advise(match is_whole(a) || is_whole(b) {
        true => {
            "tag the access to the whole as `char`, or leave its tag out; or let `tbaa lower` make tags \
             that LLVM answers soundly"
        }
        false => {
            "tag both accesses as `char`; or let `tbaa lower` make tags that LLVM answers soundly and that \
             keep the union apart from everything else"
        }
    });
}
