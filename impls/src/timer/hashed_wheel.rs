//! `hashed_wheel`: a service over one wheel of ticks, as Netty's `HashedWheelTimer`.
//!
//! A timer belongs to the first tick that is not before its deadline, and lies in the bucket of that tick. Ticks a
//! whole turn apart share a bucket; a timer of a later turn is skipped until its turn. Arming and cancelling touch one
//! bucket and nothing else. The price is up to a tick of lateness: a millisecond, or half of it on average.
//!
//! Three differences from Netty are deliberate. The thread sleeps until the next tick at which a timer may be due,
//! where Netty's wakes at each tick. A timer goes into its bucket at once, and not through a queue that the next tick
//! empties. A deadline that had passed when the thread last looked does not wait for a tick.

use flowmeter_harness::sync::Deadline;

use super::buckets::Buckets;
use super::service::{Index, Picked, Progress, Slab, TimerService};

/// A timer service over a wheel of ticks.
pub type HashedWheel = TimerService<Ticks>;

/// How long a tick is.
pub const TICK_NANOS: u64 = 1_000_000;

/// The same number as in Netty.
const BUCKETS: usize = 512;

/// One wheel of ticks.
pub struct Ticks {
    buckets: Buckets<BUCKETS>,
    /// For each bucket, a lower bound of the ticks of its timers. Exact unless timers were cancelled since.
    soonest: Box<[u64]>,
    /// All ticks up to this one are over, and their timers picked.
    past: u64,
    /// How many timers of the bucket in progress are still unexamined.
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
    /// Searches a bucket, from its end, for timers of that tick or an earlier one. Returns how much of the step is
    /// left, or `None` when it was used up; the next call continues there. A timer armed since then belongs to a later
    /// tick. The place of a cancelled timer may hold one that was examined before.
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
        // After a whole turn every bucket was searched.
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
