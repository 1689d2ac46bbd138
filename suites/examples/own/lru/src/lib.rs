//! A cache of a few entries behind one lock, which forgets the entry that was not used for the longest time.

#[cfg(test)]
mod linearizable;

use std::collections::VecDeque;

#[cfg(feature = "loom")]
use loom::sync::Mutex;
#[cfg(not(feature = "loom"))]
use std::sync::Mutex;

/// A cache that any number of threads share.
#[derive(Debug)]
pub struct Lru<K, V> {
    /// The entry that was used last is in front.
    entries: Mutex<VecDeque<(K, V)>>,
    capacity: usize,
}

impl<K: PartialEq, V: Clone> Lru<K, V> {
    /// A cache for so many entries.
    pub fn new(capacity: usize) -> Lru<K, V> {
        Lru {
            entries: Mutex::new(VecDeque::new()),
            capacity,
        }
    }

    /// The value of that key, which is now the one used last.
    pub fn get(&self, key: &K) -> Option<V> {
        let mut entries = self.entries.lock().expect("no operation panics");
        let at = entries.iter().position(|(known, _)| known == key)?;
        let entry = entries.remove(at)?;
        let value = entry.1.clone();
        entries.push_front(entry);
        Some(value)
    }

    /// Keeps a value. Returns the one that the key had.
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        let mut entries = self.entries.lock().expect("no operation panics");
        let at = entries.iter().position(|(known, _)| *known == key);
        let old = at.and_then(|at| entries.remove(at));
        entries.push_front((key, value));
        entries.truncate(self.capacity);
        old.map(|(_, value)| value)
    }
}
