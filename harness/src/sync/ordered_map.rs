//! The std world's map that many threads read and write at once: crossbeam's skip list.

use ::std::fmt;

use crossbeam_skiplist::SkipMap;

/// An ordered map that threads share without a lock.
///
/// Removed entries are dropped some time later, when no thread can still be reading them.
pub struct OrderedMap<K, V>(SkipMap<K, V>);

impl<K, V> OrderedMap<K, V>
where
    K: Ord + Clone + Send + 'static,
    V: Clone + Send + 'static,
{
    /// An empty map.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        OrderedMap(SkipMap::new())
    }

    /// Sets the value of `key`.
    #[inline]
    #[track_caller]
    pub fn insert(&self, key: K, value: V) {
        self.0.insert(key, value);
    }

    /// The entry with the least key that is not below `key`.
    #[inline]
    #[track_caller]
    pub fn ceiling(&self, key: &K) -> Option<(K, V)> {
        let entry = self.0.lower_bound(::std::ops::Bound::Included(key))?;
        Some((entry.key().clone(), entry.value().clone()))
    }

    /// Removes `key` if `is_meant` accepts its value; returns whether it did.
    #[inline]
    #[track_caller]
    pub fn remove_if(&self, key: &K, is_meant: impl FnOnce(&V) -> bool) -> bool {
        let entry = self.0.get(key);
        entry.is_some_and(|entry| is_meant(entry.value()) && entry.remove())
    }
}

impl<K, V> Default for OrderedMap<K, V>
where
    K: Ord + Clone + Send + 'static,
    V: Clone + Send + 'static,
{
    fn default() -> Self {
        OrderedMap::new()
    }
}

impl<K, V> fmt::Debug for OrderedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderedMap")
    }
}
