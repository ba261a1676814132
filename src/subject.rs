//! What is being judged, and where it stands.

use std::ops::Range;

use crate::diagnostic::Label;
use crate::graph::{Graph, NodeId, Operand, Shape, TagId};
use crate::text::{Instruction, Module, attachment_span, line_span, node_span, write_operands};

/// A graph, and the module and text that it was read from, if it was.
pub(crate) struct Subject<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) module: Option<&'a Module>,
    pub(crate) text: &'a [u8],
    functions: Vec<&'a [u8]>,
}

impl<'a> Subject<'a> {
    pub(crate) fn of_graph(graph: &'a Graph) -> Self {
        Subject { graph, module: None, text: b"", functions: Vec::new() }
    }

    pub(crate) fn of_module(module: &'a Module, text: &'a [u8]) -> Self {
        let functions = module.functions().collect();
        Subject { graph: module.graph(), module: Some(module), text, functions }
    }

    /// What a node is called: `!8`, an inline one's operands, a type's name
    /// where there is no text, or else its place in the graph.
    pub(crate) fn name(&self, node: NodeId) -> String {
        if let Some(number) = self.module.and_then(|module| module.number_of(node)) {
            return format!("!{number}");
        }
        // One level of an inline node says enough.
        let inner = |node| match self.module.and_then(|module| module.number_of(node)) {
            Some(number) => format!("!{number}"),
            None => self.quoted_name(node).unwrap_or_else(|| "!{...}".to_owned()),
        };
        match self.quoted_name(node) {
            Some(name) if self.module.is_none() => name,
            _ => format!("!{{{}}}", write_operands(self.graph, node, inner)),
        }
    }

    /// A type's number and name: `!7 "int"`.
    pub(crate) fn type_name(&self, node: NodeId) -> String {
        let name = self.quoted_name(node);
        match (self.module.and_then(|module| module.number_of(node)), name) {
            (Some(number), Some(name)) => format!("!{number} {name}"),
            (None, Some(name)) => name,
            _ => self.name(node),
        }
    }

    /// A type's name in quotes; `None` if it has none.
    pub(crate) fn quoted_name(&self, node: NodeId) -> Option<String> {
        match self.graph.operand(node, Shape::of(self.graph, node).name())? {
            Operand::String(name) => Some(format!("\"{}\"", String::from_utf8_lossy(name))),
            _ => None,
        }
    }

    /// What a tag is called; where there is no text, by its types.
    pub(crate) fn tag_name(&self, tag: TagId) -> String {
        let node = self.graph.tag_node(tag);
        match (self.module, self.graph.tag(tag)) {
            (None, Ok(tag)) => {
                let [base, access] = [tag.base, tag.access].map(|ty| self.type_name(ty.node()));
                format!("({base}, {access}, {})", tag.offset)
            }
            _ => self.name(node),
        }
    }

    /// What a tag says, in short: `"int"` as a whole, or `"int" at 4 of "S"`.
    pub(crate) fn tag_meaning(&self, tag: TagId) -> String {
        let Ok(tag) = self.graph.tag(tag) else { return "a malformed tag".to_owned() };
        let name = |node| self.quoted_name(node).unwrap_or_else(|| self.name(node));
        let (base, access) = (tag.base.node(), tag.access.node());
        if base == access {
            name(base)
        } else {
            format!("{} at {} of {}", name(access), tag.offset, name(base))
        }
    }

    pub(crate) fn node_label(&self, node: NodeId, text: impl Into<String>) -> Option<Label> {
        let span = node_span(self.text, self.module?.offset_of(node)?)?.whole;
        Some(Label { span, text: text.into() })
    }

    /// Where operands of a node stand; empty without a text.
    pub(crate) fn operand_spans(&self, node: NodeId) -> Vec<Range<usize>> {
        let span = || node_span(self.text, self.module?.offset_of(node)?);
        span().map_or_else(Vec::new, |span| span.operands)
    }

    /// An operand of a node, or the node where the operand is missing.
    pub(crate) fn operand_label(
        &self,
        node: NodeId,
        operand: usize,
        text: impl Into<String>,
    ) -> Option<Label> {
        let parts = node_span(self.text, self.module?.offset_of(node)?)?;
        let span = parts.operands.get(operand).cloned().unwrap_or(parts.whole);
        Some(Label { span, text: text.into() })
    }

    /// An instruction's attachment, or its line.
    pub(crate) fn attachment_label(
        &self,
        instruction: &Instruction,
        text: impl Into<String>,
    ) -> Label {
        let offset = instruction.offset as usize;
        let kind: &[u8] = if instruction.tag.is_some() { b"!tbaa" } else { b"!tbaa.struct" };
        let span = attachment_span(self.text, offset, kind)
            .unwrap_or_else(|| line_span(self.text, offset));
        Label { span, text: text.into() }
    }

    /// The name of the function that an instruction stands in: `@f`.
    pub(crate) fn function_of(&self, instruction: &Instruction) -> String {
        let name = self.functions.get(instruction.function as usize).copied().unwrap_or(b"?");
        format!("@{}", String::from_utf8_lossy(name))
    }
}
