//! Who may work in this library: one check at a time in each thread, and one thread with a lock.
//!
//! Checks run inside the program's `malloc`, its signal handlers, and functions of the program that the C
//! library calls for this one. So this library may be entered while it is at work. [`enter`] fails there, and a
//! lock is not to be had: the check forgets what it writes, and returns.

use std::arch::{asm, global_asm};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

// A byte in each thread, which is 1 while the thread is in this library. It is at a fixed distance from the
// thread's base: other thread-local variables may allocate when they are used first.
global_asm!(include_str!("lock.s"),);

/// Set once this library has started. Before, a thread may have no base yet.
pub(crate) static STARTED: AtomicBool = AtomicBool::new(false);

/// Says until it is dropped that this thread is in this library.
pub(crate) struct Inside(());

/// Says so, unless this thread is in this library already, or this library has not started.
#[inline]
pub(crate) fn enter() -> Option<Inside> {
    (STARTED.load(Acquire) && !set_inside(true)).then(|| Inside(()))
}

impl Drop for Inside {
    fn drop(&mut self) {
        set_inside(false);
    }
}

/// Says whether this thread is in this library, and returns whether it was said to be.
pub(crate) fn set_inside(is: bool) -> bool {
    let mut value = u8::from(is);
    // SAFETY: the variable is this thread's own. Its handlers of signals give it back as it was.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + __tbaa_witness_inside@GOTTPOFF]",
            "xchg byte ptr fs:[{at}], {value}",
            at = out(reg) _,
            value = inout(reg_byte) value,
            options(nostack),
        );
    }
    value != 0
}

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
