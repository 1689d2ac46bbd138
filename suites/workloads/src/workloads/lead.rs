//! How far producers may run ahead of consumers where the buffer has no bound.
//!
//! Nothing slows a producer there. A channel with cheaper puts than takes would fill the memory, and the allocations
//! would be timed. So all producers together may be [`LEAD`] values ahead. Beyond that each yields between two chunks
//! until consumers have caught up. The rule is the same for every implementation. It applies to chunks, not to
//! values: threads report at the end of a chunk how many values they have put or taken. So the lead may exceed the
//! limit by one unreported chunk for each thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flowmeter_measure::edges::MAX_CHUNK;

/// How many values producers may be ahead.
pub const LEAD: u64 = 65_536;

/// A number alone on its cache lines; it takes two, since processors fetch them in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Line(AtomicU64);

#[derive(Debug)]
struct Told {
    most: u64,
    put: Line,
    taken: Line,
}

/// One thread's view of how far producers are ahead.
#[derive(Debug)]
pub struct Lead {
    all: Arc<Told>,
    /// What this thread has reported so far.
    put: u64,
    taken: u64,
}

impl Lead {
    /// For a channel with that many consumers and no values yet.
    pub fn new(consumers: usize) -> Lead {
        // Consumers that sleep within a chunk have not reported it. Their chunks must not stop the producers they
        // wait for.
        let untold = consumers as u64 * u64::from(MAX_CHUNK);
        Lead {
            all: Arc::new(Told {
                most: LEAD.max(2 * untold),
                put: Line::default(),
                taken: Line::default(),
            }),
            put: 0,
            taken: 0,
        }
    }

    /// For another thread.
    pub fn share(&self) -> Lead {
        Lead {
            all: self.all.clone(),
            put: 0,
            taken: 0,
        }
    }

    /// Reports how many values this thread has put and taken since it began.
    pub fn tell(&mut self, put: u64, taken: u64) {
        // Relaxed: the numbers are only compared. A late one makes a producer wait slightly longer or shorter.
        let more = [
            (&self.all.put, put - self.put),
            (&self.all.taken, taken - self.taken),
        ];
        for (line, more) in more.into_iter().filter(|(_, more)| *more > 0) {
            line.0.fetch_add(more, Ordering::Relaxed);
        }
        (self.put, self.taken) = (put, taken);
    }

    /// Whether producers are further ahead than they may be.
    pub fn is_too_long(&self) -> bool {
        // Relaxed: see `Lead::tell`.
        let taken = self.all.taken.0.load(Ordering::Relaxed);
        let put = self.all.put.0.load(Ordering::Relaxed);
        put.saturating_sub(taken) > self.all.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_producer_waits_until_consumers_have_caught_up() {
        let mut producer = Lead::new(1);
        let mut consumer = producer.share();
        producer.tell(LEAD, 0);
        assert!(!producer.is_too_long());
        producer.tell(LEAD + 1, 0);
        assert!(producer.is_too_long());
        consumer.tell(0, 1);
        assert!(!producer.is_too_long());
    }

    #[test]
    fn what_sleeping_consumers_have_not_told_stops_no_producer() {
        let consumers = 1024;
        let mut producer = Lead::new(consumers);
        producer.tell(consumers as u64 * u64::from(MAX_CHUNK), 0);
        assert!(!producer.is_too_long());
    }
}
