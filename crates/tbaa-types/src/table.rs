//! The hash tables of this crate; the crate `tbaa` uses the same.

pub(crate) use hashbrown::DefaultHashBuilder;
#[cfg(feature = "equal")]
pub(crate) use hashbrown::hash_map::Entry;

pub(crate) type HashMap<K, V> = hashbrown::HashMap<K, V>;
pub(crate) type HashSet<K> = hashbrown::HashSet<K>;
pub(crate) type IndexSet<K> = indexmap::IndexSet<K, DefaultHashBuilder>;
#[cfg(feature = "equal")]
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, DefaultHashBuilder>;
