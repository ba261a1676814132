//! A module read from text: its memory accesses, metadata nodes and type definitions.

use std::{borrow::Cow, fmt, num::NonZeroU32, ops::Range};

use super::numbers::Numbers;
use super::types::{Definitions, ParseError, ReadTypes};
use crate::Opcode;
use tbaa::{CopyId, Graph, NodeId, TagId};
use tbaa::{parts::table::IndexSet, raw::RawGraph, text::Numbering};
use tbaa_types::Context;

/// An instruction that accesses memory, or that has a `!tbaa` or `!tbaa.struct` attachment. A call
/// counts as an access only if it calls `llvm.memcpy`, `llvm.memmove` or `llvm.memset`. For the
/// text of an instruction's pointer or tag, see [`Module::pointer_span`] and [`Module::tag_span`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Instruction {
    /// The index of its function in [`Module::functions`].
    pub function: u32,
    /// The instruction's index in its function, from 0.
    pub index: u32,
    /// The instruction's opcode.
    pub opcode: Opcode,
    /// True if the access is volatile.
    pub volatile: bool,
    /// True if the access is atomic.
    pub atomic: bool,
    /// The tag that it has as `!tbaa`.
    pub tag: Option<TagId>,
    /// The node that it has as `!tbaa.struct`.
    pub copy: Option<CopyId>,
    /// The offset in the text, in bytes.
    pub offset: u32,
    /// The offset in the text of the reference after `!tbaa`.
    pub(super) tag_offset: Option<NonZeroU32>,
    pub(super) ty: u32,
}

/// A function that has a body.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Box<[u8]>,
    /// The offset of its `define` in the text.
    pub(super) head: u32,
    /// The offset after the `{` of its body.
    pub(super) start: u32,
    /// The offset of the `}` of its body.
    pub(super) end: u32,
}

/// A definition such as `%struct.S = type { i32, ptr }`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TypeDefinition {
    /// The name without `%` and quotes, with escapes resolved.
    pub name: Box<[u8]>,
    /// The text after `type`, such as `{ i32, ptr }` or `opaque`.
    pub body: Box<[u8]>,
    /// The offset in the text of the body.
    pub offset: u32,
}

/// A part of the text that can be read but is probably wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Warning {
    /// The kind of warning.
    pub kind: WarningKind,
    /// The offset in the text, in bytes.
    pub offset: usize,
}

/// The kind of a [`Warning`]. `Display` states the consequence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WarningKind {
    /// A node refers to itself, directly or through others, and is not an anonymous root.
    Cycle,
    /// An integer has no type, as in `!{!1, !1, 0}`; it is read as an `i64`.
    Untyped,
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WarningKind::Cycle => {
                "this node refers back to itself; every rule answers MayAlias to a query that meets \
                 the cycle"
            }
            WarningKind::Untyped => {
                "LLVM cannot read an integer without a type; this one is read as an i64: write \
                 its type"
            }
        })
    }
}

/// A module's text, and the TBAA metadata read from it.
///
/// ```
/// let text = br#"
/// define i32 @f(ptr %p) {
///   %v = load i32, ptr %p, align 4, !tbaa !0
///   ret i32 %v
/// }
/// !0 = !{!1, !1, i64 0}
/// !1 = !{!"int", !2, i64 0}
/// !2 = !{!"Simple C/C++ TBAA"}
/// "#;
/// let module = tbaa_ir::read(text)?;
/// let load = &module.instructions()[0];
/// assert_eq!(module.access_type(load), b"i32");
/// assert_eq!(module.number_of(module.graph().tag_node(load.tag.unwrap())), Some(0));
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
#[derive(Debug, Default)]
pub struct Module<'t> {
    pub(super) text: Cow<'t, [u8]>,
    pub(super) graph: Graph,
    pub(super) data_layout: Option<(Box<[u8]>, usize)>,
    pub(super) triple: Option<(Box<[u8]>, usize)>,
    pub(super) type_definitions: Vec<TypeDefinition>,
    pub(super) functions: Vec<Function>,
    /// The offset in the text after each `declare`.
    pub(super) declarations: Vec<u32>,
    /// The offset in the text after the `attributes` of each attribute group.
    pub(super) groups: Vec<u32>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) types: IndexSet<Box<[u8]>>,
    pub(super) errno: Vec<TagId>,
    pub(super) empty_errno: Option<Range<usize>>,
    /// The offset in the text of each named list, such as `!llvm.ident = !{...}`.
    pub(super) named: Vec<u32>,
    pub(super) numbers: Numbers<NodeId>,
    /// For each metadata number that the text defines, the offset of the definition's `!`, plus 1.
    pub(super) definitions: Numbers<NonZeroU32>,
    pub(super) origins: Origins,
    pub(super) warnings: Vec<Warning>,
    /// The largest metadata number that the text defines, plus 1.
    pub(super) next_number: u64,
}

/// The number and offset of a node in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) number: Option<u32>,
    pub(super) offset: u32,
}

/// The [`Origin`] of each node of a graph, by the node's index.
#[derive(Debug, Default)]
pub(super) struct Origins {
    stamp: u32,
    places: Vec<Option<Origin>>,
}

impl Origins {
    fn get(&self, node: NodeId) -> Option<Origin> {
        *self.places.get(node.index()).filter(|_| node.stamp == self.stamp)?
    }

    /// Sets the origin of a node. If the graph merged equal nodes, the first origin with a number
    /// stays; if none has a number, the last origin stays.
    pub(super) fn insert(&mut self, node: NodeId, origin: Origin) {
        self.stamp = node.stamp;
        if node.index() >= self.places.len() {
            self.places.resize(node.index() + 1, None);
        }
        let known = &mut self.places[node.index()];
        if known.is_none_or(|known| known.number.is_none()) {
            *known = Some(origin);
        }
    }
}

impl Module<'_> {
    /// Returns the text that the module was read from.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the metadata nodes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the metadata nodes, so that nodes can be added.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Returns the metadata nodes, and drops the rest of the module.
    pub fn into_graph(self) -> Graph {
        self.graph
    }

    /// Returns the names of the functions that have a body, in file order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.functions.iter().map(|function| &function.name[..])
    }

    /// Returns the range of a function's body in the text, without its braces.
    /// Panics if `function` is not an index into [`functions`](Self::functions).
    pub fn function_span(&self, function: u32) -> Range<usize> {
        let Function { start, end, .. } = self.functions[function as usize];
        start as usize..end as usize
    }

    /// Returns the range of a function's header: from `define` to the `{` of its body, inclusive.
    pub(crate) fn header_span(&self, function: u32) -> Range<usize> {
        let Function { head, start, .. } = self.functions[function as usize];
        head as usize..start as usize
    }

    /// Returns the string of `target datalayout` with escapes resolved, and its offset in the text.
    /// If there are several, returns the last.
    pub fn data_layout(&self) -> Option<(&[u8], usize)> {
        self.data_layout.as_ref().map(|(string, offset)| (&string[..], *offset))
    }

    /// Returns the string of `target triple`, as [`data_layout`](Self::data_layout) does.
    pub fn triple(&self) -> Option<(&[u8], usize)> {
        self.triple.as_ref().map(|(string, offset)| (&string[..], *offset))
    }

    /// Reads the module's named struct types into a type context.
    ///
    /// # Errors
    ///
    /// Those of [`ReadTypes::read_definitions`]; offsets are those in the module's text.
    ///
    /// ```
    /// let text = b"%struct.Point = type { i32, i32 }\n%0 = type opaque\n@g = global i32 0\n";
    /// let module = tbaa_ir::read(text)?;
    /// let mut context = tbaa_types::Context::new();
    /// let names = module.read_types(&mut context).unwrap();
    /// assert_eq!(context.parts(names.named(b"struct.Point").unwrap()).len(), 2);
    /// # Ok::<(), tbaa_ir::TextError>(())
    /// ```
    pub fn read_types(&self, context: &mut Context) -> Result<Definitions, ParseError> {
        let definitions = self.type_definitions.iter().map(|ty| (&*ty.name, ty.offset as usize));
        context.read_definitions_at(&self.text, definitions)
    }

    /// Returns the definitions of named types, in file order. A body may contain comments, and a
    /// name may be defined twice.
    pub fn type_definitions(&self) -> &[TypeDefinition] {
        &self.type_definitions
    }

    /// Returns the instructions that access memory or have a TBAA attachment, in file order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the indices of a function's instructions in [`instructions`](Self::instructions).
    /// Returns an empty range if there is no such function.
    pub fn accesses_of(&self, function: u32) -> Range<usize> {
        let start = self.instructions.partition_point(|access| access.function < function);
        let rest = &self.instructions[start..];
        start..start + rest.partition_point(|access| access.function == function)
    }

    /// Returns the text of the accessed type; empty for a call, and if no type can be read.
    pub fn access_type(&self, instruction: &Instruction) -> &[u8] {
        &self.types[instruction.ty as usize]
    }

    /// Returns the distinct tags of `!tbaa` attachments, in the order of their first use.
    pub fn attached_tags(&self) -> Vec<TagId> {
        let mut seen = vec![false; self.graph.tag_count()];
        let attached = self.instructions.iter().filter_map(|instruction| instruction.tag);
        attached.filter(|tag| !std::mem::replace(&mut seen[tag.index()], true)).collect()
    }

    /// Returns the tags in `!llvm.errno.tbaa`: accesses with these tags may access `errno`.
    pub fn errno_tags(&self) -> &[TagId] {
        &self.errno
    }

    /// Returns the place in the text of the first `!llvm.errno.tbaa` that lists nothing.
    #[doc(hidden)]
    pub fn empty_errno(&self) -> Option<Range<usize>> {
        self.empty_errno.clone()
    }

    /// Returns the warnings, in the order in which the reader found them.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the node `!number`; `None` if undefined or not kept: see [`Keep`](crate::Keep).
    pub fn node(&self, number: u32) -> Option<NodeId> {
        self.numbers.get(number)
    }

    /// Returns the offset in the text at which a metadata number is defined.
    pub(super) fn definition(&self, number: u32) -> Option<usize> {
        Some(self.definitions.get(number)?.get() as usize - 1)
    }

    /// Returns each definition's offset and metadata number, in file order, even of nodes not kept.
    pub(super) fn definitions_in_order(&self) -> Vec<(usize, u32)> {
        let all = self.definitions.iter().map(|(number, at)| (at.get() as usize - 1, number));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        all
    }

    /// Returns one more than the text's largest metadata number; `None` if that is too large.
    pub fn next_number(&self) -> Option<u32> {
        u32::try_from(self.next_number).ok()
    }

    /// Returns a node's number in the text; `None` for an inline node. If the graph merged equal
    /// nodes, it is the first number read.
    pub fn number_of(&self, node: NodeId) -> Option<u32> {
        self.origins.get(node)?.number
    }

    /// Returns the numbers for printing the module's metadata. A node that has a number in the text
    /// keeps it; other nodes get unused numbers.
    pub fn numbering(&self) -> Numbering {
        let number = |node| self.number_of(node);
        // A tag that the reader made from a type also has the type's number: the type gets it.
        let own = |node| number(node).filter(|&number| self.node(number) == Some(node));
        let mut next = self.next_number().unwrap_or(0);
        let free = || loop {
            let number = next;
            next = next.wrapping_add(1);
            if self.definitions.get(number).is_none() {
                return number;
            }
        };
        Numbering::keeping(&self.graph, &[&own, &number], free)
    }

    /// Returns the offset in the text at which a node is defined.
    pub fn offset_of(&self, node: NodeId) -> Option<usize> {
        Some(self.origins.get(node)?.offset as usize)
    }

    /// Marks the node `!number` of the text as a tag, like the node of a `!tbaa` attachment.
    /// `None` if the reader did not keep the node.
    pub fn tag(&mut self, number: u32) -> Option<TagId> {
        let node = self.node(number)?;
        Some(self.attach(node))
    }

    /// Marks an attached node as a tag. A scalar type is upgraded: a new tag node refers to it.
    pub(super) fn attach(&mut self, node: NodeId) -> TagId {
        let tag = self.graph.mark_attached(node);
        let upgraded = self.graph.tag_node(tag);
        if let Some(origin) = self.origins.get(node)
            && self.origins.get(upgraded).is_none()
        {
            self.origins.insert(upgraded, origin);
        }
        tag
    }

    pub(super) fn warn(&mut self, offset: usize, kind: WarningKind) {
        self.warnings.push(Warning { kind, offset });
    }
}
