//! Counts the heap memory of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which also counts the bytes that each thread has allocated and not
/// freed. The counters are thread-local, so threads do not wait for each other.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The largest value of `HELD` since the last call of [`peak`] began.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: `System` does all the work, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns the bytes that this thread has allocated, minus those that it has freed.
pub(crate) fn held() -> isize {
    HELD.get()
}

/// Runs `work`. Returns the growth of this thread's heap in bytes, and the result.
pub(crate) fn growth<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = held();
    let result = work();
    ((held() - before) as f64, result)
}

/// Runs `work`. Returns the peak of this thread's heap, in bytes above the start, and the result.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    ((PEAK.get() - before) as f64, result)
}
