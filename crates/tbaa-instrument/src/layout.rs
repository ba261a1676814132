//! The interface between instrumented modules and the runtime. A *granule* is 4 bytes of memory.
//! Its *cell* is 32 bits of shadow memory. A *site* is an access in a module.

/// The version of this interface, stored in each module's table.
pub const VERSION: u32 = 10;

/// This bit of a site's tag marks a write: the runtime warns if the write changes the type of
/// memory.
pub const WARNS: u32 = 1 << 31;

/// The name of the root, and of the type, for untagged writes. Untagged writes are sites only if
/// some tag of the module marks constant memory. Untagged reads are never sites.
pub const NO_TAG: &str = "no tag";

/// The bit that is flipped in a granule's address. The cell is [`CELL_OFFSET`] after the result.
pub const FLIP: u32 = 46;

/// The distance in bytes, a page, that is added after flipping the bit [`FLIP`]. Many processors
/// predict where an address is in the cache from a hash of a few bits. Two addresses that differ in
/// one high bit may share a wrong prediction; adding a page prevents this.
pub const CELL_OFFSET: u64 = 4096;

/// The number of low bits of a cell that are its class: by which tags the bytes were accessed.
pub const CLASS_BITS: u32 = 14;

/// The mask of the class in a cell's value.
pub const CLASS: u32 = (1 << CLASS_BITS) - 1;

/// The size of a site's row in words of 8 bytes. A row holds four values of 4 bytes. The
/// classes and cells in the first two are inverted:
/// 1. a class that the site may find;
/// 2. for a read of part of a granule, another class with the part's offset above it; for a write,
///    the new cell that it leaves;
/// 3. for a write of whole granules, the new cell, or 0 if the new cell depends on the old one;
/// 4. the index of the site's list of entries, or 0 without entries.
pub const ROW: usize = 2;

/// The number of entries in a site's list; a power of 2. An entry has 8 bytes. The lower half is,
/// inverted, another class that a read may find, or another cell that a write may find. The upper
/// half is the cell that this write then stores.
pub const ENTRIES: usize = 8;

/// The address of entry list 0. The other lists follow in order.
pub const ENTRIES_AT: u64 = (65 << 40) + CELL_OFFSET;

/// The base-2 logarithm of the capacity of the runtime's table of changes: see [`MIX`].
pub const CHANGES_BITS: u32 = 16;

/// The multiplier that hashes a change, which is an old cell with a site and the bytes accessed.
/// The index is the product without its lowest `__tbaa_witness_changes_shift` bits.
pub const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lowest bit of the site in the key of a change. The old cell is above the site.
pub const SITE_SHIFT: u32 = 6;

/// The largest index of a site.
pub const MAX_SITES: u32 = (1 << (32 - SITE_SHIFT)) - 1;

/// The lowest bit of the access's byte mask in the key of a change. The mask says which bytes of
/// the granule are accessed. Bit 0 of a key is always set.
pub const MASK_SHIFT: u32 = 2;

/// The value before the code of an instrumented function. A caller reads it there, to see whether
/// the function behind a pointer has checks.
pub const CHECKED: u64 = 0x7462_6161_5749_544e;
