//! From a scanned text to nodes: references looked up, equal nodes merged.

use super::cursor::Cursor;
use super::definition::{Definition, Form, specialized};
use super::error::{TextError, TextErrorKind};
use super::module::{Module, Origin, WarningKind};
use super::node::{Key, MAX_INLINE_DEPTH, RawOperand, operands};
use super::numbers::Numbers;
use super::scan::{Attachment, Scan};
use crate::graph::{CopyId, GraphError, NodeId, Operand, TagId};

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
    let mut module = std::mem::take(&mut scan.module);
    module.numbers = Numbers::new(scan.text.len());
    let mut resolver = Resolver {
        module,
        scan: &scan,
        open: Numbers::new(scan.text.len()),
        stack: Vec::new(),
        operands: Vec::new(),
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
    /// Where a numbered node stands on the stack. Only of use while the module
    /// has no node of the number.
    open: Numbers<u32>,
    /// Nodes whose operands are being looked up, each an operand of the one
    /// below.
    stack: Vec<Frame>,
    /// The operands of those nodes, one node's after another's.
    operands: Vec<RawOperand<'t>>,
    /// Whether a node that refers back to itself is worth a warning.
    warns: bool,
}

/// A node whose operands are being looked up.
#[derive(Clone, Copy)]
struct Frame {
    key: Key,
    offset: usize,
    distinct: bool,
    /// How deep an inline node is nested.
    depth: usize,
    /// Where its operands begin, how many there are, and which is next.
    first: usize,
    len: usize,
    next: usize,
    /// Its id, if one of its operands reaches back to it.
    node: Option<NodeId>,
}

impl<'t> Resolver<'_, 't> {
    /// Returns the node of a reference that stands at `at`.
    ///
    /// Depth first on a stack of its own: a chain of nodes may be as long as
    /// the text.
    fn node(&mut self, key: Key, at: usize) -> Result<NodeId, TextError> {
        if let Key::Number(number) = key
            && let Some(node) = self.module.numbers.get(number)
        {
            return Ok(node);
        }
        if self.open(key, at, 0)?.is_some() {
            let wanted = "a plain node, `!{...}`, as a tag";
            return Err(TextError::new(self.scan.text, at, TextErrorKind::Expected { wanted }));
        }
        loop {
            let Some(frame) = self.stack.last_mut() else {
                let kind = TextErrorKind::Graph(GraphError::NotReserved);
                return Err(TextError::new(self.scan.text, at, kind));
            };
            if frame.next == frame.len {
                let done = *frame;
                self.stack.pop();
                let node = self.finish(done)?;
                let Some(above) = self.stack.last() else { return Ok(node) };
                self.operands[above.first + above.next] = RawOperand::Known(node);
                continue;
            }
            let (index, depth) = (frame.first + frame.next, frame.depth + 1);
            let RawOperand::Node(key, at) = self.operands[index] else {
                frame.next += 1;
                continue;
            };
            let known = match key {
                Key::Number(number) => match self.module.numbers.get(number) {
                    Some(node) => Some(node),
                    None => match self.open.get(number) {
                        Some(frame) => Some(self.in_cycle(frame as usize, at)?),
                        None => None,
                    },
                },
                // What holds an inline node is opened once, and so is the node.
                Key::Inline(_) if depth > MAX_INLINE_DEPTH => {
                    return Err(TextError::new(self.scan.text, at, TextErrorKind::TooDeep));
                }
                Key::Inline(_) => None,
            };
            if let Some(node) = known {
                self.operands[index] = RawOperand::Known(node);
            } else if let Some(text) = self.open(key, at, depth)? {
                self.operands[index] = RawOperand::Other(text.into());
            }
        }
    }

    /// Reads a node's operands and puts it on the stack; returns the text of a
    /// node of another kind instead.
    fn open(&mut self, key: Key, at: usize, depth: usize) -> Result<Option<String>, TextError> {
        let text = self.scan.text;
        let (offset, body, distinct, depth) = match key {
            Key::Inline(body) => (at, body as usize, false, depth),
            Key::Number(number) => {
                let Some(offset) = self.scan.definition(number) else {
                    return Err(TextError::new(text, at, TextErrorKind::Undefined { number }));
                };
                let Definition { body, form } = Definition::at(text, offset)?;
                if form == Form::Specialized {
                    return Ok(Some(specialized(text, body)));
                }
                self.open.insert(number, self.stack.len() as u32);
                (offset, body, form == Form::Distinct, 0)
            }
        };
        let first = self.operands.len();
        operands(&mut Cursor::new(text, body), &mut self.operands)?;
        let len = self.operands.len() - first;
        self.stack.push(Frame { key, offset, distinct, depth, first, len, next: 0, node: None });
        Ok(None)
    }

    /// Returns the node of a frame, to which one of its own operands refers.
    fn in_cycle(&mut self, frame: usize, at: usize) -> Result<NodeId, TextError> {
        let top = frame + 1 == self.stack.len();
        let frame = &mut self.stack[frame];
        if let Some(node) = frame.node {
            return Ok(node);
        }
        let node = self
            .module
            .graph
            .reserve(frame.len, frame.distinct)
            .map_err(|error| TextError::new(self.scan.text, at, TextErrorKind::Graph(error)))?;
        frame.node = Some(node);
        // A root that is its own only operand is how an anonymous one is made.
        let anonymous_root = frame.len == 1 && top;
        if self.warns && !anonymous_root {
            self.module.warn(at, WarningKind::Cycle);
        }
        Ok(node)
    }

    /// Makes a node of the frame that was the last on the stack.
    fn finish(&mut self, frame: Frame) -> Result<NodeId, TextError> {
        let operands = self.operands[frame.first..].iter().map(|operand| match operand {
            RawOperand::Known(node) => Operand::Node(*node),
            RawOperand::String(bytes) => Operand::String(bytes),
            RawOperand::Int(int) => Operand::Int(*int),
            RawOperand::Other(text) => Operand::Raw(text),
            RawOperand::Null | RawOperand::Node(..) => Operand::Null,
        });
        let graph = &mut self.module.graph;
        let node = match frame.node {
            Some(node) => graph.fill_all(node, operands).map(|()| node),
            None if frame.distinct => graph
                .reserve(frame.len, true)
                .and_then(|node| graph.fill_all(node, operands).map(|()| node)),
            None => graph.insert_all(operands),
        }
        .map_err(|error| {
            TextError::new(self.scan.text, frame.offset, TextErrorKind::Graph(error))
        })?;
        self.operands.truncate(frame.first);
        let number = match frame.key {
            Key::Number(number) => Some(number),
            Key::Inline(_) => None,
        };
        if let Some(number) = number {
            self.module.numbers.insert(number, node);
        }
        self.module.origins.insert(node, Origin { number, offset: frame.offset as u32 });
        Ok(node)
    }
}
