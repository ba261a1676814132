//! Finds type nodes attached as tags, mixed formats, types that exist twice, and unused nodes.

use super::{Lint, Report, Subject};
use tbaa::parts::encoding::{Form, SCALAR_FLAG, TAG_BASE};
use tbaa::parts::table::{HashSet, IndexMap};
use tbaa::{Field, Format, NodeId, Operand, TypeId, TypeKind};
use tbaa::{parts::Shape, wellformed::Verifier};
use tbaa_ir::Module;

pub(super) fn lint(subject: &Subject, report: &mut Report) {
    types_as_tags(subject, report);
    formats(subject, report);
    twins(subject, report);
}

/// Reports types that are attached to instructions as if they were tags.
/// `tbaa_ir::read` has replaced these types by tags, as LLVM's reader does. So this function looks
/// up the attached node in the text.
fn types_as_tags(subject: &Subject, report: &mut Report) {
    let Some(module) = subject.module else { return };
    let graph = subject.graph;
    let mut verifier = Verifier::new(graph);
    let mut seen = HashSet::default();
    for instruction in module.instructions() {
        let tagged = instruction.tag.zip(module.tag_span(instruction));
        let Some((tag, span)) = tagged else { continue };
        let attached = &module.text()[span.clone()];
        // Look up the number in the text: a real tag may equal the tag that `tbaa_ir` made.
        let numbered = numbered(module, attached);
        let node = numbered.unwrap_or_else(|| graph.tag_node(tag));
        let len = graph.operand_count(node);
        let [old, new] = [Format::Old, Format::New].map(|format| Shape { format, len });
        let old_type = match graph.operand(node, old.name()) {
            Some(Operand::String(_)) => true,
            // An inline type has no number, so its form is read from the text.
            _ => {
                let span = module.operand_span(span.start, old.name());
                span.is_some_and(|span| is_string(&module.text()[span]))
            }
        };
        let size = new.size().and_then(|size| graph.operand(node, size));
        let new_type = size.is_some_and(|operand| operand.int().is_some());
        if !(old_type || new_type) || !seen.insert((node, tag)) {
            continue;
        }
        let accepted = verifier.check(tag).is_ok();
        // LLVM: `UpgradeTBAANode` makes a different type from a node that has an offset.
        let same_type = match numbered {
            Some(node) => graph.operand(node, SCALAR_FLAG).is_none(),
            None => module.operand_span(span.start, SCALAR_FLAG).is_none(),
        };
        let name = subject.name(node);
        let message = || format!("type node {name} is attached as a tag");
        let Some(found) = report.add(Lint::TypeAsTag, message) else { continue };
        found.primary = Some(subject.tag_label(instruction, "this attachment"));
        found.secondary.extend(subject.node_label(node, "the type"));
        found.note(if accepted && same_type {
            "LLVM reads a type node here as an access to the whole type, as LLVM before 3.4 \
             wrote it; LLVM upgrades it each time it reads the module"
        } else if accepted {
            "LLVM silently reads this as an access to a new type that is not this one, so it \
             answers NoAlias between this access and every properly tagged access to the type"
        } else {
            "LLVM's verifier rejects it; without the verifier an optimizer may do anything"
        });
        found.advise(format!(
            "attach a tag: `!{{{name}, {name}, i64 0}}`, or for a field the struct type, the \
             field's scalar type and its offset"
        ));
    }
}

/// Returns the node that a reference such as `!5` names in the text.
fn numbered(module: &Module<'_>, reference: &[u8]) -> Option<NodeId> {
    let digits = std::str::from_utf8(reference.strip_prefix(b"!")?).ok()?;
    module.node(digits.trim().parse().ok()?)
}

fn is_string(operand: &[u8]) -> bool {
    operand.strip_prefix(b"!").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
}

/// Reports roots with types of both formats.
fn formats(subject: &Subject, report: &mut Report) {
    let graph = subject.graph;
    // For each root, a type of each format, if possible one that is not written like a tag.
    let mut firsts: IndexMap<TypeId, [Option<NodeId>; 2]> = IndexMap::default();
    for ty in graph.types() {
        let node = graph.ty(ty);
        let root = graph.root_of(ty).filter(|_| node.kind() != TypeKind::Root);
        let Some(root) = root else { continue };
        let format = usize::from(node.format() == Format::New);
        let first = firsts.entry(root).or_default()[format].get_or_insert(ty.node());
        if Form::of(graph, *first) == Some(Form::Tag) {
            *first = ty.node();
        }
    }
    for (root, firsts) in firsts {
        let [Some(old), Some(new)] = firsts else { continue };
        let root = subject.type_name(root.node());
        let message = || format!("root {root} has types of both formats, old and size-aware");
        let Some(found) = report.add(Lint::MixedFormats, message) else { continue };
        found.secondary.extend(subject.node_label(old, "an old-format type"));
        if Form::of(graph, new) == Some(Form::Tag) {
            found.primary = subject.node_label(new, "a tag, read as a size-aware type");
            let name = subject.name(new);
            found.note(format!(
                "{name} is written like a tag, but another tag uses it as a type; that other tag is \
                 malformed"
            ));
            found.advise(format!("refer to the base or access type of {name} instead"));
            continue;
        }
        found.primary = subject.node_label(new, "a size-aware type");
        found.explain(
            "LLVM does not recognise a type in the other format: it answers NoAlias between accesses \
             to one type",
            "build all modules that are linked in one format; or give each format its own root, and \
             LLVM answers MayAlias between the two",
        );
    }
}

/// Compares types that share root, format and name.
fn twins(subject: &Subject, report: &mut Report) {
    let graph = subject.graph;
    let mut named: IndexMap<(TypeId, Format, &[u8]), Vec<TypeId>> = IndexMap::default();
    for ty in graph.types() {
        let node = graph.ty(ty);
        // Types in unnamed namespaces may share a name and still differ.
        let local = |name: &[u8]| memchr::memmem::find(name, b"_GLOBAL__N_1").is_some();
        if matches!(node.kind(), TypeKind::Scalar | TypeKind::Aggregate)
            && let Some(root) = graph.root_of(ty)
            && let Some(name) = node.name().filter(|name| !name.is_empty() && !local(name))
            // Types that `tbaa_ir` made have no position in the text.
            && subject.module.is_none_or(|module| module.offset_of(ty.node()).is_some())
        {
            named.entry((root, node.format(), name)).or_default().push(ty);
        }
    }
    for types in named.values() {
        for &other in &types[1..] {
            twin(subject, report, types[0], other);
        }
    }
}

fn twin(subject: &Subject, report: &mut Report, first: TypeId, other: TypeId) {
    let graph = subject.graph;
    let (a, b) = (first.node(), other.node());
    let name = subject.quoted_name(b).unwrap_or_default();
    let (lint, what, help) = if graph.operands(a).eq(graph.operands(b)) {
        (
            Lint::DuplicateTypes,
            "two `distinct` nodes describe the same type",
            "remove `distinct`, so that LLVM merges equal types",
        )
    } else if same_but_for_spelling(subject, first, other) {
        (
            Lint::TwoSpellings,
            "two nodes spell the same type in different ways",
            "write a type in one way, with the offset `i64 0` after a scalar's parent",
        )
    } else if [first, other].iter().all(|&ty| graph.ty(ty).kind() == TypeKind::Scalar) {
        // The parents or sizes differ. A module may have several scalars of one name on purpose,
        // such as an `i8` under each of several buffers.
        return;
    } else {
        (
            Lint::ConflictingTypes,
            "two types of this name and root have different bodies",
            "give different types different names, and build modules that are linked from the \
             same declarations",
        )
    };
    let Some(found) = report.add(lint, || format!("{what}: {name}")) else { return };
    found.primary = subject.node_label(b, "this one");
    found.secondary.extend(subject.node_label(a, "the other"));
    found.explain("LLVM answers NoAlias between an access to one and an access to the other", help);
}

/// Compares two types by kind, size and fields; parents and field types by name and kind only.
fn same_but_for_spelling(subject: &Subject, a: TypeId, b: TypeId) -> bool {
    let graph = subject.graph;
    let (a, b) = (graph.ty(a), graph.ty(b));
    let name = |ty: TypeId| (graph.ty(ty).name(), graph.ty(ty).kind());
    let same_parent = a.parent().map(name) == b.parent().map(name);
    // Compared lazily, because the first of many such types may have many fields.
    let of = |field: Field| (name(field.ty), field.offset, field.extent);
    let same_fields = || a.fields().map(of).eq(b.fields().map(of));
    let scalars = a.kind() == TypeKind::Scalar;
    a.kind() == b.kind() && a.size() == b.size() && same_parent && (scalars || same_fields())
}

/// Reports tags and types that no instruction uses, under the same roots as used ones.
/// A module read with `Keep::Used` has none. A node under another root may be metadata of another
/// kind, so it is not reported.
pub(super) fn unused(subject: &Subject, report: &mut Report) {
    let Some(module) = subject.module else { return };
    let graph = subject.graph;
    // If no instruction has a tag, every node would be reported.
    if module.instructions().iter().all(|instruction| instruction.tag.is_none()) {
        return;
    }
    let roots: HashSet<TypeId> = graph.types().filter_map(|ty| graph.root_of(ty)).collect();
    let is_known = |node: NodeId| graph.tag_of(node).is_some() || graph.type_of(node).is_some();
    let mut nodes: Vec<_> = graph.nodes().filter(|&node| !is_known(node)).collect();
    nodes.sort_by_key(|&node| module.offset_of(node));
    // Nodes that `tbaa_ir` made have no position in the text.
    for node in nodes.into_iter().filter(|&node| module.offset_of(node).is_some()) {
        let form = Form::of(graph, node);
        let ty = match form {
            Some(Form::Tag) => graph.operand(node, TAG_BASE).and_then(Operand::node),
            _ => Some(node),
        };
        let root = ty.and_then(|ty| graph.root_of(TypeId::of_node(ty)));
        let is_under_one = root.is_some_and(|root| roots.contains(&root));
        let (lint, what, help) = match form.filter(|_| is_under_one) {
            Some(Form::Type) => {
                (Lint::UnusedType, "no tag reaches type", "remove it, or tag the accesses to it")
            }
            Some(Form::Tag) => {
                (Lint::UnusedTag, "no instruction has tag", "remove it, or attach it")
            }
            _ => continue,
        };
        let message = || format!("{what} {}", subject.type_name(node));
        let Some(found) = report.add(lint, message) else { continue };
        found.primary = subject.node_label(node, "");
        found.advise(help);
    }
}
