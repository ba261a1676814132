//! A module's text with other attachments, every other byte as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::attachments::{Attachments, attachments};
use super::edits::Edits;
use super::error::{TextError, TextErrorKind};
use super::module::Module;
use super::span::named_span;
use tbaa::parts::table::HashMap;
use tbaa::text::write_operands;
use tbaa::{Graph, NodeId};

/// Changes what is attached to a module's instructions, in its text.
///
/// The text is written once from front to back, whatever is changed; what is
/// not changed stays as it is to the byte: spaces, comments, line ends. Only
/// where an attachment is taken from or added to an instruction that another
/// follows on the same line, that other gets a line of its own.
///
/// ```
/// use tbaa_ir::{Rewriter, read};
///
/// let text = b"\
/// define i32 @f(ptr %p, ptr %q) {
///   store i32 0, ptr %p, !tbaa !0, !nontemporal !3
///   %v = load i32, ptr %q, align 4 ; no tag
///   ret i32 %v
/// }
/// !0 = !{!1, !1, i64 0}
/// !1 = !{!\"int\", !2, i64 0}
/// !2 = !{!\"my language\"}
/// !3 = !{i32 1}
/// ";
/// let module = read(text)?;
/// let mut rewriter = Rewriter::new(&module);
/// rewriter.set_metadata(0, "tbaa", None);
/// let domain = rewriter.define_distinct("!\"my domain\"")?;
/// let scope = rewriter.define_distinct(format_args!("!{domain}"))?;
/// let list = rewriter.define(format_args!("!{{!{scope}}}"))?;
/// rewriter.set_metadata(1, "noalias", Some(list));
/// let new = String::from_utf8(rewriter.to_bytes()?).unwrap();
/// assert!(new.contains("  store i32 0, ptr %p, !nontemporal !3\n"));
/// assert!(new.contains("  %v = load i32, ptr %q, align 4, !noalias !6 ; no tag\n"));
/// assert!(new.ends_with("!5 = distinct !{!5, !4}\n!6 = !{!5}\n"));
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rewriter<'t> {
    module: &'t Module<'t>,
    /// What becomes of instructions, by their index in the module.
    changes: BTreeMap<usize, Vec<Change<'t>>>,
    /// What becomes of named lists.
    named: BTreeMap<&'t str, Option<Vec<u32>>>,
    definitions: String,
    next: Option<u32>,
}

#[derive(Clone, Debug)]
struct Change<'t> {
    kind: &'t str,
    /// The number of the node to attach.
    node: Option<u32>,
}

impl<'t> Rewriter<'t> {
    /// Makes a rewriter of a module's text.
    #[must_use]
    pub fn new(module: &'t Module<'_>) -> Self {
        Rewriter {
            module,
            changes: BTreeMap::new(),
            named: BTreeMap::new(),
            definitions: String::new(),
            next: module.next_number(),
        }
    }

    /// Attaches the node `!node` to an instruction as `!kind`, in place of what
    /// is attached to it as that; with `None`, takes that off if it is there.
    ///
    /// `instruction` is an index into [`Module::instructions`], and `kind` a
    /// name without its `!`, such as `tbaa` or `alias.scope`, that needs no
    /// escapes. A later call stands for an earlier one of the same kind.
    ///
    /// LLVM: `Instruction::setMetadata`.
    ///
    /// # Panics
    ///
    /// If the module has no such instruction.
    pub fn set_metadata(&mut self, instruction: usize, kind: &'t str, node: Option<u32>) {
        assert!(instruction < self.module.instructions().len(), "no instruction {instruction}");
        let changes = self.changes.entry(instruction).or_default();
        match changes.iter_mut().find(|change| change.kind == kind) {
            Some(change) => change.node = node,
            None => changes.push(Change { kind, node }),
        }
    }

    /// Returns the node that the text attaches to an instruction as `!kind`, as it
    /// is written there, such as `!7`; changes do not count.
    ///
    /// # Panics
    ///
    /// If the module has no such instruction.
    ///
    /// LLVM: `Instruction::getMetadata`.
    #[must_use]
    pub fn metadata(&self, instruction: usize, kind: &str) -> Option<&'t [u8]> {
        let mut list = self.attachments(instruction)?.list.into_iter();
        let found = list.find(|attached| *attached.kind == *kind.as_bytes())?;
        self.text().get(found.node)
    }

    /// Makes `!name` the list of these nodes, whatever it is in the text; with
    /// `None`, takes it out. A later call stands for an earlier one of the same
    /// name, which needs no escapes.
    ///
    /// LLVM: `Module::getOrInsertNamedMetadata`, `Module::eraseNamedMetadata`.
    pub fn set_named_metadata(&mut self, name: &'t str, nodes: Option<Vec<u32>>) {
        self.named.insert(name, nodes);
    }

    /// Returns the number that the next definition gets: one more than any that
    /// the text defines; `None` if there is no more.
    #[must_use]
    pub fn next_number(&self) -> Option<u32> {
        self.next
    }

    /// Adds `!N = body` to the end of the text, and returns N.
    ///
    /// The body is written as it is, such as `!{!"int", !2, i64 0}` or
    /// `distinct !{!5}`. NB: before LLVM 3.6 it is `metadata !{...}`.
    ///
    /// # Errors
    ///
    /// [`TextErrorKind::NumberOutOfRange`] if the numbers are used up.
    pub fn define(&mut self, body: impl fmt::Display) -> Result<u32, TextError> {
        let number = self.next.ok_or_else(|| {
            TextError::new(self.text(), self.text().len(), TextErrorKind::NumberOutOfRange)
        })?;
        self.next = number.checked_add(1);
        let line_end = line_end(self.text());
        self.definitions += &format!("!{number} = {body}{line_end}");
        Ok(number)
    }

    /// Adds the nodes of a graph, and returns their numbers. A distinct node refers to itself
    /// alone.
    ///
    /// # Errors
    ///
    /// As [`define`](Self::define).
    pub fn define_graph(&mut self, graph: &Graph) -> Result<HashMap<NodeId, u32>, TextError> {
        let mut numbers = HashMap::default();
        for node in graph.nodes() {
            let number = if graph.is_distinct(node) {
                let number = self.next.unwrap_or_default();
                self.define(format_args!("distinct !{{!{number}}}"))?
            } else {
                let operands = write_operands(graph, node, |node| format!("!{}", numbers[&node]));
                self.define(format_args!("!{{{operands}}}"))?
            };
            numbers.insert(node, number);
        }
        Ok(numbers)
    }

    /// Adds `!N = distinct !{!N, operands}`, and returns N: a node that no other
    /// is equal to, which is what scopes of aliases and their domains must be.
    ///
    /// # Errors
    ///
    /// As [`define`](Self::define).
    ///
    /// LLVM: `MDBuilder::createAnonymousAARoot`.
    pub fn define_distinct(&mut self, operands: impl fmt::Display) -> Result<u32, TextError> {
        let number = self.next.unwrap_or_default();
        self.define(format_args!("distinct !{{!{number}, {operands}}}"))
    }

    /// Returns the text with all changes.
    ///
    /// # Errors
    ///
    /// [`TextErrorKind::NoEnd`] where an attachment is to be added and the reader
    /// cannot tell where the instruction ends.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TextError> {
        let mut edits = Edits::default();
        for (&index, changes) in &self.changes {
            let instruction = &self.module.instructions()[index];
            if let Some(found) = self.attachments(index) {
                self.attach(&found, changes, &mut edits);
                continue;
            }
            // An instruction without attachments has none to lose.
            let fine = instruction.tag.is_none() && instruction.copy.is_none();
            if !fine || changes.iter().any(|change| change.node.is_some()) {
                let start = (instruction.offset as usize).min(self.text().len());
                return Err(TextError::new(self.text(), start, TextErrorKind::NoEnd));
            }
        }
        let mut end = self.set_named(&mut edits);
        end += &self.definitions;
        if !end.is_empty() {
            if !matches!(self.text().last(), None | Some(b'\n')) {
                edits.insert(self.text().len(), line_end(self.text()));
            }
            edits.insert(self.text().len(), end);
        }
        Ok(edits.apply(self.text()))
    }

    /// Changes the lists that the text has, and returns the others. LLVM joins
    /// several of one name: all become the first.
    fn set_named(&self, edits: &mut Edits) -> String {
        let list = |name: &str, nodes: &[u32]| {
            let nodes: Vec<_> = nodes.iter().map(|node| format!("!{node}")).collect();
            format!("!{name} = !{{{}}}", nodes.join(", "))
        };
        let mut there = BTreeSet::new();
        let offsets = self.module.named.iter().filter(|_| !self.named.is_empty());
        for (found, span) in offsets.filter_map(|&at| named_span(self.text(), at as usize)) {
            let Ok(found) = std::str::from_utf8(&found) else { continue };
            let Some((&name, nodes)) = self.named.get_key_value(found) else { continue };
            let nodes = nodes.as_ref().filter(|_| there.insert(name));
            edits.replace(span, nodes.map_or(String::new(), |nodes| list(name, nodes)));
        }
        let new = self.named.iter().filter(|(name, _)| !there.contains(*name));
        let new = new.filter_map(|(name, nodes)| Some(list(name, nodes.as_ref()?)));
        new.map(|list| list + line_end(self.text())).collect()
    }

    fn text(&self) -> &'t [u8] {
        self.module.text()
    }

    fn attachments(&self, index: usize) -> Option<Attachments<'t>> {
        let instructions = self.module.instructions();
        let instruction = &instructions[index];
        // The next one bounds the search.
        let next = instructions.get(index + 1).filter(|it| it.function == instruction.function);
        let end = match next {
            Some(next) => next.offset as usize,
            // With its `}`: something must stand after the last operand.
            None => self.module.function_span(instruction.function).end + 1,
        };
        attachments(self.text().get(..end)?, instruction.offset as usize)
    }

    /// Changes what is attached to one instruction.
    fn attach(&self, found: &Attachments<'_>, changes: &[Change<'_>], edits: &mut Edits) {
        let mut at_end = false;
        for attached in &found.list {
            let is_of = |change: &&Change<'_>| change.kind.as_bytes() == &*attached.kind;
            let Some(change) = changes.iter().find(is_of) else { continue };
            if let Some(node) = change.node {
                edits.replace(attached.node.clone(), format!("!{node}"));
                continue;
            }
            // A comment after the comma stays.
            let between = attached.comma + 1..attached.start;
            if self.text()[between.clone()].trim_ascii().is_empty() {
                edits.replace(attached.comma..attached.node.end, "");
            } else {
                edits.replace(attached.comma..between.start, "");
                edits.replace(attached.start..attached.node.end, "");
            }
            at_end |= attached.node.end == found.end;
        }
        for Change { kind, node } in changes {
            let is_there = found.list.iter().any(|it| *it.kind == *kind.as_bytes());
            if let (Some(node), false) = (node, is_there) {
                edits.insert(found.end, format!(", !{kind} !{node}"));
                at_end = true;
            }
        }
        // The reader looks for an instruction at the start of a line, or after
        // a tag; and words must not run into one another.
        if at_end && goes_on(&self.text()[found.end..]) {
            edits.insert(found.end, line_end(self.text()));
        }
    }
}

/// Returns whether something other than a comment follows on the line.
fn goes_on(rest: &[u8]) -> bool {
    let next = rest.iter().find(|&&byte| !matches!(byte, b' ' | b'\t'));
    !matches!(next, None | Some(b'\n' | b'\r' | b';' | b'}'))
}

/// Returns how the text ends its first line.
fn line_end(text: &[u8]) -> &'static str {
    match memchr::memchr(b'\n', text) {
        Some(at) if at > 0 && text[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}
