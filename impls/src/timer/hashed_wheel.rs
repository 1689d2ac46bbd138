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

use super::buckets::Buckets;
use super::service::{Index, Picked, Progress, Slab, TimerService};

/// A timer service over a wheel of ticks.
pub type HashedWheel = TimerService<Ticks>;

/// How long a tick is.
pub const TICK_NANOS: u64 = 1_000_000;

/// As many as Netty has.
const BUCKETS: usize = 512;

/// One wheel of ticks.
pub struct Ticks {
    buckets: Buckets<BUCKETS>,
    /// Of each bucket: no timer in it belongs to a tick before. Exact but for those called off since.
    soonest: Box<[u64]>,
    /// All ticks up to this one are over, and their timers picked.
    past: u64,
    /// Of the bucket that is being looked through: how many have not been looked at.
    unseen: Option<usize>,
}

impl Default for Ticks {
    fn default() -> Self {
        Ticks {
            buckets: Buckets::new(),
            soonest: vec![u64::MAX; BUCKETS].into(),
            past: 0,
            unseen: None,
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
    /// Looks through a bucket, from its end, for what belongs to that tick, or to an earlier one; the answer is how much of
    /// the step is left, or `None` when it was used up. Then it goes on: what was armed since belongs to a later tick, and in
    /// the place of one that was called off there may be one that was seen before.
    fn look_through<T>(
        &mut self,
        timers: &mut Slab<T>,
        (bucket, tick): (usize, u64),
        mut step: usize,
        picked: &mut Vec<Picked>,
    ) -> Option<usize> {
        if self.unseen.is_none() {
            self.soonest[bucket] = u64::MAX;
        }
        let there = self.buckets.len(bucket);
        let mut unseen = self.unseen.take().map_or(there, |unseen| unseen.min(there));
        while unseen > 0 {
            let Some(left) = step.checked_sub(1) else {
                self.unseen = Some(unseen);
                return None;
            };
            (step, unseen) = (left, unseen - 1);
            let key = self.buckets.key(bucket, unseen);
            let of = tick_of(timers.due(key));
            if of <= tick {
                self.buckets.remove(timers, key);
                picked.push(timers.take_out(key));
            } else {
                self.soonest[bucket] = self.soonest[bucket].min(of);
            }
        }
        Some(step)
    }
}

impl Index for Ticks {
    #[inline(always)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        let tick = tick_of(due);
        let bucket = bucket_of(tick);
        self.soonest[bucket] = self.soonest[bucket].min(tick);
        self.buckets.push(timers, bucket, key);
    }

    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        let without = self.buckets.remove(timers, key);
        if without.is_empty {
            self.soonest[without.bucket] = u64::MAX;
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
    ) -> Progress {
        let tick = now / TICK_NANOS;
        // After a whole turn every bucket was looked through.
        let first = self.past.max(tick.saturating_sub(BUCKETS as u64));
        for over in first..tick {
            let bucket = bucket_of(over + 1);
            if self.soonest[bucket] <= tick || self.unseen.is_some() {
                match self.look_through(timers, (bucket, tick), step, picked) {
                    Some(left) => step = left,
                    None => return Progress::Looking,
                }
            }
            self.past = over + 1;
        }
        Progress::Whole
    }
}
