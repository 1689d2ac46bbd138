//! Messages with a stamp that names the producer and the position in its sequence, so that received values can be
//! compared with sent ones.

use std::hint::black_box;

use flowmeter_harness::channel::Message;

/// Stamp of the message that ends a consumer; no value has it.
pub const SENTINEL: u64 = u64::MAX;

/// Stamp of a message with differing words; no value has it.
const TORN: u64 = u64::MAX - 1;

/// The bits of a stamp for the sequence; the producer is above them.
const SEQUENCE_BITS: u32 = 48;

/// The stamp of the value at `sequence` of `producer`.
#[inline]
pub const fn stamp(producer: u64, sequence: u64) -> u64 {
    (producer << SEQUENCE_BITS) | sequence
}

/// Producer and sequence of a stamp.
pub const fn origin(stamp: u64) -> (u64, u64) {
    (stamp >> SEQUENCE_BITS, stamp & ((1 << SEQUENCE_BITS) - 1))
}

/// A message that carries a stamp.
pub trait Payload: Message {
    /// The message with that stamp.
    fn new(stamp: u64) -> Self;

    /// Its stamp. A torn message has one that was never put.
    fn stamp(&self) -> u64;
}

impl Payload for u64 {
    #[inline]
    fn new(stamp: u64) -> Self {
        stamp
    }

    #[inline]
    fn stamp(&self) -> u64 {
        *self
    }
}

impl Payload for Box<u64> {
    #[inline]
    fn new(stamp: u64) -> Self {
        Box::new(stamp)
    }

    #[inline]
    fn stamp(&self) -> u64 {
        **self
    }
}

/// N words, each of which is the stamp.
#[derive(Clone, Copy, Debug)]
pub struct Words<const N: usize>([u64; N]);

impl<const N: usize> Payload for Words<N> {
    #[inline]
    fn new(stamp: u64) -> Self {
        Words([stamp; N])
    }

    /// The stamp in the first, middle and last word, where they agree.
    #[inline]
    fn stamp(&self) -> u64 {
        let (first, middle, last) = (self.0[0], self.0[N / 2], self.0[N - 1]);
        if first == middle && middle == last {
            first
        } else {
            TORN
        }
    }
}

/// A word for which the producer works before it puts, and the consumer after it took: so many steps of some five cycles, each
/// of which needs the one before. A fixed amount needs no calibration, which would differ between processes.
#[derive(Clone, Copy, Debug)]
pub struct Worked<const STEPS: u32>(u64);

/// That work. Multiplications and additions alone would be shortened: the compiler makes one step of many, since each is
/// linear. The shift keeps it from that.
#[inline]
fn work<const STEPS: u32>(stamp: u64) {
    let mut x = black_box(stamp);
    for _ in 0..STEPS {
        // The multiplier of PCG64's generator.
        x = x.wrapping_mul(6_364_136_223_846_793_005);
        x ^= x >> 32;
    }
    black_box(x);
}

impl<const STEPS: u32> Payload for Worked<STEPS> {
    #[inline]
    fn new(stamp: u64) -> Self {
        work::<STEPS>(stamp);
        Worked(stamp)
    }

    #[inline]
    fn stamp(&self) -> u64 {
        work::<STEPS>(self.0);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_stamp_names_producer_and_sequence() {
        assert_eq!(origin(stamp(1023, 7)), (1023, 7));
        assert_ne!(stamp(1023, (1 << 48) - 1), SENTINEL);
    }

    #[test]
    fn a_torn_message_has_a_stamp_that_was_never_put() {
        assert_eq!(Words::<8>::new(5).stamp(), 5);
        // Two of the three words belong to another message: the result must not pass for either.
        for other in [[0, 4], [0, 7], [4, 7]] {
            let mut words = Words::<8>::new(5);
            for word in other {
                words.0[word] = 6;
            }
            assert_eq!(words.stamp(), TORN, "words {other:?}");
        }
        assert!(TORN != SENTINEL && origin(TORN).0 > 1023);
    }

    #[test]
    fn work_takes_longer_where_there_is_more_of_it() {
        let fastest = |of: fn(u64)| {
            let rounds = (0..50).map(|_| {
                let began = Instant::now();
                (0..100).for_each(of);
                began.elapsed()
            });
            rounds.min().expect("there are rounds")
        };
        let (none, some) = (fastest(work::<0>), fastest(work::<750>));
        assert!(some > 10 * none, "{none:?} {some:?}");
        // Five cycles a step at 7 GHz. An optimised build has to keep this too.
        assert!(
            some > Duration::from_nanos(100 * 750 * 5 / 7),
            "{some:?} for 75,000 steps"
        );
        assert_eq!(Worked::<75>::new(7).stamp(), 7);
    }
}
