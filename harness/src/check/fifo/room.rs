//! At which moments so many values are in the queue.

use super::Interval;

/// The moments at which at least so many of some intervals overlap: stretches of time, apart and in order.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    stretches: Vec<Interval>,
}

impl Crowd {
    /// Of open intervals, for what certainly is: at the very moment at which one value goes and another
    /// comes neither needs to be there. The stretches are open as well. Intervals that end before they
    /// begin are none.
    pub(super) fn certain(mut values: Vec<Interval>, count: usize) -> Crowd {
        values.retain(|value| value.from < value.to);
        Crowd::sweep(&values, count, |from, to| from < to)
    }

    /// Of closed intervals, for what can be. The stretches are closed as well.
    pub(super) fn possible(values: &[Interval], count: usize) -> Crowd {
        Crowd::sweep(values, count, |from, to| from <= to)
    }

    fn sweep(values: &[Interval], count: usize, meet: fn(u64, u64) -> bool) -> Crowd {
        let mut from: Vec<u64> = values.iter().map(|value| value.from).collect();
        let mut to: Vec<u64> = values.iter().map(|value| value.to).collect();
        from.sort();
        to.sort();
        let mut stretches = Vec::new();
        let (mut come, mut since) = (0, 0);
        for (gone, end) in to.into_iter().enumerate() {
            while come < from.len() && meet(from[come], end) {
                come += 1;
                if come - gone == count {
                    since = from[come - 1];
                }
            }
            if come - gone == count {
                stretches.push(Interval {
                    from: since,
                    to: end,
                });
            }
        }
        Crowd { stretches }
    }

    /// Where the first stretch begins.
    pub(super) fn begin(&self) -> Option<u64> {
        self.stretches.first().map(|stretch| stretch.from)
    }

    /// The earliest moment in there that is in none of the stretches, which are open.
    pub(super) fn earliest_outside(&self, within: Interval) -> Option<u64> {
        let moment = self
            .around(within.from)
            .map_or(within.from, |stretch| stretch.to);
        (moment <= within.to).then_some(moment)
    }

    /// The latest moment in there that is in none of the stretches, which are open.
    pub(super) fn latest_outside(&self, within: Interval) -> Option<u64> {
        let moment = self
            .around(within.to)
            .map_or(within.to, |stretch| stretch.from);
        (moment >= within.from).then_some(moment)
    }

    /// The earliest moment in there that is in one of the stretches, which are closed.
    pub(super) fn earliest_inside(&self, within: Interval) -> Option<u64> {
        let next = self
            .stretches
            .partition_point(|stretch| stretch.to < within.from);
        let moment = self.stretches.get(next)?.from.max(within.from);
        (moment <= within.to).then_some(moment)
    }

    fn around(&self, moment: u64) -> Option<&Interval> {
        let next = self
            .stretches
            .partition_point(|stretch| stretch.to <= moment);
        self.stretches
            .get(next)
            .filter(|stretch| stretch.from < moment)
    }
}
