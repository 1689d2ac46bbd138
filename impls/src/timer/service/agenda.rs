//! The armed timers and which comes next: a timer service without its lock and its thread.

use std::fmt;

use flowmeter_harness::sync::Deadline;

use super::slab::{Claim, Name, Picked, Slab};

/// How many timers are examined, or wakers claimed, in one step. While a step runs no other thread gets the lock of a
/// service. Small under loom and shuttle, which explore what happens between two steps.
pub(super) const STEP: usize = if cfg!(any(feature = "loom", feature = "shuttle")) {
    2
} else {
    64
};

/// Stale entries allowed among the late timers, beyond two for each timer.
const SPARE: usize = 64;

/// How far an index has come in picking what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not far enough: other due timers may come before those picked.
    Looking,
    /// What was picked can be called. Every other due timer has a later deadline, or the same one and was armed later.
    Batch,
    /// As `Batch`, and no other timer is due.
    Whole,
}

/// Finds the timers of a slab that are due next. It receives the timers that are due after the last moment that it was
/// asked about. So once a round is whole, it holds these and no others. An index that counts in ticks may also hold
/// those in the tick of that moment.
pub trait Index: Default + Send + 'static {
    /// Whether the thread of its service spins on the clock before a deadline, instead of being woken at it.
    #[doc(hidden)]
    const SPINS: bool = false;

    /// Inserts a timer.
    #[doc(hidden)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline);

    /// Inserts a timer that was armed before others in the index.
    #[doc(hidden)]
    #[inline]
    fn insert_again<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        self.insert(timers, key, due);
    }

    /// Removes a timer.
    #[doc(hidden)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32);

    /// When it should be asked next; [`Deadline::NEVER`] when it is empty. No timer in it is due before that moment. At
    /// that moment it picks every timer that is due by then, or by the tick that the timer belongs to.
    #[doc(hidden)]
    fn next(&self) -> Deadline;

    /// Picks and removes timers that are due at `now`, examining about `step` of them. Until the result is
    /// [whole](Progress::Whole) it is asked again for the same moment.
    #[doc(hidden)]
    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        step: usize,
        picked: &mut Vec<Picked>,
    ) -> Progress;
}

/// Timers of a single owner, which asks what is due: for programs with a loop of their own.
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
    /// The last moment that the index was asked about. A timer due by then is late when it is armed.
    horizon: Deadline,
    /// Timers that were late when they were armed, and not picked yet. Some entries may be stale: cancelled, moved, or
    /// present twice.
    late: Vec<Picked>,
    /// How many of the timers are in no index.
    out: usize,
}

/// Names one timer, uniquely among all agendas.
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

    /// Cancels a timer; `None` when it has fired or was cancelled before.
    #[inline]
    pub fn disarm(&mut self, key: &Key) -> Option<T> {
        self.remove(key.0)
    }

    /// Moves a timer; `false` when it has fired or was cancelled before.
    #[inline]
    pub fn rearm(&mut self, key: &Key, due: Deadline) -> bool {
        self.put_off(key.0, due)
    }

    /// The deadline of an armed timer.
    pub fn due(&self, key: &Key) -> Option<Deadline> {
        self.due_of(key.0)
    }

    /// Fires what is due at `now`, in the order of deadlines, and equal deadlines in the order in which they were
    /// armed. What `then` arms fires next time, however early it is due. A `now` before an earlier one counts as the
    /// earlier one. If `then` panics, some of the timers behind it never fire.
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
            // Keeps its allocation for the next call.
            self.late = batch;
        }
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When to look what is due: nothing fires before; [`Deadline::NEVER`] when no timer is armed.
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

    /// What an armed timer does.
    pub(super) fn get_mut(&mut self, name: Name) -> Option<&mut T> {
        let armed = self.timers.has(name);
        armed.then(|| self.timers.get_mut(name.key)).flatten()
    }

    /// Begins to pick what is due at `now`, into an empty batch, with the timers that were armed late. A timer that is
    /// armed late from here on belongs to the next batch.
    pub(super) fn begin(&mut self, now: u64, batch: &mut Vec<Picked>) {
        self.horizon = self.horizon.max(Deadline::from_nanos(now));
        std::mem::swap(&mut self.late, batch);
    }

    /// Continues by one step. Repeat until it is whole.
    pub(super) fn pick(&mut self, batch: &mut Vec<Picked>) -> Progress {
        let before = batch.len();
        let now = self.horizon.as_nanos();
        let progress = self.index.pick(&mut self.timers, now, STEP, batch);
        self.out += batch.len() - before;
        progress
    }

    /// Claims a timer of a batch if it is wanted, unless it was cancelled or moved.
    #[inline(always)]
    pub(super) fn claim_if(&mut self, picked: Picked, wanted: impl FnOnce(&T) -> bool) -> Claim<T> {
        let claim = self.timers.claim_if(picked, wanted);
        self.out -= usize::from(matches!(claim, Claim::Taken(_)));
        claim
    }

    /// Removes everything.
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

    /// Removes a timer from wherever it is, so that its place can be freed or entered again.
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

/// Sorts a batch by deadline, and equal deadlines by the order in which they were armed.
pub(super) fn sort(batch: &mut [Picked]) {
    batch.sort_unstable_by_key(|picked| (picked.due, picked.name.number));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::hashed_wheel::{TICK_NANOS, Ticks};

    /// A bucket is examined in steps. Between two of them the timer that was kept is cancelled, and so are all that
    /// remain: none of them turns up in another bucket.
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

    /// Late timers that are cancelled again are swept.
    #[test]
    fn what_is_late_does_not_grow_though_it_is_never_picked() {
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
