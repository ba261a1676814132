//! The interface between instrumented modules and the runtime: addresses of shadow memory, and the
//! layout of a module's tables.

/// The version of this interface, stored in each module's table.
pub const VERSION: u32 = 10;

/// This bit of a site's tag marks a write for which the runtime warns if it gives memory another
/// type.
pub const WARNS: u32 = 1 << 31;

/// The name of the type and root of untagged accesses. They are sites only in a module with a tag
/// that calls memory constant.
pub const NO_TAG: &str = "no tag";

/// The address bit by which a granule of 4 bytes and its cell differ.
pub const FLIP: u32 = 46;

/// The distance that is then added, in bytes: a page. Many processors predict an address's place in
/// the cache from a hash of a few bits. Without it, two addresses that differ in one high bit may
/// share a wrong prediction.
pub const CELL_OFFSET: u64 = 4096;

/// The number of bits of a class, the lower part of a cell.
pub const CLASS_BITS: u32 = 14;

/// The mask of a cell's class.
pub const CLASS: u32 = (1 << CLASS_BITS) - 1;

/// The size of a site's row in words of 8 bytes. It holds four 4-byte values: a class that a read
/// allows, the number that a write of part of a granule meets most often, the number that a write
/// of whole granules leaves, and the number of the site's entries. Entries number 0 are shared by
/// all sites that need none.
pub const ROW: usize = 2;

/// The number of a site's entries, words of 8 bytes; a power of 2. Each is another class that a
/// read allows, or another number that a write meets and, in the upper half, the number that it
/// leads to.
pub const ENTRIES: usize = 8;

/// The address of entries number 0. The others follow in order.
pub const ENTRIES_AT: u64 = (65 << 40) + CELL_OFFSET;

/// The largest size of the table of changes for all sites, as a power of 2.
pub const CHANGES_BITS: u32 = 16;

/// The multiplier of the hash of a change: the uppermost bits of the product are the index.
/// `__tbaa_witness_changes_shift` says how many bits are dropped.
pub const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lowest bit of the site in a change. The old cell is above the site.
pub const SITE_SHIFT: u32 = 6;

/// The highest number of a site.
pub const MAX_SITES: u32 = (1 << (32 - SITE_SHIFT)) - 1;

/// The lowest bit of the mask in a change, which says which bytes of the granule are accessed. Bit
/// 0 of a change is always set.
pub const MASK_SHIFT: u32 = 2;

/// The value before the code of an instrumented function. Callers of a function pointer look for it
/// there.
pub const CHECKED: u64 = 0x7462_6161_5749_544e;
