//! From a scanned text to nodes: references looked up, equal nodes merged.

use super::cursor::Cursor;
use super::definition::{Definition, Form, specialized};
use super::error::{TextError, TextErrorKind};
use super::module::{Module, Origin, WarningKind};
use super::node::{Key, MAX_INLINE_DEPTH, RawOperand, operands};
use super::scan::{Attachment, Scan};
use crate::graph::{CopyId, GraphError, NodeId, Operand, TagId};
use crate::table::HashMap;

/// Which metadata nodes the reader keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keep {
    /// Those that `!tbaa`, `!tbaa.struct` and `!llvm.errno.tbaa` reach; in a
    /// text where nothing is attached, all plain nodes.
    #[default]
    Used,
    /// All plain nodes, debug information's lists among them.
    All,
}

pub(super) fn resolve(mut scan: Scan<'_>, keep: Keep) -> Result<Module, TextError> {
    let mut resolver = Resolver {
        module: std::mem::take(&mut scan.module),
        scan: &scan,
        states: HashMap::new(),
        depths: HashMap::new(),
        warns: true,
    };
    let mut attached = Vec::with_capacity(scan.attachments.len());
    for &Attachment { key, offset, copy } in &scan.attachments {
        let node = resolver.node(key, offset)?;
        let module = &mut resolver.module;
        attached.push(match copy {
            true => Attached::Copy(module.graph.mark_copy(node)),
            false => Attached::Tag(module.attach(node)),
        });
    }
    for &(instruction, attachment) in &scan.uses {
        let instruction = &mut resolver.module.instructions[instruction as usize];
        match attached[attachment as usize] {
            Attached::Tag(tag) => instruction.tag = Some(tag),
            Attached::Copy(copy) => instruction.copy = Some(copy),
        }
    }
    for &(key, at) in &scan.tags {
        let node = resolver.node(key, at)?;
        // LLVM upgrades what is attached, and nothing else; and a tag that the
        // writer lists has been upgraded if ever it will be.
        resolver.module.graph.mark_tag(node);
    }
    for &(key, at) in &scan.copies {
        let node = resolver.node(key, at)?;
        resolver.module.graph.mark_copy(node);
    }
    for &(key, at) in &scan.types {
        let node = resolver.node(key, at)?;
        resolver.module.graph.mark_type(node);
    }
    for &(key, at) in &scan.errno {
        let node = resolver.node(key, at)?;
        // LLVM does not upgrade these either: it rejects the scalar format here.
        let tag = resolver.module.graph.mark_tag(node);
        resolver.module.errno.push(tag);
    }
    if keep == Keep::All || resolver.module.graph.node_count() == 0 {
        // NB: loops have ids that refer to themselves, and no tag reaches them.
        resolver.warns = resolver.module.functions.is_empty();
        let mut places: Vec<_> =
            scan.definitions.iter().map(|(number, place)| (place, number)).collect();
        places.sort_unstable();
        for (place, number) in places {
            let offset = place.get() as usize - 1;
            if Definition::at(scan.text, offset)?.form != Form::Specialized {
                resolver.node(Key::Number(number), offset)?;
            }
        }
    }
    Ok(resolver.module)
}

/// What an attachment turned out to be.
enum Attached {
    Tag(TagId),
    Copy(CopyId),
}

struct Resolver<'s, 't> {
    module: Module,
    scan: &'s Scan<'t>,
    states: HashMap<Key, State>,
    /// How deep an inline node is nested.
    depths: HashMap<Key, usize>,
    /// Whether a node that refers back to itself is worth a warning.
    warns: bool,
}

#[derive(Clone, Copy)]
enum State {
    /// Its operands are being looked up.
    Open {
        /// Its place on the stack.
        frame: usize,
        /// Its id, if one of its operands reaches back to it.
        node: Option<NodeId>,
    },
    Done(NodeId),
}

/// A node whose operands are being looked up.
struct Frame<'t> {
    key: Key,
    offset: usize,
    distinct: bool,
    raw: Vec<RawOperand<'t>>,
    /// Ids of the node operands so far, in order of the operands.
    resolved: Vec<Resolved>,
}

enum Opened<'t> {
    Plain(Frame<'t>),
    /// A node of another kind, by its text.
    Specialized(String),
}

enum Resolved {
    Node(NodeId),
    /// A node of another kind, by its text.
    Specialized(String),
    /// An operand that refers to nothing.
    Plain,
}

impl<'t> Resolver<'_, 't> {
    /// Returns the node of a reference that stands at `at`.
    ///
    /// Depth first on a stack of its own: a chain of nodes may be as long as
    /// the text.
    fn node(&mut self, key: Key, at: usize) -> Result<NodeId, TextError> {
        if let Some(State::Done(node)) = self.states.get(&key) {
            return Ok(*node);
        }
        let Opened::Plain(root) = self.open(key, at, 0)? else {
            return Err(TextError::new(
                self.scan.text,
                at,
                TextErrorKind::Expected { wanted: "a plain node, `!{...}`, as a tag" },
            ));
        };
        let mut stack = vec![root];
        loop {
            let Some(frame) = stack.last_mut() else {
                return Err(TextError::new(
                    self.scan.text,
                    at,
                    TextErrorKind::Graph(GraphError::NotReserved),
                ));
            };
            let Some(operand) = frame.raw.get(frame.resolved.len()) else {
                let frame = stack.pop().expect("the frame just looked at");
                let node = self.finish(frame)?;
                if stack.is_empty() {
                    return Ok(node);
                }
                continue;
            };
            let &RawOperand::Node(key, at) = operand else {
                frame.resolved.push(Resolved::Plain);
                continue;
            };
            match self.states.get(&key).copied() {
                Some(State::Done(node) | State::Open { node: Some(node), .. }) => {
                    frame.resolved.push(Resolved::Node(node));
                }
                Some(State::Open { frame, node: None }) => {
                    let node = self.reserve_in_cycle(frame, at, &stack)?;
                    let frame = stack.last_mut().expect("the frame just looked at");
                    frame.resolved.push(Resolved::Node(node));
                }
                None => {
                    let depth = self.depths.get(&frame.key).copied().unwrap_or(0) + 1;
                    if matches!(key, Key::Inline(_)) {
                        if depth > MAX_INLINE_DEPTH {
                            return Err(TextError::new(self.scan.text, at, TextErrorKind::TooDeep));
                        }
                        self.depths.insert(key, depth);
                    }
                    match self.open(key, at, stack.len())? {
                        Opened::Plain(inner) => stack.push(inner),
                        Opened::Specialized(text) => {
                            let frame = stack.last_mut().expect("the frame just looked at");
                            frame.resolved.push(Resolved::Specialized(text));
                        }
                    }
                }
            }
        }
    }

    /// Reads a node's operands, for a frame at that place on the stack.
    fn open(&mut self, key: Key, at: usize, frame: usize) -> Result<Opened<'t>, TextError> {
        let text = self.scan.text;
        let (offset, body, distinct) = match key {
            Key::Inline(body) => (at, body as usize, false),
            Key::Number(number) => {
                let Some(offset) = self.scan.definition(number) else {
                    return Err(TextError::new(text, at, TextErrorKind::Undefined { number }));
                };
                let Definition { body, form } = Definition::at(text, offset)?;
                if form == Form::Specialized {
                    return Ok(Opened::Specialized(specialized(text, body)));
                }
                (offset, body, form == Form::Distinct)
            }
        };
        let raw = operands(&mut Cursor::new(text, body))?;
        self.states.insert(key, State::Open { frame, node: None });
        Ok(Opened::Plain(Frame { key, offset, distinct, raw, resolved: Vec::new() }))
    }

    /// Gives an id to a node that one of its own operands refers to.
    fn reserve_in_cycle(
        &mut self,
        frame: usize,
        at: usize,
        stack: &[Frame<'t>],
    ) -> Result<NodeId, TextError> {
        let &Frame { key, distinct, ref raw, .. } = &stack[frame];
        let len = raw.len();
        let node = self
            .module
            .graph
            .reserve(len, distinct)
            .map_err(|error| TextError::new(self.scan.text, at, TextErrorKind::Graph(error)))?;
        self.states.insert(key, State::Open { frame, node: Some(node) });
        // A root that is its own only operand is how an anonymous one is made.
        let anonymous_root = len == 1 && frame + 1 == stack.len();
        if self.warns && !anonymous_root {
            self.module.warn(at, WarningKind::Cycle);
        }
        Ok(node)
    }

    fn finish(&mut self, frame: Frame<'t>) -> Result<NodeId, TextError> {
        let others: Vec<_> = frame
            .raw
            .iter()
            .filter_map(|operand| match operand {
                RawOperand::Other(text) => Some(String::from_utf8_lossy(text)),
                _ => None,
            })
            .collect();
        let mut others = others.iter();
        let operands: Vec<_> = frame
            .raw
            .iter()
            .zip(&frame.resolved)
            .map(|(raw, resolved)| match (raw, resolved) {
                (_, Resolved::Node(node)) => Operand::Node(*node),
                (_, Resolved::Specialized(text)) => Operand::Raw(text),
                (RawOperand::String(bytes), _) => Operand::String(bytes),
                (RawOperand::Int(int), _) => Operand::Int(*int),
                (RawOperand::Other(_), _) => {
                    others.next().map_or(Operand::Null, |text| Operand::Raw(text))
                }
                (RawOperand::Null | RawOperand::Node(..), _) => Operand::Null,
            })
            .collect();
        let graph = &mut self.module.graph;
        let node = match self.states.get(&frame.key) {
            Some(State::Open { node: Some(node), .. }) => {
                graph.fill(*node, &operands).map(|()| *node)
            }
            _ if frame.distinct => graph
                .reserve(operands.len(), true)
                .and_then(|node| graph.fill(node, &operands).map(|()| node)),
            _ => graph.insert(&operands),
        }
        .map_err(|error| {
            TextError::new(self.scan.text, frame.offset, TextErrorKind::Graph(error))
        })?;
        self.states.insert(frame.key, State::Done(node));
        let number = match frame.key {
            Key::Number(number) => Some(number),
            Key::Inline(_) => None,
        };
        if let Some(number) = number {
            self.module.numbers.insert(number, node);
        }
        let origin = Origin { number, offset: frame.offset };
        let known = self.module.origins.entry(node).or_insert(origin);
        // A number says more than a place.
        if known.number.is_none() {
            *known = origin;
        }
        Ok(node)
    }
}
