//! Buckets of timers, any of which can leave its bucket at once.
//!
//! A bucket is an array of keys, and a timer's link says which bucket it is in and where: one that leaves is replaced by the
//! last. So none touches its neighbours, as it would in a list, where those of a million are in no cache; and whoever walks
//! through a bucket knows which timer comes after the next, and need not wait for one to hear of the other.

use super::service::{Link, Slab};

/// What an empty bucket keeps room for. A bucket that held a million would keep megabytes for nobody.
const ROOM: usize = 64;

/// So many buckets.
pub(super) struct Buckets<const N: usize> {
    buckets: Box<[Vec<u32>]>,
}

impl<const N: usize> Buckets<N> {
    pub(super) fn new() -> Self {
        Buckets {
            buckets: vec![Vec::new(); N].into(),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self, bucket: usize) -> bool {
        self.buckets[bucket].is_empty()
    }

    /// How many are in one.
    #[inline(always)]
    pub(super) fn len(&self, bucket: usize) -> usize {
        self.buckets[bucket].len()
    }

    /// The timer at that place of a bucket.
    #[inline(always)]
    pub(super) fn key(&self, bucket: usize, at: usize) -> u32 {
        self.buckets[bucket][at]
    }

    /// Puts a timer into a bucket, behind all others.
    #[inline(always)]
    pub(super) fn push<T>(&mut self, timers: &mut Slab<T>, bucket: usize, key: u32) {
        let keys = &mut self.buckets[bucket];
        *timers.link_mut(key) = Link {
            place: keys.len() as u32,
            of: bucket as u32,
        };
        keys.push(key);
    }

    /// Takes a timer out of its bucket; answers which one that was if it is empty now.
    #[inline(always)]
    pub(super) fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) -> Option<usize> {
        let Link { place, of } = *timers.link_mut(key);
        let keys = &mut self.buckets[of as usize];
        keys.swap_remove(place as usize);
        if let Some(moved) = keys.get(place as usize) {
            timers.link_mut(*moved).place = place;
        }
        keys.is_empty().then_some(of as usize)
    }

    /// Takes the last of a bucket; its link is the caller's to change.
    #[inline]
    pub(super) fn pop(&mut self, bucket: usize) -> Option<u32> {
        self.buckets[bucket].pop()
    }

    /// Gives back what an empty bucket needs no more.
    pub(super) fn trim(&mut self, bucket: usize) {
        let keys = &mut self.buckets[bucket];
        if keys.is_empty() && keys.capacity() > ROOM {
            *keys = Vec::new();
        }
    }
}
