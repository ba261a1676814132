//! Changes attachments and named metadata in a module's text, and adds nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::attachments::{Attachments, attachments};
use super::span::named_span;
use crate::{Edits, Module, TextError, TextErrorKind};
use tbaa::{Graph, NodeId};
use tbaa::{parts::table::HashMap, parts::table::IndexMap, text::write_operands};

/// Changes the metadata attachments of instructions in a module's text.
///
/// Other text stays, with its spaces and comments. If several instructions share a line, and one of
/// them gains or loses an attachment at its end, the next instruction moves to a new line.
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
    /// The changes for each instruction, by its index in the module.
    changes: BTreeMap<usize, Changes<'t>>,
    /// The new contents of named lists; `None` removes a list.
    named: BTreeMap<&'t str, Option<Vec<u32>>>,
    definitions: String,
    next: Option<u32>,
}

/// The node number to attach for each kind; `None` removes the attachment.
type Changes<'t> = IndexMap<&'t str, Option<u32>>;

impl<'t> Rewriter<'t> {
    /// Returns a rewriter for a module's text.
    pub fn new(module: &'t Module<'_>) -> Self {
        let (changes, named) = (BTreeMap::new(), BTreeMap::new());
        let (definitions, next) = (String::new(), module.next_number());
        Rewriter { module, changes, named, definitions, next }
    }

    /// Attaches the node `!node` to an instruction as `!kind`, in place of any attachment of this
    /// kind. If `node` is `None`, removes the attachment.
    ///
    /// `instruction` is an index into [`Module::instructions`]. `kind` is a name without `!` that
    /// needs no escapes, such as `tbaa` or `alias.scope`. A later call for the same kind replaces
    /// an earlier one.
    ///
    /// Like LLVM's `Instruction::setMetadata`. Panics if the module has no such instruction.
    pub fn set_metadata(&mut self, instruction: usize, kind: &'t str, node: Option<u32>) {
        assert!(instruction < self.module.instructions().len(), "no instruction {instruction}");
        self.changes.entry(instruction).or_default().insert(kind, node);
    }

    /// Returns the text, such as `!7`, of the node that an instruction has as `!kind` in the
    /// module's text. Ignores changes. Like LLVM's `Instruction::getMetadata`.
    /// Panics if the module has no such instruction.
    pub fn metadata(&self, instruction: usize, kind: &str) -> Option<&'t [u8]> {
        let mut list = self.attachments(instruction)?.list.into_iter();
        self.text().get(list.find(|attached| *attached.kind == *kind.as_bytes())?.node)
    }

    /// Sets the named metadata `!name` to these nodes; `None` removes it. A later call for the same
    /// name replaces an earlier one. The name must need no escapes. Like LLVM's
    /// `Module::getOrInsertNamedMetadata` and `Module::eraseNamedMetadata`.
    pub fn set_named_metadata(&mut self, name: &'t str, nodes: Option<Vec<u32>>) {
        self.named.insert(name, nodes);
    }

    /// Returns the number that the next definition gets: one more than the largest metadata number.
    /// `None` if there is no larger 32-bit number.
    pub fn next_number(&self) -> Option<u32> {
        self.next
    }

    /// Adds `!N = body` at the end of the text, and returns N.
    ///
    /// The body is written unchanged: `!{!"int", !2, i64 0}` or `distinct !{!5}`, for example. NB:
    /// LLVM before 3.6 needs `metadata !{...}`.
    ///
    /// # Errors
    ///
    /// [`TextErrorKind::NumberOutOfRange`] if [`next_number`](Self::next_number) is `None`.
    pub fn define(&mut self, body: impl fmt::Display) -> Result<u32, TextError> {
        let text = self.text();
        let used_up = || TextError::new(text, text.len(), TextErrorKind::NumberOutOfRange);
        let number = self.next.ok_or_else(used_up)?;
        self.next = number.checked_add(1);
        self.definitions += &format!("!{number} = {body}{}", line_end(text));
        Ok(number)
    }

    /// Adds a graph's nodes, and returns their numbers. Writes a distinct node with number N as
    /// `distinct !{!N}`, without its operands. Has the same errors as [`define`](Self::define).
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

    /// Adds `!N = distinct !{!N, operands}`, and returns N. The node equals no other, as alias
    /// scopes and domains require. Has the same errors as [`define`](Self::define). Like LLVM's
    /// `MDBuilder::createAnonymousAARoot`.
    pub fn define_distinct(&mut self, operands: impl fmt::Display) -> Result<u32, TextError> {
        let number = self.next.unwrap_or_default();
        self.define(format_args!("distinct !{{!{number}, {operands}}}"))
    }

    /// Returns the text with all changes made.
    ///
    /// # Errors
    ///
    /// [`TextErrorKind::NoEnd`] if the end of a changed instruction cannot be found. But an
    /// instruction without `!tbaa` and `!tbaa.struct` that only loses attachments stays as it is.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TextError> {
        let mut edits = Edits::default();
        for (&index, changes) in &self.changes {
            let instruction = &self.module.instructions()[index];
            if let Some(found) = self.attachments(index) {
                self.attach(&found, changes, &mut edits);
                continue;
            }
            // If the instruction has no `!tbaa` or `!tbaa.struct`, skip changes that only remove.
            let fine = instruction.tag.is_none() && instruction.copy.is_none();
            if !fine || changes.values().any(Option::is_some) {
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

    /// Adds the changes of existing lists to `edits`, and returns the text of new lists. LLVM joins
    /// several lists of one name, so the first gets all nodes and the others are removed.
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
        // The search ends at the next instruction. After a function's last instruction it includes
        // the `}`, because `attachments` requires some text after the last operand.
        let next = instructions.get(index + 1).filter(|it| it.function == instruction.function);
        let function_end = || self.module.function_span(instruction.function).end + 1;
        let end = next.map_or_else(function_end, |next| next.offset as usize);
        attachments(self.text().get(..end)?, instruction.offset as usize)
    }

    fn attach(&self, found: &Attachments<'_>, changes: &Changes<'_>, edits: &mut Edits) {
        let mut at_end = false;
        for attached in &found.list {
            let kind = str::from_utf8(&attached.kind).ok();
            let Some(node) = kind.and_then(|kind| changes.get(kind)) else { continue };
            if let Some(node) = node {
                edits.replace(attached.node.clone(), format!("!{node}"));
                continue;
            }
            // Keep a comment between the comma and the attachment.
            let between = attached.comma + 1..attached.start;
            if self.text()[between.clone()].trim_ascii().is_empty() {
                edits.replace(attached.comma..attached.node.end, "");
            } else {
                edits.replace(attached.comma..between.start, "");
                edits.replace(attached.start..attached.node.end, "");
            }
            at_end |= attached.node.end == found.end;
        }
        for (kind, node) in changes {
            let is_there = found.list.iter().any(|list| *list.kind == *kind.as_bytes());
            if let (Some(node), false) = (node, is_there) {
                edits.insert(found.end, format!(", !{kind} !{node}"));
                at_end = true;
            }
        }
        // Put an instruction that follows on this line on a new line. Otherwise words could join,
        // or the reader might not find the instruction.
        if at_end && goes_on(&self.text()[found.end..]) {
            edits.insert(found.end, line_end(self.text()));
        }
    }
}

/// Returns whether the line continues with anything other than a comment or `}`.
fn goes_on(rest: &[u8]) -> bool {
    let next = rest.iter().find(|&&byte| !matches!(byte, b' ' | b'\t'));
    !matches!(next, None | Some(b'\n' | b'\r' | b';' | b'}'))
}

/// Returns the line end of the text's first line.
fn line_end(text: &[u8]) -> &'static str {
    match memchr::memchr(b'\n', text) {
        Some(at) if at > 0 && text[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}
