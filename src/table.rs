//! Hash tables with hashbrown's hasher: several times as fast as std's on the
//! short keys here, and seeded at random all the same, so that no text can be
//! made to collide.

pub(crate) use hashbrown::DefaultHashBuilder;

pub(crate) type HashMap<K, V> = hashbrown::HashMap<K, V>;
pub(crate) type HashSet<K> = hashbrown::HashSet<K>;
pub(crate) type IndexSet<K> = indexmap::IndexSet<K, DefaultHashBuilder>;
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, DefaultHashBuilder>;
