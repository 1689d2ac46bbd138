//! `OrderedMap` of the explored worlds: a tree behind a lock. The atomics inside a published map are not under test
//! here, and would be invisible to the checkers.

use ::std::collections::BTreeMap;
use ::std::fmt;

use super::Engine;
use super::lock::Mutex;

/// An ordered map that threads share.
pub struct OrderedMap<E: Engine, K, V>(Mutex<E, BTreeMap<K, V>>);

impl<E: Engine, K: Ord + Clone, V: Clone> OrderedMap<E, K, V> {
    /// An empty map.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        OrderedMap(Mutex::new(BTreeMap::new()))
    }

    /// Sets the value of `key`.
    #[inline]
    #[track_caller]
    pub fn insert(&self, key: K, value: V) {
        let replaced = self.0.lock().insert(key, value);
        drop(replaced);
    }

    /// The entry with the least key that is not below `key`.
    #[inline]
    #[track_caller]
    pub fn ceiling(&self, key: &K) -> Option<(K, V)> {
        let map = self.0.lock();
        let (key, value) = map.range(key..).next()?;
        Some((key.clone(), value.clone()))
    }

    /// Removes `key` if `is_meant` accepts its value; returns whether it did.
    #[inline]
    #[track_caller]
    pub fn remove_if(&self, key: &K, is_meant: impl FnOnce(&V) -> bool) -> bool {
        let mut map = self.0.lock();
        let meant = map.get(key).is_some_and(is_meant);
        let removed = if meant { map.remove(key) } else { None };
        drop(map);
        removed.is_some()
    }
}

impl<E: Engine, K: Ord + Clone, V: Clone> Default for OrderedMap<E, K, V> {
    fn default() -> Self {
        OrderedMap::new()
    }
}

impl<E: Engine, K, V> fmt::Debug for OrderedMap<E, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderedMap")
    }
}
