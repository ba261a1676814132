//! Which tags a rule can say anything about.

use std::borrow::Borrow;

use super::{Engine, Oracle};
use crate::graph::{Graph, TagId};
use crate::verify::Verifier;

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether the oracle's rules take a tag for well formed. Every
    /// query about one that is not answers `MayAlias`.
    ///
    /// For rule `llvm` that is LLVM's own verdict. For the union rules the tag
    /// must denote a path, through types that are well formed, of one format,
    /// and do not contain themselves. Either accepts tags that the other does
    /// not: LLVM follows only the last member of a union.
    #[must_use]
    pub fn is_well_formed(&self, tag: TagId) -> bool {
        let graph = self.graph();
        graph.owns_tag(tag)
            && match &self.engine {
                Engine::Llvm(_) => Verifier::new(graph).check(tag).is_ok(),
                Engine::Union { engine, .. } => engine.is_well_formed(graph, tag),
            }
    }
}
