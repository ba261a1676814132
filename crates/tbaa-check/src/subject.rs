//! The module or graph that is being checked, with names for its nodes and labels in its text.

use std::{cell::OnceCell, ops::Range};

use crate::diagnostic::Label;
use tbaa::parts::Shape;
use tbaa::{Graph, NodeId, Operand, TagId};
use tbaa_ir::{Instruction, Module, Names, Sizes, write_operands};
use tbaa_lex::source::shortened;
use tbaa_types::Type;
use tbaa_types::demangle::demangled_function;

/// A graph and, if it was read from a module, that module.
pub(crate) struct Subject<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) module: Option<&'a Module<'a>>,
    functions: Vec<&'a [u8]>,
    names: Names<'a>,
    sizes: OnceCell<Sizes>,
}

impl<'a> Subject<'a> {
    pub(crate) fn of_graph(graph: &'a Graph) -> Self {
        let (names, functions) = (Names::of_graph(graph), Vec::new());
        Subject { graph, module: None, functions, names, sizes: OnceCell::new() }
    }

    pub(crate) fn of_module(module: &'a Module<'a>) -> Self {
        let (names, functions) = (Names::of_module(module), module.functions().collect());
        Subject { module: Some(module), functions, names, ..Subject::of_graph(module.graph()) }
    }

    /// Returns the sizes of the module's types; `None` without a module.
    pub(crate) fn sizes(&self) -> Option<&Sizes> {
        let module = self.module?;
        Some(self.sizes.get_or_init(|| Sizes::new(module)))
    }

    pub(crate) fn access_type(&self, instruction: &Instruction) -> Option<Type> {
        self.sizes()?.ty(self.module?.access_type(instruction))
    }

    pub(crate) fn llvm_type(&self, ty: Type) -> String {
        let written = self.sizes().map(|sizes| sizes.written(ty)).unwrap_or_default();
        shortened(written.as_bytes()).into_owned()
    }

    /// Returns the name of a node: `!8`, the name of a type if there is no text, or else the
    /// node's operands.
    pub(crate) fn name(&self, node: NodeId) -> String {
        // A node among the operands is shown without its own operands.
        let inner = |node| {
            let name = self.number(node).or_else(|| self.quoted_name(node));
            name.unwrap_or_else(|| "!{...}".to_owned())
        };
        let own = || self.quoted_name(node).filter(|_| self.module.is_none());
        self.number(node).or_else(own).unwrap_or_else(|| {
            let operands = write_operands(self.graph, node, inner);
            format!("!{{{}}}", shortened(operands.as_bytes()))
        })
    }

    /// Returns a node's number in the text: `!8`.
    fn number(&self, node: NodeId) -> Option<String> {
        Some(format!("!{}", self.module?.number_of(node)?))
    }

    /// Returns a type's number and name: `!7 "int"`.
    pub(crate) fn type_name(&self, node: NodeId) -> String {
        match (self.number(node), self.quoted_name(node)) {
            (Some(number), Some(name)) => format!("{number} {name}"),
            (None, Some(name)) => name,
            _ => self.name(node),
        }
    }

    pub(crate) fn quoted_name(&self, node: NodeId) -> Option<String> {
        match self.graph.operand(node, Shape::of(self.graph, node).name())? {
            Operand::String(name) => Some(format!("\"{}\"", shortened(name))),
            _ => None,
        }
    }

    /// Returns the name of a tag; without a text, the names of its types and its offset.
    pub(crate) fn tag_name(&self, tag: TagId) -> String {
        match (self.module, self.graph.tag(tag)) {
            (None, Ok(tag)) => {
                let [base, access] = [tag.base, tag.access].map(|ty| self.type_name(ty.node()));
                format!("({base}, {access}, {})", tag.offset)
            }
            _ => self.name(self.graph.tag_node(tag)),
        }
    }

    /// Returns the meaning of a tag: `S.x (int at 4 of S)`.
    pub(crate) fn tag_meaning(&self, tag: TagId) -> String {
        shortened(self.names.tag(tag).as_bytes()).into_owned()
    }

    /// Returns a tag's name and, if there is a text, its meaning: `!8, S.x (int at 4 of S),`.
    pub(crate) fn tag_in_full(&self, tag: TagId) -> String {
        match self.module {
            Some(_) => format!("{}, {},", self.tag_name(tag), self.tag_meaning(tag)),
            None => self.tag_name(tag),
        }
    }

    pub(crate) fn node_span(&self, node: NodeId) -> Option<Range<usize>> {
        let module = self.module?;
        module.node_span(module.offset_of(node)?)
    }

    /// Returns the span of a node's operand in the text, in time linear in the node's length.
    pub(crate) fn operand_span(&self, node: NodeId, operand: usize) -> Option<Range<usize>> {
        let module = self.module?;
        module.operand_span(module.offset_of(node)?, operand)
    }

    pub(crate) fn node_label(&self, node: NodeId, text: impl Into<String>) -> Option<Label> {
        Some(Label { span: self.node_span(node)?, text: text.into() })
    }

    /// Returns a label at an operand of a node, or at the node if the operand is missing.
    pub(crate) fn operand_label(
        &self,
        node: NodeId,
        operand: usize,
        text: impl Into<String>,
    ) -> Option<Label> {
        let span = self.operand_span(node, operand).or_else(|| self.node_span(node))?;
        Some(Label { span, text: text.into() })
    }

    /// Returns a label at an instruction's tag. Without a tag, the label is at the instruction.
    pub(crate) fn tag_label(&self, instruction: &Instruction, text: impl Into<String>) -> Label {
        let span = self.module.and_then(|module| module.tag_span(instruction));
        let span = span.unwrap_or_else(|| self.line_span(instruction));
        Label { span, text: text.into() }
    }

    /// Returns a label at the first line of an instruction.
    pub(crate) fn instruction_label(
        &self,
        instruction: &Instruction,
        text: impl Into<String>,
    ) -> Label {
        Label { span: self.line_span(instruction), text: text.into() }
    }

    fn line_span(&self, instruction: &Instruction) -> Range<usize> {
        let offset = instruction.offset as usize;
        let text = self.module.map_or(&b""[..], Module::text);
        let rest = text.get(offset..).unwrap_or_default();
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        offset..offset + line.trim_ascii_end().len()
    }

    pub(crate) fn function_of(&self, instruction: &Instruction) -> String {
        self.function_called(instruction.function)
    }

    /// Returns the name of a function, given its number: `@f`.
    pub(crate) fn function_called(&self, number: u32) -> String {
        let name = self.functions.get(number as usize).copied().unwrap_or(b"?");
        let source = demangled_function(name);
        format!("@{}", shortened(source.as_ref().map_or(name, |source| source.as_bytes())))
    }
}
