//! Single queries.
//!
//! Every query goes through the same stages in the same order, and the first that decides answers:
//!
//! 1. A missing tag may alias everything. So may a tag of another graph, whose number is outside
//!    all tables.
//! 2. The table of a small oracle has earlier answers ([`Memo`](super::memo::Memo)).
//! 3. The intervals of two regular tags, or else the base types, decide most pairs
//!    ([`Index`](super::index::Index)); for accesses with their own size, the cursors do
//!    ([`Rule::by_cursor`]).
//! 4. The base types decide for other accesses, after a search for a tag's paths if necessary
//!    ([`Rule::by_base`]).
//! 5. The memo has the definition's last answers.
//! 6. The rule's definition ([`Rule::decide`]) decides the rest.

use std::borrow::Borrow;

use super::alias_rule::AliasResult;
use super::clause::Clause;
use super::grow::Oracle;
use super::limits::{COMPARED, COMPARED_A_NODE};
use super::rule::Candidates;
use crate::access::Access;
use crate::graph::{Graph, TagId};

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether accesses `a` and `b` may overlap. An access is a tag, an
    /// optional tag, or an [`Access`].
    ///
    /// A missing tag gives `MayAlias`. So do different roots, because they may be unrelated type
    /// systems; a malformed tag; and a tag of another graph. The answer does not depend on the
    /// order of `a` and `b`. Rule `llvm` ignores the accesses' sizes, and no rule uses their kinds
    /// here.
    ///
    /// LLVM: `TypeBasedAAResult::alias`.
    #[inline]
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns whether [`Oracle::alias`] answers `MayAlias`.
    // Always inlined: a call would take as long as its contents.
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

    /// Like [`Oracle::may_alias`], with the steps of the rule's definition taken from `left`;
    /// `None` if they run out.
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

    /// Calls [`Oracle::ask`] for tags by [`TagId::index_in`], and stores the answer in the table.
    // Two numbers are passed in registers, two accesses in memory.
    #[inline(never)]
    fn ask_and_memoise(&self, x: u64, y: u64) -> bool {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return true };
        let [a, b] = [x, y].map(|index| TagId { index, stamp: self.stamp });
        let may = !self.index.are_apart(a.index, b.index)
            && self.ask(a.into(), b.into(), &mut { u64::MAX }).unwrap_or(true);
        self.memo.set_pair(a.index, b.index, may);
        may
    }

    /// Runs the stages from the index on, for two tags of the oracle's graph.
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

    /// Answers by the memo, or by the definition with its steps taken from those left; `None`
    /// if there are none.
    pub(super) fn memo_or_definition(&self, a: Access, b: Access, left: &mut u64) -> Option<bool> {
        let define = |left: &mut u64| {
            let decision = self.engine().decide(self.indexed(), (a, b), false);
            *left = left.saturating_sub(u64::from(decision.steps).max(1));
            decision.is_may()
        };
        (*left > 0).then(|| self.memo.get_or((a, b), || define(left)))
    }

    /// Returns the steps that comparing many tags may take.
    #[doc(hidden)]
    pub fn steps_to_compare(&self) -> u64 {
        COMPARED + COMPARED_A_NODE * self.graph().node_count() as u64
    }

    /// Returns the tags that a tag may alias, by its types.
    pub(super) fn candidates(&self, tag: TagId, left: &mut u64) -> Candidates {
        if tag.stamp != self.stamp {
            return Candidates::Everything;
        }
        self.engine().candidates(&self.index, tag, left)
    }

    /// Returns whether an answer is the definition's, or the index's if the definition gave up.
    fn is_as_defined(&self, a: Access, b: Access, may: bool) -> bool {
        let defined = self.engine().decide(self.indexed(), (a, b), true);
        may == defined.is_may() || !may && defined.clause == Clause::Limit
    }
}
