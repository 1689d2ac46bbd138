//! Compares the values taken with those put: sums after a timed window, every single value after a proof.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use flowmeter_measure::StageError;
use flowmeter_records::FailureKind;

use super::payload::origin;

/// A violation seen in an untimed run.
pub fn disproved(message: impl Into<String>) -> StageError {
    StageError {
        kind: FailureKind::Proof,
        message: message.into(),
    }
}

/// A violation seen in a timed window.
pub fn miscounted(message: impl Into<String>) -> StageError {
    StageError {
        kind: FailureKind::Count,
        message: message.into(),
    }
}

/// A window without a valid result.
pub fn void(message: impl Into<String>) -> StageError {
    StageError {
        kind: FailureKind::Void,
        message: message.into(),
    }
}

/// A number of values, and a checksum of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Values.
    pub count: u64,
    /// Their stamps, added up with wrapping.
    pub sum: u64,
}

impl Tally {
    /// Adds one.
    #[inline]
    pub fn add(&mut self, stamp: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(stamp);
    }

    /// The sum of all of them.
    pub fn total(tallies: impl Iterator<Item = Tally>) -> Tally {
        tallies.fold(Tally::default(), |a, b| Tally {
            count: a.count + b.count,
            sum: a.sum.wrapping_add(b.sum),
        })
    }

    /// Checks that the values put are the values taken.
    ///
    /// # Errors
    /// [`FailureKind::Count`].
    pub fn agree(put: Tally, taken: Tally) -> Result<(), StageError> {
        if put.count != taken.count {
            return Err(miscounted(format!(
                "{} values were put and {} were taken",
                put.count, taken.count
            )));
        }
        if put.sum != taken.sum {
            return Err(miscounted(format!(
                "{} values were put and as many taken, but not the same ones (checksums differ)",
                put.count
            )));
        }
        Ok(())
    }
}

/// Checks that each put value was taken once, and that each consumer saw each producer's values in order.
///
/// # Errors
/// [`FailureKind::Proof`], naming the first value that is wrong.
pub fn exact(put: &[Vec<u64>], taken: &[Vec<u64>]) -> Result<(), StageError> {
    for (consumer, stamps) in taken.iter().enumerate() {
        let mut last: HashMap<u64, u64> = HashMap::new();
        for &stamp in stamps {
            let (producer, sequence) = origin(stamp);
            match last.insert(producer, sequence) {
                Some(before) if before == sequence => {
                    return Err(disproved(format!("{} was taken twice", name(stamp))));
                }
                Some(before) if before > sequence => {
                    return Err(disproved(format!(
                        "consumer {consumer} took {} after value {before} of the same producer",
                        name(stamp)
                    )));
                }
                _ => {}
            }
        }
    }
    let (put, taken) = (sorted(put), sorted(taken));
    if let Some(twice) = taken.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(disproved(format!("{} was taken twice", name(twice[0]))));
    }
    if let Some(lost) = put.iter().find(|s| taken.binary_search(s).is_err()) {
        return Err(disproved(format!(
            "{} was put and never taken",
            name(*lost)
        )));
    }
    if let Some(invented) = taken.iter().find(|s| put.binary_search(s).is_err()) {
        return Err(disproved(format!(
            "{} was taken and never put",
            name(*invented)
        )));
    }
    Ok(())
}

fn sorted(parts: &[Vec<u64>]) -> Vec<u64> {
    let mut all = parts.concat();
    all.sort_unstable();
    all
}

fn name(stamp: u64) -> String {
    let (producer, sequence) = origin(stamp);
    format!("value {sequence} of producer {producer}")
}

/// Checks that a channel never holds more than its capacity: puts returned minus takes invoked.
///
/// It has no false positives: each counter only grows, takes are counted before they are invoked and puts after they
/// returned. An excess that it sees was real.
#[derive(Debug)]
pub struct Bound {
    capacity: u64,
    returned: AtomicU64,
    invoked: AtomicU64,
    most: AtomicU64,
}

impl Bound {
    /// For a channel with room for that many values and none yet.
    pub fn new(capacity: usize) -> Bound {
        Bound {
            capacity: capacity as u64,
            returned: AtomicU64::new(0),
            invoked: AtomicU64::new(0),
            most: AtomicU64::new(0),
        }
    }

    /// A take is about to be invoked.
    pub fn take_invoked(&self) {
        self.invoked.fetch_add(1, Ordering::SeqCst);
    }

    /// A put has returned.
    pub fn put_returned(&self) {
        // SeqCst: the put is counted before the takes are read, so the difference is never too large.
        let returned = self.returned.fetch_add(1, Ordering::SeqCst) + 1;
        let held = returned.saturating_sub(self.invoked.load(Ordering::SeqCst));
        self.most.fetch_max(held, Ordering::SeqCst);
    }

    /// Whether it is full, and no take was invoked yet.
    pub fn is_full(&self) -> bool {
        !self.is_used() && self.returned.load(Ordering::SeqCst) >= self.capacity
    }

    /// Whether a take was invoked.
    pub fn is_used(&self) -> bool {
        self.invoked.load(Ordering::SeqCst) > 0
    }

    /// Whether it held more than it may so far.
    pub fn is_broken(&self) -> bool {
        self.most.load(Ordering::SeqCst) > self.capacity
    }

    /// Checks that it never held more than it may.
    ///
    /// # Errors
    /// [`FailureKind::Proof`].
    pub fn kept(&self) -> Result<(), StageError> {
        if !self.is_broken() {
            return Ok(());
        }
        let most = self.most.load(Ordering::SeqCst);
        let capacity = self.capacity;
        Err(disproved(format!(
            "it held {most} values, and its capacity is {capacity}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::super::payload::stamp;
    use super::*;

    fn put() -> Vec<Vec<u64>> {
        vec![
            vec![stamp(0, 0), stamp(0, 1), stamp(0, 2)],
            vec![stamp(1, 0)],
        ]
    }

    fn refusal(taken: &[Vec<u64>]) -> String {
        exact(&put(), taken).expect_err("is wrong").message
    }

    #[test]
    fn any_interleaving_that_keeps_each_producers_order_is_right() {
        let taken = [
            vec![stamp(0, 0), stamp(1, 0), stamp(0, 2)],
            vec![stamp(0, 1)],
        ];
        assert!(exact(&put(), &taken).is_ok());
    }

    #[test]
    fn a_lost_a_repeated_an_invented_and_a_reordered_value_are_named() {
        let all = [stamp(0, 0), stamp(0, 1), stamp(0, 2), stamp(1, 0)];
        let lost = [all[..3].to_vec()];
        assert_eq!(
            refusal(&lost),
            "value 0 of producer 1 was put and never taken"
        );
        let twice = [all.to_vec(), vec![stamp(0, 1)]];
        assert_eq!(refusal(&twice), "value 1 of producer 0 was taken twice");
        let invented = [all.to_vec(), vec![stamp(2, 9)]];
        assert_eq!(
            refusal(&invented),
            "value 9 of producer 2 was taken and never put"
        );
        let reordered = [vec![all[1], all[0], all[2], all[3]]];
        assert!(refusal(&reordered).contains("took value 0 of producer 0 after value 1"));
    }

    #[test]
    fn the_sums_of_a_window_differ_when_a_value_is_exchanged() {
        let mut put = Tally::default();
        let mut taken = Tally::default();
        put.add(3);
        taken.add(4);
        assert!(Tally::agree(put, taken).is_err());
    }

    #[test]
    fn a_bound_breaks_only_above_the_capacity() {
        let bound = Bound::new(1);
        bound.put_returned();
        assert!(bound.kept().is_ok());
        bound.put_returned();
        assert!(bound.kept().is_err());
    }
}
