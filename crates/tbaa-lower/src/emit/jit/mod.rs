//! Offers declared types, with their metadata for LLVM, to a JIT compiler.

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
use crate::{Lowering, Shared, Source};
use tagging::{anchors, records, shared_tags};
use tbaa::declare::{DeclId, Declarations, DeclareError, Place, Policy, Record};
use tbaa::{Access, CopyEntry, CopyId, Graph, Oracle, Session, Size, TagId, TypeId};

/// A JIT's state for TBAA: the declared types, their graph and oracle, and the tags for stock LLVM.
///
/// Request a place (an access path with its offset and size) by its path, and attach its nodes to
/// each load and store there (in the crate `tbaa-inkwell`, `Tagger::attach`). Types and places may
/// be added at any time: earlier results never change, and new code may be linked with old. Places
/// that one call of [`Jit::places`] requests together get tags that separate more accesses.
///
/// The results, [`TaggedPlace`] and [`Attachments`], borrow nothing and never change. Compiler
/// threads may share them, each with an LLVM context of its own, while types are added to this JIT.
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
/// // Any sink can receive the nodes; this one writes text.
/// let mut emitter = Emitter::new(TextSink::default());
/// assert!(emitter.attachments(base.nodes())?.tag.is_some());
///
/// // A type may be added later.
/// jit.define(Record::structure("Proto").field("code", "int *").field("size", "int"))?;
/// let size = jit.place("Proto.size")?;
/// assert!(!jit.oracle().may_alias(size.place().tag, number.place().tag));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A binding for another language may store the types itself, and implement [`Typed`].
#[derive(Debug)]
pub struct Jit<T = Session> {
    session: T,
    tagging: Tagging,
}

impl Jit {
    /// Returns a JIT for declared types. More may be declared later.
    pub fn new(types: Declarations) -> Jit {
        let options = JitOptions::new();
        let session = Session::with_unions(types);
        let lowering = Some(Lowering::new(options.lowering()));
        Jit { session, tagging: Tagging::of(options, lowering, None) }
    }

    /// Returns a JIT with these options.
    ///
    /// # Errors
    ///
    /// Returns [`JitError::NotDeclared`] for an undeclared shared record, and [`JitError::Declare`]
    /// or [`JitError::Fix`] if the shared records' tags cannot be made.
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
    /// Fails as [`Declarations::define`] does.
    pub fn define(&mut self, record: Record) -> Result<DeclId, DeclareError> {
        self.session.define(record)
    }

    /// Returns the declared types.
    pub fn types(&self) -> &Declarations {
        self.session.types()
    }

    /// Returns the declared types, so that more can be declared.
    pub fn types_mut(&mut self) -> &mut Declarations {
        self.session.types_mut()
    }

    /// Returns the oracle for the places' tags. Its rule is `union`; for clang's tags it is `llvm`.
    pub fn oracle(&self) -> &Oracle {
        self.session.oracle()
    }
}

impl<T: Typed> Jit<T> {
    /// Returns a JIT for `session`, whose types must have policy `rfc`. Their tags are lowered.
    /// With [`TagForm::Clang`] they must have policy `clang`, and the tags are attached unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`JitError::Form`] for another policy, or an error of [`Jit::with_options`].
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
            let (graph, pairs) =
                session.update(|types, graph| shared_tags(types.types(), graph, &options))?;
            theirs = Some(graph.clone());
            lowering.fix(session.oracle(), graph, pairs).map_err(JitError::Fix)?;
        }
        Ok(Jit { session, tagging: Tagging::of(options, Some(lowering), theirs) })
    }

    /// Returns a JIT that continues with the `tagging` of an earlier JIT of the same types.
    pub fn resume(session: T, tagging: Tagging) -> Jit<T> {
        Jit { session, tagging }
    }

    /// Splits the JIT into the parts that [`Jit::resume`] takes.
    pub fn into_parts(self) -> (T, Tagging) {
        (self.session, self.tagging)
    }

    /// Returns the lowering, which reports what LLVM cannot express; `None` for clang's tags.
    pub fn lowering(&self) -> Option<&Lowering> {
        self.tagging.lowering.as_ref()
    }

    /// Returns the place of a path, with the tag for accesses there.
    ///
    /// # Errors
    ///
    /// Fails as [`Jit::places`] does.
    pub fn place(&mut self, path: &str) -> Result<TaggedPlace, JitError> {
        self.one(path, None)
    }

    /// Returns the place of a path for accesses with their own size. That size may exceed the
    /// place's, as for a vector that begins there. `Size::Unknown` is for a size known only at
    /// run time: [`TaggedTypes::sized`](tbaa::declare::TaggedTypes::sized).
    ///
    /// # Errors
    ///
    /// Fails as [`Jit::places`] does.
    pub fn sized(&mut self, path: &str, size: impl Into<Size>) -> Result<TaggedPlace, JitError> {
        self.one(path, Some(size.into()))
    }

    /// Returns the places of paths, in order, with the tags for accesses there. For the syntax of
    /// paths see [`TaggedTypes::tag`](tbaa::declare::TaggedTypes::tag). A path that only names a
    /// record means the whole record, as a copy accesses it.
    ///
    /// Paths that are passed in one call get tags that separate more accesses.
    ///
    /// # Errors
    ///
    /// Returns [`JitError::Declare`] for a path that does not exist or whose accesses have no tag,
    /// [`JitError::NoTag`] if no tag can describe the access, [`JitError::Lower`] if a graph is
    /// full, and [`JitError::Emit`] if clang's tag is not valid for LLVM.
    pub fn places(&mut self, paths: &[impl AsRef<str>]) -> Result<Vec<TaggedPlace>, JitError> {
        let found = paths.iter().map(|path| Ok((path.as_ref(), self.resolve(path.as_ref())?)));
        let found: Vec<(&str, Place)> = found.collect::<Result<_, JitError>>()?;
        found.iter().for_each(|&(path, place)| self.name(path, place.tag.into()));
        self.lower(found.iter().map(|(_, place)| Access::from(place.tag)))?;
        let place =
            |(path, place): (&str, Place)| self.tagged_place(path, place, place.tag.into(), None);
        found.into_iter().map(place).collect()
    }

    /// Returns the nodes for a call that accesses the memory of the paths `touched`, and no other
    /// memory that other code accesses. For one path, the nodes include its tag, if any. If the
    /// [`TagForm`] has scopes, `!noalias` lists the scopes that the call cannot alias. With
    /// [`TagForm::Classes`], `!alias.scope` lists the scopes of the classes that the call touches.
    ///
    /// NB: a callee may reallocate memory, collect garbage or call back. List everything that such
    /// work touches. For a callee that allocates or frees objects, use [`Jit::allocating_call`].
    ///
    /// # Errors
    ///
    /// Fails as [`Jit::places`] does.
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

    /// Returns the nodes for a call that touches the memory of `touched`, and allocates or frees
    /// objects of the types `memory`. The call counts as a write to these objects. Otherwise LLVM
    /// would move stores to a freed object past the call, where they overwrite the object that
    /// reuses its bytes.
    ///
    /// List each type whose objects the call may free, and each type that may reuse their bytes.
    ///
    /// # Errors
    ///
    /// Fails as [`Jit::places`] does.
    pub fn allocating_call(
        &mut self,
        touched: &[impl AsRef<str>],
        memory: &[impl AsRef<str>],
    ) -> Result<Attachments<Recorded>, JitError> {
        let touched = touched.iter().map(AsRef::as_ref);
        let all: Vec<&str> = touched.chain(memory.iter().map(AsRef::as_ref)).collect();
        self.call(&all)
    }

    /// Returns the nodes for an access whose tag is in the session's graph: see [`Jit::adopt`].
    ///
    /// # Errors
    ///
    /// Fails as [`Jit::places`] does.
    pub fn access(&mut self, access: impl Into<Access>) -> Result<Tagged, JitError> {
        let access = access.into();
        self.lower([access])?;
        self.tagged(access)
    }

    /// Returns a `!tbaa.struct` node with these entries for a copy, and scopes as [`Jit::call`]
    /// does. To copy a declared record, use the tag of the whole record ([`Jit::place`]), which is
    /// more precise.
    ///
    /// # Errors
    ///
    /// Fails as [`Jit::places`] does.
    pub fn copy(&mut self, entries: &[CopyEntry]) -> Result<Attachments<Recorded>, JitError> {
        let made = self.session.update(|_, graph| graph.builder().struct_copy(entries));
        let copy: CopyId = made.map_err(DeclareError::Build)?;
        self.lower(entries.iter().map(|entry| entry.tag.into()))?;
        let oracle = self.session.oracle();
        Ok(self.tagging.with_plan(oracle, |nodes, plan| nodes.copy(plan, oracle.graph(), copy))?)
    }

    /// Finds a tag under these declarations for each of clang's tags in another module, as
    /// [`TaggedTypes::adopt`](tbaa::declare::TaggedTypes::adopt) does. The results are in the order
    /// of `clang`'s tags. They are lowered together with the next requested places.
    ///
    /// # Errors
    ///
    /// Returns [`JitError::Declare`] if a member of a declared record has another type in `clang`.
    pub fn adopt(&mut self, clang: &Graph) -> Result<Vec<Option<TagId>>, JitError> {
        let found = self.session.update(|types, graph| {
            let adopted = clang.tags().map(|tag| types.adopt(graph, clang, tag));
            adopted.collect::<Result<Vec<_>, _>>()
        })?;
        self.tagging.waiting.extend(found.iter().flatten());
        Ok(found)
    }

    /// Checks that a module with its own tags can be linked with the JIT's code. Clang's nodes in
    /// it must equal those that [`JitOptions::shared`] assumes, and it must have no nodes of
    /// another JIT with the same [`JitOptions::lineage`]. `clang` contains the module's tags.
    ///
    /// # Errors
    ///
    /// Returns [`JitError::NotShared`] for a declared record that is not shared;
    /// [`JitError::OtherNode`] for a node that differs (a clang before 20, `-no-pointer-tbaa`, or a
    /// header that differs from the declarations); [`JitError::OtherLineage`] for a node of another
    /// JIT that has the same lineage name, or was loaded from the same state.
    pub fn check_linked(&self, clang: &Graph) -> Result<(), JitError> {
        if let Some(ty) = self.lowering().and_then(|lowering| lowering.stranger(clang)) {
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
        // A node of `clang` that equals one of `theirs` merges with it: its index is below `known`.
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
            // LLVM answers MayAlias across roots.
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
            Some(size) => {
                self.session.update(|types, graph| types.sized_at(graph, &place, size))?
            }
            None => place.tag.into(),
        };
        self.name(path, access);
        self.lower([access])?;
        self.tagged_place(path, place, access, size)
    }

    /// Names the tag of a member after its path. A tag for a whole type is named after the type.
    fn name(&mut self, path: &str, access: Access) {
        let graph = self.session.oracle().graph();
        let is_part =
            access.tag.and_then(|tag| graph.tag(tag).ok()).is_some_and(|tag| !tag.is_whole());
        if let (Some(lowering), true) = (&mut self.tagging.lowering, is_part) {
            let unmarked = ["volatile ", "immutable "].iter().fold(path.trim(), |path, mark| {
                path.strip_prefix(mark).unwrap_or(path).trim_start()
            });
            lowering.set_name(access, unmarked);
        }
    }

    fn resolve(&mut self, path: &str) -> Result<Place, JitError> {
        let place = self.session.update(|types, graph| types.place(graph, path))?;
        if place.tag.is_none() {
            // The path has no tag, so this call fails with the reason.
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
        let path = path.to_owned();
        match self.tagged(access) {
            Ok(nodes) => Ok(TaggedPlace { place, path, sized, nodes }),
            Err(JitError::NoTag { why, .. }) => Err(JitError::NoTag { path, why }),
            Err(error) => Err(error),
        }
    }

    /// Returns the nodes of an access that was lowered before.
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
        let mut call = found.clone();
        if found.tag.is_some() {
            call.tag = self.tagging.nodes.call(tags, &[access])?.tag;
        }
        Ok(Tagged { access: found, call })
    }

    /// Lowers these accesses and the tags in `waiting`. The first call also lowers the [`anchors`],
    /// unless records are shared with C.
    fn lower(&mut self, accesses: impl IntoIterator<Item = Access>) -> Result<(), JitError> {
        let first = self.lowering().is_some_and(|lowering| lowering.sources().len() == 0);
        if first && self.tagging.theirs.is_none() {
            self.tagging.waiting.extend(anchors(&mut self.session)?);
        }
        let waiting = std::mem::take(&mut self.tagging.waiting).into_iter().map(Access::from);
        let accesses: Vec<Access> = waiting.chain(accesses).collect();
        self.classify(&accesses)?;
        let Some(lowering) = &mut self.tagging.lowering else { return Ok(()) };
        let named = records(self.session.tagged().types(), &self.tagging.options.shared)?;
        let shared = (!named.is_empty()).then(|| Shared::new(self.session.tagged().types(), named));
        let graph = self.session.oracle().graph();
        let source = |access: Access| {
            let tag = access.tag?;
            let of_shared = |shared: &Shared<'_>| shared.source(graph, tag);
            let source = shared.as_ref().map_or(Source::from(tag), of_shared);
            Some(Source { size: access.size, ..source })
        };
        let sources: Vec<Source> = accesses.into_iter().filter_map(source).collect();
        Ok(lowering.lower(self.session.oracle(), sources)?)
    }

    fn classify(&mut self, accesses: &[Access]) -> Result<(), JitError> {
        let Some(classes) = &mut self.tagging.classes else { return Ok(()) };
        Ok(classes.add(self.session.oracle(), accesses.iter().copied())?)
    }
}
