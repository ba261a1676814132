//! Finds fields that overlap although LLVM answers NoAlias between accesses to them.

use super::{Lint, Report, Subject, width};
use tbaa::parts::Shape;
use tbaa::parts::table::{HashMap, IndexMap};
use tbaa::{AliasRule, Format, NodeId, Oracle, TagId, TypeId, TypeKind};
use tbaa_ir::{Instruction, Module};

pub(super) fn lint(subject: &Subject, report: &mut Report) {
    if !report.wants(Lint::OverlappingFields) {
        return;
    }
    match subject.module.map(Module::instructions) {
        Some(all) if all.iter().any(|one| one.tag.is_some()) => accessed(subject, all, report),
        _ => declared(subject, report),
    }
}

/// The largest number of accesses at higher offsets that an access is compared with. A type may
/// have a million fields that overlap, each with its own tags.
const COMPARED: usize = 64;

/// The bytes `start..end` of a base type, which an instruction accesses.
struct Bytes<'a> {
    start: u64,
    end: u64,
    tag: TagId,
    instruction: &'a Instruction,
}

fn accessed(subject: &Subject, all: &[Instruction], report: &mut Report) {
    let graph = subject.graph;
    let mut by_base: IndexMap<TypeId, Vec<Bytes<'_>>> = IndexMap::default();
    for (instruction, id, width) in width::tagged(subject, all) {
        let Ok(tag) = graph.tag(id) else { continue };
        if !tag.is_whole() && tag.format == Format::Old {
            let (start, end) = (tag.offset, tag.offset.saturating_add(width));
            by_base.entry(tag.base).or_default().push(Bytes { start, end, tag: id, instruction });
        }
    }
    let oracle = Oracle::new(graph, AliasRule::Llvm);
    for (base, mut bytes) in by_base {
        bytes.sort_by_key(|bytes| (bytes.start, bytes.end, bytes.tag));
        for (i, a) in bytes.iter().enumerate() {
            // Accesses that start at the same byte are not compared.
            let after = i + bytes[i..].partition_point(|b| b.start == a.start);
            let inside = bytes[after..].iter().take_while(|b| b.start < a.end);
            for b in inside.take(COMPARED).filter(|b| !oracle.may_alias(a.tag, b.tag)) {
                add_accessed(subject, report, base, a, b);
            }
        }
    }
}

fn add_accessed(subject: &Subject, report: &mut Report, base: TypeId, a: &Bytes, b: &Bytes) {
    let name = subject.type_name(base.node());
    let message = || {
        let [a, b] = [a, b].map(|bytes| format!("{} to {}", bytes.start, bytes.end - 1));
        format!("accesses to bytes {a} and {b} of {name} overlap, but LLVM answers NoAlias")
    };
    let Some(found) = report.add(Lint::OverlappingFields, message) else { return };
    found.primary = Some(subject.instruction_label(b.instruction, subject.tag_meaning(b.tag)));
    found.secondary.push(subject.instruction_label(a.instruction, subject.tag_meaning(a.tag)));
    found.secondary.extend(subject.node_label(base.node(), "the type"));
    found.advise(HELP);
}

const HELP: &str = "correct the offsets; if the fields overlap on purpose they are a union, and \
                    accesses to it share one tag";

/// Compares adjacent fields of each struct of the old format, by offset and minimum size.
fn declared(subject: &Subject, report: &mut Report) {
    let graph = subject.graph;
    let mut sizes = Least { subject, known: HashMap::default() };
    for ty in graph.types() {
        let node = graph.ty(ty);
        if node.kind() != TypeKind::Aggregate || node.format() != Format::Old {
            continue;
        }
        let fields: Vec<_> = node.fields().collect();
        for (number, pair) in fields.windows(2).enumerate() {
            let (a, b) = (&pair[0], &pair[1]);
            let Some(size) = sizes.of(a.ty) else { continue };
            let end = a.offset.saturating_add(size);
            // Fields at equal offsets are members of a union. Overlapping fields of one type are
            // bit-fields, which clang does not tag.
            if a.ty == b.ty || !(a.offset < b.offset && b.offset < end) {
                continue;
            }
            let name = subject.type_name(ty.node());
            let [of_a, of_b] = [a, b].map(|field| subject.type_name(field.ty.node()));
            let message = || {
                format!(
                    "fields of {name} overlap: {of_a} at {}, of at least {size} bytes, and {of_b} \
                     at {}",
                    a.offset, b.offset
                )
            };
            let Some(found) = report.add(Lint::OverlappingFields, message) else { continue };
            let shape = Shape::of(graph, ty.node());
            let offset = |field| shape.offset(shape.field(field));
            let label = |field, text| subject.operand_label(ty.node(), offset(field), text);
            found.primary = label(number + 1, "starts inside");
            found.secondary.extend(label(number, "the field before"));
            found.explain("LLVM takes accesses to the two for apart", HELP);
        }
    }
}

/// Finds the minimum size of types, in bytes.
struct Least<'s> {
    subject: &'s Subject<'s>,
    known: HashMap<NodeId, Option<u64>>,
}

impl Least<'_> {
    /// Returns a scalar's size, or the least end of a struct's last field. A field of unknown size
    /// counts as one byte.
    fn of(&mut self, ty: TypeId) -> Option<u64> {
        // A loop, not a recursion: the chain of last fields may be as long as the graph.
        let (mut path, mut next) = (Vec::new(), ty);
        let mut least = loop {
            if let Some(&known) = self.known.get(&next.node()) {
                break known;
            }
            let node = self.subject.graph.ty(next);
            self.known.insert(next.node(), None);
            if node.kind() != TypeKind::Aggregate {
                let size = width::of_type(self.subject, next);
                self.known.insert(next.node(), size);
                break size;
            }
            let Some(last) = node.fields().next_back() else { break None };
            path.push((next, last.offset));
            next = last.ty;
        };
        for (ty, offset) in path.into_iter().rev() {
            least = Some(offset.saturating_add(least.unwrap_or(1)));
            self.known.insert(ty.node(), least);
        }
        least
    }
}
