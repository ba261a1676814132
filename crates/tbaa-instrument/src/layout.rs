//! What modules with checks and the runtime agree on: where it is known what a program did to its
//! memory, and how a module's tables lie.

/// The version of all this, in each module's table.
pub const VERSION: u32 = 10;

/// The bit of a site's tag that says that it is a write of which the runtime warns if it gives memory another type.
pub const LOOKS: u32 = 1 << 31;

/// The name of the type and of the root of accesses without a tag, where these are sites: in a module of which a
/// tag calls memory constant.
pub const NO_TAG: &str = "no tag";

/// The bit of an address by which the cell of a granule of 4 bytes differs from the granule.
pub const FLIP: u32 = 46;

/// What is added then, in bytes: a page. Many processors guess from a hash of few bits of an address where it is cached.
/// Two addresses that differ in one high bit may share the guess, which is then wrong for one of them.
pub const CELL_OFFSET: u64 = 4096;

/// The bits of a class, the lower part of a cell.
pub const CLASS_BITS: u32 = 14;

/// The bits of a cell that are its class.
pub const CLASS: u32 = (1 << CLASS_BITS) - 1;

/// The words of 8 bytes in a site's row. Of 4 bytes each: a class that a read may meet, the number
/// that a write of less than a granule meets most often, the number that one of whole granules
/// leaves, and the number of the site's entries. Number 0 has those of all sites that need none.
pub const ROW: usize = 2;

/// A site's entries, words of 8 bytes, a power of 2: other classes that a read may meet, or other numbers
/// that a write meets and, above each, the number that it leads to.
pub const ENTRIES: usize = 8;

/// Where the entries of number 0 lie; all others follow by their numbers.
pub const ENTRIES_AT: u64 = (65 << 40) + CELL_OFFSET;

/// How many changes are kept for all sites at most, as a power of 2.
pub const CHANGES_BITS: u32 = 16;

/// The place of a change among these: its product with this, the uppermost bits. As many bits go as
/// `__tbaa_witness_changes_shift` says.
pub const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lowest bit of the site in a change. Above the site is the cell that was there.
pub const SITE_SHIFT: u32 = 6;

/// The last number that a site can have.
pub const MAX_SITES: u32 = (1 << (32 - SITE_SHIFT)) - 1;

/// The lowest bit of the mask in a change: which bytes of the granule are accessed. The lowest
/// bit of all is always set.
pub const MASK_SHIFT: u32 = 2;

/// What stands before the code of a function that has checks; who calls a function
/// by its address looks for it there.
pub const CHECKED: u64 = 0x7462_6161_5749_544e;
