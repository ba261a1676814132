//! How this library is asked: the one file of the bench that does.

use std::ops::Range;

use tbaa::{Graph, Oracle, Rules, TagId};

/// Bytes that a query of rule `llvm` reads of a tag.
pub(crate) const RECORD: usize = 12;

/// An oracle of a graph that does not grow.
pub(crate) struct Ours<'g> {
    oracle: Oracle<'g>,
}

impl<'g> Ours<'g> {
    pub(crate) fn new(graph: &'g Graph, rules: Rules) -> Self {
        Ours { oracle: Oracle::new(graph, rules) }
    }

    pub(crate) fn may_alias(&self, a: TagId, b: TagId) -> bool {
        self.oracle.may_alias(a, b)
    }

    /// Returns how many of the pairs may alias.
    pub(crate) fn ask(&self, pairs: &[(TagId, TagId)]) -> usize {
        pairs.iter().filter(|&&(a, b)| self.oracle.may_alias(a, b)).count()
    }

    /// The same without tables, as the definition has it. Only rule `llvm`
    /// walks for an explanation as LLVM walks for an answer.
    pub(crate) fn ask_by_definition(&self, pairs: &[(TagId, TagId)]) -> usize {
        pairs.iter().filter(|&&(a, b)| !self.oracle.explain(a, b).clause.is_no_alias()).count()
    }

    /// Returns for how many pairs there is a most generic tag.
    pub(crate) fn generic(&self, pairs: &[(TagId, TagId)]) -> usize {
        pairs.iter().filter(|&&(a, b)| self.oracle.most_generic(a, b).is_some()).count()
    }

    /// Returns how many pairs of one tag of `rows` and any tag may alias.
    pub(crate) fn all_pairs(&self, tags: &[TagId], rows: Range<usize>) -> usize {
        let row = |&a: &TagId| tags.iter().filter(|&&b| self.oracle.may_alias(a, b)).count();
        tags[rows].iter().map(row).sum()
    }
}

/// An oracle that is done growing, asked by ordinals of tags.
pub(crate) struct Frozen<'g> {
    oracle: Oracle<'g>,
    tags: Vec<TagId>,
}

impl<'g> Frozen<'g> {
    pub(crate) fn new(graph: &'g Graph, rules: Rules) -> Self {
        Frozen { oracle: Oracle::new(graph, rules), tags: graph.tags().collect() }
    }

    /// Returns how many of the pairs may alias, each named by
    /// [`TagId::index`].
    pub(crate) fn ask(&self, pairs: &[[u32; 2]]) -> usize {
        let tag = |ordinal: u32| self.tags[ordinal as usize];
        pairs.iter().filter(|&&[a, b]| self.oracle.may_alias(tag(a), tag(b))).count()
    }
}

/// An oracle whose graph grows between queries.
pub(crate) struct Growing {
    graph: Graph,
    rules: Rules,
}

impl Growing {
    pub(crate) fn new(graph: Graph, rules: Rules) -> Self {
        Growing { graph, rules }
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Adds what `add` makes and asks the tag that it returns against another.
    pub(crate) fn add_and_ask(
        &mut self,
        add: impl FnOnce(&mut Graph) -> TagId,
        other: TagId,
    ) -> bool {
        let tag = add(&mut self.graph);
        Oracle::new(&self.graph, self.rules).may_alias(tag, other)
    }
}
