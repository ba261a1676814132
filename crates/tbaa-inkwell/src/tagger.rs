//! Attaching to instructions.

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

/// The reason why nothing was attached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// A node cannot be made in LLVM.
    #[error(transparent)]
    Emit(#[from] EmitError<SinkError>),
    /// The instruction does not access what the place describes.
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
    /// The instruction is in another context than the tagger.
    #[error("the instruction is in another LLVM context than the tagger; make one for each")]
    OtherContext,
    /// The call has an argument with this attribute: the call itself accesses the argument's
    /// memory, besides its callee. LLVM would delete the stores that fill it.
    #[error(
        "a call with a `{0}` argument accesses the argument's memory too, which no place names, \
         and LLVM would delete the stores that fill it: leave the call without a tag, or pass a \
         plain pointer"
    )]
    OwnMemory(&'static str),
    /// A pointer has more bytes by the module's data layout than by the declarations.
    #[error(
        "a pointer has {module} bytes by the module's data layout, and `{path}` has {declared}: \
         give the module the data layout of the target that the types are declared for (a module \
         without one has pointers of 8 bytes), and do so before code is built"
    )]
    Layout {
        /// The place.
        path: String,
        /// Bytes by the module's data layout.
        module: u64,
        /// Bytes of the place.
        declared: u64,
    },
}

/// Attaches tags, scopes, alignment and volatility to the instructions of one LLVM context.
///
/// Make one for each context, and keep it: what is emitted stays emitted. It borrows nothing, so
/// that one value may own both the context and its tagger, and it is used by `&self`. When the
/// context is gone, it attaches nothing.
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
    /// The name of a type that no context has but this one: another may come to be at its address.
    mark: CString,
    /// LLVM's numbers of `!tbaa`, `!tbaa.struct`, `!alias.scope` and `!noalias`.
    kinds: [u32; 4],
    state: RefCell<State>,
}

// SAFETY: the context is used only with an instruction of it, or another value that borrows it, which
// is on the thread that has the context. What is kept of it is addresses.
unsafe impl Send for Tagger {}

/// The part of a tagger that changes.
#[derive(Debug)]
struct State {
    /// Makes nodes while the context is known to live.
    emitter: Emitter<LlvmSink<'static>>,
    bisect: Bisect,
    /// The number of requested attachments in each function, if names are needed.
    asked: HashMap<Vec<u8>, u64>,
    /// The name of the last attachment that the bisection kept.
    last: Option<String>,
    relations: Relations,
}

impl Tagger {
    /// Returns a tagger for a context. It leaves off tags as the environment
    /// variable `TBAA_BISECT` says: see [`Bisect`].
    ///
    /// # Errors
    ///
    /// [`BisectError`] where the variable says nothing.
    pub fn new<'ctx>(context: impl AsContextRef<'ctx>) -> Result<Self, BisectError> {
        Ok(Self::with_sink(LlvmSink::new(context), Bisect::from_env()?))
    }

    /// Returns a tagger for a sink's context that omits tags as `bisect` says; the environment is
    /// ignored.
    #[must_use]
    pub fn with_sink(sink: LlvmSink<'_>, bisect: Bisect) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let context = sink.context();
        let kind = |name: &str| {
            // SAFETY: the context is alive, and the name as long as said.
            unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
        };
        let kinds = ["tbaa", "tbaa.struct", "alias.scope", "noalias"].map(kind);
        let mark = format!("tbaa.tagger.{}", NEXT.fetch_add(1, Relaxed));
        let mark = CString::new(mark).unwrap_or_default();
        // SAFETY: the context is alive. A type that nothing uses is in no module.
        unsafe { LLVMStructCreateNamed(context, mark.as_ptr()) };
        // SAFETY: it makes nodes only while the context is known to live.
        let emitter = Emitter::new(unsafe { LlvmSink::from_raw(context) });
        let (asked, relations) = (HashMap::new(), Relations::default());
        let state = State { emitter, bisect, asked, last: None, relations };
        Tagger { context, mark, kinds, state: RefCell::new(state) }
    }

    /// Returns the bisection, with the number of attachments so far.
    pub fn bisect(&self) -> Bisect {
        self.state.borrow().bisect.clone()
    }

    /// Returns the last attachment that a bisection by number kept: function and instruction.
    /// `None` before the limit is reached.
    pub fn last_kept(&self) -> Option<String> {
        self.state.borrow().last.clone()
    }

    /// Lends the emitter, for nodes that are attached by other means.
    ///
    /// # Errors
    ///
    /// [`AttachError::OtherContext`].
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
        // SAFETY: lifetimes have no part in the layout, and the context lives for 'ctx.
        Ok(make(unsafe { &mut *emitter.cast::<Emitter<LlvmSink<'ctx>>>() }))
    }

    /// Checks that a context, which is alive, is the one that the nodes are in. Who was lent the
    /// emitter may have put one of another context into its place.
    fn check_context(&self, context: LLVMContextRef) -> Result<(), AttachError> {
        // SAFETY: the context is alive, and the name ends.
        let is_it = context == self.context
            && self.state.borrow().emitter.sink().context() == context
            && !unsafe { LLVMGetTypeByName2(context, self.mark.as_ptr()) }.is_null();
        if is_it { Ok(()) } else { Err(AttachError::OtherContext) }
    }

    /// Attaches the metadata for an access at a place: tag and scopes, the known alignment, and
    /// volatility. For [classes](tbaa_lower::emit::TagForm::Classes) the module also gets the
    /// relation, so the instruction must be in a module.
    ///
    /// An access must end inside the place, or be a [run](tbaa::declare::Place::run) of whole
    /// elements, and must not store to immutable memory. This applies to loads, stores and atomics,
    /// to copies and fills (`memcpy`, `memset`), and to LLVM's other intrinsics, such as masked
    /// stores. For any other call, a place means that the call accesses only this place, like one
    /// from [`Jit::call`](tbaa_lower::emit::Jit::call). On a call the tag never says that memory is
    /// immutable.
    ///
    /// Earlier `!tbaa`, `!tbaa.struct`, `!alias.scope` and `!noalias` attachments are removed.
    ///
    /// Calls and atomic accesses keep their alignment. So does an access at a place that does not
    /// know it: a bit-field, a [region](tbaa::declare::Declarations::region) of any bytes. NB: at a
    /// packed place set an ordering before, or the access is one of alignment 1 by then.
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
        // An instruction with an ordering that is none has no other.
        let is_plain = instruction.get_atomic_ordering() == Ok(AtomicOrdering::NotAtomic);
        let Place { bits, align, aligned, .. } = *place.place();
        if let (true, true, None, Ok(align)) = (is_plain, aligned, bits, u32::try_from(align)) {
            // Cannot fail: it is a load or a store.
            let _ = instruction.set_alignment(align.max(1));
        }
        if place.place().volatile {
            // A call has an operand for it.
            let _ = instruction.set_volatile(true);
        }
        self.replace(nodes, instruction)
    }

    /// Attaches the metadata for a call that touches only some memory, besides memory that nobody
    /// else accesses.
    ///
    /// NB: a call that allocates or frees memory touches that memory too:
    /// [`Jit::allocating_call`](tbaa_lower::emit::Jit::allocating_call). A call that reallocates,
    /// collects garbage or calls back touches whatever those touch.
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

    /// Attaches nodes, and removes earlier attachments.
    fn replace(
        &self,
        nodes: Attachments<Metadata<'_>>,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.kinds.into_iter().for_each(|kind| remove(instruction, kind));
        self.put(nodes, instruction)
    }

    /// Attaches nodes that were recorded.
    pub(crate) fn attach_recorded(
        &self,
        nodes: &Attachments<Recorded>,
        instruction: InstructionValue<'_>,
    ) -> Result<(), AttachError> {
        self.check(instruction)?;
        let nodes = self.nodes(nodes, instruction.get_opcode())?;
        self.put(nodes, instruction)
    }

    /// Makes nodes in the tagger's context, which lives until they are attached.
    fn nodes(
        &self,
        nodes: &Attachments<Recorded>,
        opcode: InstructionOpcode,
    ) -> Result<Attachments<Metadata<'static>>, AttachError> {
        let mut state = self.state.borrow_mut();
        // `emit` lends it, and may get back another.
        if state.emitter.sink().context() != self.context {
            return Err(AttachError::OtherContext);
        }
        let mut made = state.emitter.attachments(nodes)?;
        if opcode == InstructionOpcode::Invoke {
            // LLVM's verifier refuses a tag on it, but not scopes.
            made.tag = None;
        }
        Ok(made)
    }

    /// Attaches nodes that the [emitter](Tagger::emit) made.
    ///
    /// NB: the nodes' meaning is unknown here, so the only check is that LLVM accepts them.
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

    /// Attaches nodes to an instruction that was checked.
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

    /// Checks that LLVM lets the instruction have a tag.
    ///
    /// LLVM: `TBAAVerifier::visitTBAAMetadata`, "This instruction shall not
    /// have a TBAA access tag!".
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
    /// Returns whether the bisection keeps an attachment to the instruction.
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

    /// Takes note of the last attachment that a bisection keeps.
    fn note(&mut self, instruction: InstructionValue<'_>) {
        if self.bisect.is_at_limit() {
            let function = function_of(instruction);
            let function = String::from_utf8_lossy(&function);
            let text = instruction.print_to_string();
            self.last = Some(format!("{function}: {}", text.to_string_lossy().trim()));
        }
    }
}

/// Removes an instruction's node of a kind.
pub(crate) fn remove(instruction: InstructionValue<'_>, kind: u32) {
    // SAFETY: the instruction is alive; LLVM removes the kind if it gets no node.
    unsafe { LLVMSetMetadata(instruction.as_value_ref(), kind, ptr::null_mut()) };
}

/// Checks that a call accesses no memory besides what its callee accesses.
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
