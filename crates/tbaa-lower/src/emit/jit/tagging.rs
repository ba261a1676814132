//! Tags on demand, for whoever keeps the types.

use super::super::emitter::Emitter;
use super::super::lowered::Lowered;
use super::super::plan::{Attachments, ClassPlan, Plan};
use super::super::recorded::{Recorded, Recorder};
use super::{JitError, JitOptions, TagForm, Tagged, TaggedCall, TaggedPlace};
use crate::{Classes, Lowering, Shared, Source, tags_of_clang};
use tbaa::declare::{DeclId, Declarations, DeclareError, Place, Policy, TaggedTypes};
use tbaa::{Access, CopyEntry, CopyId, Graph, Oracle, Session, Tag, TagId, TypeId};

/// What keeps declared types, their graph and its oracle: a [`Session`], or what
/// an interface for another language has in its place.
pub trait Typed {
    /// Returns the types under their policy.
    fn tagged(&self) -> &TaggedTypes;

    /// Returns the oracle, which has the graph.
    fn oracle(&self) -> &Oracle;

    /// Changes types and graph, and lets the oracle take note: [`Oracle::update`].
    fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R;
}

impl Typed for Session {
    fn tagged(&self) -> &TaggedTypes {
        self.tagged()
    }

    fn oracle(&self) -> &Oracle {
        self.oracle()
    }

    fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R {
        self.update(change)
    }
}

/// What a [`Jit`](super::Jit) is beside its session: the tags that stock LLVM gets for
/// declared types, which are lowered when they are asked for. Each call is given
/// what keeps the types, the same each time.
#[derive(Debug)]
pub struct Tagging {
    pub(super) options: JitOptions,
    /// `None` where tags are attached as they are.
    pub(super) lowering: Option<Lowering>,
    classes: Option<Classes>,
    /// The tags that clang gives to the shared records.
    pub(super) theirs: Option<Graph>,
    nodes: Emitter<Recorder>,
    /// Tags to be lowered together with those asked for next.
    waiting: Vec<TagId>,
}

impl Tagging {
    /// Returns the tagging of types under policy `rfc`, which it lowers; for
    /// [`TagForm::Clang`] under policy `clang`, whose tags are attached as they are.
    ///
    /// # Errors
    ///
    /// [`JitError::Form`] for another policy, and as
    /// [`Jit::with_options`](super::Jit::with_options).
    pub fn new(of: &mut impl Typed, options: JitOptions) -> Result<Tagging, JitError> {
        let as_it_is = options.form == TagForm::Clang;
        if as_it_is == (of.tagged().policy() == Policy::Rfc) {
            return Err(JitError::Form(options.form));
        }
        if as_it_is {
            return Ok(Tagging::of(options, None, None));
        }
        let mut lowering = Lowering::new(options.lowering());
        let mut theirs = None;
        if !options.shared.is_empty() {
            let records = records(of.tagged().types(), &options.shared)?;
            let (graph, pairs) = of.update(|types, graph| {
                let shared = Shared::new(types.types(), records);
                tags_of_clang(types.types(), graph, |record| shared.has(record))
            })?;
            theirs = Some(graph.clone());
            lowering.fix(of.oracle(), graph, pairs).map_err(JitError::Fix)?;
        }
        Ok(Tagging::of(options, Some(lowering), theirs))
    }

    pub(super) fn of(
        options: JitOptions,
        lowering: Option<Lowering>,
        theirs: Option<Graph>,
    ) -> Tagging {
        let (nodes, waiting) = (Emitter::new(Recorder), Vec::new());
        let classes = options.no_classes();
        Tagging { options, lowering, classes, theirs, nodes, waiting }
    }

    /// Returns clang's nodes for the shared records.
    #[cfg(feature = "serde")]
    pub(super) fn clang(types: &Declarations, options: &JitOptions) -> Result<Graph, JitError> {
        let shared = Shared::new(types, records(types, &options.shared)?);
        let made = tags_of_clang(types, &mut Graph::new(), |record| shared.has(record));
        Ok(made?.0)
    }

    /// Returns the lowering; `None` where tags are attached as they are.
    #[must_use]
    pub fn lowering(&self) -> Option<&Lowering> {
        self.lowering.as_ref()
    }

    /// As [`Jit::place`](super::Jit::place).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn place(&mut self, of: &mut impl Typed, path: &str) -> Result<TaggedPlace, JitError> {
        self.one(of, path, None)
    }

    /// As [`Jit::sized`](super::Jit::sized).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn sized(
        &mut self,
        of: &mut impl Typed,
        path: &str,
        bytes: u64,
    ) -> Result<TaggedPlace, JitError> {
        // 0 too is a number that nobody knows yet.
        self.one(of, path, Some(if bytes == 0 { u64::MAX } else { bytes }))
    }

    /// As [`Jit::places`](super::Jit::places).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn places(
        &mut self,
        of: &mut impl Typed,
        paths: &[impl AsRef<str>],
    ) -> Result<Vec<TaggedPlace>, JitError> {
        let found = paths.iter().map(|path| Ok((path.as_ref(), self.resolve(of, path.as_ref())?)));
        let found: Vec<(&str, Place)> = found.collect::<Result<_, JitError>>()?;
        self.lower(of, found.iter().map(|(_, place)| Access::from(place.tag)))?;
        let place = |(path, place): (&str, Place)| {
            self.tagged_place(of, path, place, place.tag.into(), None)
        };
        found.into_iter().map(place).collect()
    }

    fn one(
        &mut self,
        of: &mut impl Typed,
        path: &str,
        size: Option<u64>,
    ) -> Result<TaggedPlace, JitError> {
        let place = self.resolve(of, path)?;
        let access = match size {
            Some(size) => of.update(|types, graph| types.sized(graph, path, size))?,
            None => place.tag.into(),
        };
        self.lower(of, [access])?;
        self.tagged_place(of, path, place, access, size)
    }

    fn resolve(&mut self, of: &mut impl Typed, path: &str) -> Result<Place, JitError> {
        let place = of.update(|types, graph| types.place(graph, path))?;
        if place.tag.is_none() {
            // The error says why.
            of.update(|types, graph| types.tag(graph, path))?;
        }
        Ok(place)
    }

    fn tagged_place(
        &mut self,
        of: &mut impl Typed,
        path: &str,
        place: Place,
        access: Access,
        sized: Option<u64>,
    ) -> Result<TaggedPlace, JitError> {
        let nodes = self.tagged(of, access).map_err(|error| match error {
            JitError::NoTag { why, .. } => JitError::NoTag { path: path.to_owned(), why },
            error => error,
        })?;
        Ok(TaggedPlace { place, path: path.to_owned(), sized, nodes })
    }

    /// As [`Jit::access`](super::Jit::access).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn access(
        &mut self,
        of: &mut impl Typed,
        access: impl Into<Access>,
    ) -> Result<Tagged, JitError> {
        let access = access.into();
        self.lower(of, [access])?;
        self.tagged(of, access)
    }

    /// What an access gets that was lowered.
    fn tagged(&mut self, of: &impl Typed, access: Access) -> Result<Tagged, JitError> {
        let graph = of.oracle().graph();
        if let (Some(lowering), Some(tag)) = (&self.lowering, access.tag)
            && !self.options.scopes_alone()
            && lowering.tag(access).is_none()
            && let Some(certificate) = lowering.why(access)
        {
            let path = graph.tag(tag).map_or(String::new(), |tag| {
                String::from_utf8_lossy(graph.ty(tag.base).name().unwrap_or_default()).into_owned()
            });
            return Err(JitError::NoTag { path, why: certificate.why });
        }
        let plan = JitPlan::new(of.oracle(), &self.lowering, &self.options);
        let found = plan.with(&self.classes, |plan| self.nodes.access(plan, access))?;
        let tags: &dyn Plan = match &self.lowering {
            Some(lowering) => lowering,
            None => graph,
        };
        let tag = match found.tag {
            Some(_) => self.nodes.call(tags, &[access])?.tag,
            None => None,
        };
        let call = Attachments { tag, ..found.clone() };
        Ok(Tagged { access: found, call })
    }

    /// As [`Jit::call`](super::Jit::call).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn call(
        &mut self,
        of: &mut impl Typed,
        touched: &[impl AsRef<str>],
    ) -> Result<TaggedCall, JitError> {
        let found = touched.iter().map(|path| Ok(self.resolve(of, path.as_ref())?.tag.into()));
        let touched: Vec<Access> = found.collect::<Result<_, JitError>>()?;
        match touched[..] {
            [access] => self.lower(of, [access])?,
            _ => self.classify(of, &touched)?,
        }
        let plan = JitPlan::new(of.oracle(), &self.lowering, &self.options);
        let call = plan.with(&self.classes, |plan| self.nodes.call(plan, &touched))?;
        Ok(TaggedCall(call))
    }

    /// As [`Jit::allocating_call`](super::Jit::allocating_call).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn allocating_call(
        &mut self,
        of: &mut impl Typed,
        touched: &[impl AsRef<str>],
        memory: &[impl AsRef<str>],
    ) -> Result<TaggedCall, JitError> {
        let touched = touched.iter().map(AsRef::as_ref);
        let all: Vec<&str> = touched.chain(memory.iter().map(AsRef::as_ref)).collect();
        self.call(of, &all)
    }

    /// As [`Jit::copy`](super::Jit::copy).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn copy(
        &mut self,
        of: &mut impl Typed,
        entries: &[CopyEntry],
    ) -> Result<Attachments<Recorded>, JitError> {
        let made = of.update(|_, graph| graph.builder().struct_copy(entries));
        let copy: CopyId = made.map_err(DeclareError::Build)?;
        self.lower(of, entries.iter().map(|entry| entry.tag.into()))?;
        let plan = JitPlan::new(of.oracle(), &self.lowering, &self.options);
        let graph = of.oracle().graph();
        Ok(plan.with(&self.classes, |plan| self.nodes.copy(plan, graph, copy))?)
    }

    /// As [`Jit::adopt`](super::Jit::adopt).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn adopt(
        &mut self,
        of: &mut impl Typed,
        clang: &Graph,
    ) -> Result<Vec<Option<TagId>>, JitError> {
        let found = of.update(|types, graph| {
            let adopted = clang.tags().map(|tag| types.adopt(graph, clang, tag));
            adopted.collect::<Result<Vec<_>, _>>()
        })?;
        self.waiting.extend(found.iter().flatten());
        Ok(found)
    }

    /// As [`Jit::check_linked`](super::Jit::check_linked).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn check_linked(&self, of: &impl Typed, clang: &Graph) -> Result<(), JitError> {
        if let Some(ty) = self.lowering.as_ref().and_then(|lowering| lowering.stranger(clang)) {
            return Err(JitError::OtherLineage { ty });
        }
        let tagged = of.tagged();
        let types = tagged.types();
        let theirs = self.theirs.clone().unwrap_or_default();
        let named = records(types, &self.options.shared)?;
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

    /// Lowers what waits, and these.
    fn lower(
        &mut self,
        of: &mut impl Typed,
        accesses: impl IntoIterator<Item = Access>,
    ) -> Result<(), JitError> {
        let first = self.lowering.as_ref().is_some_and(|it| it.sources().len() == 0);
        if first && self.theirs.is_none() {
            self.waiting.extend(anchors(of)?);
        }
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(Access::from);
        let accesses: Vec<Access> = waiting.chain(accesses).collect();
        self.classify(of, &accesses)?;
        let Some(lowering) = &mut self.lowering else { return Ok(()) };
        let named = records(of.tagged().types(), &self.options.shared)?;
        let shared = (!named.is_empty()).then(|| Shared::new(of.tagged().types(), named));
        let source = |access: Access| {
            let tag = access.tag?;
            let source = match &shared {
                Some(shared) => shared.source(of.oracle().graph(), tag),
                None => Source::from(tag),
            };
            Some(Source { size: access.size, ..source })
        };
        let sources: Vec<Source> = accesses.into_iter().filter_map(source).collect();
        Ok(lowering.lower(of.oracle(), sources)?)
    }

    /// Gives classes to accesses that have none.
    fn classify(&mut self, of: &impl Typed, accesses: &[Access]) -> Result<(), JitError> {
        match &mut self.classes {
            Some(classes) => Ok(classes.add(of.oracle(), accesses.iter().copied())?),
            None => Ok(()),
        }
    }
}

/// Two tags for the first call: one that may alias everything, above all others,
/// so that what comes later and may alias several of them has a place to stand; and
/// one that aliases that alone, without which the first place asked for would stand
/// in its stead.
fn anchors(of: &mut impl Typed) -> Result<[TagId; 2], JitError> {
    let above = of.update(|types, graph| types.tag(graph, "*char"))?;
    let other = of.update(|_, graph| {
        // It was just made, so it can be read.
        let Ok(Tag { access: char, .. }) = graph.tag(above) else { return Ok(above) };
        let mut b = graph.builder();
        let nobody = b.sized_type(char, 1, "nobody's", &[])?;
        b.access_tag(nobody, nobody, 0, 1, false)
    });
    Ok([above, other.map_err(DeclareError::Build)?])
}

/// The records of these names.
fn records(types: &Declarations, names: &[String]) -> Result<Vec<DeclId>, JitError> {
    let find = |name: &String| {
        let found = types.named(name).filter(|&id| types.is_record(id));
        let found = found.filter(|&id| types.size_of(id).is_some());
        found.ok_or_else(|| JitError::NotDeclared { record: name.clone() })
    };
    names.iter().map(find).collect()
}

/// The plan of all accesses.
#[derive(Debug)]
enum JitPlan<'j> {
    AsClang(&'j Graph),
    Lowered(Lowered<'j>),
}

impl<'j> JitPlan<'j> {
    fn new(oracle: &'j Oracle, lowering: &'j Option<Lowering>, options: &JitOptions) -> Self {
        let Some(lowering) = lowering else { return JitPlan::AsClang(oracle.graph()) };
        let plan = Lowered::new(lowering, oracle);
        JitPlan::Lowered(if options.scopes_alone() { plan.scopes_alone() } else { plan })
    }

    /// Calls with the plan, its scopes replaced by classes if there are any.
    fn with<R>(&self, classes: &Option<Classes>, then: impl FnOnce(&dyn Plan) -> R) -> R {
        let tags: &dyn Plan = match self {
            JitPlan::AsClang(graph) => *graph,
            JitPlan::Lowered(plan) => plan,
        };
        match classes {
            Some(classes) => then(&ClassPlan { tags, classes }),
            None => then(tags),
        }
    }
}
