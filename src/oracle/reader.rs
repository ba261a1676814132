//! Lets threads ask queries while another thread adds types.
//!
//! The adding thread has an oracle and a [`Publisher`]. The publisher has *replicas* (copies) of
//! the oracle: the *newest*, which readers receive, and *old* ones. A replica changes only while no
//! reader uses it.

use std::borrow::Borrow;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::alias_rule::AliasResult;
use super::conflict::Conflict;
use super::grow::Oracle;
use crate::access::Access;
use crate::graph::{Graph, TagId};

/// Makes the tables of one thread's oracle available to the [`Reader`]s of other threads.
///
/// ```
/// use tbaa::{AliasRule, Graph, Oracle, Publisher};
///
/// let mut oracle = Oracle::new(Graph::new(), AliasRule::Union);
/// let mut publisher = Publisher::new(&oracle);
/// let mut reader = publisher.reader();
/// let [x, y] = oracle.update(|graph| {
///     let mut b = graph.builder();
///     let root = b.root("my JIT")?;
///     let (int, float) = (b.scalar_type("int", root)?, b.scalar_type("float", root)?);
///     Ok::<_, tbaa::BuildError>([b.struct_tag(int, int, 0)?, b.struct_tag(float, float, 0)?])
/// })?;
/// // First publish, then hand the tags out.
/// publisher.publish(&oracle);
/// std::thread::spawn(move || assert!(!reader.may_alias(x, y))).join().unwrap();
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// # Memory
///
/// A replica takes as much memory as the graph and the oracle. Usually there are two replicas
/// besides the oracle: the newest, and the previous one, which the next publication updates and
/// uses. A reader that does not catch up keeps an older one alive, so another is made: the
/// replicas are at most as many as the readers, plus two ([`Publisher::replicas`]). Publishing
/// drops an unused replica that lacks over half of the graph's nodes.
///
/// # Time
///
/// Publishing adds to a replica everything that the replica lacks, usually the additions since the
/// last publication but one. This takes as long as adding did, or two to three times as long if
/// several readers lag behind and replicas take turns. Making another replica copies everything.
/// Until the graph has doubled, at most as many copies are made as there are readers, plus two.
#[derive(Debug)]
pub struct Publisher {
    newest: Arc<ArcSwap<Oracle>>,
    /// Replicas that used to be the newest, from the oldest on.
    old: Vec<Arc<Oracle>>,
    /// The identity of the oracle that the replicas are copies of.
    original: u64,
}

impl Publisher {
    /// Publishes an oracle in its current state.
    pub fn new<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Publisher {
        Publisher {
            newest: Arc::new(ArcSwap::from_pointee(oracle.replica())),
            old: Vec::new(),
            original: oracle.identity,
        }
    }

    /// Returns a handle for queries about the last published state. Clone it for each thread.
    pub fn reader(&self) -> Reader {
        Reader { newest: Arc::clone(&self.newest), known: self.newest.load_full() }
    }

    /// Publishes the current state of the oracle. Readers that receive its tags afterwards give the
    /// same answers as the oracle. Readers and publisher do not wait for each other.
    ///
    /// If `oracle` is not the one that was published before, or its graph was replaced, readers
    /// that switch to it no longer know the earlier ids.
    pub fn publish<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) {
        if self.original != oracle.identity {
            self.original = oracle.identity;
            self.old.clear();
            self.newest.store(Arc::new(oracle.replica()));
        } else if !self.newest.load().graph().is_level_with(oracle.graph()) {
            let next = self.next(oracle);
            self.old.push(self.newest.swap(next));
        }
    }

    /// Returns a replica in the oracle's state that no reader uses: an updated or a new one.
    fn next<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) -> Arc<Oracle> {
        // Readers only receive the newest replica. So an old one that no reader uses stays unused.
        let all = oracle.graph().node_count();
        self.old.retain_mut(|old| {
            Arc::get_mut(old).is_none_or(|old| old.graph().node_count() >= all / 2)
        });
        let free = |old: &mut Arc<Oracle>| Arc::get_mut(old).is_some();
        if let Some(at) = self.old.iter_mut().rposition(free) {
            let mut next = self.old.remove(at);
            if let Some(replica) = Arc::get_mut(&mut next) {
                replica.follow(oracle);
                return next;
            }
        }
        Arc::new(oracle.replica())
    }

    /// Returns the number of replicas: the newest and the old ones, used or not.
    pub fn replicas(&self) -> usize {
        1 + self.old.len()
    }
}

/// Asks the oracle that a [`Publisher`] has published, from any thread.
///
/// A query uses a replica that no thread changes. The query takes no lock and allocates no more
/// than [`Oracle::may_alias`]. If the answer is `MayAlias` and a tag is unknown, a reader with an
/// older replica switches to the newest and asks again. Switching neither waits nor copies the
/// replica. A tag that is not published yet may alias everything.
///
/// So if tags were published before this thread received them, the answer is always that of the
/// oracle. A reader switches replicas only if a tag is unknown, or in [`Reader::catch_up`].
#[derive(Clone, Debug)]
pub struct Reader {
    newest: Arc<ArcSwap<Oracle>>,
    known: Arc<Oracle>,
}

impl Reader {
    /// Answers like [`Oracle::alias`], for the published state.
    #[inline]
    pub fn alias(&mut self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Answers like [`Oracle::may_alias`], for the published state.
    #[inline]
    pub fn may_alias(&mut self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        // If a replica does not know a tag, it answers `MayAlias`.
        self.known.may_alias(a, b) && (self.knows(a, b) || self.ask_newest(a, b))
    }

    /// Answers like [`Oracle::may_conflict`], for the published state.
    pub fn may_conflict(
        &mut self,
        first: impl Into<Access>,
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        let (first, second) = (first.into(), second.into());
        // An older replica may not know the tags. If so, this call makes the reader switch.
        let may = self.may_alias(first, second);
        may.then(|| self.known.may_conflict(first, second)).flatten()
    }

    /// Switches to the last published state, and returns whether it is newer than the reader's.
    /// Call it in a thread that asks only about old tags or is idle, to release memory.
    pub fn catch_up(&mut self) -> bool {
        let newest = self.newest.load();
        let newer = !Arc::ptr_eq(&newest, &self.known);
        if newer {
            self.known = Arc::clone(&newest);
        }
        newer
    }

    /// Returns the published oracle, for all other queries. It does not change until the reader
    /// switches to a newer state.
    pub fn oracle(&self) -> &Oracle {
        &self.known
    }

    #[inline]
    fn knows(&self, a: Access, b: Access) -> bool {
        let knows = |tag: Option<TagId>| tag.is_none_or(|tag| self.known.graph().owns_tag(tag));
        knows(a.tag) && knows(b.tag)
    }

    /// Switches to the newest state and asks again. Returns true if the reader already has it.
    #[cold]
    fn ask_newest(&mut self, a: Access, b: Access) -> bool {
        !self.catch_up() || self.known.may_alias(a, b)
    }
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Reader>();
    shared::<Publisher>();
};
