//! Reading TBAA back from a module.

use std::collections::HashMap;
use std::ptr;

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
use tbaa::{CopyId, Graph, GraphError, Int, NodeId, Operand, TagId};

/// The TBAA of a module: its nodes as a graph, and the instructions with it.
#[derive(Debug)]
pub struct ModuleTags<'ctx> {
    /// The nodes.
    pub graph: Graph,
    /// The instructions with `!tbaa`, in the module's order.
    pub accesses: Vec<(InstructionValue<'ctx>, TagId)>,
    /// The instructions with `!tbaa.struct`, in the module's order.
    pub copies: Vec<(InstructionValue<'ctx>, CopyId)>,
}

impl<'ctx> ModuleTags<'ctx> {
    /// Reads a module's TBAA. What is malformed is read as it is, for
    /// [`tbaa::verify`] to judge.
    ///
    /// NB: `llvm-c` does not say whether a node is distinct. It is found out by
    /// asking for a uniqued one with the same operands, which stays in the
    /// context where there was none.
    ///
    /// # Errors
    ///
    /// [`GraphError::Full`].
    pub fn read(module: &Module<'ctx>) -> Result<Self, GraphError> {
        let context = module.get_context();
        let [tag_kind, copy_kind] = ["tbaa", "tbaa.struct"].map(|kind| context.get_kind_id(kind));
        let mut reader =
            Reader { context: context.as_ctx_ref(), graph: Graph::new(), nodes: HashMap::new() };
        let (mut accesses, mut copies) = (Vec::new(), Vec::new());
        for instruction in instructions(module) {
            if let Some(node) = instruction.get_metadata(tag_kind) {
                let node = reader.read(node)?;
                accesses.push((instruction, reader.graph.mark_tag(node)));
            }
            if let Some(node) = instruction.get_metadata(copy_kind) {
                let node = reader.read(node)?;
                copies.push((instruction, reader.graph.mark_copy(node)));
            }
        }
        Ok(ModuleTags { graph: reader.graph, accesses, copies })
    }
}

/// A module's instructions, in order.
pub(crate) fn instructions<'ctx>(
    module: &Module<'ctx>,
) -> impl Iterator<Item = InstructionValue<'ctx>> {
    module
        .get_functions()
        .flat_map(|function| function.get_basic_block_iter())
        .flat_map(|block| block.get_instructions())
}

struct Reader {
    context: LLVMContextRef,
    graph: Graph,
    nodes: HashMap<LLVMMetadataRef, State>,
}

#[derive(Clone, Copy)]
enum State {
    /// Its operands are being read. It has an id where one of them leads back.
    Open(Option<NodeId>),
    Read(NodeId),
}

/// A node whose operands are being read.
struct Frame {
    node: LLVMMetadataRef,
    operands: Vec<LLVMValueRef>,
    next: usize,
}

/// An operand of a node that is read.
enum Read {
    Null,
    String(Vec<u8>),
    Int(Int),
    Node(NodeId),
    Itself,
    Raw(String),
}

impl Reader {
    fn read(&mut self, node: MetadataValue<'_>) -> Result<NodeId, GraphError> {
        let mut stack = vec![frame(node.as_value_ref())];
        if let Some(State::Read(id)) = self.nodes.get(&stack[0].node) {
            return Ok(*id);
        }
        self.nodes.insert(stack[0].node, State::Open(None));
        loop {
            let Some(top) = stack.last_mut() else { return Err(GraphError::NotReserved) };
            let Some(&operand) = top.operands.get(top.next) else {
                let id = self.finish(top)?;
                stack.pop();
                if stack.is_empty() {
                    return Ok(id);
                }
                continue;
            };
            top.next += 1;
            if !is_tuple(operand) {
                continue;
            }
            let itself = top.node;
            let len = |frame: &Frame| frame.operands.len();
            // SAFETY: the operand is a node.
            let below = unsafe { LLVMValueAsMetadata(operand) };
            match self.nodes.get(&below) {
                Some(State::Open(None)) if below != itself => {
                    // A cycle, which no type has: the node is named before it
                    // is known.
                    let open = stack.iter().find(|frame| frame.node == below).map_or(0, len);
                    let id = self.graph.reserve(open, false)?;
                    self.nodes.insert(below, State::Open(Some(id)));
                }
                Some(_) => {}
                None => {
                    self.nodes.insert(below, State::Open(None));
                    stack.push(frame(operand));
                }
            }
        }
    }

    /// Adds a node whose operands are there.
    fn finish(&mut self, frame: &Frame) -> Result<NodeId, GraphError> {
        let operands: Vec<_> =
            frame.operands.iter().map(|&operand| self.operand(frame.node, operand)).collect();
        let itself = operands.iter().any(|operand| matches!(operand, Read::Itself));
        let reserved = match self.nodes.get(&frame.node) {
            Some(State::Open(Some(id))) => Some(*id),
            _ if itself || self.is_distinct(frame) => {
                Some(self.graph.reserve(operands.len(), true)?)
            }
            _ => None,
        };
        let operands: Vec<_> = operands
            .iter()
            .map(|operand| match operand {
                Read::Null => Operand::Null,
                Read::String(bytes) => Operand::String(bytes),
                Read::Int(int) => Operand::Int(*int),
                Read::Node(id) => Operand::Node(*id),
                Read::Itself => reserved.map_or(Operand::Null, Operand::Node),
                Read::Raw(text) => Operand::Raw(text),
            })
            .collect();
        let id = match reserved {
            Some(id) => {
                self.graph.fill(id, &operands)?;
                id
            }
            None => self.graph.insert(&operands)?,
        };
        self.nodes.insert(frame.node, State::Read(id));
        Ok(id)
    }

    /// Whether a uniqued node with the same operands is another.
    fn is_distinct(&self, frame: &Frame) -> bool {
        let mut operands: Vec<_> = frame
            .operands
            .iter()
            .map(|&operand| match operand.is_null() {
                true => ptr::null_mut(),
                // SAFETY: the operand is a value of the context.
                false => unsafe { LLVMValueAsMetadata(operand) },
            })
            .collect();
        // SAFETY: as many operands as said, all in the context.
        let uniqued =
            unsafe { LLVMMDNodeInContext2(self.context, operands.as_mut_ptr(), operands.len()) };
        uniqued != frame.node
    }

    fn operand(&self, itself: LLVMMetadataRef, operand: LLVMValueRef) -> Read {
        if operand.is_null() {
            return Read::Null;
        }
        // SAFETY: the operand is a value, and each function is called on the
        // kind of values that it is for; the strings are as long as said.
        unsafe {
            if is_tuple(operand) {
                let below = LLVMValueAsMetadata(operand);
                return match self.nodes.get(&below) {
                    Some(State::Read(id) | State::Open(Some(id))) => Read::Node(*id),
                    _ if below == itself => Read::Itself,
                    _ => Read::Null,
                };
            }
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
                // Printed, it would be all of the function.
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
}

/// # Safety
///
/// There must be `len` bytes at `start`.
unsafe fn bytes(start: *const u8, len: usize) -> Vec<u8> {
    match len {
        0 => Vec::new(),
        // SAFETY: said above.
        _ => unsafe { std::slice::from_raw_parts(start, len) }.to_vec(),
    }
}

fn frame(node: LLVMValueRef) -> Frame {
    // SAFETY: the value is a node; LLVM writes as many operands as it says.
    unsafe {
        let len = LLVMGetMDNodeNumOperands(node) as usize;
        let mut operands = vec![ptr::null_mut(); len];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        Frame { node: LLVMValueAsMetadata(node), operands, next: 0 }
    }
}

/// Whether an operand is a node of operands, and not one of debug information.
fn is_tuple(operand: LLVMValueRef) -> bool {
    // SAFETY: a value, which is looked at as metadata only if it is.
    unsafe {
        !operand.is_null()
            && !LLVMIsAMDNode(operand).is_null()
            && matches!(
                LLVMGetMetadataKind(LLVMValueAsMetadata(operand)),
                LLVMMetadataKind::LLVMMDTupleMetadataKind
            )
    }
}
