//! Replaces the C library's functions with which a program limits its own memory.
//!
//! This library's memory does not count towards the program's limits. The kernel gets the program's
//! limit plus this library's memory, and the program reads back the value that it set. If the
//! program makes the system call itself, this library's memory counts too. A program started by
//! `exec` inherits the kernel's limits. Source: `getrlimit(2)`.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::*};

use libc::{RLIM_INFINITY, pid_t, rlimit64};

use crate::lock::Lock;
use crate::{cells, shadow};

/// A limit that counts reserved address space.
struct Limit {
    resource: c_int,
    /// The reserved bytes that the limit counts.
    reserved: u64,
    /// The value that the program has set, if any.
    own: Lock<Option<rlimit64>>,
}

static LIMITS: [Limit; 2] = [
    Limit { resource: libc::RLIMIT_AS as c_int, reserved: cells::ALL, own: Lock::new(None) },
    Limit { resource: libc::RLIMIT_DATA as c_int, reserved: cells::USABLE, own: Lock::new(None) },
];

/// The bytes that this library has mapped besides the reserved address space.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The bytes that this library may still map after the program has set a limit.
const ROOM: u64 = 1 << 30;

pub(crate) fn system(
    process: pid_t,
    resource: c_int,
    new: *const rlimit64,
    old: *mut rlimit64,
) -> c_int {
    // SAFETY: the pointers are null or the program's own.
    unsafe { libc::syscall(libc::SYS_prlimit64, process, resource, new, old) as c_int }
}

fn plus(limit: u64, more: u64) -> u64 {
    if limit == RLIM_INFINITY { limit } else { limit.saturating_add(more).min(RLIM_INFINITY - 1) }
}

fn minus(limit: u64, less: u64) -> u64 {
    if limit == RLIM_INFINITY { limit } else { limit.saturating_sub(less) }
}

impl Limit {
    /// Returns the limit to pass to the kernel for a limit that the program set.
    fn charged(&self, own: &rlimit64) -> rlimit64 {
        rlimit64 {
            rlim_cur: plus(own.rlim_cur, self.reserved + TAKEN.load(Relaxed)),
            rlim_max: plus(own.rlim_max, self.reserved + ROOM),
        }
    }

    /// Sets the program's limit to `new` and returns the old one in `old`. Either may be null.
    unsafe fn exchange(&self, new: *const rlimit64, old: *mut rlimit64) -> c_int {
        // SAFETY: the caller passes null or pointers to limits.
        let new = unsafe { new.as_ref() };
        let fail = |error| {
            // SAFETY: the thread's own variable.
            unsafe { *libc::__errno_location() = error };
            -1
        };
        let Some(mut own) = self.own.take() else { return fail(libc::EAGAIN) };
        // The kernel cannot check this: it gets other values.
        if new.is_some_and(|new| new.rlim_cur > new.rlim_max) {
            return fail(libc::EINVAL);
        }
        let charged = new.map(|new| self.charged(new));
        let charged = charged.as_ref().map_or(ptr::null(), ptr::from_ref);
        let mut was = rlimit64 { rlim_cur: 0, rlim_max: 0 };
        let status = system(0, self.resource, charged, &mut was);
        if status == 0 {
            let was = own.unwrap_or(rlimit64 {
                rlim_cur: minus(was.rlim_cur, self.reserved),
                rlim_max: minus(was.rlim_max, self.reserved),
            });
            if let Some(new) = new {
                *own = Some(*new);
            }
            // SAFETY: as above.
            if let Some(old) = unsafe { old.as_mut() } {
                *old = was;
            }
        }
        status
    }
}

/// Counts bytes that this library maps (`takes`) or unmaps, and adjusts the kernel's limits.
pub(crate) fn take(bytes: usize, takes: bool) {
    match takes {
        true => TAKEN.fetch_add(bytes as u64, Relaxed),
        false => TAKEN.fetch_sub(bytes as u64, Relaxed),
    };
    for limit in &LIMITS {
        if let Some(own) = limit.own.take()
            && let Some(own) = *own
        {
            system(0, limit.resource, &limit.charged(&own), ptr::null_mut());
        }
    }
}

/// Replaces the C library's function. This library's memory does not count.
///
/// # Safety
///
/// The same as for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prlimit64(
    process: pid_t,
    resource: c_int,
    new: *const rlimit64,
    old: *mut rlimit64,
) -> c_int {
    // SAFETY: as the caller says.
    let is_own = process == 0 || process == unsafe { libc::getpid() };
    let status = match LIMITS.iter().find(|limit| is_own && limit.resource == resource) {
        // SAFETY: as the caller says.
        Some(limit) => unsafe { limit.exchange(new, old) },
        None => system(process, resource, new, old),
    };
    if !old.is_null() {
        shadow::clear(old.addr(), size_of::<rlimit64>());
    }
    status
}

macro_rules! by_prlimit {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) = ($($given:expr),*);)*) => {$(
        /// Replaces the C library's function. This library's memory does not count.
        ///
        /// # Safety
        ///
        /// The same as for the C library's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            // SAFETY: as the caller says.
            unsafe { prlimit64($($given),*) }
        }
    )*};
}

by_prlimit! {
    fn prlimit(process: pid_t, resource: c_int, new: *const rlimit64, old: *mut rlimit64)
        = (process, resource, new, old);
    fn setrlimit(resource: c_int, new: *const rlimit64) = (0, resource, new, ptr::null_mut());
    fn setrlimit64(resource: c_int, new: *const rlimit64) = (0, resource, new, ptr::null_mut());
    fn getrlimit(resource: c_int, old: *mut rlimit64) = (0, resource, ptr::null(), old);
    fn getrlimit64(resource: c_int, old: *mut rlimit64) = (0, resource, ptr::null(), old);
}
