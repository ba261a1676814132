//! Writes the messages about a tag that breaks a rule.

use super::Rule;
use crate::{Code, Diagnostic, Label, Subject};
use tbaa::parts::encoding::{TAG_ACCESS, TAG_BASE, TAG_OFFSET, TAG_SIZE};
use tbaa::parts::table::HashSet;
use tbaa::parts::{Shape, TagParts};
use tbaa::{Format, NodeId, Operand, TagId, TypeId};

/// The largest number of types of an access path, or of fields, that a message lists.
const SHOWN: usize = 6;

/// The largest number of ancestors of a type that are examined.
const STEPS: usize = 1000;

#[derive(Default)]
struct Words {
    message: String,
    /// The index of the tag's operand at which `label` stands; `None` for the tag as a whole.
    operand: Option<usize>,
    label: String,
    other: Option<Label>,
    note: Option<String>,
    help: String,
}

impl Words {
    /// Returns words with a label at an operand of the tag, and empty texts otherwise.
    fn at(operand: usize, label: &str) -> Words {
        Words { operand: Some(operand), label: label.into(), ..Words::default() }
    }
}

/// Returns the diagnostic for a tag whose first broken rule is `rule`. `at` is the node that breaks
/// the rule: for [`Rule::NoFieldAtOffset`], the type at which the path ended.
pub(super) fn diagnostic(
    subject: &Subject,
    is_path_by_union: impl FnOnce(TagId) -> bool,
    tag: TagId,
    rule: Rule,
    at: NodeId,
) -> Diagnostic {
    let node = subject.graph.tag_node(tag);
    let (name, format) = (subject.tag_name(tag), TagParts::format(subject.graph, node));
    let rejected = Rejected { subject, node, name, format };
    let words = rejected.operands(rule).or_else(|| rejected.on_path(rule, at));
    let message = || format!("tag {}: {rule}", rejected.name);
    let mut words = words.unwrap_or_else(|| Words { message: message(), ..Words::default() });
    if matches!(rule, Rule::OffsetAtAccess | Rule::AccessNotOnPath | Rule::NoFieldAtOffset)
        && is_path_by_union(tag)
    {
        let text = "LLVM follows only the last field at an offset, and it does not know elements of \
                    arrays; the union rules know both, and accept this tag";
        words.help = format!(
            "`tbaa lower` makes tags of these that LLVM accepts and answers soundly; or list a union's \
             member last, or tag the access as the union itself; leave an array's index out of the \
             offset; {}",
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
    if subject.module.is_some() && subject.graph.tag(tag).is_ok() {
        found.note(format!("the tag means {}", subject.tag_meaning(tag)));
    }
    found.notes.extend(words.note.iter().flat_map(|note| note.split('\n')).map(str::to_owned));
    found.help = Some(words.help).filter(|help| !help.is_empty());
    found
}

struct Rejected<'s> {
    subject: &'s Subject<'s>,
    node: NodeId,
    name: String,
    format: Format,
}

impl Rejected<'_> {
    fn ty(&self, operand: usize) -> Option<NodeId> {
        self.subject.graph.operand(self.node, operand).and_then(Operand::node)
    }

    /// Returns the message about a rule of the tag's own operands; `None` for other rules.
    fn operands(&self, rule: Rule) -> Option<Words> {
        let (name, flag) = (&self.name, TagParts::immutable_position(self.format));
        let (message, help, words) = match rule {
            Rule::TagEmpty => (
                format!("tag {name} has no operands"),
                "write the base type, the access type and the offset: `!{!1, !2, i64 0}`",
                Words::default(),
            ),
            Rule::TagNotStructPath => {
                let message = format!("{name} is used as a tag, but it is a type or another node");
                let help = format!(
                    "use a tag: `!{{{name}, {name}, i64 0}}` is an access to all of a type"
                );
                return Some(Words { message, help, ..Words::default() });
            }
            Rule::TagOperandCount => {
                let (kind, fits) = match self.format {
                    Format::Old => ("an old-format", "3, and a fourth for the immutability flag"),
                    Format::New => ("a size-aware", "4, and a fifth for the immutability flag"),
                };
                let count = self.subject.graph.operand_count(self.node);
                (
                    format!("tag {name} has {count} operands, but {kind} tag has {fits}"),
                    "the access type decides the format: it is size-aware if its first operand is its \
                     parent node",
                    Words::default(),
                )
            }
            Rule::TagSize => (
                format!("the size of size-aware tag {name} is no integer constant"),
                "write the bytes accessed, such as `i64 4`, or `i64 -1` for unknown",
                Words::at(TAG_SIZE, "the size in bytes"),
            ),
            Rule::TagImmutable | Rule::TagImmutableRange => (
                format!("the immutability flag of tag {name} is neither 0 nor 1"),
                "write `i64 1` for memory that never changes, or leave the operand out",
                Words::at(flag, "the flag"),
            ),
            Rule::TagTypes => (
                format!("the access type of tag {name} is no metadata node"),
                "a tag is the base type, the access type and the offset; a size-aware type node \
                 in a tag's place looks like this too",
                Words::at(TAG_ACCESS, "the access type"),
            ),
            Rule::AccessNotScalar => {
                return Some(not_scalar(self.subject, name, self.ty(TAG_ACCESS)));
            }
            Rule::TagOffset => (
                format!("the offset of tag {name} is no integer constant"),
                "write the bytes from the start of the base type, such as `i64 8`",
                Words::at(TAG_OFFSET, "the offset"),
            ),
            _ => return None,
        };
        Some(Words { message, help: help.into(), ..words })
    }

    /// Returns the message about a rule of the tag's path; `None` for other rules.
    fn on_path(&self, rule: Rule, at: NodeId) -> Option<Words> {
        let Rejected { subject, ref name, .. } = *self;
        let of = |node: Option<NodeId>| {
            node.map_or_else(|| "none".to_owned(), |node| subject.type_name(node))
        };
        let [base, access] = [TAG_BASE, TAG_ACCESS].map(|at| self.ty(at));
        let is_whole = base == access;
        let (base, access) = (of(base), of(access));
        let (message, help, words) = match rule {
            Rule::PathCycle => (
                format!("the access path of tag {name} reaches one type twice"),
                "a type's fields and its parent must not contain the type itself".into(),
                Words::default(),
            ),
            Rule::OffsetWidth => (
                format!(
                    "the offset of tag {name} is not as wide as the offsets in the types on its path"
                ),
                "write all offsets as `i64`".into(),
                Words::at(TAG_OFFSET, "the tag's offset"),
            ),
            Rule::OffsetAtAccess if is_whole => (
                format!("tag {name} accesses all of {access}, but its offset is not 0"),
                "write the offset 0, or make the struct whose field is accessed the base type"
                    .into(),
                Words::at(TAG_OFFSET, "not 0"),
            ),
            Rule::OffsetAtAccess => (
                format!(
                    "tag {name} accesses {access}, but its offset ends inside a field of {base}"
                ),
                self.starts(),
                Words::at(TAG_OFFSET, "not the start of a field of that type"),
            ),
            Rule::AccessNotOnPath => (
                format!(
                    "the access path of tag {name} from {base} does not reach its access type {access}"
                ),
                self.starts(),
                Words::at(TAG_ACCESS, "not on the path"),
            ),
            Rule::NoFieldAtOffset => (
                format!("the offset of tag {name} lies before the first field of {}", of(Some(at))),
                self.starts(),
                Words {
                    other: subject.node_label(at, "no field here starts as early"),
                    ..Words::at(TAG_OFFSET, "the tag's offset")
                },
            ),
            _ => return None,
        };
        let apart = self.roots().filter(|_| rule == Rule::AccessNotOnPath);
        let note = Some(self.path() + &apart.unwrap_or_default());
        Some(Words { message, help, note, ..words })
    }

    /// Returns a note if the base type and the access type have different roots.
    fn roots(&self) -> Option<String> {
        let graph = self.subject.graph;
        let root = |ty: Option<NodeId>| graph.root_of(graph.type_of(ty?)?);
        let (base, access) = (root(self.ty(TAG_BASE))?, root(self.ty(TAG_ACCESS))?);
        let [a, b] = [base, access].map(|root| self.subject.type_name(root.node()));
        (base != access).then(|| format!("; they stand under different roots, {a} and {b}"))
    }

    /// Returns the access path as text: each type with the offset that remains there.
    fn path(&self) -> String {
        let graph = self.subject.graph;
        let Some(mut next) = self.ty(TAG_BASE) else { return String::new() };
        let offset = graph.operand(self.node, TAG_OFFSET).and_then(Operand::int);
        let mut offset = offset.map_or(0, |int| int.value);
        let mut text = String::from("the path is ");
        for step in 0..SHOWN {
            let arrow = if step > 0 { ", then " } else { "" };
            text += &format!("{arrow}{} at {offset}", self.subject.type_name(next));
            let shape = Shape { format: self.format, len: graph.operand_count(next) };
            match shape.step(graph, next, &mut offset) {
                Some(ty) => next = ty,
                None => return text,
            }
        }
        text + ", and on"
    }

    /// Returns a text with the offsets at which the base type has fields of the access type.
    fn starts(&self) -> String {
        let graph = self.subject.graph;
        let types = self.ty(TAG_BASE).zip(self.ty(TAG_ACCESS));
        let Some((base, access)) = types else { return String::new() };
        let shape = Shape { format: self.format, len: graph.operand_count(base) };
        let start = |at| {
            (graph.operand(base, at)?.node()? == access).then_some(())?;
            Some(graph.operand(base, shape.offset(at))?.int()?.value.to_string())
        };
        let mut starts: Vec<_> = shape.fields().filter_map(start).take(SHOWN).collect();
        starts.dedup();
        let [base, access] = [base, access].map(|ty| self.subject.type_name(ty));
        match &starts[..] {
            [] => format!(
                "{base} has no field of type {access} itself; name the type that has it, or the field's own type"
            ),
            [one] => format!("a field of type {access} starts at {one} in {base}"),
            many => format!("fields of type {access} start at {} in {base}", many.join(", ")),
        }
    }
}

fn not_scalar(subject: &Subject, name: &str, access: Option<NodeId>) -> Words {
    let message = |what: &str| format!("tag {name} accesses {what}, which is no scalar type");
    let Some(access) = access else {
        return Words { message: message("nothing"), ..Words::at(TAG_ACCESS, "") };
    };
    let (at, why) = first_not_scalar(subject, access);
    // If the text attaches type !N as a tag, `tbaa_ir` makes a tag that accesses all of !N. That
    // tag is also called !N in messages.
    let attached = subject.module.is_some() && name == subject.name(access);
    Words {
        message: if attached {
            format!("{} is used as a tag, but it is a type", subject.type_name(access))
        } else {
            message(&subject.type_name(access))
        },
        operand: if attached { None } else { Some(TAG_ACCESS) },
        label: if at == access { why.into() } else { "the access type".into() },
        other: (at != access).then(|| subject.node_label(at, why)).flatten(),
        note: attached.then(|| "LLVM reads a type that is used as a tag as an access to all of it; only a scalar may be accessed so".into()),
        help: "tag the field that is accessed: `!{struct type, scalar type of the field, i64 its offset}`".into(),
    }
}

/// Finds the first of `access` and its ancestors that keeps `access` from being a scalar, and why.
fn first_not_scalar(subject: &Subject, access: NodeId) -> (NodeId, &'static str) {
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
            let has_name = graph.ty(TypeId::of_node(next)).name().is_some();
            let why = match shape.format {
                Format::New => "this type is size-aware, but the tag is not",
                Format::Old if shape.fields().len() > 1 => "this is a struct type",
                Format::Old if !has_name => "its name is no string",
                Format::Old if shape.parent(graph, next).is_none() => "its parent is no node",
                Format::Old => "a scalar's offset is 0",
            };
            return (next, why);
        }
        match shape.parent(graph, next) {
            Some(parent) => next = parent,
            None => return (next, "its parent is no node"),
        }
    }
    (access, "a type far above it is no scalar")
}
