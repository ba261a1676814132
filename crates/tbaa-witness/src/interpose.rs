//! Replaces functions of the C library that allocate or write memory.
//!
//! Most replacements call the C library's function and then clear the shadow memory of the bytes
//! that the function returned or wrote, because their contents are unknown. `tbaa instrument`
//! handles calls of variadic functions and of functions that LLVM transforms (`snprintf`, `scanf`,
//! `strcpy`).

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};

use tbaa_instrument::interposed;

use crate::cells::GRANULE;
use crate::{Check, blocks, limits, shadow, symbols};

unsafe extern "C" {
    // The GNU C library's own functions, under names that programs do not replace.
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_calloc(count: usize, size: usize) -> *mut u8;
    fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn __libc_memalign(align: usize, size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
}

/// Defines an allocation function that jumps to `$inner`. It passes its return address in
/// `$register`, as an additional last argument.
macro_rules! from_caller {
    ($name:ident => $inner:ident, $register:literal) => {
        /// Allocates like the C library's function of this name, and records the block.
        ///
        /// # Safety
        ///
        /// The same as for the C library's function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $inner);
        }
    };
}

from_caller!(malloc => malloc_from, "rsi");
from_caller!(calloc => calloc_from, "rdx");
from_caller!(realloc => realloc_from, "rdx");
from_caller!(reallocarray => reallocarray_from, "rcx");
from_caller!(valloc => valloc_from, "rsi");
from_caller!(pvalloc => pvalloc_from, "rsi");
from_caller!(memalign => memalign_from, "rdx");
from_caller!(aligned_alloc => memalign_from, "rdx");
from_caller!(posix_memalign => posix_memalign_from, "rcx");

fn allocated(block: *mut u8, asked: usize, caller: usize) -> *mut u8 {
    if !block.is_null() {
        // Whole granules (of 4 bytes) are cleared without a lock. This thread may already hold one.
        shadow::clear(block.addr(), blocks::usable(block).next_multiple_of(GRANULE));
        blocks::mark(block, asked, caller);
    }
    block
}

unsafe extern "C" fn malloc_from(size: usize, caller: usize) -> *mut u8 {
    // SAFETY: as `malloc`.
    allocated(unsafe { __libc_malloc(size) }, size, caller)
}

unsafe extern "C" fn calloc_from(count: usize, size: usize, caller: usize) -> *mut u8 {
    // SAFETY: as `calloc`.
    allocated(unsafe { __libc_calloc(count, size) }, count.wrapping_mul(size), caller)
}

unsafe extern "C" fn memalign_from(align: usize, size: usize, caller: usize) -> *mut u8 {
    // SAFETY: as `memalign`.
    allocated(unsafe { __libc_memalign(align, size) }, size, caller)
}

unsafe extern "C" fn posix_memalign_from(
    to: *mut *mut u8,
    align: usize,
    size: usize,
    caller: usize,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: as `memalign`; the caller provides `to` for the block's address.
    unsafe {
        let block = memalign_from(align, size, caller);
        if block.is_null() {
            return libc::ENOMEM;
        }
        *to = block;
    }
    shadow::clear(to.addr(), size_of::<usize>());
    0
}

unsafe extern "C" fn realloc_from(block: *mut u8, size: usize, caller: usize) -> *mut u8 {
    // SAFETY: as `realloc`: `block` is null or a heap block.
    let (old, new) = unsafe {
        let old = blocks::usable(block);
        blocks::freed(block);
        (old, __libc_realloc(block, size))
    };
    if new.is_null() {
        if size != 0 && !block.is_null() {
            // The call failed, and the block still exists.
            blocks::mark(block, old, caller);
        }
    } else if new == block {
        blocks::mark(new, size, caller);
        shadow::clear(new.addr() + old, blocks::usable(new).saturating_sub(old));
    } else {
        shadow::give_back(block.addr(), old);
        allocated(new, size, caller);
    }
    new
}

unsafe extern "C" fn reallocarray_from(
    block: *mut u8,
    count: usize,
    size: usize,
    caller: usize,
) -> *mut u8 {
    // SAFETY: `errno` is this thread's own; the rest as `realloc`.
    unsafe {
        let Some(size) = count.checked_mul(size) else {
            *libc::__errno_location() = libc::ENOMEM;
            return ptr::null_mut();
        };
        realloc_from(block, size, caller)
    }
}

unsafe extern "C" fn valloc_from(size: usize, caller: usize) -> *mut u8 {
    // SAFETY: as `memalign`.
    unsafe { memalign_from(page(), size, caller) }
}

unsafe extern "C" fn pvalloc_from(size: usize, caller: usize) -> *mut u8 {
    let whole = size.checked_next_multiple_of(page()).unwrap_or(usize::MAX);
    // SAFETY: as `memalign`.
    unsafe { memalign_from(page(), whole, caller) }
}

fn page() -> usize {
    // SAFETY: `sysconf` has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(1 << 12)
}

/// Calls the C library's `free`, after this library's record of the block is removed.
///
/// # Safety
///
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut u8) {
    blocks::freed(block);
    shadow::give_back(block.addr(), blocks::usable(block));
    // SAFETY: as `free`.
    unsafe { __libc_free(block) };
}

/// Replaces the C library's function and does nothing. Locking would commit all memory that is
/// reserved for shadow memory.
#[unsafe(no_mangle)]
pub extern "C" fn mlockall(_flags: c_int) -> c_int {
    0
}

/// Returns the C library's function `name`, and stores its address in `known`.
fn next(known: &AtomicPtr<c_void>, name: &'static CStr) -> *mut c_void {
    let mut function = known.load(Relaxed);
    if function.is_null() {
        // SAFETY: a name that ends in 0.
        function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        if function.is_null() {
            // The function is missing only if the program is linked in an unsupported way.
            std::process::abort();
        }
        known.store(function, Relaxed);
    }
    function
}

/// Defines functions that call the C library's function and then clear the shadow memory of what it
/// wrote. The expression `$tell` does the clearing. In it, `$result` is the function's result.
/// `$first`, if given, runs before the call.
macro_rules! writers {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $output:ty
        { $($first:block)? |$result:ident| $tell:expr })*) => {
        static WRITERS: &[Check] = &[$(Check($name as *const ())),*];
    $(
        /// Calls the C library's function, then clears the shadow memory of what it wrote.
        ///
        /// # Safety
        ///
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $output {
            static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
            const NAME: &CStr =
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without zeroes"),
                };
            // SAFETY: the function of this name has this type, and the caller fulfils its contract.
            // Only memory that the function has written is read.
            unsafe {
                let function = next(&NEXT, NAME);
                let function: unsafe extern "C" fn($($ty),*) -> $output =
                    std::mem::transmute(function);
                $($first)?
                let $result = function($($arg),*);
                $tell;
                $result
            }
        }
    )*};
}

fn wrote<T>(to: *const T, size: usize) {
    if !to.is_null() {
        shadow::clear(to.addr(), size);
    }
}

/// Clears the shadow memory of `result` bytes. A negative `result` is an error: nothing is cleared.
fn filled<T>(to: *const T, result: isize) {
    wrote(to, usize::try_from(result).unwrap_or(0));
}

fn wrote_one<T>(to: *const T) {
    wrote(to, size_of::<T>());
}

fn failed(mapping: *mut c_void) -> bool {
    mapping == libc::MAP_FAILED
}

fn mapped(mapping: *mut c_void, size: usize) {
    if !failed(mapping) {
        shadow::clear(mapping.addr(), size);
        blocks::mapped(mapping.addr(), size, true);
    }
}

fn unmapped(mapping: *mut c_void, size: usize, done: bool) {
    if done {
        shadow::clear(mapping.addr(), size);
        blocks::mapped(mapping.addr(), size, false);
    }
}

fn gives_up(advice: c_int) -> bool {
    [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE, libc::MADV_DONTNEED_LOCKED]
        .contains(&advice)
}

unsafe fn printed(at: *const c_char) {
    if !at.is_null() {
        // SAFETY: the caller guarantees a string here.
        wrote(at, unsafe { libc::strlen(at) } + 1);
    }
}

/// Clears the shadow memory of the first `result` bytes of the buffers that `to` lists.
unsafe fn scattered(to: *const libc::iovec, count: usize, result: isize) {
    let mut left = usize::try_from(result).unwrap_or(0);
    for at in 0..count {
        // SAFETY: the caller guarantees `count` entries.
        let part = unsafe { &*to.add(at) };
        let here = part.iov_len.min(left);
        wrote(part.iov_base, here);
        left -= here;
    }
}

unsafe fn received(to: *const libc::msghdr, result: isize) {
    if result >= 0 {
        // SAFETY: the caller guarantees a message here.
        let message = unsafe { &*to };
        wrote_one(to);
        wrote(message.msg_name, message.msg_namelen as usize);
        wrote(message.msg_control, message.msg_controllen);
        // SAFETY: a message has as many buffers as it says.
        unsafe { scattered(message.msg_iov, message.msg_iovlen, result) };
    }
}

writers! {
    fn read(file: c_int, to: *mut c_void, most: usize) -> isize { |n| filled(to, n) }
    fn pread(file: c_int, to: *mut c_void, most: usize, at: i64) -> isize { |n| filled(to, n) }
    fn pread64(file: c_int, to: *mut c_void, most: usize, at: i64) -> isize { |n| filled(to, n) }
    fn readv(file: c_int, to: *const libc::iovec, count: c_int) -> isize
        { |n| scattered(to, count as usize, n) }
    fn preadv(file: c_int, to: *const libc::iovec, count: c_int, at: i64) -> isize
        { |n| scattered(to, count as usize, n) }
    // With `MSG_TRUNC`, the result may exceed the buffer's size.
    fn recv(file: c_int, to: *mut c_void, most: usize, flags: c_int) -> isize
        { |n| filled(to, n.min(most as isize)) }
    fn recvfrom(file: c_int, to: *mut c_void, most: usize, flags: c_int, from: *mut c_void,
        len: *mut libc::socklen_t) -> isize {
        |n| { filled(to, n.min(most as isize)); if !len.is_null() { wrote(from, *len as usize); wrote_one(len) } }
    }
    fn recvmsg(file: c_int, to: *mut libc::msghdr, flags: c_int) -> isize { |n| received(to, n) }
    fn readlink(path: *const c_char, to: *mut c_char, most: usize) -> isize { |n| filled(to, n) }
    fn fread(to: *mut c_void, size: usize, count: usize, file: *mut c_void) -> usize
        { |n| wrote(to, n.saturating_add(1).min(count).wrapping_mul(size)) }
    // A line may contain bytes that are 0.
    fn fgets(to: *mut c_char, most: c_int, file: *mut c_void) -> *mut c_char
        { |text| if !text.is_null() { wrote(text, most as usize) } }
    fn getcwd(to: *mut c_char, most: usize) -> *mut c_char { |text| printed(text) }
    fn stat(path: *const c_char, to: *mut libc::stat) -> c_int { |status| wrote_one(to) }
    fn lstat(path: *const c_char, to: *mut libc::stat) -> c_int { |status| wrote_one(to) }
    fn fstat(file: c_int, to: *mut libc::stat) -> c_int { |status| wrote_one(to) }
    fn time(to: *mut c_long) -> c_long { |status| wrote_one(to) }
    fn gettimeofday(to: *mut libc::timeval, zone: *mut c_void) -> c_int { |status| wrote_one(to) }
    fn clock_gettime(clock: c_int, to: *mut libc::timespec) -> c_int { |status| wrote_one(to) }
    fn gmtime_r(time: *const c_long, to: *mut libc::tm) -> *mut libc::tm { |tm| wrote_one(tm) }
    fn localtime_r(time: *const c_long, to: *mut libc::tm) -> *mut libc::tm { |tm| wrote_one(tm) }
    fn mmap(at: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, from: i64)
        -> *mut c_void { |mapping| mapped(mapping, size) }
    fn mmap64(at: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, from: i64)
        -> *mut c_void { |mapping| mapped(mapping, size) }
    // The last parameter is variadic in C, but is passed like a fixed parameter.
    fn mremap(at: *mut c_void, old: usize, size: usize, flags: c_int, to: *mut c_void)
        -> *mut c_void { |mapping| { unmapped(at, old, !failed(mapping)); mapped(mapping, size) } }
    // Some advice replaces the pages by zeroes.
    fn madvise(at: *mut c_void, size: usize, advice: c_int) -> c_int
        { |status| if status == 0 && gives_up(advice) { wrote(at, size) } }
    fn munmap(at: *mut c_void, size: usize) -> c_int { |status| unmapped(at, size, status == 0) }
    fn qsort(base: *mut c_void, count: usize, size: usize, compare: *mut c_void) -> ()
        // The elements may move between two calls of `compare`.
        { { wrote(base, count.wrapping_mul(size)) } |unit| wrote(base, count.wrapping_mul(size)) }
}

static OTHERS: &[Check] = &[
    Check(malloc as *const ()),
    Check(calloc as *const ()),
    Check(realloc as *const ()),
    Check(reallocarray as *const ()),
    Check(valloc as *const ()),
    Check(pvalloc as *const ()),
    Check(memalign as *const ()),
    Check(aligned_alloc as *const ()),
    Check(posix_memalign as *const ()),
    Check(free as *const ()),
    Check(pthread_create as *const ()),
    Check(thrd_create as *const ()),
    Check(limits::prlimit as *const ()),
    Check(limits::prlimit64 as *const ()),
    Check(limits::setrlimit as *const ()),
    Check(limits::setrlimit64 as *const ()),
];

/// Returns whether a function is a replacement that clears shadow memory itself. In a non-PIE
/// program, the address of such a function may be that of the program's PLT entry for it.
pub(crate) fn is_own(function: usize, name: &str) -> bool {
    WRITERS.iter().chain(OTHERS).any(|own| own.0.addr() == function)
        || interposed().any(|own| own == name) && symbols::is_entry(function)
}

struct Thread<R> {
    run: extern "C" fn(*mut c_void) -> R,
    argument: *mut c_void,
}

extern "C" fn start<R>(thread: *mut c_void) -> R {
    // SAFETY: the caller that creates this thread made it for this thread alone.
    let Thread { run, argument } = *unsafe { Box::from_raw(thread.cast::<Thread<R>>()) };
    // Another thread may have used the stack and the memory of thread-local variables before.
    // SAFETY: the attributes are filled in where the call succeeds.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            let (mut stack, mut size) = (ptr::null_mut(), 0);
            if libc::pthread_attr_getstack(&attributes, &mut stack, &mut size) == 0 {
                shadow::clear(stack.addr(), size);
            }
            libc::pthread_attr_destroy(&mut attributes);
        }
    }
    run(argument)
}

/// Calls the C library's function. The new thread first clears its stack's shadow memory.
///
/// # Safety
///
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    run: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    type Create = unsafe extern "C" fn(
        *mut libc::pthread_t,
        *const libc::pthread_attr_t,
        extern "C" fn(*mut c_void) -> *mut c_void,
        *mut c_void,
    ) -> c_int;
    shadow::THREADED.store(true, SeqCst);
    let own = Box::into_raw(Box::new(Thread { run, argument }));
    // SAFETY: the function of this name has this type. If it fails, no thread owns the box.
    unsafe {
        let create: Create = std::mem::transmute(next(&NEXT, c"pthread_create"));
        let status = create(thread, attributes, start, own.cast());
        if status != 0 {
            drop(Box::from_raw(own));
        }
        shadow::clear(thread.addr(), size_of::<libc::pthread_t>());
        status
    }
}

/// Works like [`pthread_create`], which the C library's `thrd_create` does not call.
///
/// # Safety
///
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_create(
    thread: *mut c_void,
    run: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
) -> c_int {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    type Run = extern "C" fn(*mut c_void) -> c_int;
    type Create = unsafe extern "C" fn(*mut c_void, Run, *mut c_void) -> c_int;
    shadow::THREADED.store(true, SeqCst);
    let own = Box::into_raw(Box::new(Thread { run, argument }));
    // SAFETY: the function of this name has this type. If it fails, no thread owns the box.
    unsafe {
        let create: Create = std::mem::transmute(next(&NEXT, c"thrd_create"));
        let status = create(thread, start, own.cast());
        if status != 0 {
            drop(Box::from_raw(own));
        }
        shadow::clear(thread.addr(), size_of::<libc::c_ulong>());
        status
    }
}
