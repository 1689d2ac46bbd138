//! Two threads hand a number back and forth, and the round trips are timed.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How a thread waits for the other's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It looks again and again: a round trip is that of a cache line.
    Spinning,
    /// It sleeps: a round trip is two wake-ups.
    Parked,
}

/// A measurement of round trips between two threads.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrips<S> {
    /// How both threads wait.
    pub waits: Waits,
    /// Round trips per sample.
    pub trips: u32,
    /// Samples at most.
    pub samples: u32,
    /// For how long samples are taken, once both threads run. On a busy machine a round trip can take several time
    /// slices.
    pub timeout: Duration,
    /// Prepares the first or the second thread, and returns whether it could.
    pub settle: S,
}

impl<S: Fn(usize) -> bool + Copy + Send + 'static> RoundTrips<S> {
    /// The nanoseconds of a round trip: the median of the samples. `None` where a thread could not be started or
    /// prepared, or where no sample was complete in time.
    pub fn nanos(self) -> Option<f64> {
        // The first side is a thread of its own as well, so that preparing it leaves the caller as it is.
        let first = thread::Builder::new().spawn(move || self.first()).ok()?;
        first.join().ok()?
    }

    fn first(self) -> Option<f64> {
        if !(self.settle)(0) {
            return None;
        }
        let word = Arc::new(AtomicU32::new(0));
        let (settled, both_settled) = mpsc::channel();
        let (seen, first) = (Arc::clone(&word), thread::current());
        let second = thread::Builder::new().spawn(move || {
            let is_able = (self.settle)(1);
            if settled.send(is_able).is_ok() && is_able {
                self.answer(&seen, &first);
            }
        });
        let second = second.ok()?;
        let is_able = both_settled.recv().ok()?;
        let mut samples = match is_able {
            true => self.sampled(&word, second.thread()),
            false => Vec::new(),
        };
        // Where the samples ended before their number it waits in vain, until its own time is over.
        second.join().ok()?;
        samples.sort_unstable_by(f64::total_cmp);
        samples.get(samples.len() / 2).copied()
    }

    fn sampled(self, word: &AtomicU32, second: &Thread) -> Vec<f64> {
        let end = Instant::now() + self.timeout;
        let mut number = 0;
        let sample = |_| {
            let began = Instant::now();
            for _ in 0..self.trips {
                self.write(word, number + 1, second);
                number += 2;
                if !self.sees(word, number, end) {
                    return None;
                }
            }
            Some(began.elapsed().as_nanos() as f64 / f64::from(self.trips))
        };
        (0..self.samples).map_while(sample).collect()
    }

    fn answer(self, word: &AtomicU32, first: &Thread) {
        let end = Instant::now() + self.timeout;
        let mut number = 1;
        for _ in 0..self.samples {
            for _ in 0..self.trips {
                if !self.sees(word, number, end) {
                    return;
                }
                self.write(word, number + 1, first);
                number += 2;
            }
        }
    }

    fn write(self, word: &AtomicU32, number: u32, other: &Thread) {
        word.store(number, Ordering::Release);
        if self.waits == Waits::Parked {
            other.unpark();
        }
    }

    /// Waits for the number; `false` once the time is over.
    fn sees(self, word: &AtomicU32, number: u32, end: Instant) -> bool {
        /// Looks at the word between two at the clock.
        const LOOKS: u32 = 256;
        let is_there = || word.load(Ordering::Acquire) == number;
        let is_found = || {
            (0..LOOKS).any(|_| {
                let found = is_there();
                if !found {
                    spin_loop();
                }
                found
            })
        };
        loop {
            if is_there() || self.waits == Waits::Spinning && is_found() {
                return true;
            }
            let now = Instant::now();
            if now >= end {
                return false;
            }
            if self.waits == Waits::Parked {
                thread::park_timeout(end - now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(waits: Waits, settle: fn(usize) -> bool) -> Option<f64> {
        let trips = RoundTrips {
            waits,
            trips: 2,
            samples: 3,
            timeout: Duration::from_secs(1),
            settle,
        };
        trips.nanos()
    }

    #[test]
    fn threads_that_sleep_answer_each_other() {
        assert!(of(Waits::Parked, |_| true).is_some_and(|nanos| nanos > 0.0));
    }

    #[test]
    fn without_one_of_the_threads_there_is_no_answer() {
        for waits in [Waits::Spinning, Waits::Parked] {
            assert_eq!(of(waits, |index| index == 0), None);
            assert_eq!(of(waits, |index| index == 1), None);
        }
    }

    #[test]
    fn without_time_there_is_no_sample() {
        let trips = RoundTrips {
            waits: Waits::Parked,
            trips: 1_000_000,
            samples: 1_000,
            timeout: Duration::ZERO,
            settle: |_| true,
        };
        assert_eq!(trips.nanos(), None);
    }
}
