//! Declared types, and what LLVM gets for accesses to them, behind one handle.

mod error;
mod options;
mod place;
#[cfg(feature = "serde")]
mod saved;
mod tagging;

pub use error::JitError;
pub use options::{JitOptions, TagForm};
pub use place::{Misuse, Tagged, TaggedCall, TaggedPlace};
#[cfg(feature = "serde")]
pub use saved::{SaveError, SavedJit};
pub use tagging::{Tagging, Typed};

use super::plan::Attachments;
use super::recorded::Recorded;
use crate::Lowering;
use tbaa::declare::{DeclId, Declarations, DeclareError, Record};
use tbaa::{Access, CopyEntry, Graph, Oracle, Session, TagId};

/// All that a JIT keeps of TBAA: declared types, their graph and its oracle, and
/// the tags that stock LLVM gets for them.
///
/// Ask for a place by its path, and attach what it has to each load and store
/// there (in the crate `tbaa-inkwell`, `Tagger::attach`). Types and places may be
/// added at any time: what was given out stays as it is, and new code may be
/// linked with old. Ask for all places that you know at the start in one call of
/// [`Jit::places`]: the tags of that call tell most accesses apart.
///
/// What it gives out, [`TaggedPlace`] and [`TaggedCall`], borrows nothing and
/// never changes: threads that compile may share it, each with an LLVM context of
/// its own, while this one adds types.
///
/// ```
/// use tbaa::declare::{Declarations, Record, Target};
/// use tbaa_lower::emit::{Emitter, Jit, TextSink};
///
/// let mut types = Declarations::new(Target::x86_64());
/// let value = Record::union("").field("gc", "void *").field("n", "double");
/// types.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
/// types.define(Record::structure("CallInfo").field("func", "TValue *").field("base", "TValue *"))?;
///
/// let mut jit = Jit::new(types);
/// let places = jit.places(&["CallInfo.base", "TValue.value.n", "TValue.tt"])?;
/// let [base, number, kind] = &places[..] else { unreachable!() };
/// assert_eq!((base.offset, kind.size), (8, 2));
///
/// // Any sink takes the nodes, here a text.
/// let mut emitter = Emitter::new(TextSink::default());
/// assert!(emitter.attachments(base.nodes())?.tag.is_some());
///
/// // A type that comes along later.
/// jit.define(Record::structure("Proto").field("code", "int *").field("size", "int"))?;
/// let size = jit.place("Proto.size")?;
/// assert!(!jit.oracle().may_alias(size.tag, number.tag));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Jit {
    session: Session,
    tagging: Tagging,
}

impl Jit {
    /// Returns a JIT for declared types. More may be declared later.
    #[must_use]
    pub fn new(types: Declarations) -> Jit {
        let options = JitOptions::new();
        let session = Session::with_unions(types);
        let lowering = Some(Lowering::new(options.lowering()));
        Jit { session, tagging: Tagging::of(options, lowering, None) }
    }

    /// Returns a JIT that does more than the usual.
    ///
    /// # Errors
    ///
    /// [`JitError::NotDeclared`] for a shared record, [`JitError::Declare`] and
    /// [`JitError::Fix`] where its tags cannot be made.
    pub fn with_options(types: Declarations, options: JitOptions) -> Result<Jit, JitError> {
        let mut session = match options.form {
            TagForm::Clang => Session::like_clang(types),
            _ => Session::with_unions(types),
        };
        let tagging = Tagging::new(&mut session, options)?;
        Ok(Jit { session, tagging })
    }

    /// Declares a struct or union.
    ///
    /// # Errors
    ///
    /// As [`Declarations::define`].
    pub fn define(&mut self, record: Record) -> Result<DeclId, DeclareError> {
        self.session.define(record)
    }

    /// Returns the declared types.
    #[must_use]
    pub fn types(&self) -> &Declarations {
        self.session.types()
    }

    /// Returns the declared types, to declare more of them.
    pub fn types_mut(&mut self) -> &mut Declarations {
        self.session.types_mut()
    }

    /// Returns the oracle that answers on the places' tags: by rule `union`, or
    /// by `llvm` where tags are clang's.
    #[must_use]
    pub fn oracle(&self) -> &Oracle {
        self.session.oracle()
    }

    /// Returns the lowering, which says what LLVM cannot be told; `None` where tags
    /// are clang's.
    #[must_use]
    pub fn lowering(&self) -> Option<&Lowering> {
        self.tagging.lowering()
    }

    /// Returns the place that a path leads to, with the tag of accesses there.
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn place(&mut self, path: &str) -> Result<TaggedPlace, JitError> {
        self.tagging.place(&mut self.session, path)
    }

    /// Returns the place that a path leads to, for accesses of `bytes` bytes, which
    /// may be more than it has: a vector that begins there. `u64::MAX` is for a
    /// size that only the run time knows, and covers no less than any other:
    /// [`TaggedTypes::sized`](tbaa::declare::TaggedTypes::sized).
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn sized(&mut self, path: &str, bytes: u64) -> Result<TaggedPlace, JitError> {
        self.tagging.sized(&mut self.session, path, bytes)
    }

    /// Returns the places that paths lead to, in their order, with the tags of
    /// accesses there: [`TaggedTypes::tag`](tbaa::declare::TaggedTypes::tag) says
    /// what a path may be. A path that names a record alone is the whole of it, as
    /// a copy accesses it.
    ///
    /// Tags that come in one call tell more accesses apart than those that come
    /// one by one.
    ///
    /// # Errors
    ///
    /// [`JitError::Declare`] for a path that leads nowhere or to no memory,
    /// [`JitError::NoTag`] where no tag can say what may alias, [`JitError::Lower`]
    /// where a graph is full, [`JitError::Emit`] where clang's tag is not for LLVM.
    pub fn places(&mut self, paths: &[impl AsRef<str>]) -> Result<Vec<TaggedPlace>, JitError> {
        self.tagging.places(&mut self.session, paths)
    }

    /// Returns what a call gets that reads and writes the memory of `touched`, by
    /// paths, and nothing else that others access: with one path its tag; with
    /// several the scopes of all that it leaves alone, or with [`TagForm::Classes`] the
    /// classes of all that it touches, and nothing where there are neither.
    ///
    /// NB: a callee that reallocates, collects garbage or calls back touches
    /// whatever those touch. One that hands out memory, or takes it back, also
    /// touches all of that memory: [`Jit::allocating_call`].
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn call(&mut self, touched: &[impl AsRef<str>]) -> Result<TaggedCall, JitError> {
        self.tagging.call(&mut self.session, touched)
    }

    /// Returns what a call gets that, beside the memory of `touched`, hands out
    /// objects of the types `memory`, or takes them back. To others such a call
    /// writes those objects: else LLVM moves stores to an object that is freed
    /// behind the call, where they hit the object that is made of its bytes.
    ///
    /// Name each type whose objects may be freed by it, and each type that may be
    /// made of their bytes.
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn allocating_call(
        &mut self,
        touched: &[impl AsRef<str>],
        memory: &[impl AsRef<str>],
    ) -> Result<TaggedCall, JitError> {
        self.tagging.allocating_call(&mut self.session, touched, memory)
    }

    /// Returns what an access gets by its tag in the session's graph, such as
    /// [`Jit::adopt`] gives.
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn access(&mut self, access: impl Into<Access>) -> Result<Tagged, JitError> {
        self.tagging.access(&mut self.session, access)
    }

    /// Returns the `tbaa.struct` list of a copy with these entries, of the session's
    /// graph, and the scopes of what it leaves alone. For a copy of a declared
    /// record the tag of the whole record says more: its [`Jit::place`].
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn copy(&mut self, entries: &[CopyEntry]) -> Result<Attachments<Recorded>, JitError> {
        self.tagging.copy(&mut self.session, entries)
    }

    /// Finds the tags under these declarations of all accesses that clang tagged in
    /// another module, by their index there, as
    /// [`TaggedTypes::adopt`](tbaa::declare::TaggedTypes::adopt) does. They are
    /// lowered with the places that are asked for next.
    ///
    /// # Errors
    ///
    /// [`JitError::Declare`], where a member of a declared record has another type
    /// there.
    pub fn adopt(&mut self, clang: &Graph) -> Result<Vec<Option<TagId>>, JitError> {
        self.tagging.adopt(&mut self.session, clang)
    }

    /// Checks a module that is to be linked with the JIT's and keeps its tags: that clang's nodes are those that
    /// [`JitOptions::shared`] assumes, and that no other JIT of the same lineage made nodes of it. `clang` has the
    /// module's tags.
    ///
    /// # Errors
    ///
    /// [`JitError::NotShared`] for a declared record that is not shared,
    /// [`JitError::OtherNode`] for a node that differs: of a clang before 20, of
    /// `-no-pointer-tbaa`, of a header that is not the declarations.
    /// [`JitError::OtherLineage`] for a node of another JIT whose lineage has this one's name, or that was loaded from
    /// the same state.
    pub fn check_linked(&self, clang: &Graph) -> Result<(), JitError> {
        self.tagging.check_linked(&self.session, clang)
    }
}
