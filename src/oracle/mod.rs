//! Asking whether two accesses may alias.
//!
//! An [`Oracle`] answers by one of the [`Rules`]. Any doubt is `MayAlias`: no
//! tag, a malformed tag, different roots, an id of another graph.

mod access;
mod batch;
mod below;
mod compiled;
mod copy;
mod explain;
mod filter;
mod forest;
mod formed;
mod frozen;
mod llvm;
mod order;
mod rules;
mod union;

use std::borrow::{Borrow, BorrowMut};

pub use access::{Access, AccessKind, Conflict};
pub use batch::{Classes, Matrix};
pub use explain::{
    AccessPath, ByteRange, Clause, Comparison, Elements, Explanation, PathStep, Side,
};
pub use frozen::Frozen;
pub use rules::{AliasResult, Rules, UnknownRules};

use crate::graph::{Graph, Tag, TagId};
use compiled::Compiled;

/// Answers alias queries on the tags of one graph.
///
/// ```
/// use tbaa::{AliasResult, Graph, Oracle, Rules};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("Simple C/C++ TBAA")?;
/// let char = b.scalar_type("omnipotent char", root)?;
/// let int = b.scalar_type("int", char)?;
/// let float = b.scalar_type("float", char)?;
/// let char = b.struct_tag(char, char, 0, false)?;
/// let int = b.struct_tag(int, int, 0, false)?;
/// let float = b.struct_tag(float, float, 0, false)?;
///
/// let oracle = Oracle::new(&graph, Rules::Llvm);
/// assert_eq!(oracle.alias(int, float), AliasResult::NoAlias);
/// assert_eq!(oracle.alias(int, char), AliasResult::MayAlias);
/// assert_eq!(oracle.alias(int, None), AliasResult::MayAlias, "no tag, no proof");
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// # Growing
///
/// An oracle owns its graph, or borrows it: `G` is [`Graph`], `&Graph`,
/// `&mut Graph`, `Arc<Graph>` and so on. Where it can be changed, types and
/// tags are added through [`Oracle::update`], at a cost proportional to what is
/// added, and old answers stay. Queries take `&self` and may run on many
/// threads at once.
///
/// ```
/// use tbaa::{Graph, Oracle, Rules};
///
/// let mut oracle = Oracle::new(Graph::new(), Rules::Llvm);
/// let (int, float) = oracle.update(|graph| {
///     let mut b = graph.builder();
///     let root = b.root("my JIT")?;
///     let int = b.scalar_type("int", root)?;
///     let float = b.scalar_type("float", root)?;
///     Ok::<_, tbaa::BuildError>((
///         b.struct_tag(int, int, 0, false)?,
///         b.struct_tag(float, float, 0, false)?,
///     ))
/// })?;
/// assert!(!oracle.may_alias(int, float));
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Oracle<G = Graph> {
    graph: G,
    rules: Rules,
    /// Of the graph that the tables describe.
    stamp: u32,
    compiled: Compiled,
    engine: Engine,
}

/// What is known beside the records.
#[derive(Debug)]
enum Engine {
    Llvm(llvm::Compiler),
    Union { engine: Box<union::Engine>, strict: bool },
}

impl Engine {
    fn new(rules: Rules) -> Engine {
        let union = |strict| Engine::Union { engine: Box::default(), strict };
        match rules {
            Rules::Llvm => Engine::Llvm(llvm::Compiler::default()),
            Rules::Union => union(false),
            Rules::UnionStrict => union(true),
        }
    }
}

impl<G: BorrowMut<Graph>> Oracle<G> {
    /// Changes the graph, and takes note of the types and tags added.
    ///
    /// Adding a tag takes time in proportion to the length of its access path,
    /// and the first tag to use a type, to the type's fields. A graph put in
    /// place of the old one is read from its beginning.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut Graph) -> R) -> R {
        /// Takes note even when the change panics.
        struct Refresh<'o, G: Borrow<Graph>>(&'o mut Oracle<G>);
        impl<G: Borrow<Graph>> Drop for Refresh<'_, G> {
            fn drop(&mut self) {
                self.0.refresh();
            }
        }
        let refresh = Refresh(self);
        change(refresh.0.graph.borrow_mut())
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns an oracle for the tags that `graph` holds.
    #[must_use]
    pub fn new(graph: G, rules: Rules) -> Self {
        let stamp = graph.borrow().stamp();
        let compiled = Compiled::default();
        let mut oracle = Oracle { graph, rules, stamp, compiled, engine: Engine::new(rules) };
        oracle.refresh();
        oracle.compiled.finish();
        oracle
    }

    /// Reads the tags that the graph got since the last call.
    fn refresh(&mut self) {
        let graph = self.graph.borrow();
        if graph.stamp() != self.stamp {
            self.stamp = graph.stamp();
            self.compiled = Compiled::default();
            self.engine = Engine::new(self.rules);
        }
        for tag in graph.tags().skip(self.compiled.len()) {
            match &mut self.engine {
                Engine::Llvm(compiler) => compiler.add(graph, &mut self.compiled, tag),
                Engine::Union { engine, strict } => {
                    engine.add(graph, &mut self.compiled, tag, *strict);
                }
            }
        }
        self.compiled.settle();
    }

    /// Returns the graph whose tags the oracle knows.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.graph.borrow()
    }

    /// Takes the graph out of the oracle.
    #[must_use]
    pub fn into_graph(self) -> G {
        self.graph
    }

    /// Returns the rules that the oracle follows.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns whether accesses `a` and `b` may overlap. An access is a tag, an
    /// optional tag, or an [`Access`].
    ///
    /// A missing tag gives `MayAlias`. So do different roots: they may be
    /// unrelated type systems, so nothing is proved. So does a tag that is
    /// malformed, or that another graph issued. The answer does not depend on
    /// the order of `a` and `b`. Rule `llvm` ignores the accesses' sizes, and
    /// no rule looks at their kinds here.
    ///
    /// LLVM: `TypeBasedAAResult::alias`.
    #[must_use]
    #[inline]
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns whether [`Oracle::alias`] answers `MayAlias`.
    #[must_use]
    #[inline]
    pub fn may_alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        let (Some(tag_a), Some(tag_b)) = (a.tag, b.tag) else { return true };
        let may = match (a.size, b.size) {
            (None, None) => self.tags_may_alias(tag_a, tag_b),
            (size_a, size_b) => self.sized_may_alias((tag_a, size_a), (tag_b, size_b)),
        };
        debug_assert!(self.agrees(a, b, may), "{:?}, {a:?}, {b:?}: {may}", self.rules);
        may
    }

    #[inline]
    fn tags_may_alias(&self, a: TagId, b: TagId) -> bool {
        if a.stamp != self.stamp || b.stamp != self.stamp {
            return true;
        }
        match self.compiled.decide(a.index, b.index) {
            Some(may) => may,
            None => self.tags_may_alias_beyond_records(a, b),
        }
    }

    /// Answers from the tables beside the records, or by the definition.
    #[inline(never)]
    fn tags_may_alias_beyond_records(&self, a: TagId, b: TagId) -> bool {
        self.compare(a, b).unwrap_or_else(|| self.define(a.into(), b.into()))
    }

    /// Answers on accesses of which at least one has a size of its own.
    #[inline(never)]
    fn sized_may_alias(&self, a: (TagId, Option<u64>), b: (TagId, Option<u64>)) -> bool {
        if self.rules == Rules::Llvm {
            return self.tags_may_alias(a.0, b.0);
        }
        if a.0.stamp != self.stamp || b.0.stamp != self.stamp {
            return true;
        }
        let access = |(tag, size)| Access { size, ..Access::from(tag) };
        self.define(access(a), access(b))
    }

    /// Answers from the tables beside the records, where those do.
    fn compare(&self, a: TagId, b: TagId) -> Option<bool> {
        if self.compiled.is_ask(a.index()) || self.compiled.is_ask(b.index()) {
            return None;
        }
        match &self.engine {
            Engine::Llvm(compiler) => {
                Some(compiler.may_alias(&self.compiled, a.index(), b.index()))
            }
            Engine::Union { engine, strict } => {
                engine.compare(self.graph(), &self.compiled, (a, b), *strict)
            }
        }
    }

    /// Answers from any table, where one does.
    fn tabled(&self, a: Access, b: Access) -> Option<bool> {
        let (Some(tag_a), Some(tag_b), None, None) = (a.tag, b.tag, a.size, b.size) else {
            return None;
        };
        let may = self.compiled.decide(tag_a.index, tag_b.index);
        may.or_else(|| self.compare(tag_a, tag_b))
    }

    /// Whether an answer is the definition's, or better where that gave up.
    fn agrees(&self, a: Access, b: Access, may: bool) -> bool {
        let limited = || match &self.engine {
            Engine::Llvm(_) => false,
            Engine::Union { engine, strict } => {
                let decision = engine.decide(self.graph(), (a, b), *strict, union::STEPS);
                decision.clause == Clause::Limit
            }
        };
        may == self.define(a, b) || !may && limited()
    }

    /// Answers by the rule's definition.
    fn define(&self, a: Access, b: Access) -> bool {
        match &self.engine {
            Engine::Llvm(_) => !self.llvm_clause(a, b).is_no_alias(),
            Engine::Union { engine, strict } => {
                let clause = engine.decide(self.graph(), (a, b), *strict, union::STEPS).clause;
                clause.answer() == AliasResult::MayAlias
            }
        }
    }

    /// Returns which dependences may hold between access `first` and access
    /// `second`, which comes after it: `None` if they cannot overlap, or only
    /// read.
    ///
    /// ```
    /// use tbaa::{Access, Graph, Oracle, Rules};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.scalar_type("int", root)?;
    /// let int = Access::from(b.struct_tag(int, int, 0, false)?);
    ///
    /// let oracle = Oracle::new(&graph, Rules::Union);
    /// assert_eq!(oracle.may_conflict(int.reading(), int.reading()), None);
    /// let conflict = oracle.may_conflict(int.reading(), int.writing()).unwrap();
    /// assert_eq!(conflict.to_string(), "write after read");
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    #[must_use]
    pub fn may_conflict(
        &self,
        first: impl Into<Access>,
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        let (first, second) = (first.into(), second.into());
        let conflict = Conflict::between(first.kind, second.kind)?;
        self.may_alias(first, second).then_some(conflict)
    }

    /// Returns the answer of [`Oracle::alias`] with the clause that gives it,
    /// and the paths and bytes that the clause speaks of.
    ///
    /// ```
    /// use tbaa::{Clause, Graph, Oracle, Rules, SizedField};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.sized_type(root, 4, "int", &[])?;
    /// let float = b.sized_type(root, 4, "float", &[])?;
    /// let at_0 = |ty| SizedField { ty, offset: 0, size: 4 };
    /// let u = b.sized_type(root, 4, "U", &[at_0(int), at_0(float)])?;
    /// let u_i = b.access_tag(u, int, 0, 4, false)?;
    /// let f = b.access_tag(float, float, 0, 4, false)?;
    ///
    /// let why = Oracle::new(&graph, Rules::Union).explain(u_i, f);
    /// assert_eq!(why.clause, Clause::Overlap);
    /// assert_eq!(
    ///     why.to_string(),
    ///     "MayAlias
    /// rule union: the accesses share bytes
    /// from U
    ///   a: field 0 at 0: int; bytes 0-3
    ///   b: field 1 at 0: float; bytes 0-3"
    /// );
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    #[must_use]
    pub fn explain(&self, a: impl Into<Access>, b: impl Into<Access>) -> Explanation {
        let (a, b) = (a.into(), b.into());
        let explanation = self.explain_by_definition(a, b);
        if explanation.clause.is_no_alias() && self.may_alias(a, b) {
            // A tag was judged before all of it was there.
            return Explanation::plain(self.rules, Clause::Malformed);
        }
        explanation
    }

    fn explain_by_definition(&self, a: Access, b: Access) -> Explanation {
        match &self.engine {
            Engine::Llvm(_) => Explanation::plain(self.rules, self.llvm_clause(a, b)),
            Engine::Union { engine, strict } => {
                let explain = |steps| engine.explain(self.graph(), (a, b), *strict, steps);
                let mut decision = explain(union::STEPS);
                // The tables may know more than so many steps show.
                if decision.clause == Clause::Limit
                    && let Some(may) = self.tabled(a, b)
                {
                    decision = explain(union::STEPS_TO_EXPLAIN);
                    if decision.clause == Clause::Limit && !may {
                        decision.clause = Clause::Apart;
                    }
                }
                Explanation::new(self.graph(), self.rules, &decision)
            }
        }
    }

    fn definition(&self) -> llvm::Definition<'_> {
        llvm::Definition { graph: self.graph(), compiled: &self.compiled }
    }

    fn llvm_clause(&self, a: Access, b: Access) -> Clause {
        match (a.tag, b.tag) {
            (Some(a), Some(b)) if self.graph().owns_tag(a) && self.graph().owns_tag(b) => {
                self.definition().decide(a, b)
            }
            (Some(_), Some(_)) => Clause::ForeignTag,
            _ => Clause::NoTag,
        }
    }

    /// Returns whether the tag promises that its memory is never modified
    /// while it can be read.
    ///
    /// LLVM: `TypeBasedAAResult::getModRefInfoMask`.
    #[must_use]
    pub fn is_constant(&self, tag: impl Into<Option<TagId>>) -> bool {
        tag.into().is_some_and(|tag| {
            self.graph().owns_tag(tag) && self.graph().tag(tag).is_ok_and(|tag| tag.immutable)
        })
    }

    /// Returns what the tag of one access that replaces accesses `a` and `b`
    /// must say, or `None` when no tag can say it and the access must go
    /// untagged.
    ///
    /// Rule `llvm` answers what LLVM 22 answers, but for immutability: the
    /// result is immutable only if both are, where LLVM sometimes keeps one
    /// side's flag. NB: as in LLVM the result depends on the order of `a` and
    /// `b`, and where an aggregate access meets one of its fields it may be
    /// the field's tag.
    ///
    /// The union rules promise more: what may alias `a` or `b` may alias the
    /// result, and so will accesses to types added later.
    ///
    /// LLVM: `MDNode::getMostGenericTBAA`.
    #[must_use]
    pub fn most_generic(
        &self,
        a: impl Into<Option<TagId>>,
        b: impl Into<Option<TagId>>,
    ) -> Option<Tag> {
        let (a, b) = (a.into()?, b.into()?);
        if !self.graph().owns_tag(a) || !self.graph().owns_tag(b) {
            return None;
        }
        let generic = match &self.engine {
            Engine::Llvm(_) => self.definition().most_generic(a, b)?,
            Engine::Union { engine, .. } => engine.most_generic(self.graph(), a, b)?,
        };
        Some(Tag { immutable: self.is_constant(a) && self.is_constant(b), ..generic })
    }
}
