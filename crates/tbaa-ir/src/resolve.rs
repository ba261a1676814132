//! Builds nodes from a scanned text: resolves references and merges equal nodes.

use super::definition::{Form, NodeDefinition, specialized};
use super::module::Origin;
use super::node::{Key, Overflow, Reference, operands};
use super::numbers::Numbers;
use super::scan::{Attachment, Scan};
use crate::{MAX_INLINE_DEPTH, Module, Result, TextError, TextErrorKind, WarningKind};
use tbaa::parts::import::{Import, Opened, Part, Source, State};
use tbaa::raw::RawGraph;
use tbaa::{CopyId, Graph, GraphError, NodeId, TagId};
use tbaa_lex::lexer::Lexer;

/// The metadata nodes that the reader keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Keep {
    /// The nodes that `!tbaa`, `!tbaa.struct` and `!llvm.errno.tbaa` reach. If nothing is attached
    /// in the text, all plain nodes.
    #[default]
    Used,
    /// All plain nodes, including debug information's lists.
    All,
}

pub(super) fn resolve(mut scan: Scan<'_>, keep: Keep) -> Result<Module<'static>> {
    let mut module = std::mem::take(&mut scan.module);
    module.numbers = Numbers::new(scan.text.len());
    if module.functions.is_empty() {
        module.graph.reserve(module.definitions.iter().count());
    }
    let open = Numbers::new(scan.text.len());
    let nodes = Nodes { module, scan: &scan, open, warns: true, overflow: Overflow::Refuse };
    let mut resolver = Resolver { nodes, import: Import::default() };
    let mut attached = Vec::with_capacity(scan.attachments.len());
    for &Attachment { key, offset, copy } in &scan.attachments {
        let node = resolver.node(key, offset)?;
        let module = &mut resolver.nodes.module;
        attached.push(match copy {
            true => Attached::Copy(module.graph.mark_copy(node)),
            false => Attached::Tag(module.attach(node)),
        });
    }
    for &(instruction, attachment) in &scan.uses {
        let instruction = &mut resolver.nodes.module.instructions[instruction as usize];
        match attached[attachment as usize] {
            Attached::Tag(tag) => instruction.tag = Some(tag),
            Attached::Copy(copy) => instruction.copy = Some(copy),
        }
    }
    for &(key, at) in &scan.tags {
        let node = resolver.node(key, at)?;
        // LLVM upgrades only attached tags. A listed tag is already upgraded if it was ever
        // attached.
        resolver.nodes.module.graph.mark_tag(node);
    }
    for &(key, at) in &scan.copies {
        let node = resolver.node(key, at)?;
        resolver.nodes.module.graph.mark_copy(node);
    }
    for &(key, at) in &scan.types {
        let node = resolver.node(key, at)?;
        resolver.nodes.module.graph.mark_type(node);
    }
    for &(key, at) in &scan.errno {
        let node = resolver.node(key, at)?;
        // LLVM does not upgrade these: it rejects the scalar format here.
        let tag = resolver.nodes.module.graph.mark_tag(node);
        resolver.nodes.module.errno.push(tag);
    }
    for &(key, at) in &scan.listed {
        let Key::Number(number) = key else { continue };
        if resolver.nodes.module.definition(number).is_none() {
            let kind = TextErrorKind::Undefined { number };
            return Err(TextError::new(scan.text, at, kind));
        }
    }
    if keep == Keep::All || resolver.nodes.module.graph.node_count() == 0 {
        // Loop ids refer to themselves, and counts of profiles may overflow. Both are fine in nodes
        // that no tag reaches. In a listing without code, all nodes may be tags.
        if !resolver.nodes.module.functions.is_empty() {
            resolver.nodes.warns = false;
            resolver.nodes.overflow = Overflow::Keep;
        }
        for (offset, number) in resolver.nodes.module.definitions_in_order() {
            if NodeDefinition::at(scan.text, offset)?.form != Form::Specialized {
                resolver.node(Key::Number(number), offset)?;
            }
        }
    }
    Ok(resolver.nodes.module)
}

/// The node of an attachment.
enum Attached {
    Tag(TagId),
    Copy(CopyId),
}

struct Resolver<'s, 't> {
    nodes: Nodes<'s, 't>,
    import: Import<'t, Nodes<'s, 't>>,
}

impl Resolver<'_, '_> {
    /// Returns the node of a reference at the offset `at`.
    fn node(&mut self, key: Key, at: usize) -> Result<NodeId> {
        let node = self.import.node(&mut self.nodes, Reference { key, at: at as u32, depth: 0 })?;
        node.ok_or_else(|| {
            let wanted = "a plain node, `!{...}`, as a tag";
            TextError::new(self.nodes.scan.text, at, TextErrorKind::Expected { wanted })
        })
    }
}

struct Nodes<'s, 't> {
    module: Module<'static>,
    scan: &'s Scan<'t>,
    /// For each node number whose operands are being resolved, the node's place. Only valid until
    /// the module has the node.
    open: Numbers<u32>,
    /// True if a node that refers back to itself causes a warning.
    warns: bool,
    overflow: Overflow,
}

impl<'t> Source<'t> for Nodes<'_, 't> {
    type Key = Reference;
    type Place = Origin;
    type Error = TextError;

    fn graph(&mut self) -> &mut Graph {
        &mut self.module.graph
    }

    fn state(&self, reference: Reference) -> State {
        match reference.key {
            Key::Number(number) => match self.module.numbers.get(number) {
                Some(node) => State::Added(node),
                None => self.open.get(number).map_or(State::New, State::Open),
            },
            // An inline node is visited only once, because its owner is.
            Key::Inline(_) => State::New,
        }
    }

    fn open(
        &mut self,
        Reference { key, at, depth }: Reference,
        place: u32,
        parts: &mut Vec<Part<'t, Reference>>,
    ) -> Result<Opened<'t, Origin>> {
        let text = self.scan.text;
        let error = |kind| TextError::new(text, at as usize, kind);
        let (origin, body, distinct, depth) = match key {
            Key::Inline(_) if depth > MAX_INLINE_DEPTH as u32 => {
                return Err(error(TextErrorKind::TooDeep));
            }
            Key::Inline(body) => (Origin { number: None, offset: at }, body as usize, false, depth),
            Key::Number(number) => {
                let Some(offset) = self.module.definition(number) else {
                    return Err(error(TextErrorKind::Undefined { number }));
                };
                let NodeDefinition { body, form } = NodeDefinition::at(text, offset)?;
                if form == Form::Specialized {
                    return Ok(Opened::Raw(specialized(text, body).into()));
                }
                self.open.insert(number, place);
                let origin = Origin { number: Some(number), offset: offset as u32 };
                (origin, body, form == Form::Distinct, 0)
            }
        };
        if let Some(at) = operands(&mut Lexer::new(text, body), depth, self.overflow, parts)? {
            self.module.warn(at, WarningKind::Untyped);
        }
        Ok(Opened::Node { place: origin, distinct })
    }

    fn added(&mut self, origin: Origin, node: NodeId) {
        if let Some(number) = origin.number {
            self.module.numbers.insert(number, node);
        }
        self.module.origins.insert(node, origin);
    }

    fn cycle(&mut self, reference: Reference, alone: bool) {
        // An anonymous root refers to itself as its only operand, which is not an error.
        if self.warns && !alone {
            self.module.warn(reference.at as usize, WarningKind::Cycle);
        }
    }

    fn error(&self, origin: Origin, error: GraphError) -> TextError {
        TextError::new(self.scan.text, origin.offset as usize, TextErrorKind::Graph(error))
    }
}
