//! Creates metadata nodes in an LLVM context.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use inkwell::context::{AsContextRef, Context};
#[cfg(not(any(feature = "llvm14-0", feature = "llvm15-0", feature = "llvm16-0")))]
use inkwell::llvm_sys::core::LLVMReplaceMDNodeOperandWith;
use inkwell::llvm_sys::core::{
    LLVMConstInt, LLVMIntTypeInContext, LLVMMDNodeInContext2, LLVMMDStringInContext2,
    LLVMMetadataAsValue, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};
use inkwell::values::MetadataValue;
use tbaa::Int;
use tbaa_lower::emit::{Sink, SinkOperand, Storage};

/// A node in an LLVM context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata<'ctx> {
    node: LLVMMetadataRef,
    context: LLVMContextRef,
    life: PhantomData<&'ctx Context>,
}

impl fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metadata({:p})", self.node)
    }
}

impl<'ctx> Metadata<'ctx> {
    /// Returns the node for use with `llvm-c`.
    pub fn as_raw(self) -> LLVMMetadataRef {
        self.node
    }

    /// Returns the node as a value, to be attached to an instruction.
    ///
    /// NB: LLVM converts a node whose only operand is null or a constant into other metadata
    /// (`canonicalizeMetadataForValue`). No tag is such a node.
    #[must_use]
    pub fn as_value(self) -> MetadataValue<'ctx> {
        // SAFETY: the node is in the context, which is alive.
        unsafe { MetadataValue::new(LLVMMetadataAsValue(self.context, self.node)) }
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        self.context
    }
}

/// The reason why LLVM cannot create a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// LLVM has no integer type of this width: its integer types have 1 to 2^23 bits.
    #[error("an integer of {bits} bits, where LLVM has 1 to {MAX_INTEGER_BITS}; offsets are `i64`")]
    IntegerWidth {
        /// The requested number of bits.
        bits: u32,
    },
    /// `llvm-c` of LLVM 16 and older cannot make a distinct node whose first operand is not the
    /// node itself. Alias domains and scopes always work: each is its own first operand.
    #[error("LLVM before 17 makes no distinct node whose first operand is another")]
    Distinct,
    /// An operand is a node of another LLVM context.
    #[error("a node of another LLVM context is no operand here; make one emitter for each context")]
    OtherContext,
}

/// The limit in LLVM: `IntegerType::MAX_INT_BITS`.
const MAX_INTEGER_BITS: u32 = 1 << 23;

/// Creates nodes in an LLVM context, through inkwell or `llvm-sys`.
///
/// The nodes live as long as the context.
pub struct LlvmSink<'ctx> {
    context: LLVMContextRef,
    life: PhantomData<&'ctx Context>,
}

impl fmt::Debug for LlvmSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LlvmSink({:p})", self.context)
    }
}

impl<'ctx> LlvmSink<'ctx> {
    /// Returns a sink that makes nodes in a context.
    #[must_use]
    pub fn new(context: impl AsContextRef<'ctx>) -> Self {
        // SAFETY: inkwell's contexts are alive for 'ctx.
        unsafe { Self::from_raw(context.as_ctx_ref()) }
    }

    /// Returns a sink that makes nodes in a context of `llvm-c`.
    ///
    /// # Safety
    ///
    /// The context must be alive for all of `'ctx`, and must not be used by
    /// another thread while the sink is.
    #[must_use]
    pub unsafe fn from_raw(context: LLVMContextRef) -> Self {
        LlvmSink { context, life: PhantomData }
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        self.context
    }

    fn operand(
        &self,
        operand: &SinkOperand<'_, Metadata<'ctx>>,
    ) -> Result<LLVMMetadataRef, SinkError> {
        Ok(match operand {
            SinkOperand::Null | SinkOperand::Itself => ptr::null_mut(),
            // SAFETY: the bytes have this length; LLVM copies them.
            SinkOperand::Bytes(bytes) => unsafe {
                LLVMMDStringInContext2(self.context, bytes.as_ptr().cast(), bytes.len())
            },
            SinkOperand::Int(Int { bits, .. }) if !(1..=MAX_INTEGER_BITS).contains(bits) => {
                return Err(SinkError::IntegerWidth { bits: *bits });
            }
            // SAFETY: the integer type is in the context.
            SinkOperand::Int(int) => unsafe {
                let ty = LLVMIntTypeInContext(self.context, int.bits);
                LLVMValueAsMetadata(LLVMConstInt(ty, int.value, 0))
            },
            SinkOperand::Node(node) if node.context != self.context => {
                return Err(SinkError::OtherContext);
            }
            SinkOperand::Node(node) => node.node,
        })
    }
}

impl<'ctx> Sink for LlvmSink<'ctx> {
    type Node = Metadata<'ctx>;
    type Error = SinkError;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Metadata<'ctx>>],
        storage: Storage,
    ) -> Result<Metadata<'ctx>, SinkError> {
        let nodes = operands.iter().map(|operand| self.operand(operand));
        let mut nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        // A distinct node without operands gets itself as an operand, which makes it distinct.
        let is_empty = operands.is_empty();
        let itself = |at: usize| is_empty || matches!(operands.get(at), Some(SinkOperand::Itself));
        let node = if storage == Storage::Uniqued && !(0..operands.len()).any(itself) {
            // SAFETY: all operands are in the context.
            unsafe { LLVMMDNodeInContext2(self.context, nodes.as_mut_ptr(), nodes.len()) }
        } else {
            self.distinct(&mut nodes, itself)?
        };
        Ok(Metadata { node, context: self.context, life: PhantomData })
    }
}

impl LlvmSink<'_> {
    /// Makes a distinct node. `llvm-c` has no function for it: a uniqued node becomes distinct when
    /// it refers to itself.
    fn distinct(
        &self,
        nodes: &mut [LLVMMetadataRef],
        itself: impl Fn(usize) -> bool,
    ) -> Result<LLVMMetadataRef, SinkError> {
        let mut null = [ptr::null_mut()];
        #[cfg(any(feature = "llvm14-0", feature = "llvm15-0", feature = "llvm16-0"))]
        if !itself(0) {
            return Err(SinkError::Distinct);
        }
        let nodes = if nodes.is_empty() { &mut null[..] } else { nodes };
        #[cfg(not(any(feature = "llvm14-0", feature = "llvm15-0", feature = "llvm16-0")))]
        let first = nodes[0];
        // SAFETY: the operands are in the context, and so is the temporary
        // node, which has no user left when LLVM deletes it.
        unsafe {
            let temporary = LLVMTemporaryMDNode(self.context, ptr::null_mut(), 0);
            nodes[0] = temporary;
            for (position, node) in nodes.iter_mut().enumerate() {
                if itself(position) {
                    *node = temporary;
                }
            }
            let node = LLVMMDNodeInContext2(self.context, nodes.as_mut_ptr(), nodes.len());
            LLVMMetadataReplaceAllUsesWith(temporary, node);
            #[cfg(not(any(feature = "llvm14-0", feature = "llvm15-0", feature = "llvm16-0")))]
            if !itself(0) {
                let value = LLVMMetadataAsValue(self.context, node);
                LLVMReplaceMDNodeOperandWith(value, 0, first);
            }
            Ok(node)
        }
    }
}
