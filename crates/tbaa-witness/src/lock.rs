//! Locks, and a flag for each thread, which is set while the thread is inside this library.
//!
//! The library runs inside the program's `malloc`, in signal handlers, and in functions of the
//! program that the C library calls for this library. So a call may interrupt another call of the
//! same thread. Then [`enter`] fails, or a lock is not available. The interrupting call then clears
//! the records of the bytes that it was called for, and returns.

use std::arch::{asm, global_asm};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

// A byte for each thread, which is 1 while the thread is inside this library. Its offset from the
// thread pointer is fixed: other thread-local variables may allocate when first used.
global_asm!(include_str!("lock.s"),);

/// True once this library has started. Before that a thread may have no thread pointer.
pub(crate) static STARTED: AtomicBool = AtomicBool::new(false);

/// Exists while this thread is inside this library.
pub(crate) struct Inside(());

/// Sets this thread's flag. Returns `None` if it is set already or the library has not started.
#[inline]
pub(crate) fn enter() -> Option<Inside> {
    (STARTED.load(Acquire) && !set_inside(true)).then(|| Inside(()))
}

impl Drop for Inside {
    fn drop(&mut self) {
        set_inside(false);
    }
}

/// Sets or clears this thread's flag, and returns its old value.
pub(crate) fn set_inside(is: bool) -> bool {
    let mut value = u8::from(is);
    // SAFETY: the variable is this thread's own, and its signal handlers restore it.
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

/// The number of attempts to take a lock that another thread holds.
const TRIES: u32 = 1 << 16;

/// Returns this thread's id, which is not 0. It is not kept in a thread-local variable, because the
/// first use of one may allocate memory.
fn me() -> usize {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::pthread_self() as usize }
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock { owner: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Takes the lock. Returns `None` if this thread holds it already, or if other threads hold it
    /// at each of [`TRIES`] attempts.
    pub(crate) fn take(&self) -> Option<Guard<'_, T>> {
        let me = me();
        for _ in 0..TRIES {
            match self.owner.compare_exchange_weak(0, me, Acquire, Relaxed) {
                Ok(_) => return Some(Guard(self)),
                Err(owner) if owner == me => return None,
                // SAFETY: takes nothing. The standard library's function is not used, because a
                // call from the program's `malloc` may have interrupted that library.
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
