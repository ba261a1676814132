//! Oracles that do not change, for threads that query while another one adds.
//!
//! A snapshot has its own graph and tables, so later additions to the context are not visible in
//! it. The context keeps the last few: one that nobody uses any more is updated with the additions
//! since, instead of making a new one.

use std::mem::MaybeUninit;
use std::sync::Arc;

use tbaa::AliasRule;

use crate::context::{Context, Kept, made_in};
use crate::oracle::{Oracle, rule_of};
use crate::status::{Status, answer};

/// The number of snapshots that a context keeps.
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
        // The oldest one that can be changed, or a new one.
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

/// Makes an oracle of the tags that the context has now. It never changes, outlives the context,
/// and may be used by any number of threads while one thread adds to the context. Ids mean the same
/// in both; a later tag may alias everything here.
///
/// `rule` is a `tbaa_rule`, and may differ from the context's own. If an earlier snapshot by that
/// rule was released, the time is proportional to the additions since; else to the whole graph.
/// Release it with `tbaa_oracle_release`.
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

/// Adds a holder to a snapshot, which must be released once more, and returns it. A context's own
/// oracle is returned uncounted.
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

/// Releases a snapshot; the last holder frees it. NULL and a context's own oracle are ignored. Any
/// thread may call it.
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
