//! `hashed_wheel`: a service over one wheel of ticks, as Netty's `HashedWheelTimer`.
//!
//! A timer belongs to the first tick that is not before its deadline, and lies in the bucket of that tick; ticks a
//! whole turn apart share a bucket, where a timer is passed over until its turn has come. Arming and calling off touch
//! one bucket and nothing else. The price is a tick of lateness: a millisecond, or half of it on average.
//!
//! Where it differs from Netty's, on purpose: the thread sleeps until the next tick at which something may be due,
//! where Netty's wakes at each, whatever is armed; what is armed goes into its bucket at once, not by way of a queue
//! that the next tick empties; and a deadline that had passed when the thread last looked does not wait for a tick.

use flowmeter_harness::sync::Deadline;

use super::lists::Lists;
use super::service::{Index, Picked, Slab, TimerService};

/// A timer service over a wheel of ticks.
pub type HashedWheel = TimerService<Ticks>;

/// How long a tick is.
pub const TICK_NANOS: u64 = 1_000_000;

/// As many as Netty has.
const BUCKETS: usize = 512;

/// Timers that were looked at in the bucket that is being looked through, and stay.
const KEPT: usize = BUCKETS;

/// One wheel of ticks.
pub struct Ticks {
    lists: Lists<{ BUCKETS + 1 }>,
    /// Of each bucket: no timer in it belongs to a tick before. Exact but for those called off since.
    soonest: Box<[u64]>,
    /// All ticks up to this one are over, and their timers picked.
    past: u64,
    /// The soonest of those kept.
    soonest_kept: u64,
}

impl Default for Ticks {
    fn default() -> Self {
        Ticks {
            lists: Lists::new(),
            soonest: vec![u64::MAX; BUCKETS].into(),
            past: 0,
            soonest_kept: u64::MAX,
        }
    }
}

/// The first tick that is not before the deadline.
fn tick_of(due: Deadline) -> u64 {
    due.as_nanos().div_ceil(TICK_NANOS)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the remainder is less than a thousand"
)]
const fn bucket_of(tick: u64) -> usize {
    (tick % BUCKETS as u64) as usize
}

impl Ticks {
    /// Looks through a bucket for what belongs to that tick, or to an earlier one; the answer is how much of the
    /// step is left, or `None` when it was used up.
    fn look_through<T>(
        &mut self,
        timers: &mut Slab<T>,
        (bucket, tick): (usize, u64),
        mut step: usize,
        picked: &mut Vec<Picked>,
    ) -> Option<usize> {
        while !self.lists.is_empty(bucket) {
            step = step.checked_sub(1)?;
            let Some(key) = self.lists.pop(timers, bucket) else {
                break;
            };
            let of = tick_of(timers.due(key));
            if of <= tick {
                picked.push(timers.take_out(key));
            } else {
                self.soonest_kept = self.soonest_kept.min(of);
                self.lists.push(timers, KEPT, key);
            }
        }
        self.lists.splice(timers, KEPT, bucket);
        self.soonest[bucket] = std::mem::replace(&mut self.soonest_kept, u64::MAX);
        Some(step)
    }
}

impl Index for Ticks {
    #[inline(always)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        let tick = tick_of(due);
        let bucket = bucket_of(tick);
        self.soonest[bucket] = self.soonest[bucket].min(tick);
        self.lists.push(timers, bucket, key);
    }

    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        match self.lists.remove(timers, key) {
            Some(KEPT) => self.soonest_kept = u64::MAX,
            // What is kept of a bucket that is being looked through will be back in it.
            Some(bucket) if self.lists.is_empty(KEPT) => self.soonest[bucket] = u64::MAX,
            _ => {}
        }
    }

    fn next(&self) -> Deadline {
        let tick = self.soonest.iter().min();
        Deadline::from_nanos(tick.map_or(u64::MAX, |tick| tick.saturating_mul(TICK_NANOS)))
    }

    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        mut step: usize,
        picked: &mut Vec<Picked>,
    ) -> bool {
        let tick = now / TICK_NANOS;
        // After a whole turn every bucket was looked through.
        let first = self.past.max(tick.saturating_sub(BUCKETS as u64));
        for over in first..tick {
            let bucket = bucket_of(over + 1);
            if self.soonest[bucket] <= tick {
                match self.look_through(timers, (bucket, tick), step, picked) {
                    Some(left) => step = left,
                    None => return false,
                }
            }
            self.past = over + 1;
        }
        true
    }
}
