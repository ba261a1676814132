//! Compares LLVM's answers for lowered tags with the oracle's for their sources (the input tags).

use std::borrow::Borrow;

use super::source::Key;
use super::state::Lowering;
use tbaa::wellformed::{self, Verifier};
use tbaa::{Access, AliasRule, Graph, Oracle, TagId};

/// An error in a lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The sources may alias, but LLVM answers NoAlias for the lowered tags.
    #[error("{a:?} and {b:?} may alias, and their lowered tags do not")]
    NoAlias {
        /// The first source.
        a: Access,
        /// The second source.
        b: Access,
    },
    /// LLVM's verifier rejects the lowered tag.
    #[error("the lowered tag of {source:?} is rejected: {error}")]
    Rejected {
        /// The source. The field's name is raw, because `thiserror` takes `source` for the cause.
        r#source: Access,
        /// The verifier's error.
        error: wellformed::VerifyError,
    },
}

impl Lowering {
    /// Checks the lowered tags: LLVM's verifier must accept them, and LLVM must not answer
    /// `NoAlias` for the tags of two sources that may alias. Returns the errors.
    pub fn check<G: Borrow<Graph>>(&self, oracle: &Oracle<G>) -> Vec<ReplayError> {
        let mut wrong = Vec::new();
        let mut verifier = Verifier::new(&self.graph);
        let lowered: Vec<(Key, TagId)> =
            self.sources.iter().filter_map(|(&key, entry)| Some((key, entry.tag?))).collect();
        for &(key, tag) in &lowered {
            if let Err(error) = verifier.check(tag) {
                wrong.push(ReplayError::Rejected { source: key.access(), error });
            }
        }
        let llvm = Oracle::new(&self.graph, AliasRule::Llvm);
        let answers = llvm.matrix(&lowered.iter().map(|&(_, tag)| tag).collect::<Vec<_>>());
        let all = oracle.matrix(&lowered.iter().map(|(key, _)| key.tag).collect::<Vec<_>>());
        for (i, (a, _)) in lowered.iter().enumerate() {
            for (j, (b, _)) in lowered.iter().enumerate().skip(i) {
                if answers.may_alias(i, j) {
                    continue;
                }
                let may = match (a.size, b.size) {
                    (None, None) => all.may_alias(i, j),
                    _ => a.may_alias(b, oracle),
                };
                if may {
                    wrong.push(ReplayError::NoAlias { a: a.access(), b: b.access() });
                }
            }
        }
        wrong
    }

    /// Returns the pairs of sources for which the oracle's rule answers `NoAlias`, but LLVM does
    /// not answer `NoAlias` for their lowered tags.
    pub fn lost_pairs<'l, G: Borrow<Graph>>(
        &'l self,
        oracle: &'l Oracle<G>,
    ) -> impl Iterator<Item = (Access, Access)> + 'l {
        let at = |i: usize| self.sources.get_index(i).expect("the index is a source's");
        (0..self.sources.len()).flat_map(move |i| {
            let (a, entry) = at(i);
            (i + 1..self.sources.len()).filter_map(move |j| {
                let (b, other) = at(j);
                let comparable = match (entry.node, other.node) {
                    (Some(one), Some(two)) => self.forest.comparable(one, two),
                    _ => true,
                };
                (comparable && !a.may_alias(b, oracle)).then(|| (a.access(), b.access()))
            })
        })
    }
}
