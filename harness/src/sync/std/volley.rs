//! Two threads hand a number back and forth, and the trips are timed.

use ::std::hint::spin_loop;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicU32, Ordering};
use ::std::sync::mpsc;
use ::std::thread;
use ::std::time::{Duration, Instant};

/// How a thread waits for the other's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It looks again and again: a trip costs what a cache line does.
    Spinning,
    /// It sleeps, and is woken: a trip costs two wake-ups.
    Parked,
}

/// What to play.
#[derive(Clone, Copy, Debug)]
pub struct Volley<S> {
    /// How both threads wait.
    pub waits: Waits,
    /// Round trips per timing.
    pub trips: u32,
    /// Timings at most.
    pub goes: u32,
    /// How long to play at most. On a busy machine a trip can take some time slices.
    pub patience: Duration,
    /// Prepares the first or the second thread, and returns whether it could.
    pub settle: S,
}

impl<S: Fn(usize) -> bool + Copy + Send + 'static> Volley<S> {
    /// The nanoseconds of a round trip: the median of the timings. `None` where a thread could not be started or
    /// prepared, or where not one timing came to its end.
    pub fn round_trip_nanos(self) -> Option<f64> {
        // The first side is a thread of its own as well, so that preparing it leaves the caller as it is.
        let first = thread::Builder::new().spawn(move || self.first()).ok()?;
        first.join().ok()?
    }

    fn first(self) -> Option<f64> {
        let ball = Arc::new(AtomicU32::new(0));
        let (settled, both_settled) = mpsc::channel();
        let (returned, first) = (Arc::clone(&ball), thread::current());
        let second = move || {
            let is_able = (self.settle)(1);
            if settled.send(is_able).is_err() || !is_able {
                return;
            }
            let end = Instant::now() + self.patience;
            for number in (1..2 * self.trips * self.goes).step_by(2) {
                if !self.sees(&returned, number, end) {
                    return;
                }
                self.hit(&returned, number + 1, &first);
            }
        };
        if !(self.settle)(0) {
            return None;
        }
        let second = thread::Builder::new().spawn(second).ok()?;
        let mut timings = Vec::new();
        if both_settled.recv().ok()? {
            let end = Instant::now() + self.patience;
            let mut number = 0;
            'goes: for _ in 0..self.goes {
                let began = Instant::now();
                for _ in 0..self.trips {
                    self.hit(&ball, number + 1, second.thread());
                    number += 2;
                    if !self.sees(&ball, number, end) {
                        break 'goes;
                    }
                }
                timings.push(began.elapsed().as_nanos() as f64 / f64::from(self.trips));
            }
        }
        // After a volley that was broken off it waits in vain, for its patience at most.
        second.join().ok()?;
        timings.sort_unstable_by(f64::total_cmp);
        timings.get(timings.len() / 2).copied()
    }

    fn hit(self, ball: &AtomicU32, number: u32, other: &thread::Thread) {
        ball.store(number, Ordering::Release);
        if self.waits == Waits::Parked {
            other.unpark();
        }
    }

    /// Waits for the number; `false` once the time is over.
    fn sees(self, ball: &AtomicU32, number: u32, end: Instant) -> bool {
        /// Looks between two of the clock.
        const LOOKS: u32 = 256;
        loop {
            for _ in 0..LOOKS {
                if ball.load(Ordering::Acquire) == number {
                    return true;
                }
                match self.waits {
                    Waits::Spinning => spin_loop(),
                    Waits::Parked => {
                        thread::park_timeout(end.saturating_duration_since(Instant::now()));
                        break;
                    }
                }
            }
            if Instant::now() >= end {
                return false;
            }
        }
    }
}
