//! Buckets of timers, from which any timer can be removed in constant time.
//!
//! A bucket is an array of keys, and a timer's link holds its bucket and place. A removed timer is replaced by the last
//! of its bucket. So cancelling the most recently armed timer, the usual case, touches no other timer; in a linked list
//! it would touch neighbours that are not in the cache. A loop over a bucket knows the next keys in advance, so their
//! cache misses overlap.

use super::service::{Link, Slab};

/// The capacity that an emptied bucket keeps. The rest is freed: a bucket that once held a million timers would waste
/// megabytes.
const ROOM: usize = 64;

#[derive(Clone, Default)]
struct Bucket {
    keys: Vec<u32>,
    /// How many at the front were popped: their places stay until the bucket is empty.
    popped: usize,
}

/// A fixed number of buckets.
pub(super) struct Buckets<const N: usize> {
    buckets: Box<[Bucket; N]>,
}

/// The state of a bucket after a removal.
pub(super) struct Without {
    pub(super) bucket: usize,
    pub(super) is_empty: bool,
    /// Whether another timer has its place now, so that the bucket is no longer in the order of arrival.
    pub(super) is_mixed: bool,
}

/// An array of clones on the heap, built without a copy on the stack.
pub(super) fn boxed<T: Clone, const N: usize>(one: T) -> Box<[T; N]> {
    let all = vec![one; N].into_boxed_slice();
    all.try_into().ok().expect("it has so many")
}

#[cold]
#[inline(never)]
fn shrink(keys: &mut Vec<u32>) {
    keys.shrink_to(keys.capacity() / 2);
}

impl<const N: usize> Buckets<N> {
    pub(super) fn new() -> Self {
        Buckets {
            buckets: boxed(Bucket::default()),
        }
    }

    pub(super) fn is_empty(&self, bucket: usize) -> bool {
        self.len(bucket) == 0
    }

    /// How many timers a bucket holds.
    pub(super) fn len(&self, bucket: usize) -> usize {
        let Bucket { keys, popped } = &self.buckets[bucket];
        keys.len() - popped
    }

    /// The timer at that place of a bucket from which [`pop_first`](Buckets::pop_first) has removed none.
    pub(super) fn key(&self, bucket: usize, at: usize) -> u32 {
        self.buckets[bucket].keys[at]
    }

    /// The last timer of a bucket.
    pub(super) fn last(&self, bucket: usize) -> Option<u32> {
        let Bucket { keys, popped } = &self.buckets[bucket];
        keys[*popped..].last().copied()
    }

    /// Appends a timer to a bucket.
    #[inline(always)]
    pub(super) fn push<T>(&mut self, timers: &mut Slab<T>, bucket: usize, key: u32) {
        let keys = &mut self.buckets[bucket].keys;
        *timers.link_mut(key) = Link::new(bucket, keys.len());
        keys.push(key);
    }

    /// Removes a timer from its bucket.
    #[inline(always)]
    pub(super) fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) -> Without {
        let Link { of, place } = *timers.link_mut(key);
        let bucket = of as usize;
        let Bucket { keys, popped } = &mut self.buckets[bucket];
        keys.swap_remove(place as usize);
        if let Some(moved) = keys.get(place as usize) {
            timers.link_mut(*moved).place = place;
        }
        let (now_there, room) = (keys.len(), keys.capacity());
        let is_empty = now_there == *popped;
        if is_empty {
            keys.clear();
            *popped = 0;
        }
        if room > ROOM && now_there < room / 4 {
            shrink(keys);
        }
        Without {
            bucket,
            is_empty,
            is_mixed: place as usize + 1 < now_there,
        }
    }

    /// Removes the first timer of a bucket. The caller has to change its link.
    pub(super) fn pop_first(&mut self, bucket: usize) -> Option<u32> {
        let Bucket { keys, popped } = &mut self.buckets[bucket];
        let first = keys.get(*popped).copied();
        *popped += usize::from(first.is_some());
        first
    }

    /// Resets a bucket of which all timers were popped.
    pub(super) fn clear(&mut self, bucket: usize) {
        let Bucket { keys, popped } = &mut self.buckets[bucket];
        *popped = 0;
        if keys.capacity() > ROOM {
            *keys = Vec::new();
        } else {
            keys.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bucket that holds so many.
    fn full() -> (Slab<()>, Buckets<1>, Vec<u32>) {
        let (mut timers, keys) = Slab::with(100_000);
        let mut buckets = Buckets::new();
        for key in &keys {
            buckets.push(&mut timers, 0, *key);
        }
        (timers, buckets, keys)
    }

    fn room(buckets: &Buckets<1>) -> usize {
        buckets.buckets[0].keys.capacity()
    }

    #[test]
    fn a_bucket_gives_back_what_those_left_need_no_more() {
        let (mut timers, mut buckets, keys) = full();
        let (stay, leave): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key % 1_000 == 0);
        for key in leave {
            buckets.remove(&mut timers, key);
        }
        assert!(room(&buckets) <= 4 * stay.len(), "{}", room(&buckets));
        let last = stay.len() - 1;
        for (left, key) in stay.into_iter().enumerate() {
            assert_eq!(buckets.remove(&mut timers, key).is_empty, left == last);
        }
        assert!(room(&buckets) <= ROOM, "{}", room(&buckets));
    }

    #[test]
    fn a_bucket_gives_back_the_room_of_a_storm() {
        let (_timers, mut buckets, keys) = full();
        for key in keys {
            assert_eq!(buckets.pop_first(0), Some(key));
        }
        buckets.clear(0);
        assert!(room(&buckets) <= ROOM, "{}", room(&buckets));
    }
}
