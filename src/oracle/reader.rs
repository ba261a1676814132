//! Threads that ask while another one adds.
//!
//! The thread that adds has an oracle of its own, and a [`Publisher`], which keeps
//! replicas of it: the *newest*, which readers ask, and *old* ones, which some
//! reader may still ask. A replica never changes as long as a reader has it. To
//! publish, an old one that no reader has is brought up to date and put in the
//! newest one's place; only if readers have all of them a further one is made. So
//! there are never more than readers, and two.
//!
//! Growing may give all tags new intervals, mark tags and fill hash tables. That
//! is why readers do not share tables that grow: those would have to be copied
//! piece by piece, and each query would have to look for the pieces.

use std::borrow::Borrow;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::alias_rule::AliasResult;
use super::conflict::Conflict;
use super::grow::Oracle;
use crate::access::Access;
use crate::graph::{Graph, TagId};

/// Hands the tables of one thread's oracle to the [`Reader`]s of others.
///
/// ```
/// use std::thread;
/// use tbaa::{Graph, Oracle, Publisher, AliasRule, TagId};
///
/// // What a compiler does for each struct that it meets.
/// fn add(oracle: &mut Oracle, name: &str) -> Result<[TagId; 2], tbaa::BuildError> {
///     oracle.update(|graph| {
///         let mut b = graph.builder();
///         let root = b.root("my JIT")?;
///         let (int, float) = (b.scalar_type("int", root)?, b.scalar_type("float", root)?);
///         let pair = b.struct_type(name, &[(int, 0), (float, 4)])?;
///         Ok([b.struct_tag(pair, int, 0)?, b.struct_tag(pair, float, 4)?])
///     })
/// }
///
/// let mut oracle = Oracle::new(Graph::new(), AliasRule::Union);
/// let mut publisher = Publisher::new(&oracle);
/// let old = add(&mut oracle, "first")?;
/// publisher.publish(&oracle);
///
/// let mut reader = publisher.reader();
/// let (send, receive) = std::sync::mpsc::channel();
/// thread::scope(|scope| {
///     scope.spawn(move || {
///         // Tags come in while the other thread goes on adding.
///         for new in receive {
///             let [x, y]: [TagId; 2] = new;
///             assert!(!reader.may_alias(x, y));
///             assert!(reader.may_alias(x, x) && !reader.may_alias(x, old[1]));
///         }
///     });
///     for name in ["second", "third", "fourth"] {
///         let tags = add(&mut oracle, name)?;
///         // First publish, then hand the tags out.
///         publisher.publish(&oracle);
///         send.send(tags).unwrap();
///     }
///     drop(send);
///     Ok::<_, tbaa::BuildError>(())
/// })?;
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// # Memory
///
/// A replica takes what graph and oracle take. At rest, when all readers have the
/// newest, there are two beside the oracle: that one, and the one before, which the
/// next publication brings up to date; publishing takes no more. A reader that
/// does not catch up holds an older one back, and a further one is made: at most
/// as many as readers, and two ([`Publisher::replicas`]). One that lags by half of
/// the graph's nodes is given up.
///
/// # Time
///
/// Publishing adds to a replica what the oracle got since that one was published,
/// mostly the last but one time: as long as adding took, two to three times as long
/// where several readers lag and the replicas take turns. Making a further replica
/// takes a copy of everything; between two doublings of the graph it is done at
/// most once for each reader, and twice.
#[derive(Debug)]
pub struct Publisher {
    newest: Arc<ArcSwap<Oracle>>,
    /// Replicas that were the newest, the oldest first.
    old: Vec<Arc<Oracle>>,
    /// The identity of the oracle that they are replicas of.
    original: u64,
}

impl Publisher {
    /// Publishes an oracle as it is.
    #[must_use]
    pub fn new<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Publisher {
        Publisher {
            newest: Arc::new(ArcSwap::from_pointee(oracle.replica())),
            old: Vec::new(),
            original: oracle.identity(),
        }
    }

    /// Returns a handle that asks what is published last. Cloning it makes one for
    /// another thread.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader { newest: Arc::clone(&self.newest), known: self.newest.load_full() }
    }

    /// Publishes all that the oracle knows by now: readers that are given its tags
    /// from here on answer as it does. No reader waits for that, nor is waited for.
    ///
    /// Another oracle, or one whose graph was replaced, takes the place of the
    /// former; to its readers the former's ids are unknown.
    pub fn publish<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) {
        if self.original != oracle.identity() {
            self.original = oracle.identity();
            self.old.clear();
            self.newest.store(Arc::new(oracle.replica()));
        } else if !self.newest.load().graph().is_level_with(oracle.graph()) {
            let next = self.next(oracle);
            self.old.push(self.newest.swap(next));
        }
    }

    /// Returns a replica that no reader has, with the oracle's answers.
    fn next<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) -> Arc<Oracle> {
        // In the newest's stead nobody can come to have one that nobody has.
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

    /// Returns how many replicas there are, each of the oracle's size or less: one
    /// that readers ask, one to publish next, and those that readers hold back.
    #[must_use]
    pub fn replicas(&self) -> usize {
        1 + self.old.len()
    }
}

/// Asks what a [`Publisher`] published, from any thread.
///
/// A query reads a replica of the oracle, as if that were this thread's alone: it
/// takes no lock, writes nothing and allocates no more than [`Oracle::may_alias`].
/// Where that answers `MayAlias` and does not know one of the tags, the reader takes
/// the newest replica, if it has an older one, and asks again; that neither waits
/// nor copies anything. A tag that is not yet published may alias everything.
///
/// So the answer on tags that were published before they were handed to this
/// thread is the answer of the oracle, at whatever time. A reader takes what was
/// published later only for tags that it does not know, or in [`Reader::catch_up`].
#[derive(Clone, Debug)]
pub struct Reader {
    newest: Arc<ArcSwap<Oracle>>,
    known: Arc<Oracle>,
}

impl Reader {
    /// Returns [`Oracle::alias`] of what is published.
    #[must_use]
    #[inline]
    pub fn alias(&mut self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns [`Oracle::may_alias`] of what is published.
    #[must_use]
    #[inline]
    pub fn may_alias(&mut self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        // A reader answers nothing but `MayAlias` about an unknown tag.
        self.known.may_alias(a, b) && (self.knows(a, b) || self.ask_newest(a, b))
    }

    /// Returns [`Oracle::may_conflict`] of what is published.
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

    /// Takes what is published last, and returns whether that is newer than what
    /// the reader had. A thread that asks about old tags alone, or nothing for a
    /// while, lets go of memory so.
    pub fn catch_up(&mut self) -> bool {
        let newest = self.newest.load();
        let newer = !Arc::ptr_eq(&newest, &self.known);
        if newer {
            self.known = Arc::clone(&newest);
        }
        newer
    }

    /// Returns the oracle as it was published, for all other questions. It does not
    /// change until the reader catches up.
    #[must_use]
    pub fn oracle(&self) -> &Oracle {
        &self.known
    }

    #[inline]
    fn knows(&self, a: Access, b: Access) -> bool {
        let knows = |tag: Option<TagId>| tag.is_none_or(|tag| self.known.graph().owns_tag(tag));
        knows(a.tag) && knows(b.tag)
    }

    /// Asks again, if there is something newer to ask.
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
