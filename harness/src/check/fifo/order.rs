//! Who comes first: the order of the values that intervals force.

use super::Interval;

/// Two values, of which `first` has to be first by one kind of operation, and `second` by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inversion {
    pub(super) first: usize,
    pub(super) second: usize,
}

/// The order that one interval of each value forces: x is before y where that of x ends before that of y
/// begins.
#[derive(Clone, Debug)]
pub(super) struct Order {
    begins: Vec<(u64, usize)>,
    ends: Vec<(u64, usize)>,
}

impl Order {
    pub(super) fn new(intervals: &[Interval]) -> Order {
        Order {
            begins: sorted(intervals.iter().map(|interval| interval.from)),
            ends: sorted(intervals.iter().map(|interval| interval.to)),
        }
    }

    /// Cuts off other intervals of the same values where y would follow earlier than an x before it.
    ///
    /// # Errors
    /// When nothing is left of one.
    pub(super) fn hold_back(&self, follow: &mut [Interval]) -> Result<(), Inversion> {
        let mut ended = self.ends.iter().peekable();
        let mut latest: Option<usize> = None;
        for &(begin, second) in &self.begins {
            while let Some(&(_, value)) = ended.next_if(|(end, _)| *end < begin) {
                if latest.is_none_or(|latest| follow[latest].from < follow[value].from) {
                    latest = Some(value);
                }
            }
            let Some(first) = latest else { continue };
            if follow[second].to < follow[first].from {
                return Err(Inversion { first, second });
            }
            follow[second].from = follow[second].from.max(follow[first].from);
        }
        Ok(())
    }

    /// Cuts off other intervals of the same values where x would follow later than a y after it. That leaves
    /// something of each, if [`Order::hold_back`] does.
    pub(super) fn hurry(&self, follow: &mut [Interval]) {
        let mut begun = self.begins.iter().rev().peekable();
        let mut earliest = u64::MAX;
        for &(end, first) in self.ends.iter().rev() {
            while let Some(&(_, value)) = begun.next_if(|(begin, _)| end < *begin) {
                earliest = earliest.min(follow[value].to);
            }
            follow[first].to = follow[first].to.min(earliest);
        }
    }
}

/// Stamps in order, with their places.
fn sorted(stamps: impl Iterator<Item = u64>) -> Vec<(u64, usize)> {
    let mut stamps: Vec<(u64, usize)> = stamps.zip(0..).collect();
    // Histories are recorded thread by thread, so they come in long sorted runs, which this sort merges.
    stamps.sort();
    stamps
}
