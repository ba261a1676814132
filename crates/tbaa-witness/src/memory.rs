//! Memory from the system, of no weight until it is touched.

use std::ptr;

/// Maps zeroed memory.
pub(crate) fn map(size: usize) -> Option<*mut u8> {
    let (read_write, private) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping that replaces none. By number, for `mmap` is one of
    // the functions that this library takes the place of.
    let mapped = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            ptr::null_mut::<u8>(),
            size,
            read_write,
            private | libc::MAP_NORESERVE,
            -1,
            0_usize,
        )
    } as *mut u8;
    if mapped.addr() > usize::MAX - 4096 {
        return None;
    }
    // SAFETY: the mapping is this function's own. Touching a cell shall not
    // take 2 MiB.
    unsafe { libc::madvise(mapped.cast(), size, libc::MADV_NOHUGEPAGE) };
    Some(mapped)
}

/// Unmaps what [`map`] returned and nobody has seen.
pub(crate) fn unmap(mapped: *mut u8, size: usize) {
    // SAFETY: as the contract says.
    unsafe { libc::syscall(libc::SYS_munmap, mapped, size) };
}

/// Makes whole pages of a mapping zero, and gives them back.
pub(crate) fn forget(start: *mut u8, size: usize) {
    // SAFETY: the pages are this library's own, and hold atomics that may
    // become zero at any time.
    unsafe { libc::madvise(start.cast(), size, libc::MADV_DONTNEED) };
}
