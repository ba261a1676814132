//! One query at a time.
//!
//! There is one way to an answer. The index compares the intervals of the two tags. If
//! one is not regular, the rule looks whether one base type may hold the other, and else the
//! memo whether the pair was asked about before. What is left, the rule's definition
//! decides.

use std::borrow::Borrow;

use super::alias_rule::AliasResult;
use super::clause::Clause;
use super::grow::Oracle;
use super::limits::{COMPARED, COMPARED_A_NODE};
use super::rule::Reach;
use crate::access::Access;
use crate::graph::{Graph, TagId};

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether accesses `a` and `b` may overlap. An access is a tag, an
    /// optional tag, or an [`Access`].
    ///
    /// A missing tag gives `MayAlias`. So do different roots: they may be
    /// unrelated type systems, so nothing is proved. So does a malformed tag, and a
    /// tag that another graph issued. The answer does not depend on
    /// the order of `a` and `b`. Rule `llvm` ignores the accesses' sizes, and
    /// no rule looks at their kinds here.
    ///
    /// LLVM: `TypeBasedAAResult::alias`.
    #[must_use]
    #[inline]
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns whether [`Oracle::alias`] answers `MayAlias`.
    // A call would take as long as what is in it.
    #[must_use]
    #[inline(always)]
    pub fn may_alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        let (a, b) = (a.into(), b.into());
        let (Some(tag_a), Some(tag_b)) = (a.tag, b.tag) else { return true };
        let may = match (a.size, b.size) {
            (None, None) => self.tags_may_alias(tag_a, tag_b),
            _ => self.sized_may_alias(a, b),
        };
        if cfg!(feature = "self-check") {
            assert!(self.agrees(a, b, may), "{:?}, {a:?}, {b:?}: {may}", self.rule());
        }
        may
    }

    #[inline]
    fn tags_may_alias(&self, a: TagId, b: TagId) -> bool {
        if a.stamp != self.stamp || b.stamp != self.stamp {
            return true;
        }
        !self.index.part(a.index, b.index) && self.look_up(a, b)
    }

    /// Answers on two tags whose intervals meet, or that are not of one root.
    #[inline(never)]
    fn look_up(&self, a: TagId, b: TagId) -> bool {
        if self.index.are_apart(a.index, b.index) {
            return false;
        }
        let decided = self.index.decide(a.index, b.index);
        decided.unwrap_or_else(|| self.ask_rule(a.into(), b.into()))
    }

    /// Answers on accesses of which at least one has a size of its own.
    #[inline(never)]
    fn sized_may_alias(&self, a: Access, b: Access) -> bool {
        let foreign = |access: Access| access.tag.is_none_or(|tag| tag.stamp != self.stamp);
        if foreign(a) || foreign(b) {
            return true;
        }
        let decided = self.engine().look_up(&self.index, (a, b));
        decided.unwrap_or_else(|| self.ask_rule(a, b))
    }

    /// Answers on two accesses that the index leaves open.
    #[inline(never)]
    fn ask_rule(&self, a: Access, b: Access) -> bool {
        self.memo.get_or((a, b), || {
            let rule = self.engine();
            let decided = rule.decide(self.graph(), &self.index, (a, b));
            let define = || rule.define(self.graph(), &self.index, (a, b), false).is_may();
            decided.unwrap_or_else(define)
        })
    }

    /// As [`Oracle::may_alias`], with the steps of the rule's definition taken from
    /// those left; `None` where it would have to be followed without any.
    #[doc(hidden)]
    pub fn may_alias_within(
        &self,
        a: impl Into<Access>,
        b: impl Into<Access>,
        left: &mut u64,
    ) -> Option<bool> {
        let (a, b) = (a.into(), b.into());
        let (Some(tag_a), Some(tag_b)) = (a.tag, b.tag) else { return Some(true) };
        if tag_a.stamp != self.stamp || tag_b.stamp != self.stamp {
            return Some(true);
        }
        if a.size.or(b.size).is_none()
            && let Some(may) = self.index.decide(tag_a.index, tag_b.index)
        {
            return Some(may);
        }
        let rule = self.engine();
        for tag in [tag_a, tag_b] {
            if self.reach(tag, left) == Reach::Everything && *left == 0 {
                return None;
            }
        }
        let decided = rule.decide(self.graph(), &self.index, (a, b));
        decided.or_else(|| self.define_within(a, b, left))
    }

    /// Answers by the memo, or by the definition with its steps taken from those left; `None`
    /// if there are none.
    pub(super) fn define_within(&self, a: Access, b: Access, left: &mut u64) -> Option<bool> {
        let define = |left: &mut u64| {
            let decision = self.engine().define(self.graph(), &self.index, (a, b), false);
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

    /// Says what a tag may alias by its types.
    pub(super) fn reach(&self, tag: TagId, left: &mut u64) -> Reach {
        if tag.stamp != self.stamp {
            return Reach::Everything;
        }
        self.engine().reach(self.graph(), &self.index, tag, left)
    }

    /// Whether an answer is the definition's, or the index's where the definition gave up.
    fn agrees(&self, a: Access, b: Access, may: bool) -> bool {
        let defined = self.engine().define(self.graph(), &self.index, (a, b), true);
        may == defined.is_may() || !may && defined.clause == Clause::Limit
    }
}
