//! Hash tables with hashbrown's hasher: several times as fast as std's on the short keys here, and
//! seeded at random all the same, so that no text can be made to collide.

pub use hashbrown::DefaultHashBuilder;
pub use hashbrown::hash_map::Entry;

/// Like std's.
pub type HashMap<K, V> = hashbrown::HashMap<K, V>;
/// Like std's.
pub type HashSet<K> = hashbrown::HashSet<K>;
/// Iterates in insertion order.
pub type IndexSet<K> = indexmap::IndexSet<K, DefaultHashBuilder>;
/// Iterates in insertion order.
pub type IndexMap<K, V> = indexmap::IndexMap<K, V, DefaultHashBuilder>;
