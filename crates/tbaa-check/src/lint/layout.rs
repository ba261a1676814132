//! Compares field offsets with the module's own struct types.

use super::{Lint, Report, Subject};
use crate::diagnostic::Label;
use tbaa::{TypeId, TypeKind as NodeKind};
use tbaa::{parts::Shape, parts::table::HashMap};
use tbaa_ir::TypeDefinition;
use tbaa_lex::source::shortened;
use tbaa_types::demangle::demangled;
use tbaa_types::{Context, DataLayout, Layouts, Primitive, Type, TypeKind};

/// Looks up each aggregate among the named struct types, and its fields in the struct's layout.
/// Reports the first impossible offset in each aggregate. An impossible offset is inside a pointer,
/// `float` or `double`, or not before the struct's end. An integer may hold bit-fields, an array of
/// bytes may hold a union, and a `char` field fits anywhere.
pub(super) fn lint(subject: &Subject, report: &mut Report) {
    let wanted = report.wants(Lint::LayoutMismatch);
    let Some(module) = subject.module.filter(|_| wanted) else { return };
    let definitions = by_name(module.type_definitions());
    let graph = subject.graph;
    let definition = |ty| *definitions.get(&source_name(graph.ty(ty).name()?)[..])?;
    let aggregates = graph.types().filter(|&ty| graph.ty(ty).kind() == NodeKind::Aggregate);
    let named: Vec<(TypeId, &TypeDefinition)> =
        aggregates.filter_map(|ty| Some((ty, definition(ty)?))).collect();
    if named.is_empty() {
        return;
    }
    // Without a data layout, offsets are unknown: a later tool may set the layout of any target.
    let layout = module.data_layout().and_then(|(text, _)| std::str::from_utf8(text).ok());
    let Some(layout) = layout.and_then(|layout| layout.parse::<DataLayout>().ok()) else { return };
    let mut context = Context::new();
    let Ok(read) = module.read_types(&mut context) else { return };
    let mut layouts = layout.layouts(&context);
    for (ty, definition) in named {
        if let Some(of_llvm) = read.named(&definition.name) {
            compare(subject, report, &context, &mut layouts, ty, (definition, of_llvm));
        }
    }
}

/// The reason why a field's offset is impossible.
enum Wrong {
    /// The field starts this many bytes inside a value of this type.
    Inside(u64, &'static str),
    /// The field starts at or after the struct's end; the struct has this many bytes.
    Behind(u64),
}

fn compare(
    subject: &Subject,
    report: &mut Report,
    context: &Context,
    layouts: &mut Layouts<'_>,
    ty: TypeId,
    (definition, of_llvm): (&TypeDefinition, Type),
) {
    let graph = subject.graph;
    let node = graph.ty(ty);
    for (number, field) in node.fields().enumerate() {
        if graph.ty(field.ty).name() == Some(b"omnipotent char") {
            continue;
        }
        let Some(wrong) = look_up(context, layouts, of_llvm, field.offset) else { continue };
        let of_field = graph.ty(field.ty);
        let is_empty = of_field.parent().is_none() && of_field.fields().next().is_none();
        // A field without bytes may start at the struct's end.
        if is_empty && matches!(wrong, Wrong::Behind(size) if size == field.offset) {
            continue;
        }
        let (name, offset) = (shortened(&definition.name), field.offset);
        let [of_node, of_field] = [ty, field.ty].map(|ty| subject.type_name(ty.node()));
        let what = match wrong {
            Wrong::Inside(by, what) => format!("it is {by} bytes inside a {what} of %{name}"),
            Wrong::Behind(size) => format!("%{name} has only {size} bytes"),
        };
        let message =
            || format!("a field of {of_node}, of type {of_field}, has offset {offset}, but {what}");
        let Some(found) = report.add(Lint::LayoutMismatch, message) else { continue };
        let shape = Shape::of(graph, ty.node());
        let position = shape.offset(shape.field(number));
        found.primary = subject.operand_label(ty.node(), position, "this offset");
        let start = definition.offset as usize;
        let text = "the struct, which the data layout measures".to_owned();
        found.secondary.push(Label { span: start..start + definition.body.len(), text });
        found.explain(
            "LLVM compares these offsets only with one another: a wrong one does harm if it changes \
             the order of fields, or if it meets an offset from another module",
            "compute offsets with the module's data layout; the offsets of a 32-bit target are wrong \
             on a 64-bit target",
        );
        // One wrong offset often shifts all later ones, so only the first is reported.
        return;
    }
}

/// Returns why no field can start at `offset` of a struct; `None` if a field can, or in doubt.
fn look_up(context: &Context, layouts: &mut Layouts<'_>, of: Type, offset: u64) -> Option<Wrong> {
    let size = fixed(layouts.alloc_size(of).ok()?)?;
    if offset >= size {
        return (!ends_open(context, of)).then_some(Wrong::Behind(size));
    }
    let (mut ty, mut rest) = (of, offset);
    let what = loop {
        match context.kind(ty) {
            TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                let layout = layouts.struct_layout(ty).ok()?;
                let after = layout.offsets.partition_point(|start| start.min <= rest);
                let at = after.checked_sub(1)?;
                rest -= fixed(layout.offsets[at])?;
                ty = *context.parts(ty).get(at)?;
            }
            TypeKind::Array { element, .. } => {
                rest %= fixed(layouts.alloc_size(element).ok()?).filter(|&size| size > 0)?;
                ty = element;
            }
            _ if rest == 0 => return None,
            TypeKind::Pointer { .. } => break "pointer",
            TypeKind::Primitive(Primitive::Float) => break "float",
            TypeKind::Primitive(Primitive::Double) => break "double",
            _ => return None,
        }
    };
    // A field may start in the padding after the bytes of `ty`.
    let size = fixed(layouts.store_size(ty).ok()?)?;
    (rest < size).then_some(Wrong::Inside(rest, what))
}

fn fixed(size: tbaa_types::TypeSize) -> Option<u64> {
    (!size.scalable).then_some(size.min)
}

/// Returns whether a struct is empty or ends with a flexible array.
fn ends_open(context: &Context, mut ty: Type) -> bool {
    loop {
        match context.kind(ty) {
            TypeKind::Array { len: 0, .. } => return true,
            TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                match context.parts(ty).last() {
                    Some(&last) => ty = last,
                    None => return true,
                }
            }
            _ => return false,
        }
    }
}

/// Returns the definitions by the type's name in the source, without a number that linking
/// appended. The value is `None` if several definitions share the name, or one had such a number.
fn by_name(definitions: &[TypeDefinition]) -> HashMap<&[u8], Option<&TypeDefinition>> {
    let mut names = HashMap::default();
    for definition in definitions {
        let name: &[u8] = &definition.name;
        let bare = [&b"struct."[..], b"class."].iter().find_map(|&kind| name.strip_prefix(kind));
        let bare = bare.unwrap_or(name);
        let number = bare.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let stem = match bare[..bare.len() - number].strip_suffix(b".") {
            Some(stem) if number > 0 => stem,
            _ => bare,
        };
        let whole = (stem.len() == bare.len()).then_some(definition);
        names.entry(stem).and_modify(|known| *known = None).or_insert(whole);
    }
    names
}

/// Returns the source name of a type whose name in TBAA is `name`.
fn source_name(name: &[u8]) -> Vec<u8> {
    demangled(name).map_or_else(|| name.to_owned(), String::into_bytes)
}
