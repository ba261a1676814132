//! Reads a module's TBAA metadata.

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMDisposeMessage, LLVMGetIntTypeWidth, LLVMGetMDNodeNumOperands,
    LLVMGetMDNodeOperands, LLVMGetMDString, LLVMGetValueName2, LLVMIsAConstantInt,
    LLVMIsAGlobalValue, LLVMIsAMDNode, LLVMIsAMDString, LLVMMDNodeInContext2,
    LLVMPrintValueToString, LLVMTypeOf, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMGetMetadataKind, LLVMMetadataKind};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionValue, MetadataValue};
use std::collections::HashMap;
use std::ptr;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{CopyId, Graph, GraphError, Int, NodeId, Operand, TagId};

/// The TBAA metadata of a module: a graph of nodes, and the instructions that they are attached to.
#[derive(Debug)]
pub struct ModuleTags<'ctx> {
    /// The metadata nodes.
    pub graph: Graph,
    /// The instructions with `!tbaa`, in the module's order.
    pub accesses: Vec<Attached<'ctx, TagId>>,
    /// The instructions with `!tbaa.struct`, in the module's order.
    pub copies: Vec<Attached<'ctx, CopyId>>,
}

/// An instruction of a [`ModuleTags`], and the node that is attached to it.
#[derive(Clone, Copy, Debug)]
pub struct Attached<'ctx, Id> {
    /// The instruction.
    pub instruction: InstructionValue<'ctx>,
    /// The node.
    pub id: Id,
}

impl<'ctx> ModuleTags<'ctx> {
    /// Reads a module's TBAA metadata. Malformed nodes are read as they are; [`tbaa::wellformed`]
    /// detects them.
    ///
    /// NB: `llvm-c` cannot tell whether a node is distinct. To find out, this function requests a
    /// uniqued node with the same operands. A node that LLVM creates for this stays in the context.
    ///
    /// # Errors
    ///
    /// [`GraphError::Full`].
    pub fn read(module: &Module<'ctx>) -> Result<Self, GraphError> {
        let context = module.get_context();
        let [tag_kind, copy_kind] = ["tbaa", "tbaa.struct"].map(|kind| context.get_kind_id(kind));
        let raw = context.as_ctx_ref();
        let mut nodes = Nodes::default();
        let (mut tags, mut lists) = (Vec::<(_, usize)>::new(), Vec::<(_, usize)>::new());
        for instruction in instructions(module) {
            let mut read = |kind| Some(nodes.add(raw, instruction.get_metadata(kind)?));
            tags.extend(read(tag_kind).map(|node| (instruction, node)));
            lists.extend(read(copy_kind).map(|node| (instruction, node)));
        }
        let mut graph = Graph::new();
        let ids = nodes.insert(&mut graph)?;
        let tag = |(instruction, node)| Attached { instruction, id: graph.mark_tag(ids[node]) };
        let accesses = tags.into_iter().map(tag).collect();
        let copy = |(instruction, node)| Attached { instruction, id: graph.mark_copy(ids[node]) };
        let copies = lists.into_iter().map(copy).collect();
        Ok(ModuleTags { graph, accesses, copies })
    }
}

pub(crate) fn instructions<'ctx>(
    module: &Module<'ctx>,
) -> impl Iterator<Item = InstructionValue<'ctx>> {
    module
        .get_functions()
        .flat_map(|function| function.get_basic_block_iter())
        .flat_map(|block| block.get_instructions())
}

/// The nodes that instructions refer to, directly or through other nodes.
#[derive(Default)]
struct Nodes {
    numbers: HashMap<LLVMMetadataRef, usize>,
    nodes: Vec<ReadNode>,
}

struct ReadNode {
    distinct: bool,
    operands: Vec<Read>,
}

enum Read {
    Null,
    String(Vec<u8>),
    Int(Int),
    Node(usize),
    Raw(String),
}

impl Nodes {
    /// Adds a node and, recursively, the nodes among its operands. Returns the index of `node`.
    fn add(&mut self, context: LLVMContextRef, node: MetadataValue<'_>) -> usize {
        let mut found = Vec::new();
        let first = self.number(node.as_value_ref(), &mut found);
        while let Some((number, value)) = found.pop() {
            // SAFETY: the value is a node; LLVM writes as many operands as it reports.
            let operands = unsafe {
                let mut operands = vec![ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
                LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
                operands
            };
            let distinct = is_distinct(context, value, &operands);
            let read = |operand: LLVMValueRef| match is_tuple(operand) {
                true => Read::Node(self.number(operand, &mut found)),
                false => leaf(operand),
            };
            let operands = operands.into_iter().map(read).collect();
            self.nodes[number] = ReadNode { distinct, operands };
        }
        first
    }

    /// Returns the index of a node. Pushes a new node to `found`, so that its operands are read.
    fn number(&mut self, value: LLVMValueRef, found: &mut Vec<(usize, LLVMValueRef)>) -> usize {
        // SAFETY: the value is a node.
        let node = unsafe { LLVMValueAsMetadata(value) };
        let next = self.nodes.len();
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(ReadNode { distinct: false, operands: Vec::new() });
            found.push((number, value));
        }
        number
    }

    /// Adds the nodes to a graph, and returns their ids in the order of `self.nodes`.
    fn insert(&self, graph: &mut Graph) -> Result<Vec<NodeId>, GraphError> {
        let mut drafts = Vec::with_capacity(self.nodes.len());
        for ReadNode { distinct, operands } in &self.nodes {
            let operands = operands.iter().map(|operand| match operand {
                Read::Null => Operand::Null.into(),
                Read::String(bytes) => Operand::String(bytes).into(),
                Read::Int(int) => Operand::Int(*int).into(),
                Read::Node(number) => DraftOperand::Member(*number),
                Read::Raw(text) => Operand::Raw(text).into(),
            });
            drafts.push(Draft { distinct: *distinct, operands: operands.collect() });
        }
        graph.insert_group(&drafts)
    }
}

/// Returns whether `node` is distinct: LLVM's uniqued node with these operands is another node.
fn is_distinct(context: LLVMContextRef, node: LLVMValueRef, operands: &[LLVMValueRef]) -> bool {
    // SAFETY: the operands are values of the context, or null.
    unsafe {
        let metadata = |&operand: &LLVMValueRef| match operand.is_null() {
            true => ptr::null_mut(),
            false => LLVMValueAsMetadata(operand),
        };
        let mut operands: Vec<_> = operands.iter().map(metadata).collect();
        let uniqued = LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len());
        uniqued != LLVMValueAsMetadata(node)
    }
}

/// Reads an operand that is not a tuple, as defined by [`is_tuple`].
fn leaf(operand: LLVMValueRef) -> Read {
    if operand.is_null() {
        return Read::Null;
    }
    // SAFETY: the operand is a value, and each function is called on the kind of value that it is
    // for; the strings have the reported length.
    unsafe {
        if !LLVMIsAMDString(operand).is_null() {
            let mut len = 0;
            let text = LLVMGetMDString(operand, &raw mut len);
            return Read::String(bytes(text.cast(), len as usize));
        }
        if !LLVMIsAConstantInt(operand).is_null() {
            let bits = LLVMGetIntTypeWidth(LLVMTypeOf(operand));
            if bits <= 64 {
                return Read::Int(Int { bits, value: LLVMConstIntGetZExtValue(operand) });
            }
        }
        if !LLVMIsAGlobalValue(operand).is_null() {
            // Do not print the operand: LLVM would print a function with its body.
            let mut len = 0;
            let name = LLVMGetValueName2(operand, &raw mut len);
            let name = bytes(name.cast(), len);
            return Read::Raw(format!("ptr @\"{}\"", name.escape_ascii()));
        }
        let message = LLVMPrintValueToString(operand);
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        Read::Raw(text)
    }
}

/// # Safety
///
/// There must be `len` bytes at `start`.
unsafe fn bytes(start: *const u8, len: usize) -> Vec<u8> {
    match len {
        0 => Vec::new(),
        // SAFETY: as above.
        _ => unsafe { std::slice::from_raw_parts(start, len) }.to_vec(),
    }
}

/// Returns whether an operand is an `MDTuple`, which a node of debug information is not.
fn is_tuple(operand: LLVMValueRef) -> bool {
    // SAFETY: the operand is a value, and treated as metadata only if it is metadata.
    unsafe {
        !operand.is_null()
            && !LLVMIsAMDNode(operand).is_null()
            && matches!(
                LLVMGetMetadataKind(LLVMValueAsMetadata(operand)),
                LLVMMetadataKind::LLVMMDTupleMetadataKind
            )
    }
}
