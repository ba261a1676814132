//! `libtbaa_witness`: at run time, reports accesses that contradict their tags.
//!
//! A module instrumented by `tbaa instrument` checks each tagged access before it happens. It calls
//! this library if the result is not cached. The library remembers the last instruction that wrote
//! each byte. If a later read has another tag, the library applies the alias rule. If the rule says
//! `NoAlias`, LLVM may move the read before the write, and the library reports both. With `reuse=1`
//! it also remembers a read after the write, and checks later writes against that read. New memory
//! has no recorded accesses.
//!
//! The functions here are the C ABI: `__tbaa_witness_*` for instrumented modules, `tbaa_witness_*`
//! for programs (see `tbaa_witness.h`), and replacements of the C library's functions that allocate
//! or write memory.
//!
//! The library supports the GNU C library on Linux, x86-64.

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
compile_error!("libtbaa_witness needs the GNU C library on Linux, x86-64");

mod blocks;
mod cells;
mod end;
mod interpose;
mod kinds;
mod limits;
mod loader;
mod lock;
mod log;
mod memory;
mod module;
mod options;
mod outside;
mod own;
mod report;
mod reproduce;
mod shadow;
mod sites;
mod states;
mod symbols;

pub use interpose::*;
pub use limits::*;
pub use loader::*;
pub use module::Module;

use std::arch::naked_asm;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The functions that may report an access. A report's stack begins with their caller.
pub(crate) static CHECKS: &[Check] = &[
    Check(__tbaa_witness_check as *const ()),
    Check(check as *const ()),
    Check(__tbaa_witness_access as *const ()),
    Check(__tbaa_witness_masked as *const ()),
];

pub(crate) struct Check(pub(crate) *const ());

// SAFETY: the address of a function is only compared.
unsafe impl Sync for Check {}

/// Records an access by the module's instruction `number`. If `size` is `None`, the size is in the
/// module's table.
#[inline(always)]
fn access(address: usize, size: Option<usize>, number: u32, module: &'static Module) {
    let event = module.event(number);
    // If the module could not be registered, reads are ignored and writes clear records.
    if event.site != 0 || !event.reads {
        shadow::note(address, size.unwrap_or(event.size as usize), event);
        if kinds::count() > 0 {
            end::halt();
        }
    }
}

/// Called before an access whose size is in the module's table.
///
/// Preserves vector registers: inline assembly may call it, and LLVM does not see that call.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_check(address: *const u8, number: u32, module: &'static Module) {
    // The state of SSE, AVX and AVX-512 takes 2,688 bytes. Its header at byte 512 is zeroed first:
    // `xsave` does not write all of it, and `xrstor` requires zeros in the rest.
    naked_asm!(
        include_str!("check.s"),
        xsave = sym XSAVE,
        check = sym check,
    );
}

/// True if the processor and the system support `xsave`.
static XSAVE: AtomicBool = AtomicBool::new(false);

extern "C" fn check(address: *const u8, number: u32, module: &'static Module) {
    access(address.addr(), None, number, module);
}

/// Called before an access whose size is known only at run time.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_access(
    address: *const u8,
    size: usize,
    number: u32,
    module: &'static Module,
) {
    access(address.addr(), Some(size), number, module);
}

/// Called before an access to elements of `size` bytes each. Bit n of `bits` selects element n.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_masked(
    address: *const u8,
    bits: u64,
    size: usize,
    number: u32,
    module: &'static Module,
) {
    elements(bits).for_each(|at| access(address.addr() + at * size, Some(size), number, module));
}

/// Called before an untagged write to elements. Bit n of `bits` selects element n.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_masked_clear(address: *const u8, bits: u64, size: usize) {
    elements(bits).for_each(|at| shadow::clear(address.addr() + at * size, size));
}

fn elements(bits: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |at| bits >> at & 1 != 0)
}

/// Called before an untagged write, and when a stack slot's lifetime begins or ends.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_clear(address: *const u8, size: usize) {
    shadow::clear(address.addr(), size);
}

/// Called after a string was printed to `address`. The string has at most `most` bytes, including
/// its terminating 0.
///
/// # Safety
///
/// `address` points to such a string, or `most` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tbaa_witness_printed(address: *const libc::c_char, most: usize) {
    if most > 0 && !address.is_null() {
        // SAFETY: as the contract says.
        let len = unsafe { libc::strnlen(address, most) };
        shadow::clear(address.addr(), len.saturating_add(1).min(most));
    }
}

/// [`__tbaa_witness_unwound`] clears the records of this many bytes below its frame.
const DEAD_STACK: usize = 1 << 16;

/// Called when functions may have been left by `longjmp` or an exception. Clears records of
/// their stack, unless `returned` is 0. `returned` is the result of `setjmp`, 1 for an exception.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_unwound(returned: c_int) {
    if returned == 0 {
        return;
    }
    // A signal handler may have jumped out of this library.
    if lock::STARTED.load(Relaxed) {
        lock::set_inside(false);
    }
    let here = 0_u8;
    let end = std::ptr::from_ref(&here).addr();
    shadow::clear(end.saturating_sub(DEAD_STACK), DEAD_STACK);
}

/// Tells the library that code without instrumentation has written, or will now write, `size`
/// bytes. The library clears what it has recorded for them.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_witness_wrote(address: *const u8, size: usize) {
    shadow::clear(address.addr(), size);
}

/// Tells the library that an allocator returns `size` bytes for a new object.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_witness_fresh(address: *const u8, size: usize) {
    shadow::clear(address.addr(), size);
}

/// Returns the number of contradictions reported so far. Each pair of accesses counts once.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_witness_reports() -> u32 {
    kinds::count()
}

/// Called before a function without instrumentation gets a pointer to `size` bytes. If `size` is 0,
/// the number is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_out(callee: *const u8, pointer: *const u8, size: usize) {
    outside::called(callee.addr(), pointer.addr(), size);
}

/// Called where inline assembly may access any memory.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_barrier() {
    outside::barrier();
}

/// Called after an allocation function has returned a block of `size` bytes, or null.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_allocated(block: *mut u8, size: usize) {
    if blocks::returned(block, size) {
        shadow::clear(block.addr(), size);
    }
}

/// Called before a block is freed. `block` may be null.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_released(block: *mut u8) {
    if let Some(size) = blocks::released(block) {
        shadow::clear(block.addr(), size);
    }
}

/// Runs when the program ends, after the `atexit` handlers that the program has registered.
extern "C" fn at_exit() {
    let _inside = lock::enter();
    end::say();
    end::write_files();
    let code = options::options().exitcode;
    if kinds::count() > 0 && code != 0 {
        // SAFETY: flushes the C library's streams, and ends the process.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(code);
        }
    }
}

/// Restarts the program with a limited stack and the new address layout, if its stack is unlimited
/// or its layout is old: in these cases Linux may put mappings at the addresses of shadow memory.
fn start_again(arguments: *const *const c_char, environment: *const *const c_char) {
    /// `ADDR_COMPAT_LAYOUT` of Linux.
    const OLD_LAYOUT: c_int = 0x020_0000;
    /// The largest limit of the stack after a restart, in bytes.
    const LIMIT: libc::rlim_t = 64 << 30;
    // SAFETY: the arguments are those that the C library passes to constructors. Only this
    // process's own limits and layout are read and set.
    unsafe {
        let mut limit: libc::rlimit64 = std::mem::zeroed();
        let personality = libc::personality(0xffff_ffff);
        limits::system(0, libc::RLIMIT_STACK as c_int, std::ptr::null(), &mut limit);
        let (endless, old) = (limit.rlim_cur == libc::RLIM_INFINITY, personality & OLD_LAYOUT != 0);
        if endless || old {
            limit.rlim_cur = limit.rlim_cur.min(LIMIT);
            limits::system(0, libc::RLIMIT_STACK as c_int, &limit, std::ptr::null_mut());
            libc::personality((personality & !OLD_LAYOUT) as libc::c_ulong);
            libc::execve(c"/proc/self/exe".as_ptr(), arguments, environment);
        }
    }
}

extern "C" fn forks() {
    report::FORKED.store(true, Relaxed);
}

extern "C" fn at_start(
    _: c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) {
    cells::reserve(|| start_again(arguments, environment));
    XSAVE.store(std::is_x86_feature_detected!("xsave"), Relaxed);
    // SAFETY: the functions take no arguments and are never unloaded.
    unsafe {
        libc::pthread_atfork(Some(forks), None, None);
        libc::atexit(at_exit);
    }
    lock::STARTED.store(true, Release);
}

/// Runs before the program's constructors. So the `atexit` handlers that they register run before
/// [`at_exit`].
#[used]
#[unsafe(link_section = ".init_array.00000")]
static AT_START: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = at_start;
