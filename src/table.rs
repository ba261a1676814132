//! Hash tables with hashbrown's hasher, faster than std's on short keys and also seeded at random.

pub use hashbrown::DefaultHashBuilder;
pub use hashbrown::hash_map::Entry;

/// Like std's `HashMap`.
pub type HashMap<K, V> = hashbrown::HashMap<K, V>;
/// Like std's `HashSet`.
pub type HashSet<K> = hashbrown::HashSet<K>;
/// A set that iterates in insertion order.
pub type IndexSet<K> = indexmap::IndexSet<K, DefaultHashBuilder>;
/// A map that iterates in insertion order.
pub type IndexMap<K, V> = indexmap::IndexMap<K, V, DefaultHashBuilder>;
