//! The moments at which a given number of values is in the queue.

use super::Interval;

/// The moments at which at least `count` of the intervals overlap: disjoint stretches of time, in order.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    stretches: Vec<Interval>,
}

/// The beginnings and the ends of some intervals, each sorted.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    from: Vec<u64>,
    to: Vec<u64>,
}

impl Ends {
    /// Of open intervals. Those that end no later than they begin are left out.
    pub(super) fn of_open(intervals: &[Interval]) -> Ends {
        Ends::new(|| {
            intervals
                .iter()
                .filter(|interval| interval.from < interval.to)
        })
    }

    /// Of closed intervals.
    pub(super) fn of_closed(intervals: &[Interval]) -> Ends {
        Ends::new(|| intervals.iter())
    }

    fn new<'a, I: Iterator<Item = &'a Interval>>(intervals: impl Fn() -> I) -> Ends {
        let mut ends = Ends {
            from: intervals().map(|interval| interval.from).collect(),
            to: intervals().map(|interval| interval.to).collect(),
        };
        // Long sorted runs, as in `order.rs`.
        ends.from.sort();
        ends.to.sort();
        ends
    }
}

impl Crowd {
    /// Overlaps of open intervals, for what is certain: at the moment at which one value leaves and another arrives,
    /// neither needs to be there. The stretches are open as well.
    pub(super) fn certain(values: &Ends, count: usize) -> Crowd {
        Crowd::sweep(values, count, |from, to| from < to)
    }

    /// Overlaps of closed intervals, for what is possible. The stretches are closed as well.
    pub(super) fn possible(values: &Ends, count: usize) -> Crowd {
        Crowd::sweep(values, count, |from, to| from <= to)
    }

    fn sweep(values: &Ends, count: usize, meet: fn(u64, u64) -> bool) -> Crowd {
        let mut stretches = Vec::new();
        let (mut come, mut since) = (0, 0);
        for (gone, &to) in values.to.iter().enumerate() {
            while let Some(&from) = values.from.get(come)
                && meet(from, to)
            {
                come += 1;
                if come - gone == count {
                    since = from;
                }
            }
            if come - gone == count {
                stretches.push(Interval { from: since, to });
            }
        }
        Crowd { stretches }
    }

    /// The first stretch.
    pub(super) fn first(&self) -> Option<Interval> {
        self.stretches.first().copied()
    }

    /// The earliest moment of `within` that is in none of the stretches, which are open.
    pub(super) fn earliest_outside(&self, within: Interval) -> Option<u64> {
        let moment = self
            .around(within.from)
            .map_or(within.from, |stretch| stretch.to);
        (moment <= within.to).then_some(moment)
    }

    /// The latest moment of `within` that is in none of the stretches, which are open.
    pub(super) fn latest_outside(&self, within: Interval) -> Option<u64> {
        let moment = self
            .around(within.to)
            .map_or(within.to, |stretch| stretch.from);
        (moment >= within.from).then_some(moment)
    }

    /// The earliest moment of `within` that is in one of the stretches, which are closed.
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
