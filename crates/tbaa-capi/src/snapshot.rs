//! Snapshots: oracles that do not change, for threads that query while another thread adds types.
//!
//! A snapshot has its own graph and tables, so later additions to the context are not visible in
//! it. The context keeps the last few snapshots. A snapshot that the program has released may be
//! updated and returned again, which is cheaper than making a new one.

use std::mem::MaybeUninit;
use std::sync::Arc;

use tbaa::AliasRule;

use crate::context::{Context, Snapshot, made_in};
use crate::oracle::{Oracle, rule_of};
use crate::status::{Status, answer};

const MAX_SNAPSHOTS: usize = 4;

impl Context {
    fn snapshot(&mut self, rule: AliasRule) -> Arc<Oracle> {
        let (nodes, tags) = (self.oracle().graph().node_count(), self.oracle().graph().tag_count());
        let current = |snapshot: &&Snapshot| {
            let graph = snapshot.oracle.graph();
            snapshot.rule == rule && (graph.node_count(), graph.tag_count()) == (nodes, tags)
        };
        if let Some(snapshot) = self.snapshots.iter().find(current) {
            return Arc::clone(&snapshot.oracle);
        }
        // Updates the oldest snapshot that has this rule and was released, or makes a new one.
        let free = |old: &mut Snapshot| old.rule == rule && Arc::get_mut(&mut old.oracle).is_some();
        let free = self.snapshots.iter_mut().position(free).map(|at| self.snapshots.remove(at));
        let graph = self.oracle().graph();
        let fresh = || Oracle { inner: tbaa::Oracle::new(graph.clone(), rule), shared: true };
        let mut oracle = free.map_or_else(|| Arc::new(fresh()), |snapshot| snapshot.oracle);
        if let Some(oracle) = Arc::get_mut(&mut oracle) {
            oracle.inner.update(|copy| copy.follow(graph));
        }
        if self.snapshots.len() == MAX_SNAPSHOTS {
            self.snapshots.remove(0);
        }
        self.snapshots.push(Snapshot { rule, oracle: Arc::clone(&oracle) });
        oracle
    }
}

/// Makes a snapshot: an oracle of the tags that the context has now. It never changes, may outlive
/// the context, and may be used by any number of threads while one thread adds to the context. The
/// context's ids mean the same in it. A tag added later may alias everything in the snapshot.
///
/// `rule` is a `tbaa_rule`, and may differ from the context's own. If an earlier snapshot by that
/// rule was released, the call takes time proportional to the additions since then, otherwise to
/// the whole graph. Release the snapshot with `tbaa_oracle_release`.
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

/// Adds a holder to a snapshot, and returns the snapshot, which must be released once more. A
/// context's own oracle is returned uncounted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_oracle_retain(oracle: *const Oracle) -> *const Oracle {
    // SAFETY: the caller's own hold keeps the count above 0.
    unsafe { count(oracle, Arc::increment_strong_count) };
    oracle
}

/// Releases a snapshot; the last holder frees it. NULL and a context's own oracle are ignored. Any
/// thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_oracle_release(oracle: *const Oracle) {
    // SAFETY: the caller gives up one hold, which the library or `retain` counted.
    unsafe { count(oracle, Arc::decrement_strong_count) };
}

/// Applies `change` to the number of a snapshot's holders.
///
/// # Safety
///
/// The oracle is NULL or one that the caller holds. The caller may make this change to the count.
unsafe fn count(oracle: *const Oracle, change: unsafe fn(*const Oracle)) {
    answer((), || {
        // SAFETY: as above. Snapshots come from `Arc::into_raw`.
        unsafe {
            if oracle.as_ref()?.shared {
                change(oracle);
            }
        }
        Some(())
    });
}
