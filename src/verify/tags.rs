//! What is said of a tag that breaks a rule.

use super::Rule;
use crate::diagnostic::{Code, Diagnostic, Label};
use crate::graph::{Format, Graph, NodeId, Operand, Shape, TagId, TagParts};
use crate::oracle::Oracle;
use crate::subject::Subject;
use crate::table::HashSet;

/// Types shown of an access path.
const SHOWN: usize = 6;

/// Types that are looked at above one.
const STEPS: usize = 1000;

/// What is said of a broken rule.
#[derive(Default)]
struct Words {
    message: String,
    /// The operand of the tag at fault, and what is said under it.
    operand: Option<usize>,
    label: String,
    /// Another node that has to do with it.
    other: Option<Label>,
    note: Option<String>,
    help: String,
}

/// Says what is wrong with a tag whose first broken rule is `rule`. `at` is the
/// type at which the path ended, where it did.
pub(super) fn diagnostic(
    subject: &Subject<'_>,
    union: &Oracle<&Graph>,
    tag: TagId,
    rule: Rule,
    at: NodeId,
) -> Diagnostic {
    let graph = subject.graph;
    let node = graph.tag_node(tag);
    let name = subject.tag_name(tag);
    let format = TagParts::format(graph, node);
    let type_at = |operand| graph.operand(node, operand).and_then(Operand::node);
    let [base, access] = [0, 1].map(type_at);
    let of = |node: Option<NodeId>| node.map_or("none".to_owned(), |node| subject.type_name(node));
    let flag = TagParts::immutable_position(format);
    let mut words = match rule {
        Rule::TagEmpty => Words {
            message: format!("tag {name} has no operands"),
            help: "write the base type, the access type and the offset: `!{!1, !2, i64 0}`".into(),
            ..Words::default()
        },
        Rule::TagNotStructPath => Words {
            message: format!("{name} is a type or another node, and a tag must stand here"),
            help: format!("name a tag: `!{{{name}, {name}, i64 0}}` is an access to all of a type"),
            ..Words::default()
        },
        Rule::TagOperandCount => {
            let (kind, fits) = match format {
                Format::Old => ("an old-format", "3, and a fourth for the immutability flag"),
                Format::New => ("a size-aware", "4, and a fifth for the immutability flag"),
            };
            let count = graph.operand_count(node);
            Words {
                message: format!("tag {name} has {count} operands, and {kind} tag has {fits}"),
                help: "the access type decides on the format: with a parent node as its first \
                       operand it is size-aware"
                    .into(),
                ..Words::default()
            }
        }
        Rule::TagSize => Words {
            message: format!("the size of size-aware tag {name} is no integer constant"),
            operand: Some(flag - 1),
            label: "the size in bytes".into(),
            help: "write the bytes accessed, such as `i64 4`, or `i64 -1` for unknown".into(),
            ..Words::default()
        },
        Rule::TagImmutable | Rule::TagImmutableRange => Words {
            message: format!("the immutability flag of tag {name} is neither 0 nor 1"),
            operand: Some(flag),
            label: "the flag".into(),
            help: "write `i64 1` for memory that never changes, or leave the operand out".into(),
            ..Words::default()
        },
        Rule::TagTypes => Words {
            message: format!("the access type of tag {name} is no metadata node"),
            operand: Some(1),
            label: "the access type".into(),
            help: "a tag is the base type, the access type and the offset; a size-aware type node \
                   in a tag's place looks like this too"
                .into(),
            ..Words::default()
        },
        Rule::AccessNotScalar => not_scalar(subject, &name, base, access),
        Rule::TagOffset => Words {
            message: format!("the offset of tag {name} is no integer constant"),
            operand: Some(2),
            label: "the offset".into(),
            help: "write the bytes from the start of the base type, such as `i64 8`".into(),
            ..Words::default()
        },
        Rule::PathCycle => Words {
            message: format!("the access path of tag {name} comes to one type twice"),
            note: Some(path(subject, node, format)),
            help: "make a type's fields and parent types that do not contain it".into(),
            ..Words::default()
        },
        Rule::OffsetAtAccess => Words {
            message: format!(
                "tag {name} accesses {}, but its offset ends inside a field of {}",
                of(access),
                of(base)
            ),
            operand: Some(2),
            label: "not the start of a field of that type".into(),
            note: Some(path(subject, node, format)),
            help: starts(subject, node, format),
            ..Words::default()
        },
        Rule::OffsetWidth => Words {
            message: format!(
                "the offset of tag {name} is not as wide as the offsets in the types on its path"
            ),
            operand: Some(2),
            label: "the tag's offset".into(),
            note: Some(path(subject, node, format)),
            help: "write all offsets as `i64`".into(),
            ..Words::default()
        },
        Rule::AccessNotOnPath => {
            let roots = [base, access].map(|ty| graph.root_of(graph.type_of(ty?)?));
            let apart = match roots {
                [Some(a), Some(b)] if a != b => {
                    let [a, b] = [a, b].map(|root| subject.type_name(root.node()));
                    format!("; they stand under different roots, {a} and {b}")
                }
                _ => String::new(),
            };
            Words {
                message: format!(
                    "the access path of tag {name} from {} does not meet its access type {}",
                    of(base),
                    of(access)
                ),
                operand: Some(1),
                label: "not on the path".into(),
                note: Some(path(subject, node, format) + &apart),
                help: starts(subject, node, format),
                ..Words::default()
            }
        }
        Rule::NoFieldAtOffset => Words {
            message: format!(
                "the offset of tag {name} lies before the first field of {}",
                of(Some(at))
            ),
            operand: Some(2),
            label: "the tag's offset".into(),
            other: subject.node_label(at, "no field here starts as early"),
            note: Some(path(subject, node, format)),
            help: starts(subject, node, format),
        },
        _ => Words { message: format!("tag {name}: {rule}"), ..Words::default() },
    };
    if matches!(rule, Rule::OffsetAtAccess | Rule::AccessNotOnPath | Rule::NoFieldAtOffset)
        && union.is_well_formed(tag)
    {
        let text = "LLVM follows only the last of the fields at one offset, and knows no elements \
                    of arrays; the union rules know both, and accept this tag";
        words.help = format!(
            "list a union's member last, or tag the access as the union itself; leave an array's \
             index out of the offset; {}",
            words.help
        );
        words.note = Some(words.note.map_or(text.to_owned(), |note| format!("{note}\n{text}")));
    }
    let mut found = Diagnostic::new(Code::Rule(rule), rule.level(), words.message);
    found.primary = match words.operand {
        Some(operand) => subject.operand_label(node, operand, words.label),
        None => subject.node_label(node, words.label),
    };
    found.secondary.extend(words.other);
    found.notes.extend(words.note.iter().flat_map(|note| note.split('\n')).map(str::to_owned));
    found.help = Some(words.help).filter(|help| !help.is_empty());
    found
}

/// Says why an access type is no scalar.
fn not_scalar(
    subject: &Subject<'_>,
    name: &str,
    base: Option<NodeId>,
    access: Option<NodeId>,
) -> Words {
    let message = |what: &str| format!("tag {name} accesses {what}, which is no scalar type");
    let Some(access) = access else {
        return Words { message: message("nothing"), operand: Some(1), ..Words::default() };
    };
    let (at, why) = first_not_scalar(subject, access);
    // A type node in a tag's place reads as a tag of the type as a whole.
    let whole = base == Some(access);
    let written = subject.module.and_then(|module| module.node(module.number_of(access)?));
    let attached = whole
        && subject.module.is_some()
        && written == Some(access)
        && name == subject.name(access);
    Words {
        message: if attached {
            format!("{} is a type, and a tag must stand here", subject.type_name(access))
        } else {
            message(&subject.type_name(access))
        },
        operand: if attached { None } else { Some(1) },
        label: if at == access { why.into() } else { "the access type".into() },
        other: (at != access).then(|| subject.node_label(at, why)).flatten(),
        note: attached.then(|| "LLVM reads a type in a tag's place as an access to all of it, and that is for scalars alone".into()),
        help: "tag the field that is accessed: `!{struct type, scalar type of the field, i64 its offset}`".into(),
    }
}

/// Finds the first type from `access` up that keeps it from being a scalar.
fn first_not_scalar(subject: &Subject<'_>, access: NodeId) -> (NodeId, &'static str) {
    let graph = subject.graph;
    let (mut next, mut seen) = (access, HashSet::default());
    for _ in 0..STEPS {
        let shape = Shape::of(graph, next);
        if !seen.insert(next) {
            return (next, "its parents lead back to itself");
        }
        if shape.is_root() {
            return (next, "this is a root");
        }
        if !shape.is_scalar(graph, next) {
            return (
                next,
                match shape.format {
                    Format::New => "this type is size-aware, and the tag is not",
                    Format::Old if shape.len > 3 => "this is a struct type",
                    Format::Old if !matches!(graph.operand(next, 0), Some(Operand::String(_))) => {
                        "its name is no string"
                    }
                    Format::Old if graph.operand(next, 1).and_then(Operand::node).is_none() => {
                        "its parent is no node"
                    }
                    Format::Old => "a scalar's offset is 0",
                },
            );
        }
        match shape.parent(graph, next) {
            Some(parent) if Shape::of(graph, parent).is_root() && next != access => {
                return (next, "this is no scalar");
            }
            Some(parent) => next = parent,
            None => return (next, "its parent is no node"),
        }
    }
    (access, "a type far above it is no scalar")
}

/// Prints the access path: each type with the offset that remains there.
fn path(subject: &Subject<'_>, tag: NodeId, format: Format) -> String {
    let graph = subject.graph;
    let operand = |position| graph.operand(tag, position);
    let Some(mut next) = operand(0).and_then(Operand::node) else { return String::new() };
    let mut offset = operand(2).and_then(Operand::int).map_or(0, |int| int.value);
    let mut text = String::from("the path is ");
    for step in 0..SHOWN {
        let arrow = if step > 0 { ", then " } else { "" };
        text += &format!("{arrow}{} at {offset}", subject.type_name(next));
        let shape = Shape { format, len: graph.operand_count(next) };
        if shape.is_root() {
            return text;
        }
        let field = match shape.fields().len() {
            0 => shape.parent(graph, next).map(|parent| (parent, 0)),
            _ => shape
                .field_at(graph, next, offset)
                .and_then(|(at, start)| Some((graph.operand(next, at)?.node()?, start))),
        };
        let Some((field, start)) = field else { return text };
        (next, offset) = (field, offset.wrapping_sub(start));
    }
    text + ", and on"
}

/// Says where fields of the access type start in the base type.
fn starts(subject: &Subject<'_>, tag: NodeId, format: Format) -> String {
    let graph = subject.graph;
    let ty = |position| graph.operand(tag, position).and_then(Operand::node);
    let (Some(base), Some(access)) = (ty(0), ty(1)) else { return String::new() };
    let shape = Shape { format, len: graph.operand_count(base) };
    let fields = shape
        .fields()
        .filter(|&at| graph.operand(base, at).and_then(Operand::node) == Some(access));
    let starts: Vec<_> = fields
        .filter_map(|at| graph.operand(base, at + 1).and_then(Operand::int))
        .map(|int| int.value.to_string())
        .take(SHOWN)
        .collect();
    let (base, access) = (subject.type_name(base), subject.type_name(access));
    match &starts[..] {
        [] => format!(
            "{base} has no field of type {access} itself; name the type that has it, or the field's own type"
        ),
        [one] => format!("a field of type {access} starts at {one} in {base}"),
        many => format!("fields of type {access} start at {} in {base}", many.join(", ")),
    }
}
