//! Attaches metadata to instructions that access a *place*: memory that a path like `S.x` names.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use inkwell::AtomicOrdering;
use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMGetMDKindIDInContext, LLVMGetTypeByName2, LLVMGetTypeContext, LLVMSetMetadata,
    LLVMStructCreateNamed, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::LLVMContextRef;
use inkwell::values::{AnyValue, AsValueRef, InstructionOpcode, InstructionValue};
use tbaa::AccessKind;
use tbaa::declare::Place;
use tbaa_lower::emit::{
    Attachments, Bisect, BisectError, EmitError, Emitter, MisuseError, Recorded, TaggedPlace,
};

use crate::relations::Relations;
use crate::size::{Callee, callee, element_of, own_memory, pointer_size, size_of};
use crate::{LlvmSink, Metadata, SinkError};

/// The reason why no metadata was attached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// LLVM cannot create a node.
    #[error(transparent)]
    Emit(#[from] EmitError<SinkError>),
    /// The instruction's access does not fit the place, or writes immutable memory.
    #[error(transparent)]
    Misuse(#[from] MisuseError),
    /// The instruction cannot have a tag: LLVM's verifier would reject the module.
    #[error(
        "{opcode:?} cannot have a tag: loads, stores, calls, va_arg, atomicrmw and cmpxchg can"
    )]
    Instruction {
        /// The instruction's opcode.
        opcode: InstructionOpcode,
    },
    /// The instruction, a node or the emitter belongs to another context than the tagger.
    #[error("the instruction is in another LLVM context than the tagger; make one for each")]
    OtherContext,
    /// The call has an argument with this attribute, so the call itself accesses the argument's
    /// memory. If the call had a tag, LLVM would delete the stores to this memory.
    #[error(
        "a call with a `{0}` argument accesses the argument's memory too, which no place names, \
         and LLVM would delete the stores that fill it: leave the call without a tag, or pass a \
         plain pointer"
    )]
    OwnMemory(&'static str),
    /// A pointer has another size in the module's data layout than in the declarations.
    #[error(
        "a pointer has {module} bytes by the module's data layout, and `{path}` has {declared}: \
         give the module the data layout of the target that the types are declared for (a module \
         without one has pointers of 8 bytes), and do so before code is built"
    )]
    Layout {
        /// The path of the place.
        path: String,
        /// The number of bytes by the module's data layout.
        module: u64,
        /// The number of bytes of the place.
        declared: u64,
    },
}

/// Attaches tags, scopes, alignment and volatility to the instructions of one LLVM context.
///
/// Make one tagger for each context, and keep it, because it creates each node only once. A tagger
/// borrows nothing: one struct may own both the context and its tagger. Once the context is
/// dropped, the tagger rejects all instructions.
///
/// ```
/// use inkwell::values::BasicValue;
/// use inkwell::{AddressSpace, context::Context};
/// use tbaa::declare::{Declarations, Record, Target};
/// use tbaa_inkwell::Tagger;
/// use tbaa_lower::emit::Jit;
///
/// let mut types = Declarations::new(Target::x86_64());
/// types.define(Record::structure("Counter").field("name", "char *").field("hits", "int"))?;
/// let hits = Jit::new(types).place("Counter.hits")?;
///
/// let context = Context::create();
/// let tagger = Tagger::new(&context)?;
/// let module = context.create_module("example");
/// let pointer = context.ptr_type(AddressSpace::default());
/// let function = module.add_function(
///     "hits",
///     context.i32_type().fn_type(&[pointer.into()], false),
///     None,
/// );
/// let builder = context.create_builder();
/// builder.position_at_end(context.append_basic_block(function, "entry"));
/// let counter = function.get_nth_param(0).unwrap().into_pointer_value();
/// let offset = context.i64_type().const_int(hits.place().offset, false);
/// // SAFETY: the offset is that of a member.
/// let address =
///     unsafe { builder.build_in_bounds_gep(context.i8_type(), counter, &[offset], "") }?;
/// let value = builder.build_load(context.i32_type(), address, "")?;
/// builder.build_return(Some(&value))?;
///
/// tagger.attach(&hits, value.as_instruction_value().unwrap())?;
///
/// let text = module.print_to_string().to_string();
/// assert!(text.contains("load i32, ptr %1, align 8, !tbaa !0"), "{text}");
/// module.verify()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tagger {
    context: LLVMContextRef,
    /// The name of a type that only this context has: a later context may have the same address.
    mark: CString,
    /// LLVM's kind ids of `!tbaa`, `!tbaa.struct`, `!alias.scope` and `!noalias`.
    kinds: [u32; 4],
    state: RefCell<State>,
}

// SAFETY: the context is used only together with an instruction or value that borrows it, so only
// on the thread that has the context. Otherwise the tagger holds only addresses.
unsafe impl Send for Tagger {}

/// The part of a tagger that changes while it is used.
#[derive(Debug)]
struct State {
    /// Creates nodes, only while the context is known to be alive.
    emitter: Emitter<LlvmSink<'static>>,
    bisect: Bisect,
    /// The number of attachments requested in each function, if `bisect` needs functions' names.
    asked: HashMap<Vec<u8>, u64>,
    /// The function and instruction of the last attachment that the bisection's limit allows.
    last: Option<String>,
    relations: Relations,
}

impl Tagger {
    /// Returns a tagger for a context. The environment variable `TBAA_BISECT` can make it omit some
    /// tags, to find a wrong one: see [`Bisect`].
    ///
    /// # Errors
    ///
    /// [`BisectError`] if the variable's value is not valid.
    pub fn new<'ctx>(context: impl AsContextRef<'ctx>) -> Result<Self, BisectError> {
        Ok(Self::with_sink(LlvmSink::new(context), Bisect::from_env()?))
    }

    /// Returns a tagger for the context of `sink`. The tagger attaches only what `bisect` allows,
    /// and ignores the environment variable `TBAA_BISECT`.
    #[must_use]
    pub fn with_sink(sink: LlvmSink<'_>, bisect: Bisect) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let context = sink.context();
        let kind = |name: &str| {
            // SAFETY: the context is alive, and the name has this length.
            unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
        };
        let kinds = ["tbaa", "tbaa.struct", "alias.scope", "noalias"].map(kind);
        let mark = format!("tbaa.tagger.{}", NEXT.fetch_add(1, Relaxed));
        let mark = CString::new(mark).unwrap_or_default();
        // SAFETY: the context is alive. The new type appears in no module: nothing uses it.
        unsafe { LLVMStructCreateNamed(context, mark.as_ptr()) };
        // SAFETY: the sink creates nodes only while the context is known to be alive.
        let emitter = Emitter::new(unsafe { LlvmSink::from_raw(context) });
        let (asked, relations) = (HashMap::new(), Relations::default());
        let state = State { emitter, bisect, asked, last: None, relations };
        Tagger { context, mark, kinds, state: RefCell::new(state) }
    }

    /// Returns a copy of the bisection, with the number of attachments requested so far.
    pub fn bisect(&self) -> Bisect {
        self.state.borrow().bisect.clone()
    }

    /// Returns the last attachment that a bisection by number allows, as function and instruction;
    /// `None` before the limit is reached.
    pub fn last_kept(&self) -> Option<String> {
        self.state.borrow().last.clone()
    }

    /// Calls `make` with the emitter, to create nodes for [`Tagger::attach_nodes`] or for LLVM.
    ///
    /// # Errors
    ///
    /// [`AttachError::OtherContext`] if the tagger belongs to another context than `context`.
    ///
    /// # Panics
    ///
    /// If `make` calls this tagger.
    pub fn emit<'ctx, R>(
        &self,
        context: impl AsContextRef<'ctx>,
        make: impl FnOnce(&mut Emitter<LlvmSink<'ctx>>) -> R,
    ) -> Result<R, AttachError> {
        self.check_context(context.as_ctx_ref())?;
        let mut state = self.state.borrow_mut();
        let emitter: *mut Emitter<LlvmSink<'static>> = &raw mut state.emitter;
        // SAFETY: lifetimes do not affect the layout, and the context lives for 'ctx.
        Ok(make(unsafe { &mut *emitter.cast::<Emitter<LlvmSink<'ctx>>>() }))
    }

    /// Checks that a live context is the tagger's, and that the emitter still creates nodes in it.
    /// The closure given to `emit` may have replaced the emitter by that of another context.
    fn check_context(&self, context: LLVMContextRef) -> Result<(), AttachError> {
        // SAFETY: the context is alive, and the name ends with a zero.
        let is_it = context == self.context
            && self.state.borrow().emitter.sink().context() == context
            && !unsafe { LLVMGetTypeByName2(context, self.mark.as_ptr()) }.is_null();
        if is_it { Ok(()) } else { Err(AttachError::OtherContext) }
    }

    /// Attaches the metadata for an access at a place: tag, scopes, known alignment and volatility.
    /// The form [`Classes`](tbaa_lower::emit::TagForm::Classes) also writes an alias table to the
    /// instruction's module, so the instruction must be in a module.
    ///
    /// An access must end inside the place, or cover whole elements of a place that is a
    /// [run](tbaa::declare::Place::run). This applies to loads, stores and atomics, to copies and
    /// fills (`memcpy`, `memset`), and to other LLVM intrinsics, such as masked stores. For any
    /// other call, a place means that the call accesses only this place, as for
    /// [`Jit::call`](tbaa_lower::emit::Jit::call). Stores and atomics must not write immutable
    /// memory. Calls may, because a tag on a call never says that memory is immutable.
    ///
    /// Earlier `!tbaa`, `!tbaa.struct`, `!alias.scope` and `!noalias` attachments are removed.
    ///
    /// The alignment of calls and atomic accesses is not changed, nor that of an access whose place
    /// has no known alignment: a bit-field, or a [region](tbaa::declare::Declarations::region) of
    /// bytes. NB: at a packed place, set an atomic ordering first, or the alignment becomes 1.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instruction is then unchanged.
    pub fn attach(
        &self,
        place: &TaggedPlace,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.check(instruction)?;
        let opcode = instruction.get_opcode();
        let nodes = match opcode {
            InstructionOpcode::Call | InstructionOpcode::Invoke => {
                match callee(instruction) {
                    Callee::Copies(size) => place.check_copy(size)?,
                    Callee::Intrinsic(Some(size)) => place.check(size, AccessKind::Read)?,
                    Callee::Intrinsic(None) => {}
                    Callee::Other => check_arguments(instruction)?,
                }
                &place.tagged().call
            }
            _ => {
                let kind = match opcode {
                    InstructionOpcode::Load | InstructionOpcode::VAArg => AccessKind::Read,
                    _ => AccessKind::Write,
                };
                let checked = match size_of(instruction) {
                    Some(size) => {
                        let element = element_of(instruction);
                        place.check(size, kind).and_then(|()| place.check_element(element))
                    }
                    None => place.check_kind(kind),
                };
                checked.map_err(|misuse| match (misuse, pointer_size(instruction)) {
                    (
                        MisuseError::Wider { path, .. } | MisuseError::Element { path, .. },
                        Some(module),
                    ) if place.place().pointer => {
                        AttachError::Layout { path, module, declared: place.place().size }
                    }
                    (misuse, _) => misuse.into(),
                })?;
                place.nodes()
            }
        };
        let nodes = self.nodes(nodes, opcode)?;
        // An instruction that cannot have an atomic ordering returns an error here.
        let is_plain = instruction.get_atomic_ordering() == Ok(AtomicOrdering::NotAtomic);
        let Place { bits, align, aligned, .. } = *place.place();
        if let (true, true, None, Ok(align)) = (is_plain, aligned, bits, u32::try_from(align)) {
            // This cannot fail: it is a load or a store.
            let _ = instruction.set_alignment(align.max(1));
        }
        if place.place().volatile {
            // This fails for a call, whose volatility is an operand: ignore the error.
            let _ = instruction.set_volatile(true);
        }
        self.replace(nodes, instruction)
    }

    /// Attaches the metadata for a call that accesses only the memory that `touched` describes, and
    /// memory that no other code accesses.
    ///
    /// NB: a call that allocates or frees memory touches that memory too: see
    /// [`Jit::allocating_call`](tbaa_lower::emit::Jit::allocating_call). A call that reallocates,
    /// collects garbage or calls back touches all memory that those actions touch.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instruction is then unchanged.
    pub fn attach_call(
        &self,
        touched: &Attachments<Recorded>,
        call: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.check(call)?;
        check_arguments(call)?;
        let nodes = self.nodes(touched, call.get_opcode())?;
        self.replace(nodes, call)
    }

    fn replace(
        &self,
        nodes: Attachments<Metadata<'_>>,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.kinds.into_iter().for_each(|kind| remove(instruction, kind));
        self.put(nodes, instruction)
    }

    pub(crate) fn attach_recorded(
        &self,
        nodes: &Attachments<Recorded>,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.check(instruction)?;
        let nodes = self.nodes(nodes, instruction.get_opcode())?;
        self.put(nodes, instruction)
    }

    fn nodes(
        &self,
        nodes: &Attachments<Recorded>,
        opcode: InstructionOpcode,
    ) -> Result<Attachments<Metadata<'static>>, AttachError> {
        let mut state = self.state.borrow_mut();
        // The closure given to `emit` may have replaced the emitter.
        if state.emitter.sink().context() != self.context {
            return Err(AttachError::OtherContext);
        }
        let mut made = state.emitter.attachments(nodes)?;
        if opcode == InstructionOpcode::Invoke {
            // LLVM's verifier rejects a tag on an invoke, but accepts scopes.
            made.tag = None;
        }
        Ok(made)
    }

    /// Attaches nodes that the [emitter](Tagger::emit) created.
    ///
    /// NB: the tagger does not check what the nodes mean.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instruction is then unchanged.
    pub fn attach_nodes(
        &self,
        nodes: Attachments<Metadata<'_>>,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.check(instruction)?;
        if let (InstructionOpcode::Invoke, Some(_)) = (instruction.get_opcode(), nodes.tag) {
            return Err(AttachError::Instruction { opcode: InstructionOpcode::Invoke });
        }
        self.put(nodes, instruction)
    }

    /// Attaches nodes to an instruction that was checked before.
    fn put(
        &self,
        nodes: Attachments<Metadata<'_>>,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        let attachments = [nodes.tag, nodes.copy, nodes.alias_scope, nodes.noalias];
        let mut all = attachments.into_iter().chain([nodes.relation]).flatten();
        if attachments.iter().all(Option::is_none) {
            return Ok(());
        }
        if all.any(|node| node.context() != self.context) {
            return Err(AttachError::OtherContext);
        }
        let mut state = self.state.borrow_mut();
        if !state.keep(instruction) {
            return Ok(());
        }
        if let Some(relation) = nodes.relation {
            state.relations.add(relation, instruction);
        }
        for (kind, node) in self.kinds.into_iter().zip(attachments) {
            let Some(node) = node.map(|node| node.as_value().as_value_ref()) else { continue };
            // SAFETY: instruction and node are in the same context, and the
            // node is not a temporary one.
            unsafe { LLVMSetMetadata(instruction.as_value_ref(), kind, node) };
        }
        state.note(instruction);
        Ok(())
    }

    /// Checks that LLVM's verifier accepts a tag on the instruction (or scopes, if it is an
    /// `invoke`), and that the instruction is in the tagger's context. The check in LLVM:
    /// `TBAAVerifier::visitTBAAMetadata`, "This instruction shall not have a TBAA access tag!".
    fn check(&self, instruction: InstructionValue<'_>) -> Result<(), AttachError> {
        let opcode = instruction.get_opcode();
        match opcode {
            InstructionOpcode::Load
            | InstructionOpcode::Store
            | InstructionOpcode::Call
            | InstructionOpcode::Invoke
            | InstructionOpcode::VAArg
            | InstructionOpcode::AtomicRMW
            | InstructionOpcode::AtomicCmpXchg => {}
            _ => return Err(AttachError::Instruction { opcode }),
        }
        // SAFETY: the instruction is alive.
        self.check_context(unsafe { LLVMGetTypeContext(LLVMTypeOf(instruction.as_value_ref())) })
    }
}

impl State {
    /// Returns whether the bisection allows an attachment to the instruction.
    fn keep(&mut self, instruction: InstructionValue<'_>) -> bool {
        let mut name = Vec::new();
        if self.bisect.wants_names() {
            name = function_of(instruction);
            let asked = self.asked.entry(name.clone()).or_insert(0);
            name.extend_from_slice(format!(" {asked}").as_bytes());
            *asked += 1;
        }
        self.bisect.keep(&name)
    }

    /// Remembers the instruction if its attachment is the last one that the bisection allows.
    fn note(&mut self, instruction: InstructionValue<'_>) {
        if self.bisect.is_at_limit() {
            let function = function_of(instruction);
            let function = String::from_utf8_lossy(&function);
            let text = instruction.print_to_string();
            self.last = Some(format!("{function}: {}", text.to_string_lossy().trim()));
        }
    }
}

pub(crate) fn remove(instruction: InstructionValue<'_>, kind: u32) {
    // SAFETY: the instruction is alive; LLVM accepts a null node, and removes the kind.
    unsafe { LLVMSetMetadata(instruction.as_value_ref(), kind, ptr::null_mut()) };
}

/// Checks that a call accesses no memory except through its callee.
fn check_arguments(call: InstructionValue<'_>) -> Result<(), AttachError> {
    match call.get_opcode() {
        InstructionOpcode::Call | InstructionOpcode::Invoke => {
            own_memory(call).map_or(Ok(()), |attribute| Err(AttachError::OwnMemory(attribute)))
        }
        _ => Ok(()),
    }
}

/// Returns the name of the function that contains an instruction; empty if there is none.
fn function_of(instruction: InstructionValue<'_>) -> Vec<u8> {
    let function = instruction.get_parent().and_then(|block| block.get_parent());
    function.map(|function| function.get_name().to_bytes().to_vec()).unwrap_or_default()
}
