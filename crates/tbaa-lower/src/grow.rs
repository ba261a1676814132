//! Adds sources (tags to be lowered) to a lowering: chooses their forest nodes, and makes metadata.
//! Sources that may alias the same others form a class; the new sources under one root are a batch.

use std::borrow::Borrow;

use super::answers::Answers;
use super::batch::{Batch, Class, Row};
use super::error::LowerError;
use super::fingerprint::Fingerprint;
use super::loss::pairs_within;
use super::place::{Allowed, NewClasses, Placed, Strategy};
use super::rank::Ranks;
use super::relation::Relation;
use super::scopes::Scoped;
use super::source::{Key, Source};
use super::state::{Entry, Lowering};
use super::why::Why;
use tbaa::parts::table::IndexMap;
use tbaa::{BuildError, Graph, Oracle, TypeId};

impl Lowering {
    /// Adds sources: tags of the oracle's graph, and accesses with their own size.
    ///
    /// A later call never changes the tag of an earlier source, and skips sources that were added
    /// before. Some pairs of sources need a search. When a call's searches have taken 2^23 steps
    /// plus 2^10 for each node of the oracle's graph, the remaining such pairs count as aliasing,
    /// and [`Loss::unsearched`](super::Loss::unsearched) is set.
    ///
    /// # Errors
    ///
    /// Returns [`LowerError::ForeignTag`], [`LowerError::OtherRule`], [`LowerError::NoLineage`] or
    /// [`LowerError::Private`], and changes nothing. Returns [`LowerError::Build`] if the lowered
    /// graph is full.
    pub fn lower<G: Borrow<Graph>, S: Into<Source>>(
        &mut self,
        oracle: &Oracle<G>,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<(), LowerError> {
        let new = self.new_sources(oracle, sources)?;
        if new.is_empty() {
            return Ok(());
        }
        let first = self.fingerprint.is_none();
        if !first && self.options.lineage.is_none() {
            return Err(LowerError::NoLineage);
        }
        let source = oracle.graph();
        let mut batches: IndexMap<TypeId, Vec<Source>> = IndexMap::default();
        let mut malformed = Vec::new();
        for (key, new) in new {
            match source.tag(key.tag).ok().and_then(|tag| source.root_of(tag.access)) {
                Some(root) => batches.entry(root).or_default().push(new),
                None => malformed.push(key),
            }
        }
        self.list_old(oracle);
        let (answers, mut ranks) = (Answers::new(oracle), Ranks::default());
        let mut prepared = Vec::new();
        for (&root, batch) in &batches {
            let group = self.groups.get_index_of(&root).map(|group| group as u32);
            prepared.push((root, self.prepare(&answers, &mut ranks, group, batch)));
        }
        self.rule = Some(oracle.rule());
        let kept = self.forest.nodes.len();
        let mut entries = Vec::new();
        for (root, batch) in prepared {
            let group = self.groups.insert_full(root).0 as u32;
            self.settle(source, group, batch, &mut entries);
        }
        let why = Why::Malformed;
        let entry = Entry { node: None, group: None, tag: None, why, private: false };
        entries.extend(malformed.into_iter().map(|key| (key, entry.clone())));
        if first {
            self.fingerprint = Some(self.fingerprint_of(source, &entries));
            self.scopes.domain = self.unique_name("scopes");
        }
        self.name_nodes(source, kept, &entries);
        // Without a lineage, a fingerprint names the roots. It cannot identify `distinct` nodes, so
        // their root has no name.
        let is_closed = self.options.lineage.is_none();
        self.make_roots(|group| is_closed && is_distinct(source, group as u32, &entries))?;
        self.make_nodes(kept)?;
        self.loss.unsearched |= answers.gave_up();
        self.enter(source, entries)?;
        self.names.clear();
        Ok(())
    }

    /// Returns the sources that the lowering does not have yet, each one once.
    fn new_sources<G: Borrow<Graph>, S: Into<Source>>(
        &self,
        oracle: &Oracle<G>,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<IndexMap<Key, Source>, LowerError> {
        if let Some(before) = self.rule.filter(|&rule| rule != oracle.rule()) {
            return Err(LowerError::OtherRule { before });
        }
        let graph = oracle.graph();
        let known = self.sources.keys().chain(self.fixed.iter().map(|(key, _)| key)).next();
        if known.is_some_and(|key| !graph.owns_tag(key.tag)) {
            return Err(LowerError::ForeignTag);
        }
        let mut new: IndexMap<Key, Source> = IndexMap::default();
        for source in sources {
            let source: Source = source.into();
            if !graph.owns_tag(source.tag) {
                return Err(LowerError::ForeignTag);
            }
            let key = source.key();
            match self.sources.get(&key) {
                Some(entry) if entry.private && !source.private => {
                    return Err(LowerError::Private { place: key.describe(graph) });
                }
                Some(_) => {}
                None => new.entry(key).or_insert(source).private &= source.private,
            }
        }
        Ok(new)
    }

    /// Chooses nodes for the classes of a batch, and appends its sources to `entries`.
    pub(super) fn settle(
        &mut self,
        source: &Graph,
        group: u32,
        batch: Batch,
        entries: &mut Vec<(Key, Entry)>,
    ) {
        let Batch { classes, relation, passed, may, rows } = batch;
        let rank: Vec<u32> = classes.iter().map(|class| class.rank).collect();
        let marks = classes.iter().map(|class| rows[class.row].nodes.clone()).collect();
        let allowed: Vec<Allowed> = classes.iter().map(|class| class.allowed).collect();
        let is_free = |&allowed: &Allowed| allowed == Allowed::Any;
        let (relation, rank, allowed, passed) = (&relation, &*rank, &*allowed, &*passed);
        let new = NewClasses { relation, marks, rank, allowed, passed, group };
        let depth = self.options.depth;
        let kept = self.forest.nodes.len();
        let strategies: &[Strategy] = match (kept, classes.len()) {
            (0, _) | (_, 1) => &[Strategy::Together],
            _ if allowed.iter().any(is_free) && !allowed.iter().all(is_free) => &Strategy::ALL,
            _ => &Strategy::ALL[..2],
        };
        let mut tried = Vec::new();
        for &strategy in strategies {
            let placed = self.forest.place(new.clone(), depth, strategy);
            let counts = classes.iter().map(|class| class.members.len() as u64);
            let counts = placed.nodes.iter().copied().zip(counts);
            let found = self.tally.comparable(&self.forest, group, counts);
            tried.push((found, placed, self.forest.nodes.split_off(kept)));
        }
        let best = tried.into_iter().min_by_key(|&(found, ..)| found);
        let (found, placed, nodes) = best.expect("there is a strategy");
        self.forest.nodes.extend(nodes);
        self.count(group, &classes, found, may);
        self.scope(source, group, &classes, relation, &rows, &placed);
        for (at, class) in classes.into_iter().enumerate() {
            let (node, why) = (placed.nodes[at], placed.why[at]);
            let private = self.is_open(Some(group)) && class.allowed == Allowed::Any;
            let entry = Entry { node, group: Some(group), tag: None, why, private };
            entries.extend(class.members.into_iter().map(|key| (key, entry.clone())));
        }
    }

    fn scope(
        &mut self,
        source: &Graph,
        group: u32,
        classes: &[Class],
        relation: &Relation,
        rows: &[Row],
        placed: &Placed,
    ) {
        if !self.options.scopes {
            return;
        }
        let scoped: Vec<Scoped<'_>> = classes
            .iter()
            .zip(&placed.why)
            .map(|(class, &why)| Scoped {
                name: self.describe(&class.members[0], source),
                near: &rows[class.row].near,
                // The relation omits a class that got no tag for lack of memory.
                known: why != Why::TooManyPairs,
            })
            .collect();
        let first = self.scopes.add(relation, &scoped, self.most_bytes);
        for (scope, class) in (first..).zip(classes) {
            class.members.iter().for_each(|&key| self.scopes.enter(scope, group, key));
        }
    }

    /// Adds a batch to the loss. Of the pairs within the batch and with earlier sources, LLVM
    /// answers `MayAlias` for `found`, and the oracle's rule for `may`.
    fn count(&mut self, group: u32, classes: &[Class], found: u64, may: u64) {
        let new = classes.iter().map(|class| class.members.len() as u64).sum();
        let all = pairs_within(new) + new * self.tally.all(group);
        self.loss.no_alias += all.saturating_sub(may);
        self.loss.pairs += found.saturating_sub(may);
    }

    /// Names each node, from index `kept` to the last, after the first source at it.
    pub(super) fn name_nodes(&mut self, source: &Graph, kept: usize, entries: &[(Key, Entry)]) {
        let unique = self.unique_name("node");
        for (key, entry) in entries {
            let Some(node) = entry.node.filter(|&node| node as usize >= kept) else { continue };
            if self.forest.nodes[node as usize].name.is_empty() {
                let name = self.describe(key, source);
                // Lowerings with fixed tags share a root, so their nodes need different names.
                self.forest.nodes[node as usize].name = match self.fixed_nodes {
                    0 => format!("{node} {name}"),
                    _ => format!("{unique} {node} {name}"),
                };
            }
        }
    }

    /// Returns a fingerprint of the lineage's name, the format, the sources and the forest.
    pub(super) fn fingerprint_of(&self, source: &Graph, entries: &[(Key, Entry)]) -> Fingerprint {
        let mut print = Fingerprint::new();
        print.bytes(self.options.lineage.as_deref().unwrap_or_default().as_bytes());
        print.number(self.options.format as u64);
        print.tags(source, entries.iter().map(|(key, _)| key.tag));
        for (key, entry) in entries {
            // An unknown size is not the same as none.
            let size = key.size.map(|size| Some(u64::from(size)).filter(|&bytes| bytes != 0));
            print.number(size.map_or(0, |bytes| bytes.unwrap_or(u64::MAX)));
            print.number(entry.node.map_or(u64::MAX, u64::from));
        }
        for node in &self.forest.nodes {
            print.number(node.above.map_or(u64::MAX, u64::from));
            // Nodes of other modules already have names, which are hashed too.
            print.bytes(node.name.as_bytes());
        }
        print
    }

    /// Makes the missing roots. `anonymous` returns whether a root gets no name.
    pub(super) fn make_roots(
        &mut self,
        anonymous: impl Fn(usize) -> bool,
    ) -> Result<(), BuildError> {
        for group in self.roots.len()..self.groups.len() {
            let name = self.unique_name(&format!("root {group}"));
            let mut b = self.graph.builder();
            let root = if anonymous(group) { b.anonymous_root()? } else { b.root(name)? };
            self.roots.push(root);
        }
        Ok(())
    }

    /// Makes the metadata of the nodes from index `kept` on.
    pub(super) fn make_nodes(&mut self, kept: usize) -> Result<(), BuildError> {
        for node in kept..self.forest.nodes.len() {
            let Lowering { forest, graph, roots, options, .. } = self;
            forest.make(node as u32, graph, roots, options.format)?;
        }
        Ok(())
    }

    /// Records new sources and makes their tags. Their nodes must have metadata.
    pub(super) fn enter(
        &mut self,
        source: &Graph,
        entries: impl IntoIterator<Item = (Key, Entry)>,
    ) -> Result<(), BuildError> {
        for (key, mut entry) in entries {
            if let Some(node) = entry.node {
                self.firsts.entry(node).or_insert(key);
                let immutable = source.tag(key.tag).is_ok_and(|tag| tag.immutable);
                entry.tag = Some(self.forest.tag(node, immutable, &mut self.graph)?);
            }
            if let Some(group) = entry.group {
                self.tally.add(&self.forest, group, entry.node);
            }
            self.sources.insert(key, entry);
        }
        Ok(())
    }
}

/// Returns whether the sources under the root with index `group` use `distinct` nodes.
fn is_distinct(source: &Graph, group: u32, entries: &[(Key, Entry)]) -> bool {
    let inside = entries.iter().filter(|(_, entry)| entry.group == Some(group));
    Fingerprint::new().tags(source, inside.map(|(key, _)| key.tag))
}
