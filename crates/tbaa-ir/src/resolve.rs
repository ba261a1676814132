//! Builds the nodes of a scanned text: resolves references, and merges equal nodes.

use super::module::Origin;
use super::node::{Form, Key, NodeDefinition, Overflow, Reference, operands, specialized};
use super::numbers::Numbers;
use super::scan::{Attachment, Scan};
use crate::{MAX_INLINE_DEPTH, Module, Result, TextError, TextErrorKind, WarningKind};
use tbaa::parts::import::{Import, Opened, Part, Source, State};
use tbaa::raw::RawGraph;
use tbaa::{CopyId, Graph, GraphError, NodeId, TagId};
use tbaa_lex::lexer::Lexer;

/// Which metadata nodes the reader keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Keep {
    /// The nodes that `!tbaa`, `!tbaa.struct`, `!llvm.errno.tbaa` and the lists `!tbaa.tags`,
    /// `!tbaa.structs` and `!tbaa.types` refer to, directly or not. If there are none, like `All`.
    #[default]
    Used,
    /// All nodes except specialised ones, such as `!DIFile(...)`.
    All,
}

pub(super) fn resolve(mut scan: Scan<'_>, keep: Keep) -> Result<Module<'static>> {
    let mut module = std::mem::take(&mut scan.module);
    module.numbers = Numbers::new(scan.text.len());
    if module.functions.is_empty() {
        module.graph.reserve(module.definitions.iter().count());
    }
    let open = Numbers::new(scan.text.len());
    let mut nodes = Nodes { module, scan: &scan, open, warns: true, overflow: Overflow::Refuse };
    let mut import = Import::default();
    let mut attached = Vec::with_capacity(scan.attachments.len());
    for &Attachment { key, offset, copy } in &scan.attachments {
        let node = node_of(&mut nodes, &mut import, key, offset)?;
        attached.push(match copy {
            true => Attached::Copy(nodes.module.graph.mark_copy(node)),
            false => Attached::Tag(nodes.module.attach(node)),
        });
    }
    for &(instruction, attachment) in &scan.uses {
        let instruction = &mut nodes.module.instructions[instruction as usize];
        match attached[attachment as usize] {
            Attached::Tag(tag) => instruction.tag = Some(tag),
            Attached::Copy(copy) => instruction.copy = Some(copy),
        }
    }
    // If an instruction's tag is a scalar type, LLVM makes a new tag node, as `attach` did above.
    // For nodes in lists LLVM does not, and it rejects a scalar type as a tag of `errno`.
    type Mark = fn(&mut Module<'_>, NodeId);
    let lists: [(_, Mark); 4] = [
        (&scan.tags, |module, node| _ = module.graph.mark_tag(node)),
        (&scan.copies, |module, node| _ = module.graph.mark_copy(node)),
        (&scan.types, |module, node| _ = module.graph.mark_type(node)),
        (&scan.errno, |module, node| module.errno.push(module.graph.mark_tag(node))),
    ];
    for (list, mark) in lists {
        for &(key, at) in list {
            let node = node_of(&mut nodes, &mut import, key, at)?;
            mark(&mut nodes.module, node);
        }
    }
    for &(key, at) in &scan.listed {
        let Key::Number(number) = key else { continue };
        if nodes.module.definition(number).is_none() {
            return Err(TextError::new(scan.text, at, TextErrorKind::Undefined { number }));
        }
    }
    if keep == Keep::All || nodes.module.graph.node_count() == 0 {
        // Loop ids refer to themselves, and profile counts may overflow their integer types. Both
        // are valid in nodes that no tag refers to. Without code, any node may be a tag.
        if !nodes.module.functions.is_empty() {
            (nodes.warns, nodes.overflow) = (false, Overflow::Keep);
        }
        for (offset, number) in nodes.module.definitions_in_order() {
            if NodeDefinition::at(scan.text, offset)?.form != Form::Specialized {
                node_of(&mut nodes, &mut import, Key::Number(number), offset)?;
            }
        }
    }
    Ok(nodes.module)
}

/// Returns the node that `key` refers to. `at` is the offset of this reference, for errors.
fn node_of<'s, 't>(
    nodes: &mut Nodes<'s, 't>,
    import: &mut Import<'t, Nodes<'s, 't>>,
    key: Key,
    at: usize,
) -> Result<NodeId> {
    let node = import.node(nodes, Reference { key, at: at as u32, depth: 0 })?;
    let wanted = "a plain node, `!{...}`, as a tag";
    let kind = TextErrorKind::Expected { wanted };
    node.ok_or_else(|| TextError::new(nodes.scan.text, at, kind))
}

/// The id of an attached node.
enum Attached {
    Tag(TagId),
    Copy(CopyId),
}

struct Nodes<'s, 't> {
    module: Module<'static>,
    scan: &'s Scan<'t>,
    /// For each number whose node was opened: the index that [`Import`] gave to the node. Entries
    /// are never removed. They have no meaning once `module.numbers` has the number.
    open: Numbers<u32>,
    /// True if a cycle of references gets a warning.
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
            // An inline node is looked up only once, because it is written inside its only user.
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
        // `alone`: the node is its own only operand. Such a node is a valid anonymous root.
        if self.warns && !alone {
            self.module.warn(reference.at as usize, WarningKind::Cycle);
        }
    }

    fn error(&self, origin: Origin, error: GraphError) -> TextError {
        TextError::new(self.scan.text, origin.offset as usize, TextErrorKind::Graph(error))
    }
}
