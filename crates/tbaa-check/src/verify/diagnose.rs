//! Finds everything that is ill formed in a module, with positions in the text.

use std::cell::OnceCell;

use super::faults::{self, Fault};
use super::{Rule, Verifier, tags};
use crate::{Code, Diagnostic, FindingLimits, Findings, Label, Subject, repair};
use tbaa::parts::TagParts;
use tbaa::parts::table::{HashMap, IndexMap};
use tbaa::{AliasRule, CopyId, Format, Graph, NodeId, Oracle, TagId};
use tbaa_ir::{Instruction, Module, Opcode, Unreadable, WhyUnreadable};
use tbaa_lex::source::shortened;

/// The [`AliasRule`] by which tags are checked, and the limits on stored findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    rule: AliasRule,
    limits: FindingLimits,
}

impl From<AliasRule> for Options {
    fn from(rule: AliasRule) -> Options {
        Options { rule, limits: FindingLimits::default() }
    }
}

impl Options {
    /// Sets the limits on stored findings.
    #[must_use]
    pub fn limits(self, limits: FindingLimits) -> Options {
        Options { limits, ..self }
    }
}

/// Reports what is ill formed in a module, in text order, within the limits of `options`.
///
/// Under each [`AliasRule`], reports what LLVM cannot read in metadata nodes. `Llvm` also reports
/// all TBAA metadata that LLVM 22's verifier rejects, and faults of `tbaa.struct` nodes: the first
/// [`Rule`] that a tag breaks, and at most 16 faults of a node. `Union` and `UnionStrict` report
/// tags whose path leads to no field: these alias rules always answer `MayAlias` for such tags.
///
/// ```
/// use tbaa::AliasRule;
/// use tbaa_check::verify;
///
/// let text = br#"
/// define void @f(ptr %p) {
///   store i32 1, ptr %p, !tbaa !0
///   ret void
/// }
/// !0 = !{!1, !1, i64 4}
/// !1 = !{!"int", !2, i64 0}
/// !2 = !{!"root"}
/// "#;
/// let module = tbaa_ir::read(text)?;
/// let found = verify::verify(&module, AliasRule::Llvm);
/// let first = found.iter().next().unwrap();
/// assert_eq!(first.code.to_string(), "TBAA011");
/// assert_eq!(&text[first.primary.as_ref().unwrap().span.clone()], b"i64 4");
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
pub fn verify(module: &Module<'_>, options: impl Into<Options>) -> Findings {
    let options = options.into();
    repair::run(module, |subject| run(subject, options))
}

/// Like [`verify`], for a graph that was not read from a text.
pub fn verify_graph(graph: &Graph, options: impl Into<Options>) -> Findings {
    run(&Subject::of_graph(graph), options.into())
}

fn run(subject: &Subject, Options { rule, limits }: Options) -> Findings {
    let uses = Uses::of(subject);
    let mut found = Findings::new(limits);
    unreadable(subject, &mut found);
    if rule == AliasRule::Llvm {
        instructions(subject, &mut found);
        errno(subject, &mut found);
        by_llvm(subject, &uses, &mut found);
        for copy in subject.graph.copies() {
            copy_faults(subject, copy, &mut found);
        }
    } else {
        by_union(subject, &uses, rule, &mut found);
    }
    found
}

/// Finds the nodes of the text that LLVM cannot read. LLVM rejects a module with such a node.
fn unreadable(subject: &Subject, found: &mut Findings) {
    let Some(module) = subject.module else { return };
    module.unreadable(|Unreadable { span, why }| {
        let operand = shortened(&module.text()[span.clone()]);
        let (message, help) = match why {
            WhyUnreadable::Untyped => (
                format!("{operand} has no type, and LLVM reads no integer without one"),
                format!("write `i64 {operand}`"),
            ),
            WhyUnreadable::NoOperand => {
                let help = "write a type and a value such as `i64 8`, a string such as `!\"int\"`, \
                            a node such as `!4`, or `null`";
                (format!("LLVM cannot read the operand {operand}"), help.to_owned())
            }
            WhyUnreadable::Undefined => (
                format!("{operand} names what the text does not define"),
                "define it, or name what is defined".to_owned(),
            ),
            WhyUnreadable::Node(error) => (
                format!("LLVM cannot read this node: {error}"),
                "write a node as `!{...}`, with a comma between two operands".to_owned(),
            ),
        };
        if let Some(found) = report(found, Rule::Unreadable, || message) {
            found.primary = Some(Label { span, text: String::new() });
            found.advise(help);
        }
    });
}

struct Uses<'a> {
    /// For each tag, the first instruction with the tag, and the number of instructions with it.
    attached: HashMap<TagId, (&'a Instruction, usize)>,
    errno: &'a [TagId],
}

impl<'a> Uses<'a> {
    fn of(subject: &Subject<'a>) -> Self {
        let mut attached = HashMap::default();
        let Some(module) = subject.module else { return Uses { attached, errno: &[] } };
        for instruction in module.instructions() {
            if let Some(tag) = instruction.tag {
                attached.entry(tag).or_insert((instruction, 0)).1 += 1;
            }
        }
        Uses { attached, errno: module.errno_tags() }
    }

    /// Adds the uses of a tag to a finding: a label at the first instruction with it, or a note.
    fn show(&self, subject: &Subject, tag: TagId, found: &mut Diagnostic) {
        match self.attached.get(&tag) {
            Some((first, count)) => {
                let more = match count - 1 {
                    0 => String::new(),
                    1 => " and to 1 more instruction".to_owned(),
                    more => format!(" and to {more} more instructions"),
                };
                let text = format!("attached here{more}, in {}", subject.function_of(first));
                found.secondary.push(subject.tag_label(first, text));
            }
            None if self.errno.contains(&tag) => found.note("!llvm.errno.tbaa lists the tag"),
            None if subject.module.is_some_and(|module| !module.instructions().is_empty()) => {
                found.note("no instruction has this tag, so LLVM does not look at it");
            }
            None => {}
        }
    }
}

/// Reports tags on instructions that may not have one. These include `invoke` and `callbr`, whose
/// opcode here is `Call`.
fn instructions(subject: &Subject, found: &mut Findings) {
    let Some(module) = subject.module else { return };
    for instruction in module.instructions() {
        let takes_tag = instruction.opcode != Opcode::Other && !module.ends_block(instruction);
        if instruction.tag.is_none() || takes_tag {
            continue;
        }
        let message = "this instruction may not have a tag".to_owned();
        let Some(found) = report(found, Rule::Instruction, || message) else { continue };
        found.primary = Some(subject.tag_label(instruction, "this attachment"));
        found.advise(
            "remove the tag; only load, store, call, va_arg, atomicrmw and cmpxchg may have one",
        );
    }
}

/// Reports an empty list `!llvm.errno.tbaa`. LLVM joins several such lists into one.
fn errno(subject: &Subject, found: &mut Findings) {
    let module = subject.module.filter(|module| module.errno_tags().is_empty());
    let Some(span) = module.and_then(Module::empty_errno) else { return };
    let message = || "!llvm.errno.tbaa lists no tag".to_owned();
    let Some(diagnostic) = report(found, Rule::ErrnoEmpty, message) else { return };
    diagnostic.primary = Some(Label { span, text: String::new() });
    diagnostic.notes.extend(llvm_note(Rule::ErrnoEmpty));
    diagnostic.advise(
        "list the tag of an access to `int`, or remove the list: then every access may be to errno",
    );
}

fn by_llvm(subject: &Subject, uses: &Uses<'_>, found: &mut Findings) {
    let graph = subject.graph;
    // Created on first use, because creating this oracle checks all tags.
    let union = OnceCell::new();
    let is_path_by_union =
        |tag| union.get_or_init(|| Oracle::new(graph, AliasRule::Union)).is_well_formed(tag);
    let mut verifier = Verifier::new(graph);
    // Each type that makes LLVM reject tags, with the first such tag and the number of such tags.
    let mut ill_types: IndexMap<(NodeId, Format), (TagId, usize)> = IndexMap::default();
    // Whether a type breaks a rule. Cached, because the time to check a type is linear in its size.
    let mut is_ill: HashMap<(NodeId, Format), bool> = HashMap::default();
    for tag in graph.tags() {
        let Err(violation) = verifier.check(tag) else { continue };
        let format = TagParts::format(graph, graph.tag_node(tag));
        let ty = (violation.node, format);
        let has_faults = || !faults::of_type(graph, violation.node, format).is_empty();
        if violation.node != graph.tag_node(tag) && *is_ill.entry(ty).or_insert_with(has_faults) {
            ill_types.entry(ty).or_insert((tag, 0)).1 += 1;
            continue;
        }
        if !found.admits(Code::Rule(violation.rule)) {
            continue;
        }
        let mut diagnostic =
            tags::diagnostic(subject, is_path_by_union, tag, violation.rule, violation.node);
        uses.show(subject, tag, &mut diagnostic);
        diagnostic.notes.extend(llvm_note(violation.rule));
        found.push(diagnostic);
    }
    for ((node, format), (tag, count)) in ill_types {
        let faults = faults::of_type(graph, node, format);
        for &fault in faults.iter().take(SHOWN) {
            let (message, help) = type_words(subject, node, format, fault);
            let Some(diagnostic) = report(found, fault.rule, || message) else { continue };
            diagnostic.primary = place(subject, node, fault);
            diagnostic.notes.extend(more(faults.len()));
            let (full, name, more) = (subject.tag_in_full(tag), subject.tag_name(tag), count - 1);
            diagnostic.notes.push(match more {
                0 => format!("tag {full} uses the type, and LLVM rejects it"),
                _ => format!("tag {name} and {more} more use the type, and LLVM rejects them"),
            });
            diagnostic.notes.extend(llvm_note(fault.rule));
            diagnostic.advise(help);
            uses.show(subject, tag, diagnostic);
        }
    }
}

fn type_words(
    subject: &Subject,
    node: NodeId,
    format: Format,
    fault: Fault,
) -> (String, &'static str) {
    let name = subject.type_name(node);
    let count = subject.graph.operand_count(node);
    let (kind, form) = match format {
        Format::Old => {
            ("an old-format", "write the name, then a type and an offset for each field")
        }
        Format::New => (
            "a size-aware",
            "write parent, size and name, then a type, an offset and a size for each field",
        ),
    };
    match fault.rule {
        Rule::TypeNotScalar => (
            format!("type {name} has two operands and is no scalar under a root"),
            "a scalar is `!{!\"name\", parent, i64 0}`, and its parents are scalars up to a root",
        ),
        Rule::TypeOperandCount => (
            format!("type {name} has {count} operands, one too few or too many for {kind} type"),
            form,
        ),
        Rule::TypeSize => (
            format!("the size of size-aware type {name} is no integer constant"),
            "write the bytes that the type occupies, such as `i64 8`",
        ),
        Rule::TypeName => (
            format!("the name of old-format type {name} is no string"),
            "write the name first: `!{!\"S\", ...}`; tags of old-format access types cannot \
             go through size-aware types",
        ),
        Rule::FieldType => (
            format!("the type of a field of {name} is no metadata node"),
            "name a type node, such as `!4`",
        ),
        Rule::FieldOffset => (
            format!("the offset of a field of {name} is no integer constant"),
            "write the bytes from the start of the type, such as `i64 8`",
        ),
        Rule::FieldOffsetWidth => (
            format!("the offsets of the fields of {name} are of different widths"),
            "write all offsets as `i64`",
        ),
        Rule::FieldOrder => (
            format!("a field of {name} starts before the field that precedes it"),
            "list the fields in order of their offsets",
        ),
        _ => (
            format!("the size of a field of {name} is no integer constant"),
            "write the bytes that the field occupies, such as `i64 8`",
        ),
    }
}

fn by_union(subject: &Subject, uses: &Uses<'_>, rule: AliasRule, found: &mut Findings) {
    let oracle = Oracle::new(subject.graph, rule);
    let mut verifier = Verifier::new(subject.graph);
    let mut steps = oracle.steps_to_compare();
    for tag in subject.graph.tags() {
        let is_well_formed = oracle.is_well_formed_within(tag, &mut steps);
        if is_well_formed.is_none() {
            found.stop(Code::Rule(Rule::NoUnionPath));
        }
        if is_well_formed != Some(false) {
            continue;
        }
        let message = || {
            let name = subject.tag_in_full(tag);
            format!("tag {name} leads to no field, so rule {rule} answers MayAlias to every query")
        };
        let Some(diagnostic) = report(found, Rule::NoUnionPath, message) else { continue };
        diagnostic.primary = subject.node_label(subject.graph.tag_node(tag), "");
        diagnostic.notes.push(match verifier.check(tag) {
            Ok(()) => "rule llvm accepts the tag".to_owned(),
            Err(violation) => format!("rule llvm rejects it too: {}", violation.rule),
        });
        diagnostic.advise(
            "use the offset of a field that has the access type; all types on the way must be well \
             formed and of one format, and no type may contain itself",
        );
        uses.show(subject, tag, diagnostic);
    }
}

fn copy_faults(subject: &Subject, copy: CopyId, found: &mut Findings) {
    let (node, faults) = (copy.node(), faults::of_copy(subject.graph, copy));
    if faults.is_empty() {
        return;
    }
    let (name, count) = (subject.name(node), subject.graph.operand_count(node));
    for &fault in faults.iter().take(SHOWN) {
        let (message, help) = match fault.rule {
            Rule::CopyOperandCount => (
                format!("struct copy {name} has {count} operands, and an entry has three"),
                "write an offset, a size and a tag for each entry",
            ),
            Rule::CopyOffset => (
                format!("the offset of an entry of struct copy {name} is no integer constant"),
                "write the bytes from the start of the copied memory, such as `i64 8`",
            ),
            Rule::CopySize => (
                format!("the size of an entry of struct copy {name} is no integer constant"),
                "write the bytes that the entry covers, such as `i64 4`",
            ),
            Rule::CopyTag => (
                format!("an entry of struct copy {name} has no tag"),
                "name the tag of an access to the copied field",
            ),
            _ => (
                format!("entries of struct copy {name} cover the same bytes"),
                "give fields that overlap one entry with a `char` tag",
            ),
        };
        let Some(diagnostic) = report(found, fault.rule, || message) else { continue };
        diagnostic.primary = place(subject, node, fault);
        diagnostic.notes.extend(more(faults.len()));
        diagnostic.explain("LLVM 22 does not check this, but its passes rely on it", help);
    }
}

/// The largest number of faults of one node that are reported. It takes time linear in the node to
/// find the position of an operand, and a node may have millions of operands.
const SHOWN: usize = 16;

fn place(subject: &Subject, node: NodeId, fault: Fault) -> Option<Label> {
    match fault.operand {
        Some(operand) => subject.operand_label(node, operand, ""),
        None => subject.node_label(node, ""),
    }
}

fn more(faults: usize) -> Option<String> {
    let more = faults.checked_sub(SHOWN + 1)? + 1;
    Some(format!("{more} more faults of this node are not reported"))
}

/// Adds a finding for the caller to fill in; `None` if the limit is reached.
fn report(
    found: &mut Findings,
    rule: Rule,
    message: impl FnOnce() -> String,
) -> Option<&mut Diagnostic> {
    found.add((Code::Rule(rule), rule.level()), message)
}

fn llvm_note(rule: Rule) -> Option<String> {
    let message = rule.llvm_message();
    (!message.is_empty()).then(|| format!("LLVM says: {message}"))
}
