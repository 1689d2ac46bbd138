//! Messages that know which value they are: a stamp names producer and place in its sequence, so that
//! what arrives can be held against what was sent.

use flowmeter_harness::channel::Message;

/// Stamp of the message that ends a consumer; no value has it.
pub const SENTINEL: u64 = u64::MAX;

/// Bits of a stamp that count; the producer stands above them.
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

    /// Its stamp; a torn message has none that was ever put.
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

/// That many words, each the stamp.
#[derive(Clone, Copy, Debug)]
pub struct Words<const N: usize>([u64; N]);

impl<const N: usize> Payload for Words<N> {
    #[inline]
    fn new(stamp: u64) -> Self {
        Words([stamp; N])
    }

    /// First, middle and last word xored: the stamp where all three agree.
    #[inline]
    fn stamp(&self) -> u64 {
        self.0[0] ^ self.0[N / 2] ^ self.0[N - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_names_producer_and_sequence() {
        assert_eq!(origin(stamp(1023, 7)), (1023, 7));
        assert_ne!(stamp(1023, (1 << 48) - 1), SENTINEL);
    }

    #[test]
    fn a_torn_message_has_another_stamp() {
        let mut words = Words::<8>::new(5);
        assert_eq!(words.stamp(), 5);
        words.0[7] = 6;
        assert_ne!(words.stamp(), 5);
    }
}
