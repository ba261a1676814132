//! Writes declared types as a spec.

use std::fmt::Write as _;

use crate::declare::{DeclId, Declarations, MemberLayout, Policy, Target};
use crate::table::HashSet;

/// Writes declared structs and unions, the records that they contain, and all enums, as the
/// `declare` section of a spec that has nothing else. `target` is written as the section's target.
///
/// A record is written with offsets if its attributes and members might not determine its layout.
pub fn write_declarations(
    name: &str,
    types: &Declarations,
    records: &[DeclId],
    target: &str,
    policy: Policy,
) -> String {
    write(name, types, records, target, policy, false)
}

/// Writes all declared types as a spec, from which they can be declared again: the records as in
/// [`write_declarations`], the scalars, aliases and the root. Returns `None` if the target is not a
/// preset and its data layout does not determine all its properties.
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
    let mut text = format!(
        "Spec(\n    name: {name:?},\n    declare: Declare(\n        target: {target:?},\n        policy: {policy},\n"
    );
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
    let mut writer = Writer { types, explicit: HashSet::default(), text };
    let mut written: HashSet<DeclId> = HashSet::default();
    for &record in records {
        // A record is written after the records that it contains.
        let mut stack = vec![(record, 0)];
        while let Some((id, next)) = stack.pop() {
            if written.contains(&id) {
                continue;
            }
            if let Some(member) = types.members(id).nth(next) {
                stack.extend([(id, next + 1), (types.array_parts(member.ty).0, 0)]);
                continue;
            }
            written.insert(id);
            if types.is_record(id) {
                writer.declared(id);
            }
        }
    }
    let mut text = writer.text;
    for (name, ty) in types.own_aliases().filter(|_| all) {
        let ty = types.display_with_keywords(ty);
        let _ = writeln!(text, "            Alias(name: {name:?}, ty: {ty:?}),");
    }
    text.push_str("        ],\n    ),\n)\n");
    text
}

struct Writer<'t> {
    types: &'t Declarations,
    /// The records that are written with offsets.
    explicit: HashSet<DeclId>,
    text: String,
}

impl Writer<'_> {
    /// Writes a named record. Records in `explicit` whether it needs offsets.
    fn declared(&mut self, id: DeclId) {
        let types = self.types;
        let is_explicit = |ty| self.explicit.contains(&types.array_parts(ty).0);
        let inside = types.members(id).any(|member| is_explicit(member.ty));
        if types.natural(id).is_none() || inside && types.has_hidden_alignments() {
            self.explicit.insert(id);
        }
        if !types.is_unnamed(id) {
            self.record(id, format!("name: {:?}, ", types.display(id)), 3);
        }
    }

    /// Writes a record that begins with the given attributes. This may recurse, because
    /// declarations limit the depth of unnamed records.
    fn record(&mut self, id: DeclId, mut attributes: String, indent: usize) {
        let (types, space) = (self.types, "    ".repeat(indent));
        let word = if types.is_union(id) { "Union" } else { "Struct" };
        let natural = types.natural(id).filter(|_| !self.explicit.contains(&id));
        let (packed, align) = natural.unwrap_or((true, Some(types.align_of(id))));
        if packed {
            attributes.push_str("packed: true, ");
        }
        if let Some(align) = align {
            let _ = write!(attributes, "align: {align}, ");
        }
        if natural.is_none() {
            let _ = write!(attributes, "size: {}, ", types.size_of(id).unwrap_or(0));
        }
        if types.may_alias(id) {
            attributes.push_str("may_alias: true, ");
        }
        let _ = writeln!(self.text, "{space}{word}({attributes}members: [");
        for member in types.members(id) {
            self.member(&member, natural.is_none(), indent + 1);
        }
        let _ = writeln!(self.text, "{space}]),");
    }

    fn member(&mut self, member: &MemberLayout<'_>, explicit: bool, indent: usize) {
        let &MemberLayout { name, ty, offset, bits, immutable, base, .. } = member;
        let (element, lens) = self.types.array_parts(ty);
        let at = match bits {
            _ if !explicit => String::new(),
            Some(_) => format!(", at_bit: {offset}"),
            None => format!(", at: {}", offset / 8),
        };
        if self.types.is_unnamed(element) {
            let mut attributes = Vec::new();
            attributes.extend((!name.is_empty()).then(|| format!("name: {name:?}, ")));
            attributes.extend(
                lens.first().filter(|len| len.is_none()).map(|_| "flexible: true, ".to_owned()),
            );
            let lens: Vec<_> = lens.iter().flatten().collect();
            attributes.extend((!lens.is_empty()).then(|| format!("array: {lens:?}, ")));
            attributes.extend(explicit.then(|| format!("at: {}, ", offset / 8)));
            attributes.extend(immutable.then(|| "immutable: true, ".to_owned()));
            return self.record(element, attributes.concat(), indent);
        }
        let ty = self.types.display_with_keywords(ty);
        let line = match bits {
            Some(bits) if !explicit && !immutable => format!("Bits({name:?}, {ty:?}, {bits})"),
            None if !explicit && base && !immutable => format!("Base({ty:?})"),
            None if !explicit && !immutable => format!("Field({name:?}, {ty:?})"),
            _ => {
                let bits = bits.map_or(String::new(), |bits| format!(", bits: {bits}"));
                let immutable = if immutable { ", immutable: true" } else { "" };
                let base = if base { ", base: true" } else { "" };
                format!("Member(name: {name:?}, ty: {ty:?}{bits}{at}{immutable}{base})")
            }
        };
        let _ = writeln!(self.text, "{}{line},", "    ".repeat(indent));
    }
}
