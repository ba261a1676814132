//! Maps memory that is committed only when it is touched, and defines this library's allocator.

use std::alloc::{GlobalAlloc, Layout};
use std::ops::Range;
use std::ptr;

use crate::limits;
use crate::lock::Lock;

/// Maps zeroed memory. Returns `None` if the system has none.
pub(crate) fn map(size: usize) -> Option<*mut u8> {
    limits::take(size, true);
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping that replaces none. Called by number: this library replaces `mmap`.
    let mapped = unsafe {
        let at = ptr::null_mut::<u8>();
        libc::syscall(libc::SYS_mmap, at, size, access, flags, -1, 0_usize) as *mut u8
    };
    if mapped.addr() > usize::MAX - 4096 {
        limits::take(size, false);
        return None;
    }
    stays_small(mapped.addr()..mapped.addr() + size);
    Some(mapped)
}

/// Advises the kernel to use no huge pages here, and to leave the pages out of core dumps.
pub(crate) fn stays_small(pages: Range<usize>) {
    let start = ptr::with_exposed_provenance_mut(pages.start);
    for advice in [libc::MADV_NOHUGEPAGE, libc::MADV_DONTDUMP] {
        // SAFETY: the advice does not change the pages' contents.
        unsafe { advise(start, pages.len(), advice) };
    }
}

/// Calls `madvise` by number, because this library replaces that function.
unsafe fn advise(start: *mut libc::c_void, size: usize, advice: libc::c_int) {
    // SAFETY: as the caller says.
    unsafe { libc::syscall(libc::SYS_madvise, start, size, advice) };
}

/// Unmaps memory from [`map`] that is no longer used.
pub(crate) fn unmap(mapped: *mut u8, size: usize) {
    // SAFETY: the memory came from `map`, and nothing uses it.
    unsafe { libc::syscall(libc::SYS_munmap, mapped, size) };
    limits::take(size, false);
}

/// Zeroes whole pages of [shadow memory](crate::cells::reserve) and returns them to the system.
pub(crate) fn forget(pages: Range<usize>) {
    let start = ptr::with_exposed_provenance_mut(pages.start);
    // SAFETY: the pages are this library's own. They hold atomics that may become zero at any time.
    unsafe { advise(start, pages.len(), libc::MADV_DONTNEED) };
}

/// Returns whether other processes may write to an address. Source: `proc_pid_maps(5)`.
pub(crate) fn is_shared(address: usize) -> bool {
    let has = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let [start, end] = [start, end].map(|text| usize::from_str_radix(text, 16));
        Some((start.ok()?..end.ok()?).contains(&address) && rest.as_bytes().get(3) == Some(&b's'))
    };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| has(line) == Some(true))
}

/// Reads words of the program's memory, except in pages that the program has protected or unmapped.
pub(crate) struct Words {
    /// The address of the page that was read last.
    page: usize,
    is_there: bool,
    words: [usize; PAGE / size_of::<usize>()],
}

impl Words {
    pub(crate) fn new() -> Self {
        // No page has this address.
        Words { page: 1, is_there: false, words: [0; PAGE / size_of::<usize>()] }
    }

    /// Returns the word at an address, which must be a multiple of the word's size.
    pub(crate) fn at(&mut self, address: usize) -> Option<usize> {
        let page = address & !(PAGE - 1);
        if page != self.page {
            let to = libc::iovec { iov_base: self.words.as_mut_ptr().cast(), iov_len: PAGE };
            let from = libc::iovec { iov_base: ptr::without_provenance_mut(page), iov_len: PAGE };
            // SAFETY: `words` has room for a page. The system checks whether the page can be read.
            let read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
            (self.page, self.is_there) = (page, read == PAGE as isize);
        }
        self.is_there.then(|| self.words[(address - page) / size_of::<usize>()])
    }
}

/// This library's allocator. It does not use the program's `malloc`, which may be instrumented and
/// call this library. Block sizes are powers of two. A block of more than [`LARGEST`] bytes is a
/// mapping of its own. Most other blocks are cut from chunks. When freed, they are added to a list
/// for their size.
struct Own {
    free: Lock<Free>,
}

struct Free {
    /// The free blocks of each size, beginning with [`SMALLEST`]. The first word of a free block is
    /// the address of the next free block.
    lists: [*mut u8; CLASSES],
    /// The start of the last chunk's unused part, which has `left` bytes.
    chunk: *mut u8,
    left: usize,
}

// SAFETY: nothing uses the free blocks, and a lock protects the lists.
unsafe impl Send for Free {}

const SMALLEST: usize = 16;
const CLASSES: usize = 11;
const LARGEST: usize = SMALLEST << (CLASSES - 1);
const CHUNK: usize = 1 << 20;
/// The system's page size, in bytes.
pub(crate) const PAGE: usize = 4096;

#[global_allocator]
static OWN: Own = Own {
    free: Lock::new(Free { lists: [ptr::null_mut(); CLASSES], chunk: ptr::null_mut(), left: 0 }),
};

fn block_size(layout: Layout) -> usize {
    layout.size().max(layout.align()).max(SMALLEST).next_power_of_two()
}

// SAFETY: a block has at least the requested size, is aligned to its size or to a page, and is
// given out only once.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = block_size(layout);
        if layout.align() > PAGE {
            return ptr::null_mut();
        }
        match self.free.take().filter(|_| size <= LARGEST) {
            Some(mut free) => free.block(size),
            // The block is large, or the lock is not available, such as in a signal handler.
            None => map(size).unwrap_or(ptr::null_mut()),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let size = block_size(layout);
        if size > LARGEST {
            return unmap(block, size);
        }
        // If the lock is not available, the block is never used again.
        if let Some(mut free) = self.free.take() {
            let list = &mut free.lists[class(size)];
            // SAFETY: the block is free now, and has room for an address.
            unsafe { block.cast::<*mut u8>().write(*list) };
            *list = block;
        }
    }
}

fn class(size: usize) -> usize {
    (size / SMALLEST).trailing_zeros() as usize
}

impl Free {
    fn block(&mut self, size: usize) -> *mut u8 {
        let list = &mut self.lists[class(size)];
        if !list.is_null() {
            let block = *list;
            // SAFETY: a free block begins with the address of the next.
            *list = unsafe { block.cast::<*mut u8>().read() };
            return block;
        }
        let skipped = self.chunk.align_offset(size);
        if self.chunk.is_null() || skipped.saturating_add(size) > self.left {
            // The rest of the old chunk is not used.
            let Some(chunk) = map(CHUNK) else { return ptr::null_mut() };
            (self.chunk, self.left) = (chunk, CHUNK);
            return self.cut(0, size);
        }
        self.cut(skipped, size)
    }

    fn cut(&mut self, skipped: usize, size: usize) -> *mut u8 {
        let block = self.chunk.wrapping_add(skipped);
        self.chunk = block.wrapping_add(size);
        self.left -= skipped + size;
        block
    }
}
