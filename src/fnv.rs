//! A hash that is the same on every machine and in every version of Rust.

/// Returns the 64-bit FNV-1a hash of some bytes. If a single byte changes, the hash changes. The
/// low bits of the hash are distributed poorly.
///
/// Source: Fowler, Noll, Vo, draft-eastlake-fnv.
pub fn fnv<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}
