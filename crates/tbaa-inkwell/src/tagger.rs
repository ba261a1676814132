//! Attaching to instructions.

use std::collections::HashMap;
use std::ptr;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMGetMDKindIDInContext, LLVMGetTypeContext, LLVMSetMetadata, LLVMTypeOf,
};
use inkwell::values::{AnyValue, AsValueRef, InstructionOpcode, InstructionValue};
use tbaa::{AccessKind, Size};
use tbaa_lower::emit::{
    Attachments, Bisect, BisectError, EmitError, Emitter, MisuseError, Recorded, TaggedPlace,
};

use crate::relations::Relations;
use crate::size::{Callee, callee, is_of_pointer, own_memory, size_of};

use crate::{LlvmSink, Metadata, SinkError};

/// The reason why nothing was attached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// A node cannot be made in LLVM.
    #[error(transparent)]
    Emit(#[from] EmitError<SinkError>),
    /// The instruction does not do what the place is for.
    #[error(transparent)]
    Misuse(#[from] MisuseError),
    /// The instruction cannot have a tag: LLVM's verifier would refuse the
    /// module.
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
    /// The call has an argument of this attribute, whose memory it accesses beside what the
    /// callee does. LLVM would delete the stores that fill it.
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

/// Attaches tags, scopes, alignment and volatility to the instructions of one
/// LLVM context.
///
/// Make one for each context, and keep it: what is emitted stays emitted. It
/// borrows the context, so it cannot outlive it.
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
/// let mut tagger = Tagger::new(&context)?;
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
pub struct Tagger<'ctx> {
    emitter: Emitter<LlvmSink<'ctx>>,
    kinds: Kinds,
    bisect: Bisect,
    /// Attachments asked for in each function, where names are needed.
    asked: HashMap<Vec<u8>, u64>,
    /// The name of the last attachment that was kept.
    last: Option<String>,
    relations: Relations,
}

/// LLVM's numbers of the kinds of metadata.
#[derive(Clone, Copy, Debug)]
struct Kinds {
    tag: u32,
    copy: u32,
    alias_scope: u32,
    noalias: u32,
}

impl<'ctx> Tagger<'ctx> {
    /// Returns a tagger for a context. It leaves off tags as the environment
    /// variable `TBAA_BISECT` says: see [`Bisect`].
    ///
    /// # Errors
    ///
    /// [`BisectError`] where the variable says nothing.
    pub fn new(context: impl AsContextRef<'ctx>) -> Result<Self, BisectError> {
        Ok(Self::with_sink(LlvmSink::new(context), Bisect::from_env()?))
    }

    /// Returns a tagger for a sink's context that leaves off tags as `bisect`
    /// says, whatever the environment has.
    #[must_use]
    pub fn with_sink(sink: LlvmSink<'ctx>, bisect: Bisect) -> Self {
        let kind = |name: &str| {
            // SAFETY: the context is alive, and the name as long as said.
            unsafe {
                LLVMGetMDKindIDInContext(sink.context(), name.as_ptr().cast(), name.len() as u32)
            }
        };
        let kinds = Kinds {
            tag: kind("tbaa"),
            copy: kind("tbaa.struct"),
            alias_scope: kind("alias.scope"),
            noalias: kind("noalias"),
        };
        let (asked, relations) = (HashMap::new(), Relations::default());
        Tagger { emitter: Emitter::new(sink), kinds, bisect, asked, last: None, relations }
    }

    /// Returns the bisection, with the number of attachments so far.
    #[must_use]
    pub fn bisect(&self) -> &Bisect {
        &self.bisect
    }

    /// Returns what the last attachment was that a bisection by number kept:
    /// function and instruction. `None` before there are so many.
    #[must_use]
    pub fn last_kept(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Returns the emitter, for nodes that are attached by other means.
    pub fn emitter(&mut self) -> &mut Emitter<LlvmSink<'ctx>> {
        &mut self.emitter
    }

    /// Attaches what an access at a place is to have: tag and scopes, the known
    /// alignment, and volatility. Of [classes](tbaa_lower::emit::TagForm::Classes) the
    /// module gets the relation too, so the instruction must stand in one.
    ///
    /// An access must end inside the place, or be a [run](tbaa::declare::Place::run) of whole
    /// elements, and must not store where memory is immutable. This holds for loads, stores
    /// and atomics, for copies and fills (`memcpy`, `memset`), and for LLVM's other
    /// intrinsics, such as masked stores. Any other call says by a place that it accesses
    /// that alone, as one of [`Jit::call`](tbaa_lower::emit::Jit::call). On a call the tag
    /// never says that memory is immutable.
    ///
    /// What the instruction had before of `!tbaa`, `!tbaa.struct`, `!alias.scope` and
    /// `!noalias` is taken off.
    ///
    /// Of a bit-field the alignment is left as it is, for the place says
    /// nothing of the unit that is accessed; so is that of calls and atomics.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instruction is then unchanged.
    pub fn attach(
        &mut self,
        place: &TaggedPlace,
        instruction: InstructionValue<'ctx>,
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
                match size_of(instruction) {
                    Some(size) => place.check(size, kind),
                    None => place.check_kind(kind),
                }
                .map_err(|misuse| match misuse {
                    MisuseError::Wider {
                        path,
                        size: Size::Bytes(module),
                        room: Size::Bytes(declared),
                    } if is_of_pointer(instruction) => {
                        AttachError::Layout { path, module, declared }
                    }
                    misuse => misuse.into(),
                })?;
                place.nodes()
            }
        };
        let nodes = self.nodes(nodes, opcode)?;
        if let (None, Ok(align), InstructionOpcode::Load | InstructionOpcode::Store) =
            (place.place().bits, u32::try_from(place.place().align), opcode)
        {
            // Cannot fail: it is a load or a store.
            let _ = instruction.set_alignment(align.max(1));
        }
        if place.place().volatile {
            // A call has an operand for it.
            let _ = instruction.set_volatile(true);
        }
        self.replace(nodes, instruction)
    }

    /// Attaches what a call is to have that touches some memory only, apart from
    /// memory that nobody else accesses.
    ///
    /// NB: what hands out memory, or takes it back, touches that memory too:
    /// [`Jit::allocating_call`](tbaa_lower::emit::Jit::allocating_call). What
    /// reallocates, collects garbage or calls back touches whatever those touch.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instruction is then unchanged.
    pub fn attach_call(
        &mut self,
        touched: &Attachments<Recorded>,
        call: InstructionValue<'ctx>,
    ) -> Result<(), AttachError> {
        self.check(call)?;
        check_arguments(call)?;
        let nodes = self.nodes(touched, call.get_opcode())?;
        self.replace(nodes, call)
    }

    /// Attaches nodes, and takes off what was attached before.
    fn replace(
        &mut self,
        nodes: Attachments<Metadata<'ctx>>,
        instruction: InstructionValue<'ctx>,
    ) -> Result<(), AttachError> {
        let Kinds { tag, copy, alias_scope, noalias } = self.kinds;
        for kind in [tag, copy, alias_scope, noalias] {
            // SAFETY: the instruction is alive; no node removes what there is.
            unsafe { LLVMSetMetadata(instruction.as_value_ref(), kind, ptr::null_mut()) };
        }
        self.attach_nodes(nodes, instruction)
    }

    /// Attaches nodes that were recorded.
    pub(crate) fn attach_recorded(
        &mut self,
        nodes: &Attachments<Recorded>,
        instruction: InstructionValue<'ctx>,
    ) -> Result<(), AttachError> {
        self.check(instruction)?;
        let nodes = self.nodes(nodes, instruction.get_opcode())?;
        self.attach_nodes(nodes, instruction)
    }

    /// Makes nodes in the tagger's context.
    fn nodes(
        &mut self,
        nodes: &Attachments<Recorded>,
        opcode: InstructionOpcode,
    ) -> Result<Attachments<Metadata<'ctx>>, AttachError> {
        let mut made = self.emitter.attachments(nodes)?;
        if opcode == InstructionOpcode::Invoke {
            // LLVM's verifier refuses a tag on it, but not scopes.
            made.tag = None;
        }
        Ok(made)
    }

    /// Attaches nodes that the [emitter](Tagger::emitter) made.
    ///
    /// NB: nothing is known of what they say, so nothing is checked but that LLVM
    /// takes them.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instruction is then unchanged.
    pub fn attach_nodes(
        &mut self,
        nodes: Attachments<Metadata<'ctx>>,
        instruction: InstructionValue<'ctx>,
    ) -> Result<(), AttachError> {
        self.check(instruction)?;
        if let (InstructionOpcode::Invoke, Some(_)) = (instruction.get_opcode(), nodes.tag) {
            return Err(AttachError::Instruction { opcode: InstructionOpcode::Invoke });
        }
        let kinds = self.kinds;
        let attachments = [
            (kinds.tag, nodes.tag),
            (kinds.copy, nodes.copy),
            (kinds.alias_scope, nodes.alias_scope),
            (kinds.noalias, nodes.noalias),
        ];
        let mut present = attachments.into_iter().filter_map(|(kind, node)| Some((kind, node?)));
        let Some(first) = present.next() else { return Ok(()) };
        if !self.keep(instruction) {
            return Ok(());
        }
        if let Some(relation) = nodes.relation {
            self.relations.add(relation, instruction);
        }
        for (kind, node) in std::iter::once(first).chain(present) {
            debug_assert_eq!(node.context(), self.emitter.sink().context());
            // SAFETY: instruction and node are in the same context, and the
            // node is no temporary one.
            unsafe {
                LLVMSetMetadata(instruction.as_value_ref(), kind, node.as_value().as_value_ref());
            }
        }
        self.note(instruction);
        Ok(())
    }

    /// Checks that LLVM lets the instruction have a tag.
    ///
    /// LLVM: `TBAAVerifier::visitTBAAMetadata`, "This instruction shall not
    /// have a TBAA access tag!".
    fn check(&self, instruction: InstructionValue<'ctx>) -> Result<(), AttachError> {
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
        let context = unsafe { LLVMGetTypeContext(LLVMTypeOf(instruction.as_value_ref())) };
        if context == self.emitter.sink().context() {
            Ok(())
        } else {
            Err(AttachError::OtherContext)
        }
    }

    /// Returns whether the bisection keeps an attachment to the instruction.
    fn keep(&mut self, instruction: InstructionValue<'ctx>) -> bool {
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
    fn note(&mut self, instruction: InstructionValue<'ctx>) {
        if self.bisect.is_at_limit() {
            let function = function_of(instruction);
            let function = String::from_utf8_lossy(&function);
            let text = instruction.print_to_string();
            self.last = Some(format!("{function}: {}", text.to_string_lossy().trim()));
        }
    }
}

/// Checks that a call accesses no memory beside what its callee does.
fn check_arguments(call: InstructionValue<'_>) -> Result<(), AttachError> {
    match call.get_opcode() {
        InstructionOpcode::Call | InstructionOpcode::Invoke => {
            own_memory(call).map_or(Ok(()), |attribute| Err(AttachError::OwnMemory(attribute)))
        }
        _ => Ok(()),
    }
}

/// The name of the function that an instruction is in; empty where it is in
/// none.
fn function_of(instruction: InstructionValue<'_>) -> Vec<u8> {
    let function = instruction.get_parent().and_then(|block| block.get_parent());
    function.map(|function| function.get_name().to_bytes().to_vec()).unwrap_or_default()
}
