//! One query at a time, and the tables growing between queries.

use std::borrow::{Borrow, BorrowMut};
use std::sync::atomic::{AtomicU64, Ordering};

use super::access::{Access, Conflict};
use super::clause::Clause;
use super::explain::Explanation;
use super::index::{Index, Role};
use super::limits::{COMPARED, COMPARED_A_NODE, STEPS, STEPS_TO_EXPLAIN};
use super::llvm::Llvm;
use super::memo::{FEW, Memo, SizedMemo};
use super::rule::{Candidates, Decision, Rule};
use super::rules::{AliasResult, Rules};
use super::union::Union;
use crate::graph::{Graph, Tag, TagId, TagParts, TypeKind};
use crate::table::HashSet;

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
/// # Memory
///
/// An oracle takes about 60 bytes for each tag, besides the graph. Types whose many members
/// overlap take more. An oracle of up to 2,048 tags may remember its answers in 512 KiB, if
/// intervals decide few of them. Every oracle remembers answers on accesses with sizes of
/// their own, in 128 KiB.
///
/// # Growing
///
/// An oracle owns its graph, or borrows it: `G` is [`Graph`], `&Graph`,
/// `&mut Graph`, `Arc<Graph>` and so on. If the graph can be changed,
/// [`Oracle::update`] adds types and tags, at a cost proportional to what is
/// added. Old answers stay. Queries take `&self` and may run on many threads at
/// once.
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
    /// Of these tables: another oracle numbers its types otherwise.
    identity: u64,
    /// Tags judged with fewer steps than the definition has, which may know more
    /// of them than that they may alias everything.
    limited: HashSet<u32>,
    index: Index,
    engine: Engine,
    memo: Memo,
    sized: SizedMemo,
    /// Whether tags do not alias whose intervals part. It is so under one root, but
    /// of few tags more is known:
    apart_decides: bool,
    /// that those alias whose intervals meet, or what the memo says.
    exact: bool,
}

/// A number for an oracle's tables.
fn next_identity() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[derive(Clone, Debug)]
enum Engine {
    Llvm(Box<Llvm>),
    Union(Box<Union>),
}

impl Engine {
    fn new(rules: Rules) -> Engine {
        match rules {
            Rules::Llvm => Engine::Llvm(Box::default()),
            Rules::Union => Engine::Union(Box::new(Union::new(false))),
            Rules::UnionStrict => Engine::Union(Box::new(Union::new(true))),
        }
    }

    fn rule(&self) -> &dyn Rule {
        match self {
            Engine::Llvm(rule) => &**rule,
            Engine::Union(rule) => &**rule,
        }
    }

    fn rule_mut(&mut self) -> &mut dyn Rule {
        match self {
            Engine::Llvm(rule) => &mut **rule,
            Engine::Union(rule) => &mut **rule,
        }
    }
}

impl<G: Borrow<Graph> + Clone> Clone for Oracle<G> {
    /// Returns an oracle for a clone of the graph, with the same tables.
    fn clone(&self) -> Self {
        let graph = self.graph.clone();
        // A clone's ids are its own, and stand for the same nodes.
        let stamp = graph.borrow().stamp();
        self.with_graph(graph, stamp)
    }
}

impl Oracle {
    /// Takes note of what the original of a replica got since. Its answers are then
    /// the original's, which must not have been short of steps.
    pub(super) fn follow<G: Borrow<Graph>>(&mut self, original: &Oracle<G>) {
        self.graph.follow(original.graph());
        self.refresh();
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
        let (limited, index) = (HashSet::default(), Index::default());
        let mut oracle = Oracle {
            graph,
            rules,
            stamp,
            identity: next_identity(),
            limited,
            index,
            engine: Engine::new(rules),
            memo: Memo::default(),
            sized: SizedMemo::default(),
            apart_decides: false,
            exact: false,
        };
        oracle.refresh();
        oracle.index.finish();
        oracle.choose_ways();
        oracle
    }

    /// Reads the tags that the graph got since the last call.
    fn refresh(&mut self) {
        let graph = self.graph.borrow();
        if graph.stamp() != self.stamp {
            self.stamp = graph.stamp();
            self.identity = next_identity();
            self.index = Index::default();
            self.limited.clear();
            self.engine = Engine::new(self.rules);
            (self.memo, self.sized) = Default::default();
        }
        let rule = self.engine.rule_mut();
        for tag in graph.tags().skip(self.index.len()) {
            if !rule.add(graph, &mut self.index, tag) {
                self.limited.insert(tag.index);
            }
        }
        self.index.catch_up();
        self.choose_ways();
    }

    /// Finds out how pairs are best decided on.
    fn choose_ways(&mut self) {
        let tags = self.index.len();
        self.exact = tags <= FEW && self.index.is_exact();
        self.memo.grow(if self.exact { 0 } else { tags }, self.index.others());
        self.apart_decides = !self.exact && self.memo.is_off() && !self.index.has_several_roots();
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
    /// unrelated type systems, so nothing is proved. So does a malformed tag, and a
    /// tag that another graph issued. The answer does not depend on
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
    // A call would take as long as what is in it.
    #[must_use]
    #[inline(always)]
    pub fn may_alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        let (Some(tag_a), Some(tag_b)) = (a.tag, b.tag) else { return true };
        let may = match (a.size, b.size) {
            (None, None) => self.tags_may_alias(tag_a, tag_b),
            _ => self.sized_may_alias(a, b),
        };
        if cfg!(feature = "self-check") {
            assert!(self.agrees(a, b, may), "{:?}, {a:?}, {b:?}: {may}", self.rules);
        }
        may
    }

    #[inline]
    fn tags_may_alias(&self, a: TagId, b: TagId) -> bool {
        if a.stamp != self.stamp || b.stamp != self.stamp {
            return true;
        }
        if self.apart_decides && self.index.part(a.index, b.index) {
            return false;
        }
        if self.exact {
            return !self.index.part(a.index, b.index);
        }
        let (known, may) = self.memo.get(a.index, b.index);
        if known { may } else { self.find(a, b) }
    }

    /// Answers on two tags that the memo does not know, and tells it.
    #[inline(never)]
    fn find(&self, a: TagId, b: TagId) -> bool {
        let decided = self.index.decide(a.index, b.index);
        let may = decided.unwrap_or_else(|| self.tags_may_alias_by_rule(a, b));
        self.memo.set(a.index, b.index, may);
        may
    }

    /// Answers from the rule's tables, or by its definition.
    #[inline(never)]
    fn tags_may_alias_by_rule(&self, a: TagId, b: TagId) -> bool {
        let decided = self.engine.rule().decide(self.graph(), &self.index, a, b);
        decided.unwrap_or_else(|| self.define(a.into(), b.into(), STEPS).is_may())
    }

    /// Answers on accesses of which at least one has a size of its own.
    #[inline(never)]
    fn sized_may_alias(&self, a: Access, b: Access) -> bool {
        let foreign = |access: Access| access.tag.is_none_or(|tag| tag.stamp != self.stamp);
        if foreign(a) || foreign(b) {
            return true;
        }
        self.sized.get_or((a, b), || {
            let decided = self.engine.rule().decide_sized(self.graph(), &self.index, (a, b));
            decided.unwrap_or_else(|| self.define(a, b, STEPS).is_may())
        })
    }

    /// Answers by the rule's definition.
    fn define(&self, a: Access, b: Access, steps: u32) -> Decision {
        self.engine.rule().define(self.graph(), &self.index, (a, b), steps)
    }

    /// As [`Oracle::may_alias`], with the steps of the rule's definition taken from
    /// those left; `None` where it would have to be followed without any.
    #[doc(hidden)]
    pub fn may_alias_within(
        &self,
        a: impl Into<Access>,
        b: impl Into<Access>,
        left: &mut u64,
    ) -> Option<bool> {
        let (a, b) = (a.into(), b.into());
        let (Some(tag_a), Some(tag_b)) = (a.tag, b.tag) else { return Some(true) };
        if tag_a.stamp != self.stamp || tag_b.stamp != self.stamp {
            return Some(true);
        }
        let rule = self.engine.rule();
        let decided = match (a.size, b.size) {
            (None, None) => self
                .index
                .decide(tag_a.index, tag_b.index)
                .or_else(|| rule.decide(self.graph(), &self.index, tag_a, tag_b)),
            _ => rule.decide_sized(self.graph(), &self.index, (a, b)),
        };
        if decided.is_some() || *left == 0 {
            return decided;
        }
        let decision = self.define(a, b, STEPS);
        *left = left.saturating_sub(u64::from(decision.steps).max(1));
        Some(decision.is_may())
    }

    /// Returns the steps that comparing many tags may take.
    #[doc(hidden)]
    pub fn steps_to_compare(&self) -> u64 {
        COMPARED + COMPARED_A_NODE * self.graph().node_count() as u64
    }

    /// Whether an answer is the definition's, or better where that gave up.
    fn agrees(&self, a: Access, b: Access, may: bool) -> bool {
        let limited =
            |access: Access| access.tag.is_some_and(|tag| self.limited.contains(&tag.index));
        if may && (limited(a) || limited(b)) {
            return true;
        }
        let defined = self.define(a, b, STEPS);
        may == defined.is_may() || !may && defined.clause == Clause::Limit
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

    /// Returns which dependences may hold between any of several accesses, such
    /// as those that a call makes, and access `second`, which comes after them.
    /// An empty list conflicts with nothing. An unknown call makes one access
    /// without a tag.
    ///
    /// ```
    /// use tbaa::{Access, Graph, Oracle, Rules};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let (int, float) = (b.scalar_type("int", root)?, b.scalar_type("float", root)?);
    /// let int = Access::from(b.struct_tag(int, int, 0, false)?);
    /// let float = Access::from(b.struct_tag(float, float, 0, false)?);
    ///
    /// let oracle = Oracle::new(&graph, Rules::Llvm);
    /// let call = [int.reading(), float.writing()];
    /// assert_eq!(oracle.may_conflict_any(&call, int.reading()), None);
    /// let conflict = oracle.may_conflict_any(&call, float.reading()).unwrap();
    /// assert_eq!(conflict.to_string(), "read after write");
    /// assert_eq!(oracle.may_conflict_any(&[], float), None, "a pure function");
    /// assert!(oracle.may_conflict_any(&[Access::default()], int.reading()).is_some());
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    #[must_use]
    pub fn may_conflict_any(
        &self,
        firsts: &[Access],
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        let second = second.into();
        firsts.iter().filter_map(|&first| self.may_conflict(first, second)).reduce(Conflict::or)
    }

    /// Returns the answer of [`Oracle::alias`] with the clause that gives it,
    /// and the paths and bytes that the clause speaks of.
    ///
    /// ```
    /// use tbaa::explain::Clause;
    /// use tbaa::{Graph, Oracle, Rules, SizedField};
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
        let mut all = u64::MAX;
        self.explain_within(a.into(), b.into(), &mut all)
    }

    /// As [`Oracle::explain`], with its steps taken from those left.
    #[doc(hidden)]
    pub fn explain_within(&self, a: Access, b: Access, left: &mut u64) -> Explanation {
        let explanation = self.explain_by_definition(a, b, left);
        if explanation.clause.is_no_alias() && self.may_alias(a, b) {
            return Explanation::plain(self.rules, Clause::Limit);
        }
        explanation
    }

    fn explain_by_definition(&self, a: Access, b: Access, left: &mut u64) -> Explanation {
        let mut explain = |steps| {
            let rule = self.engine.rule();
            let decision = rule.explain(self.graph(), &self.index, (a, b), steps);
            *left = left.saturating_sub(decision.steps.into());
            decision
        };
        let mut decision = explain(STEPS);
        // The tables may know more than so many steps show.
        if decision.clause == Clause::Limit {
            decision = explain(STEPS_TO_EXPLAIN);
            if decision.clause == Clause::Limit && !self.may_alias(a, b) {
                decision.clause = Clause::Apart;
            }
        }
        Explanation::new(self.graph(), self.rules, &decision)
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
        let generic = self.engine.rule().most_generic(self.graph(), &self.index, a, b)?;
        let graph = self.graph();
        let immutable = |tag| TagParts::is_immutable(graph, graph.tag_node(tag));
        Some(Tag { immutable: immutable(a) && immutable(b), ..generic })
    }

    /// Returns whether the oracle's rules take a tag for well formed. Every
    /// query about one that is not answers `MayAlias`.
    ///
    /// For rule `llvm` that is LLVM's own verdict. For the union rules the tag
    /// must denote a path, through types that are well formed, of one format,
    /// and do not contain themselves. Either accepts tags that the other does
    /// not: LLVM follows only the last member of a union.
    #[must_use]
    pub fn is_well_formed(&self, tag: TagId) -> bool {
        let graph = self.graph();
        if !graph.owns_tag(tag) {
            return false;
        }
        let by_definition = || self.engine.rule().is_well_formed(graph, tag);
        let defined = || by_definition().unwrap_or(false);
        let is_root = |tag: Tag| tag.is_whole() && graph.ty(tag.base).kind() == TypeKind::Root;
        let found = match self.role(tag) {
            Role::Regular(..) | Role::Irregular(..) | Role::Unindexed(_) => true,
            // A whole access to a root may alias everything, and is well formed.
            Role::Rejected if graph.tag(tag).is_ok_and(is_root) => defined(),
            Role::Rejected => self.limited.contains(&tag.index) && defined(),
        };
        if cfg!(feature = "self-check") {
            // The tables see further than the definition's limit.
            assert!(by_definition().is_none_or(|it| it == found), "{:?}, {tag:?}", self.rules);
        }
        found
    }

    /// The same, without a search for a tag that took more steps to judge than
    /// there were: `None`.
    #[doc(hidden)]
    pub fn is_known_well_formed(&self, tag: TagId) -> Option<bool> {
        (!self.limited.contains(&tag.index)).then(|| self.is_well_formed(tag))
    }

    /// Returns an oracle with the same answers to the same ids.
    pub(super) fn replica(&self) -> Oracle {
        self.with_graph(self.graph().replica(), self.stamp)
    }

    /// Returns an oracle for a graph of the same nodes, with the same tables.
    fn with_graph<H>(&self, graph: H, stamp: u32) -> Oracle<H> {
        Oracle {
            graph,
            rules: self.rules,
            stamp,
            identity: next_identity(),
            limited: self.limited.clone(),
            index: self.index.clone(),
            engine: self.engine.clone(),
            memo: self.memo.clone(),
            sized: SizedMemo::default(),
            apart_decides: self.apart_decides,
            exact: self.exact,
        }
    }

    /// Whether the answers depend on when each tag was added, for the graph's
    /// allowance of steps grows with it.
    pub(super) fn was_short(&self) -> bool {
        self.engine.rule().was_short()
    }

    /// Returns the index of the tags, for answers to many pairs.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Returns a number that no other oracle of the process has, and this one only
    /// as long as its graph is the same.
    pub(super) fn identity(&self) -> u64 {
        self.identity
    }

    /// Returns how a tag is indexed; one of another graph is rejected.
    pub(super) fn role(&self, tag: TagId) -> Role {
        if tag.stamp == self.stamp { self.index.role(tag.index()) } else { Role::Rejected }
    }

    /// Says which tags of its root an irregular tag may alias at most.
    pub(super) fn candidates(&self, tag: TagId) -> Option<Candidates> {
        self.engine.rule().candidates(&self.index, tag)
    }
}
