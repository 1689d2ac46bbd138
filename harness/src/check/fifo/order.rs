//! The order of the values that intervals force.

use super::Interval;

/// Two values with contradictory orders: `first` has to be first by one kind of operation, `second` by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inversion {
    pub(super) first: usize,
    pub(super) second: usize,
}

/// The order that one interval of each value forces: x is before y if the interval of x ends before that of y begins.
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

    /// Shortens other intervals of the same values, so that no y begins before the x that precede it.
    ///
    /// # Errors
    /// When nothing is left of an interval.
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

    /// Shortens other intervals of the same values, so that no x ends after the y that follow it. If
    /// [`Order::hold_back`] leaves something of each interval, so does this.
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

/// The stamps in ascending order, with their indices.
fn sorted(stamps: impl Iterator<Item = u64>) -> Vec<(u64, usize)> {
    let mut stamps: Vec<(u64, usize)> = stamps.zip(0..).collect();
    // Histories are recorded thread by thread. So they consist of long sorted runs, which this sort merges.
    stamps.sort();
    stamps
}
