//! Finds accesses that are wider than their tag's size or access type.

use super::names::is_like_clangs;
use super::{Lint, Report, Subject};
use tbaa::parts::table::HashSet;
use tbaa::{Format, Size, TagId, TypeId};
use tbaa_ir::{Instruction, Opcode};
use tbaa_types::TypeKind;

/// Returns the number of bytes that a load, store or atomic access of a scalar accesses; `None` for
/// other types: a pass may have merged several accesses into one of a vector or aggregate.
pub(super) fn of_access(subject: &Subject, instruction: &Instruction) -> Option<u64> {
    use Opcode::{AtomicRmw, CmpXchg, Load, Store};
    if !matches!(instruction.opcode, Load | Store | AtomicRmw | CmpXchg) {
        return None;
    }
    let (ty, sizes) = (subject.access_type(instruction)?, subject.sizes()?);
    let is_known = sizes.with_kind(ty, |kind| match kind {
        TypeKind::Primitive(_) | TypeKind::Int(_) => true,
        // A pointer's size is unknown until the data layout is set.
        TypeKind::Pointer { .. } => sizes.has_layout(),
        _ => false,
    });
    Some(sizes.size_of(ty).filter(|_| is_known)?.store)
}

/// Returns the first instruction with each tag and width, together with the tag and the width.
pub(super) fn tagged<'a>(
    subject: &Subject,
    all: &'a [Instruction],
) -> impl Iterator<Item = (&'a Instruction, TagId, u64)> {
    let mut seen = HashSet::default();
    all.iter().filter_map(move |one| {
        let (tag, width) = (one.tag?, of_access(subject, one)?);
        seen.insert((tag, width)).then_some((one, tag, width))
    })
}

/// Returns the size of a type in bytes, if known. A size-aware type states its size. For an
/// old-format type under a root like clang's, the name decides: `int`, for example, has 4 bytes. A
/// pointer has its size in the module's data layout.
pub(super) fn of_type(subject: &Subject, ty: TypeId) -> Option<u64> {
    let graph = subject.graph;
    let node = graph.ty(ty);
    if node.format() == Format::New {
        return node.size().filter(|&size| size != 0);
    }
    // Source: clang's CodeGenTBAA.
    let root = graph.ty(graph.root_of(ty)?);
    is_like_clangs(root.name()?).then_some(())?;
    match node.name()? {
        b"omnipotent char" | b"_Bool" | b"bool" => Some(1),
        b"short" => Some(2),
        b"int" | b"float" => Some(4),
        b"long long" | b"double" => Some(8),
        b"any pointer" | b"vtable pointer" => {
            Some(subject.sizes().filter(|sizes| sizes.has_layout())?.of(b"ptr")?.store)
        }
        _ => None,
    }
}

/// Reports accesses that are wider than the tag's size. For a tag without a size, the size of the
/// access type counts.
/// Narrower accesses are fine: passes narrow loads, and front ends copy a union by its bytes. An
/// access to several whole objects of the type, such as elements of an array, is fine too.
pub(super) fn lint(subject: &Subject, report: &mut Report) {
    let Some(module) = subject.module.filter(|_| report.wants(Lint::WidthMismatch)) else { return };
    let graph = subject.graph;
    for (instruction, id, width) in tagged(subject, module.instructions()) {
        let Ok(tag) = graph.tag(id) else { continue };
        let by_tag = tag.size.and_then(Size::bytes);
        let Some(size) = by_tag.or_else(|| of_type(subject, tag.access)) else { continue };
        // `char` covers everything, at any width.
        let covers_all = graph.ty(tag.access).name() == Some(b"omnipotent char");
        // Passes merge accesses to neighbouring elements.
        let elements = tag.is_whole() && width % size == 0;
        if width <= size || elements || covers_all && by_tag.is_none() {
            continue;
        }
        let access = subject.type_name(tag.access.node());
        let verb = if instruction.opcode == Opcode::Load { "loads" } else { "stores" };
        let what = if by_tag.is_some() { "its tag covers" } else { "the type of its tag has" };
        let message =
            || format!("an instruction {verb} {width} bytes, but {what} {size}: {access}");
        let Some(found) = report.add(Lint::WidthMismatch, message) else { continue };
        found.primary = Some(subject.instruction_label(instruction, format!("{width} bytes")));
        found.secondary.extend(subject.node_label(graph.tag_node(id), "its tag"));
        found.explain(
            "LLVM assumes that the other bytes are not touched, and may move accesses to them across \
             this one",
            "use a tag whose type is as wide as the access, or a type above all types that it touches",
        );
    }
}
