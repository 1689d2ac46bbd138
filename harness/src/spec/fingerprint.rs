//! The fingerprint of a state, updated step by step: the exclusive or over channels and operations, of which a step
//! changes few.

use super::{Channel, Progress, State};
use crate::sync::split_mix;

/// The operations (one, twice, or two) and channels that a step may change.
pub type Touched = ([usize; 2], Channels);

/// Most steps change one channel, and allocating a list for it took longer than the step.
pub enum Channels {
    One([usize; 1]),
    Many(Vec<usize>),
}

impl Channels {
    fn all(&self) -> &[usize] {
        match self {
            Channels::One(channel) => channel,
            Channels::Many(channels) => channels,
        }
    }
}

/// Two lanes of SplitMix64's mix: 128 bits.
#[derive(Clone, Copy)]
struct Lanes(u64, u64);

impl Lanes {
    fn of(kind: u64, index: usize) -> Lanes {
        Lanes(kind, !kind).with(index as u64)
    }

    fn with(self, word: u64) -> Lanes {
        Lanes(
            split_mix(self.0 ^ word),
            split_mix(self.1.rotate_left(17).wrapping_add(word)),
        )
    }

    fn sum(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

fn of_operation(index: usize, progress: &Progress) -> u128 {
    let lanes = Lanes::of(1, index);
    if progress.outcome.is_some() {
        return lanes.with(1).sum();
    }
    let lanes = lanes.with(u64::from(progress.holds) << 1);
    lanes.with(progress.requested).with(progress.looked).sum()
}

fn of_channel(index: usize, channel: &Channel) -> u128 {
    let lanes = Lanes::of(2, index).with(u64::from(channel.closed));
    let place = |lanes: Lanes, place: &super::Place| {
        let holder = place.holder.map_or(0, |holder| holder as u64 + 1);
        lanes.with(u64::from(place.value) << 32 | holder)
    };
    let lanes = channel.line.iter().fold(lanes, place);
    let reserved = channel.reserved.iter();
    // No other place contributes such a word: the lower half of theirs is small.
    reserved
        .fold(lanes, |lanes, holder| lanes.with(!(*holder as u64)))
        .sum()
}

impl State {
    /// The contribution of these to the fingerprint.
    pub(super) fn part(&self, ([one, other], channels): &Touched) -> u128 {
        let mut sum = of_operation(*one, &self.operations[*one]);
        if other != one {
            sum ^= of_operation(*other, &self.operations[*other]);
        }
        for &channel in channels.all() {
            sum ^= of_channel(channel, &self.channels[channel]);
        }
        sum
    }
}
