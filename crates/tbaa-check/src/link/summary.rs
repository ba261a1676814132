//! A [`Summary`]: the TBAA nodes of one module or of several, in canonical order.

use std::cmp::Ordering;
use tbaa::parts::table::{IndexMap, IndexSet};
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Graph, GraphError, Int, NodeId, Operand, TypeKind};

/// An operand of a summary's node. Strings and nodes are given by their indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Op {
    Null,
    /// The node itself, as in `!0 = distinct !{!0}`.
    This,
    Str(u32),
    Int(Int),
    /// An earlier node.
    Node(u32),
}

/// The identity of a node that equals no other node, even one with the same operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Origin {
    pub(super) module: u32,
    /// The node's index among the nodes of its module that have an origin.
    pub(super) place: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) origin: Option<Origin>,
    pub(super) ops: Vec<Op>,
}

pub(super) const TAG: u8 = 1;
pub(super) const COPY: u8 = 2;
pub(super) const TYPE: u8 = 4;

/// The facts about a node. When summaries are linked, the facts about equal nodes are joined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Facts {
    pub(super) roles: u8,
    /// The index of the first module, by name, that has the node.
    pub(super) module: u32,
    /// The sorted indices of the modules in which the node is a scalar type.
    pub(super) scalar_of: Vec<u32>,
}

impl Facts {
    fn renumber(&mut self, modules: &[u32]) {
        for module in self.scalar_of.iter_mut().chain([&mut self.module]) {
            *module = modules[*module as usize];
        }
        self.scalar_of.sort_unstable();
    }
}

/// The TBAA nodes of one module or of several linked ones.
///
/// A summary is a set in canonical order. Equal nodes of several modules are one node. So
/// [`Summary::link`] is associative, commutative and idempotent. A build system may link summaries
/// in any order and grouping: the results are equal, and so are their serialised bytes.
///
/// Distinct nodes and unnamed roots belong to their module: they equal no node of another module.
/// The name identifies a module, so different modules must have different names.
///
/// A node that reaches a cycle of several nodes, or a value (such as a function), means nothing in
/// another module and is left out. A tag that is left out may alias everything.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "super::portable::Portable"))]
#[cfg_attr(feature = "serde", serde(into = "super::portable::Portable"))]
pub struct Summary {
    pub(super) modules: Vec<String>,
    pub(super) strings: Vec<Box<[u8]>>,
    pub(super) nodes: Vec<(Key, Facts)>,
}

/// Maps the nodes of a graph or summary to their places (indices) in the summary made from it.
#[derive(Clone, Debug, Default)]
pub struct NodeMap {
    to: Vec<Option<u32>>,
    /// The new places of a graph's tags; empty for a summary.
    pub(super) tags: Vec<Option<u32>>,
}

impl NodeMap {
    /// Returns the place of a graph's node in the summary; `None` if the node was left out.
    pub fn place(&self, node: NodeId) -> Option<usize> {
        self.follow(node.index())
    }

    /// Returns the new place of the node at `place`; `None` if it has no new place.
    pub fn follow(&self, place: usize) -> Option<usize> {
        Some((*self.to.get(place)?)? as usize)
    }

    /// Returns the composition: this map first, then `next`, the map of a later link.
    pub fn then(&self, next: &NodeMap) -> NodeMap {
        let follow = |&place: &Option<u32>| next.to.get(place? as usize).copied().flatten();
        let all = |places: &[Option<u32>]| places.iter().map(follow).collect();
        NodeMap { to: all(&self.to), tags: all(&self.tags) }
    }
}

impl Summary {
    /// Summarises the module `name`, and returns the places of its nodes.
    pub fn of(name: &str, graph: &Graph) -> (Summary, NodeMap) {
        let mut union = Union::default();
        let module = union.module(name);
        let mut to: Vec<Option<u32>> = vec![None; graph.node_count()];
        let mut place = 0;
        let mut copies = vec![false; graph.node_count()];
        graph.copies().for_each(|copy| copies[copy.node().index()] = true);
        for id in children_first(graph) {
            let at = id.index();
            let own = is_own(graph, id);
            let origin = own.then_some(Origin { module, place });
            place += u32::from(own);
            let ops = graph.operands(id).map(|operand| {
                Some(match operand {
                    Operand::Null => Op::Null,
                    Operand::String(text) => Op::Str(union.string(text)),
                    Operand::Int(int) => Op::Int(int),
                    Operand::Node(node) if node == id => Op::This,
                    Operand::Node(node) => Op::Node(to[node.index()]?),
                    Operand::Raw(_) => return None,
                })
            });
            let ops: Option<Vec<Op>> = ops.collect();
            let roles = if graph.tag_of(id).is_some() { TAG } else { 0 }
                | if graph.type_of(id).is_some() { TYPE } else { 0 }
                | if copies[at] { COPY } else { 0 };
            let kind = graph.type_of(id).map(|ty| graph.ty(ty).kind());
            let scalar_of = if kind == Some(TypeKind::Scalar) { vec![module] } else { Vec::new() };
            let facts = Facts { roles, module, scalar_of };
            to[at] = ops.map(|ops| union.node(Key { origin, ops }, facts));
        }
        let (summary, sorted) = union.sorted();
        let tags = graph.tags().map(|tag| to[graph.tag_node(tag).index()]).collect();
        (summary, NodeMap { to, tags }.then(&sorted))
    }

    /// Links summaries, and returns for each the places of its nodes in the result. Does not check
    /// that a module's name means the same module in all of them, since a summary does not say
    /// which of its modules have a node.
    pub fn link(summaries: &[&Summary]) -> (Summary, Vec<NodeMap>) {
        let mut union = Union::default();
        let maps: Vec<NodeMap> = summaries.iter().map(|summary| union.add(summary)).collect();
        let (summary, sorted) = union.sorted();
        (summary, maps.iter().map(|map| map.then(&sorted)).collect())
    }

    /// Returns the names of the modules, sorted.
    pub fn modules(&self) -> impl ExactSizeIterator<Item = &str> {
        self.modules.iter().map(String::as_str)
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a graph of the nodes, and the graph's node for each node of the summary, in the
    /// summary's order. Fails with [`GraphError::Full`].
    pub fn graph(&self) -> Result<(Graph, Vec<NodeId>), GraphError> {
        let mut graph = Graph::new();
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for (key, _) in &self.nodes {
            let distinct = key.origin.is_some();
            let operand = |op: &Op| match *op {
                Op::Null => Operand::Null.into(),
                Op::This => DraftOperand::Member(0),
                Op::Str(string) => Operand::String(&self.strings[string as usize]).into(),
                Op::Int(int) => Operand::Int(int).into(),
                Op::Node(node) => Operand::Node(ids[node as usize]).into(),
            };
            let operands = key.ops.iter().map(operand).collect();
            ids.extend(graph.insert_group(&[Draft { distinct, operands }])?);
        }
        // Tags get their indices in the order of these calls.
        for role in [TAG, COPY, TYPE] {
            for (&id, (_, facts)) in ids.iter().zip(&self.nodes) {
                match role & facts.roles {
                    TAG => _ = graph.mark_tag(id),
                    COPY => _ = graph.mark_copy(id),
                    TYPE => _ = graph.mark_type(id),
                    _ => {}
                }
            }
        }
        Ok((graph, ids))
    }
}

/// Returns whether a node has an identity of its own: it is distinct, or a root without a name.
fn is_own(graph: &Graph, id: NodeId) -> bool {
    let ty = graph.type_of(id).map(|ty| graph.ty(ty));
    let is_root = ty.is_some_and(|ty| ty.kind() == TypeKind::Root && ty.name().is_none());
    graph.is_distinct(id) || is_root
}

/// Returns the nodes that are in no cycle and lead to none, each after the nodes that it refers to.
/// A node's reference to itself is not a cycle.
fn children_first(graph: &Graph) -> Vec<NodeId> {
    let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); graph.node_count()];
    let mut missing = vec![0_usize; graph.node_count()];
    let mut order: Vec<NodeId> = Vec::new();
    for id in graph.nodes() {
        for node in graph.operands(id).filter_map(Operand::node).filter(|&node| node != id) {
            users[node.index()].push(id);
            missing[id.index()] += 1;
        }
        if missing[id.index()] == 0 {
            order.push(id);
        }
    }
    let mut at = 0;
    while let Some(&id) = order.get(at) {
        at += 1;
        for &user in &users[id.index()] {
            missing[user.index()] -= 1;
            if missing[user.index()] == 0 {
                order.push(user);
            }
        }
    }
    order
}

/// A summary that is not sorted yet.
#[derive(Default)]
struct Union {
    modules: IndexSet<String>,
    strings: IndexSet<Box<[u8]>>,
    nodes: IndexMap<Key, Facts>,
}

impl Union {
    fn module(&mut self, name: &str) -> u32 {
        self.modules.insert_full(name.to_owned()).0 as u32
    }

    fn string(&mut self, text: &[u8]) -> u32 {
        let known = self.strings.get_index_of(text);
        known.unwrap_or_else(|| self.strings.insert_full(text.into()).0) as u32
    }

    fn node(&mut self, key: Key, facts: Facts) -> u32 {
        let Union { modules, nodes, .. } = self;
        let index = match nodes.get_full_mut(&key) {
            Some((index, _, known)) => {
                known.roles |= facts.roles;
                if modules[facts.module as usize] < modules[known.module as usize] {
                    known.module = facts.module;
                }
                known.scalar_of.extend(facts.scalar_of);
                known.scalar_of.sort_unstable();
                known.scalar_of.dedup();
                index
            }
            None => nodes.insert_full(key, facts).0,
        };
        index as u32
    }

    fn add(&mut self, summary: &Summary) -> NodeMap {
        let modules: Vec<u32> = summary.modules.iter().map(|name| self.module(name)).collect();
        let strings: Vec<u32> = summary.strings.iter().map(|text| self.string(text)).collect();
        let mut to: Vec<Option<u32>> = Vec::with_capacity(summary.nodes.len());
        for (key, facts) in &summary.nodes {
            let (mut key, mut facts) = (key.clone(), facts.clone());
            renumber(&mut key, &modules, &strings, &to);
            facts.renumber(&modules);
            to.push(Some(self.node(key, facts)));
        }
        NodeMap { to, tags: Vec::new() }
    }

    /// Sorts everything: nodes by height (longest operand path), then by [`compare`].
    fn sorted(self) -> (Summary, NodeMap) {
        let (modules, module_ranks) = ranked(self.modules);
        let (strings, string_ranks) = ranked(self.strings);
        let mut levels: Vec<Vec<u32>> = Vec::new();
        let mut heights: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for (index, key) in self.nodes.keys().enumerate() {
            let below = key.ops.iter().map(|op| match *op {
                Op::Node(node) => heights[node as usize] + 1,
                _ => 0,
            });
            let height = below.max().unwrap_or(0);
            heights.push(height);
            levels.resize(levels.len().max(height + 1), Vec::new());
            levels[height].push(index as u32);
        }
        let mut unsorted: Vec<Option<(Key, Facts)>> = self.nodes.into_iter().map(Some).collect();
        let mut ranks: Vec<Option<u32>> = vec![None; unsorted.len()];
        let mut nodes = Vec::with_capacity(unsorted.len());
        for level in levels {
            let renumbered = |index: u32| {
                let (mut key, mut facts) = unsorted[index as usize].take()?;
                renumber(&mut key, &module_ranks, &string_ranks, &ranks);
                facts.renumber(&module_ranks);
                Some((key, facts, index))
            };
            let mut level: Vec<_> = level.into_iter().filter_map(renumbered).collect();
            level.sort_unstable_by(|(a, ..), (b, ..)| compare(a, b));
            for (key, facts, index) in level {
                ranks[index as usize] = Some(nodes.len() as u32);
                nodes.push((key, facts));
            }
        }
        (Summary { modules, strings, nodes }, NodeMap { to: ranks, tags: Vec::new() })
    }
}

/// Sorts `names`. Returns them, and for each old index the new index.
fn ranked<T: Ord>(names: impl IntoIterator<Item = T>) -> (Vec<T>, Vec<u32>) {
    let mut names: Vec<(T, usize)> = names.into_iter().zip(0..).collect();
    names.sort();
    let mut ranks = vec![0; names.len()];
    for (rank, (_, index)) in (0..).zip(&names) {
        ranks[*index] = rank;
    }
    (names.into_iter().map(|(name, _)| name).collect(), ranks)
}

fn renumber(key: &mut Key, modules: &[u32], strings: &[u32], nodes: &[Option<u32>]) {
    for op in &mut key.ops {
        match op {
            Op::Str(string) => *string = strings[*string as usize],
            Op::Node(node) => *node = nodes[*node as usize].unwrap_or_default(),
            Op::Null | Op::This | Op::Int(_) => {}
        }
    }
    if let Some(origin) = &mut key.origin {
        origin.module = modules[origin.module as usize];
    }
}

/// Orders nodes of one height: by origin (none first), then by operands.
fn compare(a: &Key, b: &Key) -> Ordering {
    let origin = |key: &Key| key.origin.map(|origin| (origin.module, origin.place));
    let op = |op: &Op| match *op {
        Op::Null => (0, 0, 0),
        Op::This => (1, 0, 0),
        Op::Str(string) => (2, 0, string.into()),
        Op::Int(Int { bits, value }) => (3, bits, value),
        Op::Node(node) => (4, 0, node.into()),
    };
    origin(a).cmp(&origin(b)).then_with(|| a.ops.iter().map(op).cmp(b.ops.iter().map(op)))
}
