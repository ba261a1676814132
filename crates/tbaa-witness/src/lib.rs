//! `libtbaa_witness`: says at run time which accesses contradict their tags.
//!
//! A module that `tbaa instrument` has worked on checks each tagged access before it
//! happens, and calls this library where that is new. The library remembers, for each byte, the
//! access that wrote it last, and asks the rule about a later read by another tag. If the rule says
//! `NoAlias`, LLVM may let the read go first, and the library reports the two. With `reuse=1` it
//! remembers an access that has read the byte since as well, and asks about a read and a later write.
//! What is fresh nobody has written or read.
//!
//! The functions here are the C ABI: what modules call (`__tbaa_witness_*`),
//! what a program may call (`tbaa_witness_*`, see `tbaa_witness.h`), and the C
//! library's functions that give out memory or write to it.
//!
//! The GNU C library on Linux, x86-64.

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
compile_error!("libtbaa_witness needs the GNU C library on Linux, x86-64");

mod blocks;
mod cells;
mod end;
mod interpose;
mod kinds;
mod limits;
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
pub use module::Module;

use std::arch::naked_asm;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The frames of a report begin above these.
pub(crate) static CHECKS: &[Check] = &[
    Check(__tbaa_witness_check as *const ()),
    Check(check as *const ()),
    Check(__tbaa_witness_access as *const ()),
    Check(__tbaa_witness_masked as *const ()),
];

/// A function that may report.
pub(crate) struct Check(pub(crate) *const ());

// SAFETY: the address of a function is compared, and nothing else.
unsafe impl Sync for Check {}

/// Notes an access by the site of this number in the module; without a size, of as many bytes as
/// its table says.
#[inline(always)]
fn access(address: usize, size: Option<usize>, number: u32, module: &'static Module) {
    let event = module.event(number);
    // Of a module that could not be registered, reads tell nothing.
    if event.site != 0 || !event.reads {
        shadow::note(address, size.unwrap_or(event.size as usize), event);
        if kinds::count() > 0 {
            end::halt();
        }
    }
}

/// Before an access of as many bytes as the site's table says.
///
/// Keeps vector registers: who calls this may be inline assembly, of which LLVM does not know
/// that it calls.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_check(address: *const u8, number: u32, module: &'static Module) {
    // The state of SSE, AVX and AVX-512 takes 2,688 bytes. `xrstor` wants the rest of its
    // header, from 512 on, to be zero.
    naked_asm!(
        include_str!("check.s"),
        xsave = sym XSAVE,
        check = sym check,
    );
}

/// Whether the processor and the system have `xsave`.
static XSAVE: AtomicBool = AtomicBool::new(false);

extern "C" fn check(address: *const u8, number: u32, module: &'static Module) {
    access(address.addr(), None, number, module);
}

/// Before an access of any size.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_access(
    address: *const u8,
    size: usize,
    number: u32,
    module: &'static Module,
) {
    access(address.addr(), Some(size), number, module);
}

/// Before an access of those elements, each of `size` bytes, whose bit is set.
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

/// Before a write without a tag of those elements whose bit is set.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_masked_clear(address: *const u8, bits: u64, size: usize) {
    elements(bits).for_each(|at| shadow::clear(address.addr() + at * size, size));
}

fn elements(bits: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |at| bits >> at & 1 != 0)
}

/// Before a write without a tag, and where a stack slot begins or ends.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_clear(address: *const u8, size: usize) {
    shadow::clear(address.addr(), size);
}

/// After a string was printed to `address`, of `most` bytes with its end.
///
/// # Safety
///
/// There is such a string, unless `most` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tbaa_witness_printed(address: *const libc::c_char, most: usize) {
    if most > 0 && !address.is_null() {
        // SAFETY: as the contract says.
        let len = unsafe { libc::strnlen(address, most) };
        shadow::clear(address.addr(), len.saturating_add(1).min(most));
    }
}

/// How much of a stack below a frame is taken to have been used.
const DEAD_STACK: usize = 1 << 16;

/// Where frames are gone that did not return: what they left is nobody's. `returned` is what `setjmp`
/// has returned: 0 the first time, when all frames are there.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_unwound(returned: c_int) {
    if returned == 0 {
        return;
    }
    // A signal's handler may have jumped out of this library.
    if lock::STARTED.load(Relaxed) {
        lock::set_inside(false);
    }
    let here = 0_u8;
    let end = std::ptr::from_ref(&here).addr();
    shadow::clear(end.saturating_sub(DEAD_STACK), DEAD_STACK);
}

/// Says that code which is not checked has written `size` bytes, or is about to:
/// nothing is known of them any more.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_witness_wrote(address: *const u8, size: usize) {
    shadow::clear(address.addr(), size);
}

/// Says that an allocator gives out `size` bytes for something new.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_witness_fresh(address: *const u8, size: usize) {
    shadow::clear(address.addr(), size);
}

/// Returns how many contradictions were reported so far: each pair of accesses counts once.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_witness_reports() -> u32 {
    kinds::count()
}

/// Before a call of a function that may not be checked, with a pointer to memory of `size`
/// bytes, or, if that is 0, of an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_out(callee: *const u8, pointer: *const u8, size: usize) {
    outside::called(callee.addr(), pointer.addr(), size);
}

/// Where LLVM may move no access of memory that others can reach.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_barrier() {
    outside::barrier();
}

/// After an allocation function has returned a block of `size` bytes, or null.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_allocated(block: *mut u8, size: usize) {
    if blocks::returned(block, size) {
        shadow::clear(block.addr(), size);
    }
}

/// Before a block, or null, is given back.
#[unsafe(no_mangle)]
pub extern "C" fn __tbaa_witness_released(block: *mut u8) {
    if let Some(size) = blocks::released(block) {
        shadow::clear(block.addr(), size);
    }
}

/// Runs when the program ends, after what it has registered for that.
extern "C" fn at_exit() {
    let _inside = lock::enter();
    end::say();
    end::write_files();
    let code = options::options().exitcode;
    if kinds::count() > 0 && code != 0 {
        // SAFETY: writes what the C library's streams hold, and ends the
        // process.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(code);
        }
    }
}

/// Where a stack without limit or an old layout puts mappings among the cells, starts the program
/// anew without these.
fn start_again(arguments: *const *const c_char, environment: *const *const c_char) {
    /// `ADDR_COMPAT_LAYOUT` of Linux.
    const OLD_LAYOUT: c_int = 0x020_0000;
    /// Of the program's stack, in bytes.
    const LIMIT: libc::rlim_t = 64 << 30;
    // SAFETY: the arguments are those that the C library gives to functions that run at the start;
    // what is asked and set is this process's own.
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
    // SAFETY: the functions take nothing and stay.
    unsafe {
        libc::pthread_atfork(Some(forks), None, None);
        libc::atexit(at_exit);
    }
    lock::STARTED.store(true, Release);
}

/// Before the program's own constructors, so that what they register for the
/// program's end comes before [`at_exit`].
#[used]
#[unsafe(link_section = ".init_array.00000")]
static AT_START: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = at_start;
