//! What is armed, and what comes next: all of a timer service but its lock and its thread.

use std::fmt;

use flowmeter_harness::sync::Deadline;

use super::slab::{Claim, Name, Picked, Slab};

/// How many timers are looked at, or wakers taken off, in one go: for as long as one or two of these take nobody else gets the
/// lock of a service.
/// Few where it is explored what happens between two steps.
pub(super) const STEP: usize = if cfg!(any(feature = "loom", feature = "shuttle")) {
    2
} else {
    64
};

/// Stale entries that may be left among what is late, beyond two for each timer.
const SPARE: usize = 64;

/// How far an index has come in picking what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not far enough: what else is due may come before what was picked.
    Looking,
    /// What was picked can be called: what else is due is due no earlier, nor was it armed earlier if it is due then.
    Batch,
    /// And nothing else is due.
    Whole,
}

/// Finds what is due next among the timers of a slab. It is given those that are due after the last moment it was asked
/// about; once a round is whole it holds these, or those in the tick that this moment falls into where it counts in ticks, and
/// no others.
pub trait Index: Default + Send + 'static {
    /// Whether the thread of its service looks at the clock before a deadline, instead of being woken at it.
    #[doc(hidden)]
    const SPINS: bool = false;

    /// Puts a timer in.
    #[doc(hidden)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline);

    /// Puts one in that was armed before others that are in it.
    #[doc(hidden)]
    #[inline]
    fn insert_again<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        self.insert(timers, key, due);
    }

    /// Takes a timer out.
    #[doc(hidden)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32);

    /// When it wants to be asked what is due, [`Deadline::NEVER`] when nothing is in it: no timer in it is due before,
    /// and every one is picked that is due by then, or by the tick that it belongs to.
    #[doc(hidden)]
    fn next(&self) -> Deadline;

    /// Picks timers that are due at `now` and takes them out, looking at some `step` of them. Until it is [whole](Progress::Whole)
    /// it is asked again for the same moment.
    #[doc(hidden)]
    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        step: usize,
        picked: &mut Vec<Picked>,
    ) -> Progress;
}

/// Timers in the hands of one owner, who asks what is due: for those who have a loop of their own.
///
/// ```
/// use flowmeter_harness::sync::Deadline;
/// use flowmeter_impls::timer::hierarchical_wheel::Wheel;
/// use flowmeter_impls::timer::service::Agenda;
///
/// let mut agenda = Agenda::<Wheel, &str>::default();
/// agenda.arm(Deadline::from_nanos(20), "tea");
/// let dinner = agenda.arm(Deadline::from_nanos(10), "dinner");
/// assert_eq!(agenda.disarm(&dinner), Some("dinner"));
/// assert_eq!(agenda.disarm(&dinner), None);
///
/// let mut seen = Vec::new();
/// agenda.fire(30, |_, due, what| seen.push((due.as_nanos(), what)));
/// assert_eq!(seen, [(20, "tea")]);
/// assert_eq!(agenda.next(), Deadline::NEVER);
/// ```
pub struct Agenda<I, T> {
    timers: Slab<T>,
    index: I,
    /// Up to here the index was asked: what is due no later is late already.
    horizon: Deadline,
    /// Timers that were late when they were armed, and that nobody has picked yet. Some may be stale: called off, moved, or
    /// here twice.
    late: Vec<Picked>,
    /// How many of the timers are in no index.
    out: usize,
}

/// Names one timer, of all that any [`Agenda`] has armed.
#[derive(Debug)]
pub struct Key(Name);

impl<I: Index, T> Default for Agenda<I, T> {
    fn default() -> Self {
        Agenda {
            timers: Slab::new(),
            index: I::default(),
            horizon: Deadline::from_nanos(0),
            late: Vec::new(),
            out: 0,
        }
    }
}

impl<I, T> fmt::Debug for Agenda<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agenda")
            .field("timers", &self.timers.len())
            .finish_non_exhaustive()
    }
}

impl<I: Index, T> Agenda<I, T> {
    /// Arms a timer.
    #[inline]
    pub fn arm(&mut self, due: Deadline, then: T) -> Key {
        Key(self.add(due, then))
    }

    /// Calls one off; `None` when it has fired or was called off before.
    #[inline]
    pub fn disarm(&mut self, key: &Key) -> Option<T> {
        self.remove(key.0)
    }

    /// Moves one; `false` when it has fired or was called off before.
    #[inline]
    pub fn rearm(&mut self, key: &Key, due: Deadline) -> bool {
        self.put_off(key.0, due)
    }

    /// When one that is armed is due.
    pub fn due(&self, key: &Key) -> Option<Deadline> {
        self.due_of(key.0)
    }

    /// Takes what is due at `now`, in the order of deadlines, and of equal ones in that in which they were armed. What `then`
    /// arms fires next time, however early it is due. A `now` that lies before an earlier one counts as that one. If `then`
    /// panics, some of the timers behind it never fire.
    pub fn fire(&mut self, now: u64, mut then: impl FnMut(&mut Self, Deadline, T)) {
        let mut batch = Vec::new();
        self.begin(now, &mut batch);
        let mut progress = Progress::Looking;
        while progress != Progress::Whole {
            progress = self.pick(&mut batch);
            if progress == Progress::Looking {
                continue;
            }
            sort(&mut batch);
            for picked in batch.drain(..) {
                if let Claim::Taken(what) = self.claim_if(picked, |_| true) {
                    then(self, picked.due, what);
                }
            }
        }
        if self.late.is_empty() {
            // Its room, for the next.
            self.late = batch;
        }
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether none is armed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When to look what is due: nothing fires before; [`Deadline::NEVER`] when none is armed.
    #[inline]
    pub fn next(&self) -> Deadline {
        if self.late.is_empty() || self.out == 0 {
            self.index.next()
        } else {
            self.horizon
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, due: Deadline, then: T) -> Name {
        let name = self.timers.add(due, then);
        self.enter(due, name.key);
        name
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, name: Name) -> Option<T> {
        if !self.timers.has(name) {
            return None;
        }
        self.leave(name);
        self.timers.remove(name.key)
    }

    #[inline]
    pub(super) fn put_off(&mut self, name: Name, due: Deadline) -> bool {
        let armed = self.timers.has(name);
        if armed && self.timers.due(name.key) != due {
            self.leave(name);
            self.timers.set_due(name.key, due);
            if due > self.horizon {
                self.index.insert_again(&mut self.timers, name.key, due);
            } else {
                self.enter_late(name.key);
            }
        }
        armed
    }

    pub(super) fn due_of(&self, name: Name) -> Option<Deadline> {
        let armed = self.timers.has(name);
        armed.then(|| self.timers.due(name.key))
    }

    /// What an armed timer is for.
    pub(super) fn get_mut(&mut self, name: Name) -> Option<&mut T> {
        let armed = self.timers.has(name);
        armed.then(|| self.timers.get_mut(name.key)).flatten()
    }

    /// Begins to pick what is due at `now`, into an empty batch: with what was armed late. What is from here on comes with the
    /// next.
    pub(super) fn begin(&mut self, now: u64, batch: &mut Vec<Picked>) {
        self.horizon = self.horizon.max(Deadline::from_nanos(now));
        std::mem::swap(&mut self.late, batch);
    }

    /// Goes on with it, as far as one step goes, until it is whole.
    pub(super) fn pick(&mut self, batch: &mut Vec<Picked>) -> Progress {
        let before = batch.len();
        let now = self.horizon.as_nanos();
        let progress = self.index.pick(&mut self.timers, now, STEP, batch);
        self.out += batch.len() - before;
        progress
    }

    /// Takes off a timer of a batch that is wanted, unless it was called off or moved.
    #[inline(always)]
    pub(super) fn claim_if(&mut self, picked: Picked, wanted: impl FnOnce(&T) -> bool) -> Claim<T> {
        let claim = self.timers.claim_if(picked, wanted);
        self.out -= usize::from(matches!(claim, Claim::Taken(_)));
        claim
    }

    /// Takes off everything.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        self.index = I::default();
        self.late = Vec::new();
        self.out = 0;
        self.timers.take_all()
    }

    #[inline(always)]
    fn enter(&mut self, due: Deadline, key: u32) {
        if due > self.horizon {
            self.index.insert(&mut self.timers, key, due);
        } else {
            self.enter_late(key);
        }
    }

    fn enter_late(&mut self, key: u32) {
        self.out += 1;
        self.late.push(self.timers.take_out(key));
    }

    /// Takes one out of wherever it is, for the place to be freed or entered anew.
    #[inline(always)]
    fn leave(&mut self, name: Name) {
        if !self.timers.is_out(name.key) {
            self.index.remove(&mut self.timers, name.key);
            return;
        }
        self.out -= 1;
        if self.late.len() > 2 * self.out + SPARE {
            let timers = &self.timers;
            self.late
                .retain(|picked| picked.name != name && timers.has_still(*picked));
        }
    }
}

/// Puts a batch into the order of its deadlines; equal ones into that in which they were armed.
pub(super) fn sort(batch: &mut [Picked]) {
    batch.sort_unstable_by_key(|picked| (picked.due, picked.name.number));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::hashed_wheel::{TICK_NANOS, Ticks};

    /// Of a bucket that is looked through in steps, what was kept is called off between two of them, and so is all that
    /// is left: nothing of it comes up in another bucket.
    #[test]
    fn what_is_called_off_between_two_steps_leaves_no_trace() {
        let tick = |tick: u64| Deadline::from_nanos(tick * TICK_NANOS);
        let mut agenda = Agenda::<Ticks, ()>::default();
        let seen_last = agenda.arm(tick(1), ());
        for _ in 0..2 * STEP - 1 {
            agenda.arm(tick(1), ());
        }
        let kept = agenda.arm(tick(513), ());
        let mut batch = Vec::new();
        agenda.begin(TICK_NANOS, &mut batch);
        assert_eq!(
            agenda.pick(&mut batch),
            Progress::Looking,
            "a step is not enough"
        );
        assert!(agenda.disarm(&kept).is_some());
        assert_eq!(agenda.pick(&mut batch), Progress::Looking, "one is left");
        assert!(agenda.disarm(&seen_last).is_some());
        assert_eq!(agenda.pick(&mut batch), Progress::Whole);
        agenda.fire(TICK_NANOS, |_, _, ()| ());
        agenda.arm(tick(2), ());
        agenda.fire(2 * TICK_NANOS, |_, _, ()| ());
        assert_eq!(agenda.next(), Deadline::NEVER);
    }

    /// Both have a timer in their first place.
    #[test]
    fn a_key_names_nothing_of_another_agenda() {
        let mut theirs = Agenda::<Ticks, ()>::default();
        let key = theirs.arm(Deadline::from_nanos(TICK_NANOS), ());
        let mut agenda = Agenda::<Ticks, ()>::default();
        agenda.arm(Deadline::from_nanos(TICK_NANOS), ());
        assert!(!agenda.rearm(&key, Deadline::NEVER));
        assert_eq!(agenda.disarm(&key), None);
        assert_eq!(agenda.len(), 1);
    }

    /// Late ones that are called off again are swept.
    #[test]
    fn what_is_late_does_not_grow_though_nobody_picks_it() {
        let mut agenda = Agenda::<Ticks, u64>::default();
        let past = Deadline::from_nanos(0);
        let stays = agenda.arm(past, 0);
        for timer in 1..10_000 {
            let late = agenda.arm(past, timer);
            assert_eq!(agenda.disarm(&late), Some(timer));
            assert!(agenda.late.len() <= 2 * agenda.len() + SPARE + 1);
        }
        assert!(agenda.rearm(&stays, past));
        let mut fired = Vec::new();
        agenda.fire(1, |_, _, timer| fired.push(timer));
        assert_eq!(fired, [0]);
    }
}
