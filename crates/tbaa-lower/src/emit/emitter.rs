//! Emits a graph's nodes, each one once.

use super::check::{TagCheck, TagCheckError};
use super::recorded::Recorded;
use super::scope_lists::ScopeLists;
use super::sink::{Sink, SinkOperand, Storage};
use tbaa::parts::TagParts;
use tbaa::parts::table::HashMap;
use tbaa::{Access, Graph, NodeId, Operand, TagId};

/// The reason why a node was not emitted. Nodes that were emitted before stay valid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError<E> {
    /// LLVM would reject the tag or misinterpret it.
    #[error(transparent)]
    Refused(TagCheckError),
    /// The id was issued by another graph.
    #[error("the id was issued by another graph")]
    ForeignId,
    /// The plan, which maps the program's accesses to tags, does not contain this access.
    #[error(
        "the plan does not know an access with this tag{}: lower the access, or leave it without \
         a tag",
        own_size(.access)
    )]
    Unplanned {
        /// The access.
        access: Access,
    },
    /// The node refers to itself through other nodes.
    #[error(
        "{node:?} leads to itself through other nodes, which no type does; `verify` says where"
    )]
    Cycle {
        /// The node.
        node: NodeId,
    },
    /// An operand is not a node, string, integer or null.
    #[error(
        "operand {position} of {node:?}, `{text}`, is no node, string, integer or null; no node of \
         types needs one"
    )]
    Operand {
        /// The node.
        node: NodeId,
        /// The operand's position.
        position: usize,
        /// Its text.
        text: String,
    },
    /// The sink, which creates the nodes, failed.
    #[error(transparent)]
    Sink(E),
}

fn own_size(access: &Access) -> String {
    let and_size = |size| format!(" and a size of its own, {} bytes", u64::from(size));
    access.size.map_or_else(String::new, and_size)
}

/// Emits metadata nodes into a [`Sink`], which creates them. Each node is emitted once.
///
/// The emitter owns the sink, so the cached nodes are never used with another sink. One emitter may
/// emit several graphs, such as a program's own and its lowered one.
#[derive(Clone, Debug)]
pub struct Emitter<S: Sink> {
    pub(super) sink: S,
    graphs: HashMap<u32, Emitted<S::Node>>,
    scopes: ScopeLists<S::Node>,
    recorded: HashMap<Recorded, S::Node>,
}

/// The nodes of one graph that were emitted.
#[derive(Clone, Debug)]
struct Emitted<N> {
    /// The emitted nodes, by node index.
    nodes: Vec<Slot<N>>,
    /// The tags that were checked and emitted, by tag index.
    tags: Vec<Option<N>>,
    /// For tags of immutable memory: the same tags without the immutable flag.
    mutable: HashMap<TagId, N>,
    check: TagCheck,
}

#[derive(Clone, Debug)]
enum Slot<N> {
    /// The node has not been emitted.
    None,
    /// The node's operands are being emitted.
    Open,
    Done(N),
}

impl<S: Sink> Emitter<S> {
    /// Returns an emitter into `sink` that has emitted nothing yet.
    #[must_use]
    pub fn new(sink: S) -> Self {
        let (graphs, recorded) = (HashMap::default(), HashMap::default());
        Emitter { sink, graphs, scopes: ScopeLists::default(), recorded }
    }

    /// Returns the sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Returns the sink. Do not remove nodes from it.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Returns the sink with all nodes that were emitted.
    #[must_use]
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Emits a tag, after checking that LLVM interprets it correctly.
    ///
    /// # Errors
    ///
    /// Returns [`EmitError::Refused`] for a tag that [`TagCheck::check`] refuses, or an error of
    /// [`Emitter::node`].
    pub fn tag(&mut self, graph: &Graph, tag: TagId) -> Result<S::Node, EmitError<S::Error>> {
        if !graph.owns_tag(tag) {
            return Err(EmitError::ForeignId);
        }
        let emitted = self.emitted(graph);
        if let Some(Some(node)) = emitted.tags.get(tag.index()) {
            return Ok(node.clone());
        }
        emitted.check.check(graph, tag).map_err(EmitError::Refused)?;
        let node = self.node(graph, graph.tag_node(tag))?;
        let tags = &mut self.emitted(graph).tags;
        if tags.len() <= tag.index() {
            tags.resize(graph.tag_count(), None);
        }
        tags[tag.index()] = Some(node.clone());
        Ok(node)
    }

    /// Emits a tag without its immutable flag, for instructions that may write, such as calls. LLVM
    /// merges calls whose tag has this flag, and moves loads across them. `marked` is the node of
    /// the tag itself, which is returned if the tag has no flag.
    ///
    /// LLVM: `MDBuilder::createMutableTBAAAccessTag`; for the flag
    /// `TypeBasedAAResult::getMemoryEffects`.
    pub(super) fn unmarked(
        &mut self,
        graph: &Graph,
        tag: TagId,
        marked: S::Node,
    ) -> Result<S::Node, EmitError<S::Error>> {
        let Some(read) = graph.tag(tag).ok().filter(|tag| tag.immutable) else { return Ok(marked) };
        let node = graph.tag_node(tag);
        let Emitter { sink, graphs, .. } = self;
        let emitted = graphs.entry(graph.stamp()).or_default();
        if let Some(known) = emitted.mutable.get(&tag) {
            return Ok(known.clone());
        }
        let operands = TagParts::immutable_position(read.format);
        let made = make(sink, graph, &emitted.nodes, node, operands)?;
        emitted.mutable.insert(tag, made.clone());
        Ok(made)
    }

    /// Emits a tag for a `!tbaa.struct` list, without the immutable flag: a copy also writes.
    pub(super) fn copied_tag(
        &mut self,
        graph: &Graph,
        tag: TagId,
    ) -> Result<S::Node, EmitError<S::Error>> {
        if !graph.owns_tag(tag) {
            return Err(EmitError::ForeignId);
        }
        let checked = self.emitted(graph).check.check_copied(graph, tag);
        checked.map_err(EmitError::Refused)?;
        let marked = self.node(graph, graph.tag_node(tag))?;
        self.unmarked(graph, tag, marked)
    }

    /// Emits any node unchanged: a type, a root or a tag. NB: LLVM 22 crashes on tags that its
    /// verifier would reject, and misinterprets some others.
    ///
    /// # Errors
    ///
    /// Returns [`EmitError::ForeignId`], [`EmitError::Cycle`], [`EmitError::Operand`] or
    /// [`EmitError::Sink`].
    pub fn node(&mut self, graph: &Graph, node: NodeId) -> Result<S::Node, EmitError<S::Error>> {
        if !graph.owns(node) {
            return Err(EmitError::ForeignId);
        }
        let Emitter { sink, graphs, .. } = self;
        let slots = &mut graphs.entry(graph.stamp()).or_default().nodes;
        if let Some(Slot::Done(done)) = slots.get(node.index()) {
            return Ok(done.clone());
        }
        slots.resize_with(graph.node_count(), || Slot::None);
        // The nodes whose operands are being emitted, with the index of the next operand.
        let mut open = vec![(node, 0)];
        let result = emit_all(sink, graph, slots, &mut open);
        for (node, _) in open {
            // An error left these nodes unfinished.
            slots[node.index()] = Slot::None;
        }
        result
    }

    /// Emits a list of scopes of one domain, for `!alias.scope` or `!noalias`. Returns `None` for
    /// an empty list.
    ///
    /// Scopes and domain are uniqued by their names instead of distinct. The inliner copies scopes,
    /// and a copy of a distinct scope would not match the scopes in the rest of the caller.
    ///
    /// # Errors
    ///
    /// Returns [`EmitError::Sink`] if the sink fails.
    ///
    /// LLVM: `MDBuilder::createAliasScope`, which makes distinct scopes.
    pub fn scope_list<'n>(
        &mut self,
        domain: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Option<S::Node>, EmitError<S::Error>> {
        self.scopes.list(&mut self.sink, domain, names).map_err(EmitError::Sink)
    }

    /// Emits [rows](crate::AccessClasses::row) for `!tbaa.relations`; `None` if there are no rows.
    pub(super) fn relation(
        &mut self,
        domain: &str,
        rows: Vec<String>,
    ) -> Result<Option<S::Node>, EmitError<S::Error>> {
        self.scopes.relation(&mut self.sink, domain, rows).map_err(EmitError::Sink)
    }

    /// Emits a recorded node and its operands, each one once.
    ///
    /// # Errors
    ///
    /// Returns [`EmitError::Sink`] if the sink fails.
    pub fn recorded(&mut self, node: &Recorded) -> Result<S::Node, EmitError<S::Error>> {
        if let Some(known) = self.recorded.get(node) {
            return Ok(known.clone());
        }
        let mut open = vec![(node, false)];
        while let Some((next, ready)) = open.pop() {
            if self.recorded.contains_key(next) {
                continue;
            }
            if !ready {
                open.push((next, true));
                open.extend(next.below().map(|below| (below, false)));
                continue;
            }
            let made = next.make(&mut self.sink, |below| &self.recorded[below]);
            let made = made.map_err(EmitError::Sink)?;
            self.recorded.insert(next.clone(), made);
        }
        Ok(self.recorded[node].clone())
    }

    fn emitted(&mut self, graph: &Graph) -> &mut Emitted<S::Node> {
        self.graphs.entry(graph.stamp()).or_default()
    }
}

impl<N> Default for Emitted<N> {
    fn default() -> Self {
        let (nodes, tags) = (Vec::new(), Vec::new());
        Emitted { nodes, tags, mutable: HashMap::default(), check: TagCheck::default() }
    }
}

/// Emits the node at the bottom of the stack `open`, after everything that it refers to.
fn emit_all<S: Sink>(
    sink: &mut S,
    graph: &Graph,
    slots: &mut [Slot<S::Node>],
    open: &mut Vec<(NodeId, usize)>,
) -> Result<S::Node, EmitError<S::Error>> {
    loop {
        let Some((node, next)) = open.last_mut() else { return Err(EmitError::ForeignId) };
        let (node, from) = (*node, *next);
        if from == 0 {
            slots[node.index()] = Slot::Open;
        }
        let below = (from..graph.operand_count(node)).find_map(|at| {
            let below = graph.operand(node, at)?.node().filter(|&below| below != node)?;
            (!matches!(slots[below.index()], Slot::Done(_))).then_some((at, below))
        });
        if let Some((at, below)) = below {
            if matches!(slots[below.index()], Slot::Open) {
                return Err(EmitError::Cycle { node: below });
            }
            *next = at + 1;
            open.push((below, 0));
            continue;
        }
        let made = make(sink, graph, slots, node, graph.operand_count(node))?;
        slots[node.index()] = Slot::Done(made.clone());
        open.pop();
        if open.is_empty() {
            return Ok(made);
        }
    }
}

/// Emits a node with the first `count` operands of `node`. The operands must be emitted already.
fn make<S: Sink>(
    sink: &mut S,
    graph: &Graph,
    slots: &[Slot<S::Node>],
    node: NodeId,
    count: usize,
) -> Result<S::Node, EmitError<S::Error>> {
    let mut operands = Vec::with_capacity(count);
    for (position, operand) in graph.operands(node).take(count).enumerate() {
        operands.push(match operand {
            Operand::Null => SinkOperand::Null,
            Operand::String(bytes) => SinkOperand::Bytes(bytes),
            Operand::Int(int) => SinkOperand::Int(int),
            Operand::Node(below) if below == node => SinkOperand::Itself,
            Operand::Node(below) => match &slots[below.index()] {
                Slot::Done(below) => SinkOperand::Node(below),
                _ => return Err(EmitError::Cycle { node: below }),
            },
            Operand::Raw(text) => {
                return Err(EmitError::Operand { node, position, text: text.to_owned() });
            }
        });
    }
    let storage = if graph.is_distinct(node) { Storage::Distinct } else { Storage::Uniqued };
    sink.node(&operands, storage).map_err(EmitError::Sink)
}
