//! Writing declared types as a spec.

use std::fmt::Write as _;

use crate::declare::{DeclId, Declarations, MemberLayout, Policy, Target};
use crate::table::HashSet;

/// Writes declared structs and unions, with the records in them, as the `declare` section of an
/// otherwise empty spec. `target` is the section's text for the target.
///
/// Offsets are written only where C would not compute them.
#[must_use]
pub fn write_declarations(
    name: &str,
    types: &Declarations,
    records: &[DeclId],
    target: &str,
    policy: Policy,
) -> String {
    write(name, types, records, target, policy, false)
}

/// Writes all declared types as a spec, so that they can be declared again: the records of
/// [`write_declarations`], scalars, aliases and the root. `None` for a target that is not a preset
/// and has more properties than its data layout.
#[must_use]
pub fn write_all_declarations(name: &str, types: &Declarations, policy: Policy) -> Option<String> {
    let target = types.target();
    let preset = Target::names().find(|name| Target::by_name(name).as_ref() == Some(target));
    let layout = target.data_layout().to_string();
    let read = || Some(Target::from_data_layout(layout.parse().ok()?));
    let known = preset.or_else(|| (read().as_ref() == Some(target)).then_some(&*layout))?;
    let records: Vec<DeclId> = types.records().filter(|&id| types.size_of(id).is_some()).collect();
    Some(write(name, types, &records, known, policy, true))
}

fn write(
    name: &str,
    types: &Declarations,
    records: &[DeclId],
    target: &str,
    policy: Policy,
    all: bool,
) -> String {
    let policy = match policy {
        Policy::Clang => "clang",
        Policy::Rfc => "rfc",
    };
    let mut text = format!("Spec(\n    name: {name:?},\n");
    let _ = writeln!(text, "    declare: Declare(\n        target: {target:?},");
    let _ = writeln!(text, "        policy: {policy},");
    if types.is_cplusplus() {
        text.push_str("        cplusplus: true,\n");
    }
    if all {
        let _ = writeln!(text, "        root: {:?},", types.root());
    }
    text.push_str("        types: [\n");
    for (name, size, align, parent) in types.own_scalars().filter(|_| all) {
        let parent = types.display(parent);
        let _ = writeln!(
            text,
            "            Scalar(name: {name:?}, size: {size}, align: {align}, parent: {parent:?}),"
        );
    }
    for (id, name) in types.enums() {
        let integer = types.display(id);
        let _ = writeln!(text, "            Enum(name: {name:?}, integer: {integer:?}),");
    }
    let mut written: HashSet<DeclId> = HashSet::default();
    let mut explicit: HashSet<DeclId> = HashSet::default();
    for &record in records {
        // A record comes after those that it contains.
        let mut stack = vec![(record, 0)];
        while let Some((id, next)) = stack.pop() {
            if written.contains(&id) {
                continue;
            }
            if let Some(member) = types.members(id).nth(next) {
                stack.push((id, next + 1));
                stack.push((types.array_parts(member.ty).0, 0));
                continue;
            }
            written.insert(id);
            if !types.is_record(id) {
                continue;
            }
            let inside = types.members(id).any(|m| explicit.contains(&types.array_parts(m.ty).0));
            if types.natural(id).is_none() || inside && types.has_hidden_alignments() {
                explicit.insert(id);
            }
            if !types.is_unnamed(id) {
                let place = Written { explicit: Some(&explicit), ..Written::default() };
                write_record(&mut text, types, id, &place, 3);
            }
        }
    }
    for (name, ty) in types.own_aliases().filter(|_| all) {
        let ty = types.display_with_keywords(ty);
        let _ = writeln!(text, "            Alias(name: {name:?}, ty: {ty:?}),");
    }
    text.push_str("        ],\n    ),\n)\n");
    text
}

/// The attributes of a record that is a member.
#[derive(Default)]
struct Written<'a> {
    name: Option<&'a str>,
    lens: Vec<Option<u64>>,
    at: Option<u64>,
    /// The records whose offsets are written.
    explicit: Option<&'a HashSet<DeclId>>,
}

/// Unnamed records are nested only to a limited depth, so that this may recurse: declarations
/// enforce the limit.
fn write_record(
    text: &mut String,
    types: &Declarations,
    id: DeclId,
    place: &Written<'_>,
    indent: usize,
) {
    let space = "    ".repeat(indent);
    let word = if types.is_union(id) { "Union" } else { "Struct" };
    let name = place.name.map_or_else(|| types.display(id), str::to_owned);
    let _ = write!(text, "{space}{word}(");
    if !name.is_empty() {
        let _ = write!(text, "name: {name:?}, ");
    }
    if !place.lens.is_empty() {
        let lens: Vec<_> = place.lens.iter().map(|len| len.unwrap_or(0)).collect();
        let _ = write!(text, "array: {lens:?}, ");
    }
    if let Some(at) = place.at {
        let _ = write!(text, "at: {at}, ");
    }
    let explicit = place.explicit.is_some_and(|explicit| explicit.contains(&id));
    let natural = types.natural(id).filter(|_| !explicit);
    let (packed, align) = natural.unwrap_or((true, Some(types.align_of(id))));
    if packed {
        text.push_str("packed: true, ");
    }
    if let Some(align) = align {
        let _ = write!(text, "align: {align}, ");
    }
    if natural.is_none() {
        let _ = write!(text, "size: {}, ", types.size_of(id).unwrap_or(0));
    }
    if types.may_alias(id) {
        text.push_str("may_alias: true, ");
    }
    text.push_str("members: [\n");
    for member in types.members(id) {
        write_member(text, types, &member, place.explicit, natural.is_none(), indent + 1);
    }
    let _ = writeln!(text, "{space}]),");
}

fn write_member(
    text: &mut String,
    types: &Declarations,
    member: &MemberLayout<'_>,
    records: Option<&HashSet<DeclId>>,
    explicit: bool,
    indent: usize,
) {
    let space = "    ".repeat(indent);
    let (element, lens) = types.array_parts(member.ty);
    let at = Some(member.offset / 8).filter(|_| explicit);
    if types.is_unnamed(element) {
        let place = Written { name: Some(member.name), lens, at, explicit: records };
        return write_record(text, types, element, &place, indent);
    }
    let (name, ty) = (member.name, types.display_with_keywords(member.ty));
    let immutable = if member.immutable { ", immutable: true" } else { "" };
    let _ = match (member.bits, at) {
        (Some(bits), Some(_)) => writeln!(
            text,
            "{space}Member(name: {name:?}, ty: {ty:?}, bits: {bits}, at_bit: {}{immutable}),",
            member.offset
        ),
        (None, Some(at)) => {
            writeln!(text, "{space}Member(name: {name:?}, ty: {ty:?}, at: {at}{immutable}),")
        }
        (Some(bits), None) if !member.immutable => {
            writeln!(text, "{space}Bits({name:?}, {ty:?}, {bits}),")
        }
        (Some(bits), None) => {
            writeln!(text, "{space}Member(name: {name:?}, ty: {ty:?}, bits: {bits}{immutable}),")
        }
        (None, None) if member.base => writeln!(text, "{space}Base({ty:?}),"),
        (None, None) if member.immutable => {
            writeln!(text, "{space}Member(name: {name:?}, ty: {ty:?}{immutable}),")
        }
        (None, None) => writeln!(text, "{space}Field({name:?}, {ty:?}),"),
    };
}
