//! Declared types, and what LLVM gets for accesses to them, behind one handle.

mod error;
mod options;
mod place;
#[cfg(feature = "serde")]
mod saved;
mod tagging;

pub use error::JitError;
pub use options::{JitOptions, TagForm};
pub use place::{MisuseError, Tagged, TaggedPlace};
#[cfg(feature = "serde")]
pub use saved::{SaveError, SavedJit};
pub use tagging::{Tagging, Typed};

use super::emitter::Emitter;
use super::plan::{Attachments, Plan};
use super::recorded::Recorded;
use crate::{Lowering, Shared, Source, tags_of_clang};
use tagging::{anchors, records};
use tbaa::declare::{DeclId, Declarations, DeclareError, Place, Policy, Record};
use tbaa::{Access, CopyEntry, CopyId, Graph, Oracle, Session, Size, TagId, TypeId};

/// All that a JIT keeps of TBAA: declared types, their graph and its oracle, and
/// the tags that stock LLVM gets for them.
///
/// Ask for a place by its path, and attach what it has to each load and store
/// there (in the crate `tbaa-inkwell`, `Tagger::attach`). Types and places may be
/// added at any time: what was given out stays as it is, and new code may be
/// linked with old. Ask for all places that you know at the start in one call of
/// [`Jit::places`]: the tags of that call tell most accesses apart.
///
/// The places and nodes that it returns, [`TaggedPlace`] and [`Attachments`], borrow nothing and
/// never change: threads that compile may share them, each with an LLVM context of its own, while
/// this one adds types.
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
/// assert_eq!((base.place().offset, kind.place().size), (8, 2));
///
/// // Any sink takes the nodes, here a text.
/// let mut emitter = Emitter::new(TextSink::default());
/// assert!(emitter.attachments(base.nodes())?.tag.is_some());
///
/// // A type that comes along later.
/// jit.define(Record::structure("Proto").field("code", "int *").field("size", "int"))?;
/// let size = jit.place("Proto.size")?;
/// assert!(!jit.oracle().may_alias(size.place().tag, number.place().tag));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An interface for another language, which keeps the types itself, is [`Typed`] in the
/// session's place.
#[derive(Debug)]
pub struct Jit<T = Session> {
    session: T,
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
        let session = match options.form {
            TagForm::Clang => Session::like_clang(types),
            _ => Session::with_unions(types),
        };
        Jit::of(session, options)
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
}

impl<T: Typed> Jit<T> {
    /// Returns the JIT of types under policy `rfc`, whose tags it lowers; for
    /// [`TagForm::Clang`] under policy `clang`, whose tags are attached as they are.
    ///
    /// # Errors
    ///
    /// [`JitError::Form`] for another policy, and as [`Jit::with_options`].
    pub fn of(mut session: T, options: JitOptions) -> Result<Jit<T>, JitError> {
        let as_it_is = options.form == TagForm::Clang;
        if as_it_is == (session.tagged().policy() == Policy::Rfc) {
            return Err(JitError::Form(options.form));
        }
        if as_it_is {
            return Ok(Jit { session, tagging: Tagging::of(options, None, None) });
        }
        let mut lowering = Lowering::new(options.lowering());
        let mut theirs = None;
        if !options.shared.is_empty() {
            let records = records(session.tagged().types(), &options.shared)?;
            let (graph, pairs) = session.update(|types, graph| {
                let shared = Shared::new(types.types(), records);
                tags_of_clang(types.types(), graph, |record| shared.has(record))
            })?;
            theirs = Some(graph.clone());
            lowering.fix(session.oracle(), graph, pairs).map_err(JitError::Fix)?;
        }
        Ok(Jit { session, tagging: Tagging::of(options, Some(lowering), theirs) })
    }

    /// Goes on with the tagging that a JIT of the same types had.
    pub fn resume(session: T, tagging: Tagging) -> Jit<T> {
        Jit { session, tagging }
    }

    /// Takes the JIT apart, for [`Jit::resume`].
    pub fn into_parts(self) -> (T, Tagging) {
        (self.session, self.tagging)
    }

    /// Returns the lowering, which says what LLVM cannot be told; `None` where tags
    /// are clang's.
    #[must_use]
    pub fn lowering(&self) -> Option<&Lowering> {
        self.tagging.lowering.as_ref()
    }

    /// Returns the place that a path leads to, with the tag of accesses there.
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn place(&mut self, path: &str) -> Result<TaggedPlace, JitError> {
        self.one(path, None)
    }

    /// Returns the place that a path leads to, for accesses of a size of their own, which
    /// may be more than it has: a vector that begins there. An unknown size is for a number that
    /// only the run time knows, and covers no less than any other:
    /// [`TaggedTypes::sized`](tbaa::declare::TaggedTypes::sized).
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn sized(&mut self, path: &str, size: impl Into<Size>) -> Result<TaggedPlace, JitError> {
        // 0 too is a number that nobody knows yet.
        self.one(path, Some(size.into()))
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
        let found = paths.iter().map(|path| Ok((path.as_ref(), self.resolve(path.as_ref())?)));
        let found: Vec<(&str, Place)> = found.collect::<Result<_, JitError>>()?;
        self.lower(found.iter().map(|(_, place)| Access::from(place.tag)))?;
        let place =
            |(path, place): (&str, Place)| self.tagged_place(path, place, place.tag.into(), None);
        found.into_iter().map(place).collect()
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
    pub fn call(&mut self, touched: &[impl AsRef<str>]) -> Result<Attachments<Recorded>, JitError> {
        let found = touched.iter().map(|path| Ok(self.resolve(path.as_ref())?.tag.into()));
        let touched: Vec<Access> = found.collect::<Result<_, JitError>>()?;
        match touched[..] {
            [access] => self.lower([access])?,
            _ => self.classify(&touched)?,
        }
        let oracle = self.session.oracle();
        Ok(self.tagging.with_plan(oracle, |nodes, plan| nodes.call(plan, &touched))?)
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
    ) -> Result<Attachments<Recorded>, JitError> {
        let touched = touched.iter().map(AsRef::as_ref);
        let all: Vec<&str> = touched.chain(memory.iter().map(AsRef::as_ref)).collect();
        self.call(&all)
    }

    /// Returns what an access gets by its tag in the session's graph, such as
    /// [`Jit::adopt`] gives.
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn access(&mut self, access: impl Into<Access>) -> Result<Tagged, JitError> {
        let access = access.into();
        self.lower([access])?;
        self.tagged(access)
    }

    /// Returns the `tbaa.struct` list of a copy with these entries, of the session's
    /// graph, and the scopes of what it leaves alone. For a copy of a declared
    /// record the tag of the whole record says more: its [`Jit::place`].
    ///
    /// # Errors
    ///
    /// As [`Jit::places`].
    pub fn copy(&mut self, entries: &[CopyEntry]) -> Result<Attachments<Recorded>, JitError> {
        let made = self.session.update(|_, graph| graph.builder().struct_copy(entries));
        let copy: CopyId = made.map_err(DeclareError::Build)?;
        self.lower(entries.iter().map(|entry| entry.tag.into()))?;
        let oracle = self.session.oracle();
        Ok(self.tagging.with_plan(oracle, |nodes, plan| nodes.copy(plan, oracle.graph(), copy))?)
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
        let found = self.session.update(|types, graph| {
            let adopted = clang.tags().map(|tag| types.adopt(graph, clang, tag));
            adopted.collect::<Result<Vec<_>, _>>()
        })?;
        self.tagging.waiting.extend(found.iter().flatten());
        Ok(found)
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
        if let Some(ty) =
            self.tagging.lowering.as_ref().and_then(|lowering| lowering.stranger(clang))
        {
            return Err(JitError::OtherLineage { ty });
        }
        let tagged = self.session.tagged();
        let types = tagged.types();
        let theirs = self.tagging.theirs.clone().unwrap_or_default();
        let named = records(types, &self.tagging.options.shared)?;
        let shared = Shared::new(types, named);
        let known = theirs.node_count();
        let names: std::collections::HashSet<Vec<u8>> =
            theirs.types().filter_map(|ty| Some(theirs.ty(ty).name()?.to_vec())).collect();
        // Nodes with the content of one that is there are that one.
        let mut copy = Emitter::new(theirs);
        for ty in clang.types() {
            let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
            let Some(name) = clang.ty(ty).name() else { continue };
            let other = || JitError::OtherNode { ty: text(name) };
            let fields = clang.ty(ty).fields().next().is_some();
            let record = tagged.record_of_clang(&text(name)).filter(|_| fields);
            if let Some(record) = record.filter(|&record| !shared.has(record)) {
                return Err(JitError::NotShared { record: types.display(record) });
            }
            let mut is_known = |ty: TypeId| {
                let node = copy.node(clang, ty.node()).map_err(|_| other())?;
                Ok::<_, JitError>(node.index() < known)
            };
            // Across roots LLVM says that accesses may alias.
            let Some(root) = clang.root_of(ty) else { continue };
            if is_known(root)? && !is_known(ty)? && names.contains(name) {
                return Err(other());
            }
        }
        Ok(())
    }

    fn one(&mut self, path: &str, size: Option<Size>) -> Result<TaggedPlace, JitError> {
        let place = self.resolve(path)?;
        let access = match size {
            Some(size) => self.session.update(|types, graph| types.sized(graph, path, size))?,
            None => place.tag.into(),
        };
        self.lower([access])?;
        self.tagged_place(path, place, access, size)
    }

    fn resolve(&mut self, path: &str) -> Result<Place, JitError> {
        let place = self.session.update(|types, graph| types.place(graph, path))?;
        if place.tag.is_none() {
            // The error says why.
            self.session.update(|types, graph| types.tag(graph, path))?;
        }
        Ok(place)
    }

    fn tagged_place(
        &mut self,
        path: &str,
        place: Place,
        access: Access,
        sized: Option<Size>,
    ) -> Result<TaggedPlace, JitError> {
        let nodes = self.tagged(access).map_err(|error| match error {
            JitError::NoTag { why, .. } => JitError::NoTag { path: path.to_owned(), why },
            error => error,
        })?;
        Ok(TaggedPlace { place, path: path.to_owned(), sized, nodes })
    }

    /// Returns the nodes of an access that was lowered.
    fn tagged(&mut self, access: Access) -> Result<Tagged, JitError> {
        let graph = self.session.oracle().graph();
        if let (Some(lowering), Some(tag)) = (&self.tagging.lowering, access.tag)
            && !self.tagging.options.scopes_alone()
            && lowering.tag(access).is_none()
            && let Some(certificate) = lowering.why(access)
        {
            let path = graph.tag(tag).map_or(String::new(), |tag| {
                String::from_utf8_lossy(graph.ty(tag.base).name().unwrap_or_default()).into_owned()
            });
            return Err(JitError::NoTag { path, why: certificate.why });
        }
        let oracle = self.session.oracle();
        let found = self.tagging.with_plan(oracle, |nodes, plan| nodes.access(plan, access))?;
        let tags: &dyn Plan = match &self.tagging.lowering {
            Some(lowering) => lowering,
            None => graph,
        };
        let tag = match found.tag {
            Some(_) => self.tagging.nodes.call(tags, &[access])?.tag,
            None => None,
        };
        let call = Attachments { tag, ..found.clone() };
        Ok(Tagged { access: found, call })
    }

    /// Lowers what waits, and these.
    fn lower(&mut self, accesses: impl IntoIterator<Item = Access>) -> Result<(), JitError> {
        let first = self.tagging.lowering.as_ref().is_some_and(|it| it.sources().len() == 0);
        if first && self.tagging.theirs.is_none() {
            self.tagging.waiting.extend(anchors(&mut self.session)?);
        }
        let waiting = std::mem::take(&mut self.tagging.waiting).into_iter().map(Access::from);
        let accesses: Vec<Access> = waiting.chain(accesses).collect();
        self.classify(&accesses)?;
        let Some(lowering) = &mut self.tagging.lowering else { return Ok(()) };
        let named = records(self.session.tagged().types(), &self.tagging.options.shared)?;
        let shared = (!named.is_empty()).then(|| Shared::new(self.session.tagged().types(), named));
        let source = |access: Access| {
            let tag = access.tag?;
            let source = match &shared {
                Some(shared) => shared.source(self.session.oracle().graph(), tag),
                None => Source::from(tag),
            };
            Some(Source { size: access.size, ..source })
        };
        let sources: Vec<Source> = accesses.into_iter().filter_map(source).collect();
        Ok(lowering.lower(self.session.oracle(), sources)?)
    }

    /// Gives classes to accesses that have none.
    fn classify(&mut self, accesses: &[Access]) -> Result<(), JitError> {
        match &mut self.tagging.classes {
            Some(classes) => Ok(classes.add(self.session.oracle(), accesses.iter().copied())?),
            None => Ok(()),
        }
    }
}
