//! A lock that the thread which has it does not wait for.
//!
//! Checks run inside the program's `malloc` and its signal handlers, so this library
//! may be entered while it is at work: there the lock is simply not to be had.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering::*};

pub(crate) struct Lock<T> {
    /// The thread that has it, or 0.
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value is touched by the owner alone.
unsafe impl<T: Send> Sync for Lock<T> {}

pub(crate) struct Guard<'l, T>(&'l Lock<T>);

/// How often a lock that another thread has is tried.
const TRIES: u32 = 1 << 16;

/// This thread's number, which is not 0. No thread-local variable: the first use of
/// one may allocate.
fn me() -> usize {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::pthread_self() as usize }
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock { owner: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Takes the lock. `None` where this thread has it already, and where it does not
    /// become free.
    pub(crate) fn take(&self) -> Option<Guard<'_, T>> {
        let me = me();
        for _ in 0..TRIES {
            match self.owner.compare_exchange_weak(0, me, Acquire, Relaxed) {
                Ok(_) => return Some(Guard(self)),
                Err(owner) if owner == me => return None,
                // SAFETY: takes nothing. Not through the standard library, which a
                // check in the program's own `malloc` may have interrupted.
                Err(_) => drop(unsafe { libc::sched_yield() }),
            }
        }
        None
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.owner.store(0, Release);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock, and no other guard of it.
        unsafe { &mut *self.0.value.get() }
    }
}
