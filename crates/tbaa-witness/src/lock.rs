//! Entry and locks of this library: each thread runs at most one check at a time, and one thread
//! holds a lock.
//!
//! Checks run inside the program's `malloc`, in signal handlers, and in functions of the program
//! that the C library calls for this library. So a check may interrupt another. Then [`enter`]
//! fails and a lock is not available: the check clears the memory that it would write, and returns.

use std::arch::{asm, global_asm};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

// A byte in each thread, which is 1 while the thread is in this library. It is at a fixed distance from the
// thread's base: other thread-local variables may allocate when they are used first.
global_asm!(include_str!("lock.s"),);

/// True once this library has started. Before that a thread may have no base.
pub(crate) static STARTED: AtomicBool = AtomicBool::new(false);

/// Marks this thread as inside this library until it is dropped.
pub(crate) struct Inside(());

/// Marks this thread, unless it is already inside or the library has not started.
#[inline]
pub(crate) fn enter() -> Option<Inside> {
    (STARTED.load(Acquire) && !set_inside(true)).then(|| Inside(()))
}

impl Drop for Inside {
    fn drop(&mut self) {
        set_inside(false);
    }
}

/// Sets or clears this thread's mark, and returns its old value.
pub(crate) fn set_inside(is: bool) -> bool {
    let mut value = u8::from(is);
    // SAFETY: the variable is this thread's own. Its signal handlers restore it.
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
    /// The thread that holds the lock, or 0.
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: only the owner accesses the value.
unsafe impl<T: Send> Sync for Lock<T> {}

pub(crate) struct Guard<'l, T>(&'l Lock<T>);

/// The number of times that a lock is tried while another thread holds it.
const TRIES: u32 = 1 << 16;

/// Returns this thread's number, which is not 0. It is not in a thread-local variable: the first
/// use of one may allocate.
fn me() -> usize {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::pthread_self() as usize }
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock { owner: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Takes the lock. Returns `None` if this thread holds it already, or if it is not released in
    /// time.
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
        // SAFETY: this thread holds the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread holds the lock, and has no other guard of it.
        unsafe { &mut *self.0.value.get() }
    }
}
