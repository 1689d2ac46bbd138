//! At which moments a queue can be empty, or full.

use super::Interval;

/// The moments at which something is certainly in the queue: open intervals, apart and in order.
#[derive(Clone, Debug)]
pub(super) struct Occupied {
    stretches: Vec<Interval>,
}

impl Occupied {
    /// From the open intervals in which each value is in the queue, if it is certain of any.
    pub(super) fn new(mut values: Vec<Interval>) -> Occupied {
        values.retain(|value| value.from < value.to);
        values.sort_by_key(|value| value.from);
        let mut stretches: Vec<Interval> = Vec::new();
        for value in values {
            match stretches.last_mut() {
                // At the very moment at which one goes and another comes the queue may be empty.
                Some(last) if value.from < last.to => last.to = last.to.max(value.to),
                _ => stretches.push(value),
            }
        }
        Occupied { stretches }
    }

    /// The earliest moment in there at which the queue can be empty.
    pub(super) fn earliest_empty(&self, within: Interval) -> Option<u64> {
        let moment = self.around(within.from).map_or(within.from, |s| s.to);
        (moment <= within.to).then_some(moment)
    }

    /// The latest moment in there at which the queue can be empty.
    pub(super) fn latest_empty(&self, within: Interval) -> Option<u64> {
        let moment = self.around(within.to).map_or(within.to, |s| s.from);
        (moment >= within.from).then_some(moment)
    }

    fn around(&self, moment: u64) -> Option<&Interval> {
        let next = self.stretches.partition_point(|s| s.to <= moment);
        self.stretches.get(next).filter(|s| s.from < moment)
    }
}

/// The moment after which more than `room` of these open intervals overlap.
pub(super) fn overcrowded(values: &[Interval], room: usize) -> Option<u64> {
    let certain = || values.iter().filter(|value| value.from < value.to);
    let mut from: Vec<u64> = certain().map(|value| value.from).collect();
    let mut to: Vec<u64> = certain().map(|value| value.to).collect();
    from.sort();
    to.sort();
    let mut gone = 0;
    from.into_iter().zip(1..).find_map(|(moment, come)| {
        while to[gone] <= moment {
            gone += 1;
        }
        (come - gone > room).then_some(moment)
    })
}

/// The moments at which the queue can be full: closed intervals, apart and in order.
#[derive(Clone, Debug)]
pub(super) struct PossiblyFull {
    stretches: Vec<Interval>,
}

impl PossiblyFull {
    /// From the closed intervals in which each value can be in the queue.
    pub(super) fn new(values: &[Interval], room: usize) -> PossiblyFull {
        let mut from: Vec<u64> = values.iter().map(|value| value.from).collect();
        let mut to: Vec<u64> = values.iter().map(|value| value.to).collect();
        from.sort();
        to.sort();
        let mut stretches = Vec::new();
        let (mut come, mut since) = (0, None);
        for (gone, end) in to.into_iter().enumerate() {
            while come < from.len() && from[come] <= end {
                come += 1;
                if come - gone == room {
                    since = Some(from[come - 1]);
                }
            }
            if come - gone == room
                && let Some(from) = since.take()
            {
                stretches.push(Interval { from, to: end });
            }
        }
        PossiblyFull { stretches }
    }

    /// The earliest moment in there at which the queue can be full.
    pub(super) fn earliest(&self, within: Interval) -> Option<u64> {
        let next = self.stretches.partition_point(|s| s.to < within.from);
        let moment = self.stretches.get(next)?.from.max(within.from);
        (moment <= within.to).then_some(moment)
    }
}
