//! Registers the program's instrumented modules. An access instruction of a module is a *site*.

use std::ptr;
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicU64, Ordering::*};

use tbaa_instrument::layout::{VERSION, WARNS};

use crate::lock::enter;
use crate::sites::{self, Registry, Site, Tables};
use crate::states::{self, Event, Row};
use crate::{cells, log};

/// The value of `base` if the module could not be registered.
const FAILED: u64 = 2;

/// The description that an instrumented module contains: `@__tbaa_witness.module`.
#[repr(C)]
pub struct Module {
    /// The program-wide number of the module's first site, encoded by [`states::change`]; 0 until
    /// the module is registered, and [`FAILED`] if that is impossible.
    base: AtomicU64,
    version: u32,
    count: u32,
    strings_len: u32,
    sites: *const [u32; 2],
    places: *const [u32; 6],
    strings: *const u8,
    tags: *const u8,
    tags_len: u64,
    /// Cached results, one row for each site.
    rows: *const Row,
}

// SAFETY: a module's pointers point to its constants.
unsafe impl Sync for Module {}

impl Module {
    /// Returns an access by the module's site `number`. If the module cannot be registered, the
    /// access has site 0: a read is ignored, and a write clears the records of its bytes.
    #[inline]
    pub(crate) fn event(&'static self, number: u32) -> Event {
        let mut base = self.base.load(Acquire);
        if base == 0 {
            self.register();
            base = self.base.load(Acquire);
        }
        let at = number as usize;
        // SAFETY: the module's tables have as many entries as it says, and rows are valid atomics.
        let (row, [tag, size]) = unsafe { (&*self.rows.add(at), *self.sites.add(at)) };
        let (size, reads, looks) = (size >> 1, size & 1 == 0, tag & WARNS != 0);
        let site = states::site(base).map_or(0, |first| first + number);
        Event::new(site, reads, size, row, looks)
    }

    #[cold]
    fn register(&'static self) {
        let Some(_inside) = enter() else { return };
        let stays = loaded(self.sites.addr());
        let Some(mut registry) = sites::lock() else { return };
        let registry = registry.get_or_insert_with(Registry::new);
        // Another thread may have registered the module.
        if self.base.load(Acquire) == 0 {
            let first = self.add(registry, stays);
            self.base.store(first.map_or(FAILED, |first| states::change(0, 0, first)), Release);
        }
    }

    /// Adds the module and returns its first site's number. `stays`: its tables are never unloaded.
    fn add(&'static self, registry: &mut Registry, stays: bool) -> Option<Site> {
        if self.version != VERSION {
            log::say("a module was instrumented by another version of tbaa: it is not checked");
            return None;
        }
        let count = self.count as usize;
        // SAFETY: the module's tables are as long as it says.
        let (tags, sites, places, strings) = unsafe {
            (
                from_raw_parts(self.tags, self.tags_len as usize),
                from_raw_parts(self.sites, count),
                from_raw_parts(self.places, count),
                from_raw_parts(self.strings, self.strings_len as usize),
            )
        };
        let (sites, places, strings) = match stays {
            true => (sites.into(), places.into(), strings.into()),
            false => (sites.to_vec().into(), places.to_vec().into(), strings.to_vec().into()),
        };
        // SAFETY: as above.
        let rows = stays.then(|| unsafe { from_raw_parts(self.rows, count) });
        registry.add(Tables { sites, places, strings }, tags, rows)
    }
}

/// Returns whether an address is in a read-only part of the program's file. If a library was
/// unloaded since the last call, clears all recorded accesses: another library may be loaded at the
/// same addresses, with new variables.
fn loaded(address: usize) -> bool {
    static UNLOADED: AtomicU64 = AtomicU64::new(0);
    struct Found {
        address: usize,
        is_constant: bool,
        unloaded: u64,
    }
    /// Reads the first file in the list of loaded files, which is the program.
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the C library passes its description of a file, and the pointer `found`.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
        // SAFETY: the file has as many parts as it says.
        let parts = unsafe { from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let within = found.address.wrapping_sub(info.dlpi_addr as usize);
        found.is_constant = parts.iter().any(|part| {
            let start = part.p_vaddr as usize;
            // Writable parts do not count: a JIT may have put a module into a variable.
            let stays = part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_W == 0;
            stays && (start..start + part.p_memsz as usize).contains(&within)
        });
        found.unloaded = info.dlpi_subs;
        1
    }
    let mut found = Found { address, is_constant: false, unloaded: 0 };
    // SAFETY: the function gets the pointer that it expects.
    unsafe { libc::dl_iterate_phdr(Some(first), ptr::from_mut(&mut found).cast()) };
    if UNLOADED.swap(found.unloaded, Relaxed) != found.unloaded {
        cells::forget_all();
    }
    found.is_constant
}
