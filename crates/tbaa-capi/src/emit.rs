//! Passes nodes to a metadata system, such as LLVM's, through a callback.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use tbaa::{Graph, TagId};
use tbaa_lower::emit::{Attachments, EmitError, Emitter, Recorded, Sink, SinkOperand, Storage};

use crate::oracle::{Copy, Effect, MemoryAccess, Oracle, known_copy};
use crate::status::{Error, Status, free, given, made};
use crate::text::Str;

/// The kind of a node's operand.
#[repr(u32)]
pub enum OperandKind {
    /// `null`.
    Null = 0,
    /// A string: any bytes.
    Bytes = 1,
    /// An integer constant.
    Integer = 2,
    /// A node that the callback has made.
    Node = 3,
    /// The node that is being made.
    Itself = 4,
}

/// One operand of a node. Fields that its kind does not use are 0 or NULL.
#[repr(C)]
pub struct Operand {
    /// A `tbaa_operand_kind`.
    pub kind: u32,
    /// The width of an integer.
    pub bits: u32,
    /// The value of an integer, zero-extended.
    pub value: u64,
    /// The bytes of a string; they live until the callback returns.
    pub bytes: Str,
    /// The callback's result for a node.
    pub node: *mut c_void,
}

/// Makes a node from its operands and returns it, or NULL on failure. A `distinct` node never
/// equals another; a node with itself as an operand is always distinct. The callback must not call
/// the emitter that calls it, and must not leave by `longjmp` or a C++ exception.
///
/// LLVM: `MDNode::get`, `MDNode::getDistinct`.
pub type MakeNode = Option<
    extern "C" fn(
        data: *mut c_void,
        operands: *const Operand,
        count: usize,
        distinct: bool,
    ) -> *mut c_void,
>;

/// The destination of nodes. `tbaa-llvm.h` has one for llvm-c.
#[repr(C)]
#[derive(Clone, std::marker::Copy)]
pub struct NodeSink {
    /// Makes a node.
    pub make_node: MakeNode,
    /// Passed to `make_node`, for example LLVM's context.
    pub data: *mut c_void,
}

/// Adapts the C program's `make_node` callback to [`Sink`], which [`Emitter`] needs.
struct Callback {
    make: extern "C" fn(*mut c_void, *const Operand, usize, bool) -> *mut c_void,
    data: *mut c_void,
}

impl Sink for Callback {
    type Node = NonNull<c_void>;
    /// The message for a callback that returned NULL.
    type Error = &'static str;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Self::Node>],
        storage: Storage,
    ) -> Result<Self::Node, Self::Error> {
        let of = |kind: OperandKind| Operand {
            kind: kind as u32,
            bits: 0,
            value: 0,
            bytes: Str::of(""),
            node: ptr::null_mut(),
        };
        let operands: Vec<Operand> = operands
            .iter()
            .map(|operand| match *operand {
                SinkOperand::Null => of(OperandKind::Null),
                SinkOperand::Bytes(bytes) => {
                    Operand { bytes: Str::of_bytes(bytes), ..of(OperandKind::Bytes) }
                }
                SinkOperand::Int(int) => {
                    Operand { bits: int.bits, value: int.value, ..of(OperandKind::Integer) }
                }
                SinkOperand::Node(node) => Operand { node: node.as_ptr(), ..of(OperandKind::Node) },
                SinkOperand::Itself => of(OperandKind::Itself),
            })
            .collect();
        let distinct = storage == Storage::Distinct;
        let made = (self.make)(self.data, operands.as_ptr(), operands.len(), distinct);
        NonNull::new(made).ok_or("the callback made no node")
    }
}

/// Passes nodes to one sink: each node once, after its operands. The emitter must not outlive the
/// owner of the sink's nodes, such as the LLVM context.
pub struct NodeEmitter {
    emitter: Emitter<Callback>,
    data: *mut c_void,
}

/// The nodes to attach to an access, a call or a struct copy; NULL for none.
#[repr(C)]
pub struct NodeAttachments {
    /// `!tbaa`
    pub tag: *mut c_void,
    /// `!tbaa.struct`
    pub tbaa_struct: *mut c_void,
    /// `!alias.scope`
    pub alias_scope: *mut c_void,
    /// `!noalias`
    pub noalias: *mut c_void,
}

fn emitted<T>(result: Result<T, EmitError<&'static str>>) -> Result<T, Error> {
    result.map_err(|error| {
        let status = match error {
            EmitError::Refused(_) => Status::Refused,
            EmitError::Sink(_) => Status::Sink,
            _ => Status::Build,
        };
        Error::new(status, error)
    })
}

impl NodeEmitter {
    pub(crate) fn tag(&mut self, graph: &Graph, tag: TagId) -> Result<*mut c_void, Error> {
        Ok(emitted(self.emitter.tag(graph, tag))?.as_ptr())
    }

    pub(crate) fn recorded(
        &mut self,
        nodes: &Attachments<Recorded>,
    ) -> Result<NodeAttachments, Error> {
        Ok(emitted(self.emitter.attachments(nodes))?.into())
    }
}

impl From<Attachments<NonNull<c_void>>> for NodeAttachments {
    fn from(nodes: Attachments<NonNull<c_void>>) -> NodeAttachments {
        let pointer = |node: Option<NonNull<_>>| node.map_or(ptr::null_mut(), NonNull::as_ptr);
        NodeAttachments {
            tag: pointer(nodes.tag),
            tbaa_struct: pointer(nodes.copy),
            alias_scope: pointer(nodes.alias_scope),
            noalias: pointer(nodes.noalias),
        }
    }
}

/// Makes an emitter. Make one for each LLVM context, on the thread that uses the context, and free
/// it with `tbaa_emitter_free` before the context.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emitter_new(
    sink: Option<&NodeSink>,
    emitter: Option<&mut MaybeUninit<Box<NodeEmitter>>>,
) -> Status {
    made(emitter, || {
        let sink = given(sink, "the sink")?;
        let make = given(sink.make_node, "the sink's callback")?;
        let emitter = Emitter::new(Callback { make, data: sink.data });
        Ok(Box::new(NodeEmitter { emitter, data: sink.data }))
    })
}

/// Returns the `data` of the emitter's sink: for `tbaa_llvm_sink` the LLVM context.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emitter_data(emitter: Option<&NodeEmitter>) -> *mut c_void {
    emitter.map_or(ptr::null_mut(), |emitter| emitter.data)
}

/// Frees an emitter, but not its nodes, which belong to the sink. NULL is not an error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emitter_free(emitter: Option<Box<NodeEmitter>>) {
    free(emitter);
}

/// Emits the node of an access's tag, which the oracle must know; no node for an access without a
/// tag. A tag that LLVM would reject, crash on or get wrong gives `TBAA_STATUS_REFUSED`: use
/// `tbaa_places` to get tags that LLVM gets right, or leave the access untagged. Also refused are
/// an access with a nonzero `size`, which LLVM ignores, and one that may write immutable memory.
///
/// The emitter remembers the nodes of each oracle separately. So it emits a context's nodes again
/// for a snapshot of it, and LLVM takes an anonymous root in the snapshot for a different root.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emit_access(
    emitter: Option<&mut NodeEmitter>,
    oracle: Option<&Oracle>,
    access: MemoryAccess,
    nodes: Option<&mut MaybeUninit<NodeAttachments>>,
) -> Status {
    made(nodes, || {
        let (emitter, oracle) = (given(emitter, "the emitter")?, given(oracle, "the oracle")?);
        if access.tag.id == 0 {
            return Ok(Attachments::default().into());
        }
        let (graph, tag) = (oracle.graph(), oracle.known_tag(access.tag)?);
        let refused = |message: &str| Err(Error::new(Status::Refused, message));
        if access.size != 0 {
            return refused(
                "an access with a size of its own, at which LLVM does not look: ask \
                 tbaa_place_sized, or leave it without a tag",
            );
        }
        if access.kind != Effect::Read as u32 && graph.tag(tag).is_ok_and(|tag| tag.immutable) {
            return refused(
                "a store where memory is immutable, and LLVM moves loads of it over any store: \
                 store there before the code that loads it is compiled, or give the store and the \
                 loads the tag without `immutable`; of a load say TBAA_EFFECT_READ",
            );
        }
        Ok(emitted(emitter.emitter.access(graph, tag))?.into())
    })
}

/// Emits the `tbaa.struct` node of a copy of a struct.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emit_copy(
    emitter: Option<&mut NodeEmitter>,
    oracle: Option<&Oracle>,
    copy: Copy,
    nodes: Option<&mut MaybeUninit<NodeAttachments>>,
) -> Status {
    made(nodes, || {
        let (emitter, oracle) = (given(emitter, "the emitter")?, given(oracle, "the oracle")?);
        if copy.id == 0 {
            return Ok(Attachments::default().into());
        }
        let copy = known_copy(oracle.graph(), copy)?;
        Ok(emitted(emitter.emitter.copy(oracle.graph(), oracle.graph(), copy))?.into())
    })
}
