//! Queries on threads while another thread adds types.
//!
//! The adding thread has an oracle and a [`Publisher`], which keeps replicas of it: the *newest*,
//! which readers use, and *old* ones. A replica changes only while no reader has it.
//!
//! Growth may renumber the intervals of all tags, mark tags and fill hash tables. So readers do not
//! share growing tables: those would have to be copied piece by piece, and each query would have to
//! find the pieces.

use std::borrow::Borrow;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::alias_rule::AliasResult;
use super::conflict::Conflict;
use super::grow::Oracle;
use crate::access::Access;
use crate::graph::{Graph, TagId};

/// Passes the tables of one thread's oracle to the [`Reader`]s of others.
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
/// A replica takes as much memory as graph and oracle. At rest, when all readers have the newest,
/// there are two replicas besides the oracle: the newest, and the previous one, which the next
/// publication brings up to date; publishing takes no more memory. A reader that does not catch up
/// holds an older one, so another is made: at most as many as readers, plus two
/// ([`Publisher::replicas`]). A replica that lags by half of the graph's nodes is dropped.
///
/// # Time
///
/// Publishing adds the changes since a replica was last published, mostly the last but one time. It
/// takes as long as adding did, or two to three times as long if several readers lag and the
/// replicas take turns. Making another replica copies everything. Between two doublings of the
/// graph this happens at most once for each reader, plus twice.
#[derive(Debug)]
pub struct Publisher {
    newest: Arc<ArcSwap<Oracle>>,
    /// Replicas that were the newest, the oldest first.
    old: Vec<Arc<Oracle>>,
    /// The identity of the oracle that was replicated.
    original: u64,
}

impl Publisher {
    /// Publishes an oracle in its current state.
    #[must_use]
    pub fn new<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Publisher {
        Publisher {
            newest: Arc::new(ArcSwap::from_pointee(oracle.replica())),
            old: Vec::new(),
            original: oracle.identity,
        }
    }

    /// Returns a handle that queries the last published state. Clone it for another thread.
    pub fn reader(&self) -> Reader {
        Reader { newest: Arc::clone(&self.newest), known: self.newest.load_full() }
    }

    /// Publishes everything that the oracle knows: readers that get its tags from now on answer as
    /// it does. No reader waits for this, and it waits for no reader.
    ///
    /// Another oracle, or one whose graph was replaced, replaces the former one; its readers then
    /// do not know the former's ids.
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

    /// Returns a replica that no reader has, updated to the oracle's state.
    fn next<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) -> Arc<Oracle> {
        // Readers get only the newest replica, so an old one without readers never gets one again.
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

    /// Returns the number of replicas, each at most of the oracle's size: the newest, one to
    /// publish next, and those that readers still hold.
    pub fn replicas(&self) -> usize {
        1 + self.old.len()
    }
}

/// Queries the oracle that a [`Publisher`] published, from any thread.
///
/// A query reads a replica of the oracle, as if it were this thread's alone: it takes no lock,
/// writes nothing and allocates no more than [`Oracle::may_alias`]. If the answer is `MayAlias` and
/// a tag is unknown, the reader takes the newest replica, if it has an older one, and asks again;
/// this neither waits nor copies anything. A tag that is not yet published may alias everything.
///
/// So for tags that were published before they were passed to this thread, the answer is the
/// oracle's, at any time. A reader takes a newer replica only when a tag is unknown, or in
/// [`Reader::catch_up`].
#[derive(Clone, Debug)]
pub struct Reader {
    newest: Arc<ArcSwap<Oracle>>,
    known: Arc<Oracle>,
}

impl Reader {
    /// Returns [`Oracle::alias`] for the published state.
    #[must_use]
    #[inline]
    pub fn alias(&mut self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns [`Oracle::may_alias`] for the published state.
    #[must_use]
    #[inline]
    pub fn may_alias(&mut self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        // A reader only answers `MayAlias` for an unknown tag.
        self.known.may_alias(a, b) && (self.knows(a, b) || self.ask_newest(a, b))
    }

    /// Returns [`Oracle::may_conflict`] for the published state.
    #[must_use]
    pub fn may_conflict(
        &mut self,
        first: impl Into<Access>,
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        let (first, second) = (first.into(), second.into());
        // A reader of an older replica does not know the newest tags.
        let may = self.may_alias(first, second);
        may.then(|| self.known.may_conflict(first, second)).flatten()
    }

    /// Takes the last published state, and returns whether it is newer than the reader's. A thread
    /// that only asks about old tags, or is idle, frees memory by this.
    pub fn catch_up(&mut self) -> bool {
        let newest = self.newest.load();
        let newer = !Arc::ptr_eq(&newest, &self.known);
        if newer {
            self.known = Arc::clone(&newest);
        }
        newer
    }

    /// Returns the published oracle, for all other queries. It does not change until the reader
    /// catches up.
    pub fn oracle(&self) -> &Oracle {
        &self.known
    }

    #[inline]
    fn knows(&self, a: Access, b: Access) -> bool {
        let knows = |tag: Option<TagId>| tag.is_none_or(|tag| self.known.graph().owns_tag(tag));
        knows(a.tag) && knows(b.tag)
    }

    /// Asks the newest state, if there is a newer one.
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
