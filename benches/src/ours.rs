//! How this library is asked: the one file of the bench that does.

use tbaa::{Access, Graph, Oracle, Rules, TagId};

/// Bytes that most queries read of a tag.
pub(crate) const RECORD: usize = 8;

/// An oracle.
pub(crate) struct Ours<'g> {
    oracle: Oracle<&'g Graph>,
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

    /// The same, of accesses with sizes of their own.
    pub(crate) fn ask_sized(&self, pairs: &[(TagId, TagId)]) -> usize {
        let sized = |tag: TagId| Access::from(tag).with_size(8);
        pairs.iter().filter(|&&(a, b)| self.oracle.may_alias(sized(a), sized(b))).count()
    }

    /// The same without tables, as the definition has it: rule `llvm` walks for
    /// an explanation as LLVM walks for an answer.
    pub(crate) fn ask_by_definition(&self, pairs: &[(TagId, TagId)]) -> usize {
        pairs.iter().filter(|&&(a, b)| !self.oracle.explain(a, b).clause.is_no_alias()).count()
    }

    /// Returns for how many pairs there is a most generic tag.
    pub(crate) fn generic(&self, pairs: &[(TagId, TagId)]) -> usize {
        pairs.iter().filter(|&&(a, b)| self.oracle.most_generic(a, b).is_some()).count()
    }

    /// Answers all pairs of tags; returns how many may alias.
    pub(crate) fn all_pairs(&self, tags: &[TagId]) -> usize {
        self.oracle.matrix(tags).count_may_alias()
    }
}

/// An oracle whose graph grows between queries.
pub(crate) struct Growing {
    oracle: Oracle,
}

impl Growing {
    pub(crate) fn new(graph: Graph, rules: Rules) -> Self {
        Growing { oracle: Oracle::new(graph, rules) }
    }

    pub(crate) fn graph(&self) -> &Graph {
        self.oracle.graph()
    }

    /// Adds what `add` makes and asks the tag that it returns against another.
    pub(crate) fn add_and_ask(
        &mut self,
        add: impl FnOnce(&mut Graph) -> TagId,
        other: TagId,
    ) -> bool {
        let tag = self.oracle.update(add);
        self.oracle.may_alias(tag, other)
    }
}
