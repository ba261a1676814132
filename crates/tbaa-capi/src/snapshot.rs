//! Oracles that do not change, for threads that ask while another one adds.
//!
//! A snapshot is a graph and its tables of its own, so that what is added to the
//! context never shows in it. The context keeps the last few: one that nobody
//! holds any more is brought up to date by what was added since, instead of
//! being made again.

use std::mem::MaybeUninit;
use std::sync::Arc;

use tbaa::AliasRule;

use crate::context::{Context, Kept, made_in};
use crate::oracle::{Oracle, rule_of};
use crate::status::{Status, answer};

/// How many snapshots a context keeps.
const KEPT: usize = 4;

impl Context {
    fn snapshot(&mut self, rule: AliasRule) -> Arc<Oracle> {
        let (nodes, tags) = (self.oracle().graph().node_count(), self.oracle().graph().tag_count());
        let current = |kept: &&Kept| {
            let graph = kept.oracle.graph();
            kept.rule == rule && (graph.node_count(), graph.tag_count()) == (nodes, tags)
        };
        if let Some(kept) = self.kept.iter().find(current) {
            return Arc::clone(&kept.oracle);
        }
        // The oldest that can be changed, or a new one.
        let free = |kept: &mut Kept| kept.rule == rule && Arc::get_mut(&mut kept.oracle).is_some();
        let free = self.kept.iter_mut().position(free).map(|at| self.kept.remove(at));
        let graph = self.oracle().graph();
        let fresh = || Oracle { inner: tbaa::Oracle::new(graph.clone(), rule), shared: true };
        let mut oracle = free.map_or_else(|| Arc::new(fresh()), |kept| kept.oracle);
        if let Some(oracle) = Arc::get_mut(&mut oracle) {
            oracle.inner.update(|copy| copy.follow(graph));
        }
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push(Kept { rule, oracle: Arc::clone(&oracle) });
        oracle
    }
}

/// Makes an oracle of the tags that the context has now. It never changes, does
/// not mind what becomes of the context, and may be asked by any number of
/// threads while one thread adds to the context. Ids mean the same in both; a
/// tag that was made later may alias everything here.
///
/// `rule` is one of `tbaa_rule`, and need not be the context's own. It takes
/// time in proportion to what was added since the last snapshot by that rule
/// that is not held any more; where all are, or the rule is new, to all there
/// is. Release it with `tbaa_oracle_release`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_context_snapshot(
    context: Option<&mut Context>,
    rule: u32,
    snapshot: Option<&mut MaybeUninit<*const Oracle>>,
) -> Status {
    made_in(context, snapshot, |context| {
        let rule = rule_of(rule, context.oracle().inner.rule())?;
        Ok(Arc::into_raw(context.snapshot(rule)))
    })
}

/// Counts one more holder of a snapshot, which must be released once more, and
/// returns it. Of a context's own oracle, which nobody counts, it returns that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_oracle_retain(oracle: *const Oracle) -> *const Oracle {
    answer((), || {
        // SAFETY: NULL, or an oracle that the caller holds.
        if unsafe { oracle.as_ref() }?.shared {
            // SAFETY: snapshots come from `Arc::into_raw`, and the caller's own
            // hold keeps the count above 0.
            unsafe { Arc::increment_strong_count(oracle) };
        }
        Some(())
    });
    oracle
}

/// Releases a snapshot; the last holder frees it. NULL, and a context's own
/// oracle, are left alone. Any thread may do it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_oracle_release(oracle: *const Oracle) {
    answer((), || {
        // SAFETY: NULL, or an oracle that the caller holds.
        if unsafe { oracle.as_ref() }?.shared {
            // SAFETY: snapshots come from `Arc::into_raw`; the caller gives up
            // one hold, which the library or `retain` counted.
            unsafe { Arc::decrement_strong_count(oracle) };
        }
        Some(())
    });
}
