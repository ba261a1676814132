//! Handing nodes to whoever keeps metadata, by a callback.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use tbaa::TagId;
use tbaa_lower::emit::{Attachments, EmitError, Emitter, Recorded, Sink, SinkOperand};

use crate::lower::{AliasScopes, Lowered, Names};
use crate::oracle::{Copy, Effect, MemoryAccess, Oracle, Tag, known_copy};
use crate::status::{Error, Status, free, given, made};
use crate::text::{Str, slice};

/// What an operand of a node is.
#[repr(u32)]
pub enum OperandKind {
    /// `null`.
    Null = 0,
    /// A string: any bytes.
    Bytes = 1,
    /// An integer constant.
    Integer = 2,
    /// A node that the callback made.
    Node = 3,
    /// The node that is being made.
    Itself = 4,
}

/// One operand of a node. What its kind does not need is 0 or NULL.
#[repr(C)]
pub struct Operand {
    /// Of `tbaa_operand_kind`.
    pub kind: u32,
    /// The width of an integer.
    pub bits: u32,
    /// The value of an integer, zero-extended.
    pub value: u64,
    /// The bytes of a string, for the time of the call.
    pub bytes: Str,
    /// What the callback returned for a node.
    pub node: *mut c_void,
}

/// Makes a node from its operands and returns it, or NULL if it cannot. A node
/// that is `distinct` is never the same as another; one that is an operand of
/// itself always is so. The callback must not call the emitter that calls it,
/// nor leave by `longjmp` or a C++ exception.
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

/// Where nodes go. `tbaa-llvm.h` has one ready for llvm-c.
#[repr(C)]
#[derive(Clone, std::marker::Copy)]
pub struct NodeSink {
    /// Makes a node.
    pub make_node: MakeNode,
    /// Passed to it: LLVM's context, say.
    pub data: *mut c_void,
}

/// The sink as the core wants it.
struct Callback {
    make: extern "C" fn(*mut c_void, *const Operand, usize, bool) -> *mut c_void,
    data: *mut c_void,
}

impl Sink for Callback {
    type Node = NonNull<c_void>;
    /// The callback returned NULL.
    type Error = &'static str;

    fn node(
        &mut self,
        operands: &[SinkOperand<'_, Self::Node>],
        distinct: bool,
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
        let made = (self.make)(self.data, operands.as_ptr(), operands.len(), distinct);
        NonNull::new(made).ok_or("the callback made no node")
    }
}

/// Hands nodes to one sink, each once, operands first: what grows costs only what
/// is new. It lives no longer than what the sink's nodes live in.
pub struct NodeEmitter {
    emitter: Emitter<Callback>,
}

/// What an access, a call or a copy is to get: nodes to attach, NULL for none.
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

/// What accesses are to get: tags, scopes or both.
#[repr(C)]
#[derive(Clone, std::marker::Copy)]
pub struct EmitPlan<'a> {
    /// Whose tags the accesses have.
    pub oracle: Option<&'a Oracle>,
    /// The tags to attach in their place; NULL to attach them as they are.
    pub lowered: Option<&'a Lowered>,
    /// The scopes to attach; NULL for those of the lowering, if it has any.
    pub scopes: Option<&'a AliasScopes>,
    /// Whether scopes are all that is attached.
    pub scopes_alone: bool,
}

type NodePointer = NonNull<c_void>;

impl NodeEmitter {
    /// Emits the tag that an access gets, or a call that makes it.
    fn tag(
        &mut self,
        plan: &EmitPlan<'_>,
        oracle: &Oracle,
        access: MemoryAccess,
        call: bool,
    ) -> Result<Option<NodePointer>, Error> {
        if plan.scopes_alone || access.tag.id == 0 {
            return Ok(None);
        }
        let (graph, tag) = match plan.lowered {
            Some(lowered) => match lowered.tag(access)? {
                Some(tag) => (lowered.graph(), tag),
                None => return Ok(None),
            },
            None if access.size == 0 => (oracle.graph(), oracle.known_tag(access.tag)?),
            None => {
                let message = "an access with a size of its own, at which LLVM does not look: \
                               lower it, or leave it without a tag";
                return Err(Error::new(Status::Refused, message));
            }
        };
        if call {
            return emitted(self.emitter.mutable_tag(graph, tag)).map(Some);
        }
        if access.kind != Effect::Read as u32 && graph.tag(tag).is_ok_and(|tag| tag.immutable) {
            let message = "a store where memory is immutable, and LLVM moves loads of it over any \
                           store: store there before the code that loads it is compiled, or give \
                           the store and the loads the tag without `immutable`; of a load say \
                           TBAA_EFFECT_READ";
            return Err(Error::new(Status::Refused, message));
        }
        emitted(self.emitter.tag(graph, tag)).map(Some)
    }

    /// Emits nodes that were recorded.
    pub(crate) fn recorded(
        &mut self,
        nodes: &Attachments<Recorded>,
    ) -> Result<NodeAttachments, Error> {
        let made = emitted(self.emitter.attachments(nodes))?;
        Ok(attachments(made.tag, made.copy, (made.alias_scope, made.noalias)))
    }

    /// Emits lists of scopes.
    fn scopes(
        &mut self,
        names: Option<Names<'_>>,
    ) -> Result<(Option<NodePointer>, Option<NodePointer>), Error> {
        let Some(names) = names else { return Ok((None, None)) };
        let alias_scope = emitted(self.emitter.scope_list(&names.domain, names.own))?;
        let noalias = emitted(self.emitter.scope_list(&names.domain, names.noalias))?;
        Ok((alias_scope, noalias))
    }
}

impl<'a> EmitPlan<'a> {
    /// Returns the scopes of an access.
    fn access_scopes(&self, access: MemoryAccess) -> Option<Names<'a>> {
        match (self.scopes, self.lowered) {
            // These were made of accesses as large as their tags say.
            (Some(_), _) if access.size != 0 => None,
            (Some(scopes), _) => scopes.access(access.tag),
            (None, Some(lowered)) => lowered.scopes(access),
            (None, None) => None,
        }
    }

    /// Returns the scopes that a call leaves alone.
    fn call_scopes(&self, oracle: &Oracle, effects: &[MemoryAccess]) -> Option<Names<'a>> {
        match (self.scopes, self.lowered) {
            (Some(scopes), _) => {
                // An effect without a tag, or wider than it, may be on anything.
                let tag =
                    |effect: &MemoryAccess| oracle.tag(effect.tag).filter(|_| effect.size == 0);
                let touched: Vec<TagId> = effects.iter().map(tag).collect::<Option<_>>()?;
                Some(scopes.call(oracle, &touched))
            }
            (None, Some(lowered)) => {
                let effects: Vec<_> = effects.iter().map(|&effect| oracle.access(effect)).collect();
                Some(lowered.call_scopes(oracle, &effects))
            }
            (None, None) => None,
        }
    }
}

fn attachments(
    tag: Option<NodePointer>,
    tbaa_struct: Option<NodePointer>,
    (alias_scope, noalias): (Option<NodePointer>, Option<NodePointer>),
) -> NodeAttachments {
    let pointer = |node: Option<NodePointer>| node.map_or(ptr::null_mut(), NonNull::as_ptr);
    NodeAttachments {
        tag: pointer(tag),
        tbaa_struct: pointer(tbaa_struct),
        alias_scope: pointer(alias_scope),
        noalias: pointer(noalias),
    }
}

/// Makes an emitter that has emitted nothing. One for each LLVM context, from
/// the thread that uses that; free it with `tbaa_emitter_free` before the
/// context.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emitter_new(
    sink: Option<&NodeSink>,
    emitter: Option<&mut MaybeUninit<Box<NodeEmitter>>>,
) -> Status {
    made(emitter, || {
        let sink = given(sink, "the sink")?;
        let make = given(sink.make_node, "the sink's callback")?;
        Ok(Box::new(NodeEmitter { emitter: Emitter::new(Callback { make, data: sink.data }) }))
    })
}

/// Frees an emitter; the nodes are the sink's. NULL is no error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emitter_free(emitter: Option<Box<NodeEmitter>>) {
    free(emitter);
}

/// Emits what an access is to get: nothing for one without a tag. A tag that LLVM
/// would reject, crash on or get wrong is `TBAA_STATUS_REFUSED`: lower it, or
/// leave the access without. So is an access that may write where memory is
/// immutable.
///
/// Nodes are remembered by the graph of the plan's oracle: a snapshot's are
/// asked for anew, and an anonymous root of it is another to LLVM.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emit_access(
    emitter: Option<&mut NodeEmitter>,
    plan: Option<&EmitPlan<'_>>,
    access: MemoryAccess,
    nodes: Option<&mut MaybeUninit<NodeAttachments>>,
) -> Status {
    made(nodes, || {
        let (emitter, plan) = (given(emitter, "the emitter")?, given(plan, "the plan")?);
        let oracle = given(plan.oracle, "the plan's oracle")?;
        let tag = emitter.tag(plan, oracle, access, false)?;
        let names = plan.access_scopes(access);
        Ok(attachments(tag, None, emitter.scopes(names)?))
    })
}

/// Emits what a call is to get, of which all effects on memory that somebody
/// else can access are given: scopes that it leaves alone, and with one effect
/// its tag, which never says that memory is immutable. A call of which nothing is
/// known gets nothing.
///
/// A call that hands out memory, or takes it back, has an effect on all of that
/// memory: give it the tags of the whole records. Else LLVM moves stores to an object
/// that is freed behind the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_emit_call(
    emitter: Option<&mut NodeEmitter>,
    plan: Option<&EmitPlan<'_>>,
    effects: *const MemoryAccess,
    count: usize,
    nodes: Option<&mut MaybeUninit<NodeAttachments>>,
) -> Status {
    made(nodes, || {
        let (emitter, plan) = (given(emitter, "the emitter")?, given(plan, "the plan")?);
        let oracle = given(plan.oracle, "the plan's oracle")?;
        // SAFETY: the caller promises `count` effects.
        let effects = unsafe { slice(effects, count, "effects") }?;
        let tag = match effects {
            &[effect] if plan.lowered.is_none_or(|lowered| lowered.knows(effect)) => {
                emitter.tag(plan, oracle, effect, true)?
            }
            _ => None,
        };
        let names = plan.call_scopes(oracle, effects);
        Ok(attachments(tag, None, emitter.scopes(names)?))
    })
}

/// Emits what a copy of a struct is to get: its `tbaa.struct` node, unless the
/// plan lowers tags or has scopes alone.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emit_copy(
    emitter: Option<&mut NodeEmitter>,
    plan: Option<&EmitPlan<'_>>,
    copy: Copy,
    nodes: Option<&mut MaybeUninit<NodeAttachments>>,
) -> Status {
    made(nodes, || {
        let (emitter, plan) = (given(emitter, "the emitter")?, given(plan, "the plan")?);
        let graph = given(plan.oracle, "the plan's oracle")?.graph();
        if copy.id == 0 || plan.scopes_alone || plan.lowered.is_some() {
            return Ok(attachments(None, None, (None, None)));
        }
        let copy = known_copy(graph, copy)?;
        let node = emitted(emitter.emitter.copy_node(graph, copy))?;
        Ok(attachments(None, Some(node), (None, None)))
    })
}

/// Emits a tag whatever LLVM makes of it. LLVM 22 crashes on some, and moves
/// loads over stores for others: this is for tests of LLVM, and for sinks that
/// are not LLVM.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emit_tag_as_is(
    emitter: Option<&mut NodeEmitter>,
    oracle: Option<&Oracle>,
    tag: Tag,
    node: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    made(node, || {
        let oracle = given(oracle, "the oracle")?;
        let emitter = given(emitter, "the emitter")?;
        let tag = oracle.known_tag(tag)?;
        emitted(emitter.emitter.tag_as_is(oracle.graph(), tag)).map(NonNull::as_ptr)
    })
}
