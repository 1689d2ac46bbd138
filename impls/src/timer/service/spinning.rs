//! Any index, in a service with a thread that is awake when a deadline comes.

use flowmeter_harness::sync::Deadline;

use super::{Index, Picked, Progress, Slab};

/// The same index, for a [`TimerService`](super::TimerService) with a spin tail. Its thread is woken a little before
/// each deadline and spins on the clock until then. So it is late by less than the system can promise, and each
/// deadline costs some tens of microseconds of a core. The service learns how much sooner to wake, and never spins for
/// longer than 200 us. It does not spin on a machine with one core, nor for a while after it was preempted while
/// spinning.
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
/// use flowmeter_harness::sync::std::clock;
/// use flowmeter_harness::timer::Timers;
/// use flowmeter_impls::timer::hierarchical_wheel::Wheel;
/// use flowmeter_impls::timer::service::{Spinning, TimerService};
///
/// let timers = TimerService::<Spinning<Wheel>>::new();
/// let (tell, told) = mpsc::channel();
/// timers.schedule(clock::after(Duration::from_millis(2)), move |fired| {
///     let _ = tell.send(clock::now_nanos() >= fired.due.as_nanos());
/// });
/// assert_eq!(told.recv(), Ok(true));
/// ```
#[derive(Debug, Default)]
pub struct Spinning<I>(I);

impl<I: Index> Index for Spinning<I> {
    const SPINS: bool = true;

    #[inline(always)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        self.0.insert(timers, key, due);
    }
    #[inline]
    fn insert_again<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        self.0.insert_again(timers, key, due);
    }
    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        self.0.remove(timers, key);
    }
    #[inline]
    fn next(&self) -> Deadline {
        self.0.next()
    }
    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        step: usize,
        picked: &mut Vec<Picked>,
    ) -> Progress {
        self.0.pick(timers, now, step, picked)
    }
}
