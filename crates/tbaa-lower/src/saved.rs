//! Saves a lowering, so that another process can continue it.

use std::borrow::{Borrow, Cow};

use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::fixed::FixError;
use super::forest::Forest;
use super::loss::Loss;
use super::options::{MAX_DEPTH, Options};
use super::scopes::{AccessScopes, List};
use super::source::{Key, Source};
use super::state::{Entry, Lowering};
use super::why::Why;
use tbaa::parts::table::{IndexMap, IndexSet};
use tbaa::{AliasRule, BuildError, Graph, Oracle, Size, TypeId};

const VERSION: u32 = 3;

/// The stored form of a lowering and its sources (the input tags): see [`Lowering::save`].
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename = "Lowering", deny_unknown_fields)]
pub struct Saved<'l> {
    version: u32,
    options: Options,
    rules: Option<AliasRule>,
    fingerprint: Option<String>,
    /// The graph of the sources.
    source: Cow<'l, Graph>,
    /// The graph of the fixed tags (the tags that other modules chose).
    fixed_graph: Option<Cow<'l, Graph>>,
    /// The sources that have a fixed tag, each with the index of that tag in `fixed_graph`.
    fixed: Vec<(SavedKey, u32)>,
    /// The index in `source` of each root, and whether the lowered root for it is anonymous.
    groups: Vec<(u32, bool)>,
    nodes: Vec<SavedNode>,
    sources: Vec<SavedSource>,
    scope_names: Vec<String>,
    scope_lists: Vec<List>,
    loss: Loss,
    /// True for a fork ([`Saved::fork`]), and for a lowering that continues one.
    forked: bool,
    checksum: String,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
struct SavedKey {
    tag: u32,
    size: Option<u64>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct SavedNode {
    above: Option<u32>,
    group: u32,
    name: String,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct SavedSource {
    key: SavedKey,
    node: Option<u32>,
    why: Why,
    private: bool,
    scope: Option<u32>,
}

/// The reason why a saved lowering cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The saved lowering has another format version.
    #[error(
        "a saved lowering of version {0}, and this library reads {VERSION}: lower again, under a \
         new lineage"
    )]
    Version(u32),
    /// The saved lowering is inconsistent, or was never stored with `serde`.
    #[error("a saved lowering that is damaged ({0}): lower again, under a new lineage")]
    Damaged(&'static str),
    /// LLVM would reject a saved tag, or answer `NoAlias` for sources that may alias.
    #[error(
        "a saved lowering whose tags do not answer as its sources do: lower again, under a new \
         lineage"
    )]
    Unsound,
    /// The saved fixed tags cannot be used.
    #[error(transparent)]
    Fix(FixError),
    /// The lowered graph cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Saved<'_> {
    /// Returns a fork: a copy with another name ([`Options::lineage`]), which can be continued
    /// independently of the original. Modules tagged by the fork and the original may be linked.
    ///
    /// NB: if there are fixed tags, the original must not be continued. A fork treats memory of new
    /// [private](Source::private) sources as if other forks accessed it; the original does not.
    #[must_use]
    pub fn fork(self, name: impl Into<String>) -> Self {
        let name = name.into();
        let fingerprint = self.fingerprint.map(|print| {
            let mut fork = Fingerprint::new();
            fork.bytes(print.as_bytes());
            fork.bytes(name.as_bytes());
            fork.to_string()
        });
        let options = self.options.lineage(name);
        let mut forked = Saved { options, fingerprint, forked: true, ..self };
        forked.checksum = forked.sum();
        forked
    }

    fn sum(&self) -> String {
        let mut print = Fingerprint::new();
        let number = |of: Option<u32>| of.map_or(u64::MAX, u64::from);
        print.number(u64::from(self.forked));
        print.bytes(self.fingerprint.as_deref().unwrap_or_default().as_bytes());
        print.bytes(self.options.lineage.as_deref().unwrap_or_default().as_bytes());
        for node in &self.nodes {
            print.number(number(node.above));
            print.number(u64::from(node.group));
            print.bytes(node.name.as_bytes());
        }
        for source in &self.sources {
            print.number(u64::from(source.key.tag));
            print.number(source.key.size.unwrap_or(u64::MAX));
            print.number(number(source.node));
            print.number(u64::from(source.private));
            print.number(number(source.scope));
        }
        for (name, list) in self.scope_names.iter().zip(&self.scope_lists) {
            print.bytes(name.as_bytes());
            print.number(u64::from(list.end));
            list.but.iter().for_each(|&scope| print.number(u64::from(scope)));
        }
        print.to_string()
    }
}

impl Lowering {
    /// Returns the state, to be stored with `serde`. A later process can load and continue it.
    /// Modules that the two processes tag may be linked.
    ///
    /// NB: if two processes continue one state, neither knows the other's new tags, and modules
    /// that they tag must not be linked. [`Saved::fork`] gives each process a state of its own.
    ///
    /// # Panics
    ///
    /// Panics if the sources are not tags of the oracle's graph.
    pub fn save<'l, G: Borrow<Graph>>(&'l self, oracle: &'l Oracle<G>) -> Saved<'l> {
        let source = oracle.graph();
        let saved_key = |key: &Key| {
            assert!(source.owns_tag(key.tag), "{:?} was issued by another graph", key.tag);
            SavedKey { tag: key.tag.index() as u32, size: key.size.map(u64::from) }
        };
        let own_nodes = self.forest.nodes.iter().skip(self.fixed_nodes).map(|node| SavedNode {
            above: node.above,
            group: node.group,
            name: node.name.clone(),
        });
        let tag_of = |node: u32| {
            let made = self.forest.nodes[node as usize].made.as_ref();
            made.expect("fixed nodes have tags").tag.index() as u32
        };
        let mut saved = Saved {
            version: VERSION,
            options: self.options.clone(),
            rules: self.rule,
            fingerprint: self.fingerprint.map(|print| print.to_string()),
            source: Cow::Borrowed(source),
            fixed_graph: (!self.fixed.is_empty()).then_some(Cow::Borrowed(&self.graph)),
            fixed: self.fixed.iter().map(|(key, node)| (saved_key(key), tag_of(*node))).collect(),
            groups: self
                .groups
                .iter()
                .zip(&self.roots)
                .map(|(group, &root)| {
                    (group.node().index() as u32, self.graph.ty(root).name().is_none())
                })
                .collect(),
            nodes: own_nodes.collect(),
            sources: self
                .sources
                .iter()
                .map(|(key, entry)| SavedSource {
                    key: saved_key(key),
                    node: entry.node,
                    why: entry.why,
                    private: entry.private,
                    scope: self.scopes.number(*key),
                })
                .collect(),
            scope_names: self.scopes.names.clone(),
            scope_lists: self.scopes.lists.clone(),
            loss: self.loss,
            forked: self.forked,
            checksum: String::new(),
        };
        saved.checksum = saved.sum();
        saved
    }

    /// Returns the saved lowering, and the graph of its sources, from which the next oracle must be
    /// made. In this graph, declaring a saved type again returns the same type.
    ///
    /// # Errors
    ///
    /// Returns a [`LoadError`] if the saved lowering cannot be used.
    pub fn load(saved: Saved<'_>) -> Result<(Lowering, Graph), LoadError> {
        if saved.version != VERSION {
            return Err(LoadError::Version(saved.version));
        }
        if saved.checksum != saved.sum() {
            return Err(LoadError::Damaged("its checksum"));
        }
        let Cow::Owned(source) = saved.source else {
            return Err(LoadError::Damaged("it was not stored"));
        };
        let rule = saved.rules.unwrap_or_default();
        let mut lowering = Lowering::new(saved.options);
        lowering.options.depth = lowering.options.depth.clamp(1, MAX_DEPTH);
        if let Some(graph) = saved.fixed_graph {
            lowering.fix_again(&Oracle::new(&source, rule), graph, &saved.fixed)?;
        }
        lowering.rule = saved.rules;
        lowering.forked = saved.forked;
        let print = saved.fingerprint.as_deref();
        let print =
            print.map(|text| Fingerprint::parse(text).ok_or(LoadError::Damaged("its fingerprint")));
        lowering.fingerprint = print.transpose()?;
        lowering.groups = restored_groups(&source, &saved.groups)?;
        restore_nodes(&mut lowering.forest, saved.nodes, saved.groups.len())?;
        lowering.make_roots(|group| saved.groups[group].1)?;
        lowering.scopes.domain = lowering.unique_name("scopes");
        lowering.scopes.names = saved.scope_names;
        lowering.scopes.lists = saved.scope_lists;
        lowering.loss = saved.loss;
        let entries = lowering.restored_entries(&source, saved.sources)?;
        let kept = lowering.fixed_nodes;
        let made = lowering.graph.node_count();
        lowering.make_nodes(kept)?;
        // Each forest node becomes a type and a tag. Nodes of equal names and parents would merge.
        let own = lowering.forest.nodes.len() - kept;
        if kept == 0 && lowering.graph.node_count() != made + 2 * own {
            return Err(LoadError::Damaged("two nodes of one name"));
        }
        lowering.enter(&source, entries)?;
        let oracle = Oracle::new(&source, rule);
        if !lowering.check(&oracle).is_empty() || !lowering.scopes_hold(&oracle) {
            return Err(LoadError::Unsound);
        }
        drop(oracle);
        Ok((lowering, source))
    }

    /// Calls [`Lowering::fix`] with the saved pairs, whose fixed tags are in `graph`.
    fn fix_again(
        &mut self,
        oracle: &Oracle<&Graph>,
        graph: Cow<'_, Graph>,
        fixed: &[(SavedKey, u32)],
    ) -> Result<(), LoadError> {
        let Cow::Owned(graph) = graph else {
            return Err(LoadError::Damaged("it was not stored"));
        };
        let mut pairs = Vec::new();
        for &(key, tag) in fixed {
            let tag = graph.tag_at(tag as usize);
            let tag = tag.ok_or(LoadError::Damaged("a fixed tag's number"))?;
            let Key { tag: from, size } = restored_key(oracle.graph(), key)?;
            pairs.push((Source { size, ..Source::from(from) }, tag));
        }
        self.fix(oracle, graph, pairs).map_err(LoadError::Fix)
    }

    /// Checks and returns the saved sources, and adds them to their scopes.
    fn restored_entries(
        &mut self,
        source: &Graph,
        saved: Vec<SavedSource>,
    ) -> Result<IndexMap<Key, Entry>, LoadError> {
        let scopes = self.scopes.names.len();
        let wrong = |list: &List| {
            let List { end, but } = list;
            let last = but.last().map_or(0, |&last| last as usize + 1);
            last.max(*end as usize) > scopes || !but.is_sorted_by(|a, b| a < b)
        };
        if self.scopes.lists.len() != scopes || self.scopes.lists.iter().any(wrong) {
            return Err(LoadError::Damaged("its scopes"));
        }
        self.scopes.entries = self.scopes.lists.iter().map(|list| list.but.len()).sum();
        let mut entries: IndexMap<Key, Entry> = IndexMap::default();
        for SavedSource { key, node, why, private, scope } in saved {
            let key = restored_key(source, key)?;
            let root = source.tag(key.tag).ok().and_then(|tag| source.root_of(tag.access));
            let group = root.and_then(|root| self.groups.get_index_of(&root));
            let group = group.map(|group| group as u32);
            if let Some(number) = node {
                let node = self.forest.nodes.get(number as usize);
                let node = node.ok_or(LoadError::Damaged("a node's number"))?;
                if Some(node.group) != group || !node.usable {
                    return Err(LoadError::Damaged("a source"));
                }
            }
            if scope.is_some_and(|scope| scope as usize >= scopes) {
                return Err(LoadError::Damaged("a source"));
            }
            if let (Some(scope), Some(group)) = (scope, group) {
                self.scopes.enter(scope, group, key);
            }
            let entry = Entry { node, group, tag: None, why, private };
            if entries.insert(key, entry).is_some() {
                return Err(LoadError::Damaged("a source twice"));
            }
        }
        Ok(entries)
    }

    /// Returns false if a source may alias a member of a scope in its own `!noalias` list.
    fn scopes_hold<G: Borrow<Graph>>(&self, oracle: &Oracle<G>) -> bool {
        let members = |scope: u32| self.scopes.members(scope).iter();
        self.sources.keys().all(|key| {
            let numbers = self.scopes.numbers(key.access());
            let mut apart = numbers.iter().flat_map(AccessScopes::noalias).flat_map(members);
            apart.all(|other| !key.may_alias(other, oracle))
        })
    }
}

fn restored_key(source: &Graph, saved: SavedKey) -> Result<Key, LoadError> {
    let tag = source.tag_at(saved.tag as usize).ok_or(LoadError::Damaged("a tag's number"))?;
    Ok(Key { tag, size: saved.size.map(Size::from) })
}

fn restored_groups(source: &Graph, saved: &[(u32, bool)]) -> Result<IndexSet<TypeId>, LoadError> {
    let mut groups = IndexSet::default();
    for &(group, _) in saved {
        let node = source.nth_node(group as usize).and_then(|node| source.type_of(node));
        if !groups.insert(node.ok_or(LoadError::Damaged("a root's number"))?) {
            return Err(LoadError::Damaged("a root twice"));
        }
    }
    Ok(groups)
}

fn restore_nodes(
    forest: &mut Forest,
    saved: Vec<SavedNode>,
    groups: usize,
) -> Result<(), LoadError> {
    for SavedNode { above, group, name } in saved {
        let at = forest.nodes.len();
        let fits = above.is_none_or(|above| {
            (above as usize) < at
                && forest.nodes[above as usize].group == group
                && forest.takes_children(Some(above))
        });
        if !fits || group as usize >= groups || forest.depth(above) >= 2 * MAX_DEPTH {
            return Err(LoadError::Damaged("a node's place"));
        }
        forest.add(above, group, name);
    }
    Ok(())
}
