//! Queries about two accesses.
//!
//! [`Oracle::may_alias`] goes through these stages in order, until one decides:
//!
//! 1. An access without a tag, or with a tag of another graph, may alias everything.
//! 2. If there are few tags, a table has earlier answers for pairs of tags
//!    ([`Memo`](super::memo::Memo)).
//! 3. Intervals of tags, or else their base types, decide most pairs
//!    ([`Index`](super::index::Index)). For accesses with sizes of their own, cursors decide some
//!    pairs ([`Rule::by_cursor`]). A cursor is the type and offset at which a tag's path begins.
//! 4. Base types decide some of the other pairs, after a search for the paths of a tag if necessary
//!    ([`Rule::by_base`]).
//! 5. A cache has the latest answers of the definition.
//! 6. The *definition* of the rule decides the rest ([`Rule::decide`]).

use std::borrow::Borrow;

use super::alias_rule::AliasResult;
use super::clause::Clause;
use super::grow::Oracle;
use super::limits::{COMPARED, COMPARED_A_NODE};
use super::rule::Candidates;
use crate::access::Access;
use crate::graph::{Graph, TagId};

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether accesses `a` and `b`, each a tag, optional tag or [`Access`], may overlap.
    ///
    /// A missing tag gives `MayAlias`. So do a malformed tag, a tag of another graph, and tags with
    /// different roots, because the roots may belong to unrelated type systems. The order of `a`
    /// and `b` does not matter. Rule `llvm` ignores the sizes of accesses, and no rule uses their
    /// kinds here.
    ///
    /// LLVM: `TypeBasedAAResult::alias`.
    #[inline]
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns whether [`Oracle::alias`] answers `MayAlias`.
    // This is always inlined, because a call would take as long as its body.
    #[inline(always)]
    pub fn may_alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        let (Some(tag_a), Some(tag_b)) = (a.tag, b.tag) else { return true };
        let may = match (a.size, b.size) {
            (None, None) => self.tags_may_alias(tag_a, tag_b),
            _ => self.may_alias_within(a, b, &mut { u64::MAX }).unwrap_or(true),
        };
        if cfg!(tbaa_self_check) {
            assert!(self.is_as_defined(a, b, may), "{:?}, {a:?}, {b:?}: {may}", self.rule());
        }
        may
    }

    /// Like [`Oracle::may_alias`], but each search subtracts its steps from `left`. Returns `None`
    /// if the answer needs a search and no steps are left.
    #[doc(hidden)]
    pub fn may_alias_within(
        &self,
        a: impl Into<Access>,
        b: impl Into<Access>,
        left: &mut u64,
    ) -> Option<bool> {
        let (a, b) = (a.into(), b.into());
        let foreign = |access: Access| access.tag.is_none_or(|tag| tag.stamp != self.stamp);
        if foreign(a) || foreign(b) { Some(true) } else { self.ask(a, b, left) }
    }

    #[inline(always)]
    fn tags_may_alias(&self, a: TagId, b: TagId) -> bool {
        let (x, y) = (a.index_in(self.stamp), b.index_in(self.stamp));
        let decided = match self.memo.has_pair(x, y) {
            true => self.memo.pair(x, y),
            false => self.index.by_interval(x, y),
        };
        decided.unwrap_or_else(|| self.ask_and_memoise(x, y))
    }

    /// Decides about two tags, given as numbers of [`TagId::index_in`]. Stores the answer if there
    /// is a table for it.
    // The numbers are passed in registers, while two accesses would be passed in memory.
    #[inline(never)]
    fn ask_and_memoise(&self, x: u64, y: u64) -> bool {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return true };
        let [a, b] = [x, y].map(|index| TagId { index, stamp: self.stamp });
        let may = !self.index.are_apart(a.index, b.index)
            && self.ask(a.into(), b.into(), &mut { u64::MAX }).unwrap_or(true);
        self.memo.set_pair(a.index, b.index, may);
        may
    }

    /// Runs the stages from the index on. The oracle's graph must own both tags.
    fn ask(&self, a: Access, b: Access, left: &mut u64) -> Option<bool> {
        let (x, y) = (a.tag?.index, b.tag?.index);
        let by_index = match (a.size, b.size) {
            (None, None) => self.index.decide(x, y),
            _ => self.engine().by_cursor(&self.index, (a, b)),
        };
        by_index
            .or_else(|| self.engine().by_base(&self.index, (a, b), left))
            .or_else(|| self.memo_or_definition(a, b, left))
    }

    /// Answers from the cache, or by the definition, whose steps are subtracted from `left`.
    /// Returns `None` if no steps are left.
    pub(super) fn memo_or_definition(&self, a: Access, b: Access, left: &mut u64) -> Option<bool> {
        let define = |left: &mut u64| {
            let decision = self.engine().decide(self.indexed(), (a, b), false);
            *left = left.saturating_sub(u64::from(decision.steps).max(1));
            decision.is_may()
        };
        (*left > 0).then(|| self.memo.get_or((a, b), || define(left)))
    }

    /// Returns the number of steps that a comparison of many tags may take.
    #[doc(hidden)]
    pub fn steps_to_compare(&self) -> u64 {
        COMPARED + COMPARED_A_NODE * self.graph().node_count() as u64
    }

    /// Returns which tags a tag may alias, judged by types alone.
    pub(super) fn candidates(&self, tag: TagId, left: &mut u64) -> Candidates {
        if tag.stamp != self.stamp {
            return Candidates::Everything;
        }
        self.engine().candidates(&self.index, tag, left)
    }

    /// Returns whether `may` is right: the definition agrees, or hit its limit and `may` is false.
    fn is_as_defined(&self, a: Access, b: Access, may: bool) -> bool {
        let defined = self.engine().decide(self.indexed(), (a, b), true);
        may == defined.is_may() || !may && defined.clause == Clause::Limit
    }
}
