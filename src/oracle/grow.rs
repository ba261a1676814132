//! The oracle: how it is made, updated and cloned. `query.rs` has its queries.

use std::borrow::{Borrow, BorrowMut};
use std::sync::atomic::{AtomicU64, Ordering};

use super::alias_rule::AliasRule;
use super::index::Index;
use super::llvm::Llvm;
use super::memo::Memo;
use super::rule::{Indexed, Rule};
use super::union::Union;
use crate::graph::Graph;

/// Answers alias queries about the tags of one graph.
///
/// ```
/// use tbaa::{AliasResult, Graph, Oracle, AliasRule};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("Simple C/C++ TBAA")?;
/// let char = b.scalar_type("omnipotent char", root)?;
/// let int = b.scalar_type("int", char)?;
/// let float = b.scalar_type("float", char)?;
/// let char = b.struct_tag(char, char, 0)?;
/// let int = b.struct_tag(int, int, 0)?;
/// let float = b.struct_tag(float, float, 0)?;
///
/// let oracle = Oracle::new(&graph, AliasRule::Llvm);
/// assert_eq!(oracle.alias(int, float), AliasResult::NoAlias);
/// assert_eq!(oracle.alias(int, char), AliasResult::MayAlias);
/// assert_eq!(oracle.alias(int, None), AliasResult::MayAlias, "no tag, no proof");
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// # Memory
///
/// Besides its graph, an oracle takes about 60 bytes for each tag. The paths of a tag are stored
/// when a query first needs them. Caches of answers take at most 192 KiB.
///
/// # Growing
///
/// An oracle owns its graph or borrows it: `G` can be [`Graph`], `&Graph`, `&mut Graph`,
/// `Arc<Graph>` and so on. If the graph is mutable, [`Oracle::update`] adds types and tags. Earlier
/// answers never change. Queries take `&self`, and many threads may ask at once.
///
/// ```
/// use tbaa::{Graph, Oracle, AliasRule};
///
/// let mut oracle = Oracle::new(Graph::new(), AliasRule::Llvm);
/// let (int, float) = oracle.update(|graph| {
///     let mut b = graph.builder();
///     let root = b.root("my JIT")?;
///     let int = b.scalar_type("int", root)?;
///     let float = b.scalar_type("float", root)?;
///     Ok::<_, tbaa::BuildError>((
///         b.struct_tag(int, int, 0)?,
///         b.struct_tag(float, float, 0)?,
///     ))
/// })?;
/// assert!(!oracle.may_alias(int, float));
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Oracle<G = Graph> {
    graph: G,
    rule: AliasRule,
    /// The stamp of the graph that the oracle's tables describe. Every id of a graph has its stamp.
    pub(super) stamp: u32,
    /// A number that no other oracle of the process has. The oracle gets a new one when its graph
    /// is replaced, because the types are then numbered differently.
    pub(super) identity: u64,
    pub(super) index: Index,
    engine: Engine,
    pub(super) memo: Memo,
}

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
    fn new(rule: AliasRule) -> Engine {
        match rule {
            AliasRule::Llvm => Engine::Llvm(Box::default()),
            AliasRule::Union => Engine::Union(Box::new(Union::new(false))),
            AliasRule::UnionStrict => Engine::Union(Box::new(Union::new(true))),
        }
    }

    fn index(rule: AliasRule) -> Index {
        let mut index = Index::default();
        index.types.brief = rule == AliasRule::Llvm;
        index
    }
}

impl<G: Borrow<Graph> + Clone> Clone for Oracle<G> {
    fn clone(&self) -> Self {
        let graph = self.graph.clone();
        // A cloned `Graph` has its own ids for the same nodes.
        let stamp = graph.borrow().stamp();
        self.with_graph(graph, stamp)
    }
}

impl Oracle {
    /// Adds the types and tags that `original`, of which this oracle is a replica, has received
    /// since the last call. Then both give the same answers.
    pub(super) fn follow<G: Borrow<Graph>>(&mut self, original: &Oracle<G>) {
        self.graph.follow(original.graph());
        self.refresh();
    }
}

impl<G: BorrowMut<Graph>> Oracle<G> {
    /// Changes the graph, and reads the types and tags that were added.
    ///
    /// If `change` replaces the graph, all tags of the new graph are read.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut Graph) -> R) -> R {
        /// Reads the additions even if `change` panics.
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
    /// Returns an oracle for the tags of `graph`.
    #[must_use]
    pub fn new(graph: G, rule: AliasRule) -> Self {
        let stamp = graph.borrow().stamp();
        let mut oracle = Oracle {
            graph,
            rule,
            stamp,
            identity: next_identity(),
            index: Engine::index(rule),
            engine: Engine::new(rule),
            memo: Memo::default(),
        };
        oracle.refresh();
        oracle.index.finish();
        oracle
    }

    /// Reads the tags that were added since the last call, or all if the graph was replaced.
    fn refresh(&mut self) {
        let graph = self.graph.borrow();
        if graph.stamp() != self.stamp {
            self.stamp = graph.stamp();
            self.identity = next_identity();
            self.index = Engine::index(self.rule);
            self.engine = Engine::new(self.rule);
            self.memo = Memo::default();
        }
        let rule: &mut dyn Rule = match &mut self.engine {
            Engine::Llvm(rule) => &mut **rule,
            Engine::Union(rule) => &mut **rule,
        };
        for tag in graph.tags().skip(self.index.len()) {
            rule.add(graph, &mut self.index, tag);
        }
        self.index.catch_up();
        self.memo.fit(self.index.len(), || self.index.open());
    }

    /// Returns the oracle's graph.
    pub fn graph(&self) -> &Graph {
        self.graph.borrow()
    }

    /// Returns the oracle's graph and drops the oracle.
    #[must_use]
    pub fn into_graph(self) -> G {
        self.graph
    }

    /// Returns the rule that the oracle follows.
    pub fn rule(&self) -> AliasRule {
        self.rule
    }

    /// Returns an oracle that accepts the same ids and gives the same answers.
    pub(super) fn replica(&self) -> Oracle {
        self.with_graph(self.graph().replica(), self.stamp)
    }

    /// Returns an oracle with copies of this oracle's tables, for a graph with the same nodes.
    fn with_graph<H>(&self, graph: H, stamp: u32) -> Oracle<H> {
        Oracle {
            graph,
            rule: self.rule,
            stamp,
            identity: next_identity(),
            index: self.index.clone(),
            engine: self.engine.clone(),
            memo: Memo::default(),
        }
    }

    pub(super) fn engine(&self) -> &dyn Rule {
        match &self.engine {
            Engine::Llvm(rule) => &**rule,
            Engine::Union(rule) => &**rule,
        }
    }

    pub(super) fn indexed(&self) -> Indexed<'_> {
        Indexed { graph: self.graph(), index: &self.index }
    }
}
