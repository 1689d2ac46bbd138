//! The number of tasks in flight over time, recorded as they begin and end.

use std::sync::{Mutex, PoisonError};

use flowmeter_harness::sync::std::clock;
use flowmeter_records::InFlight;

/// The number of intervals in a timeline: more than a chart can show.
const POINTS: u64 = 120;

/// When tasks began and ended.
#[derive(Debug, Default)]
pub struct Course(Mutex<Vec<(u64, i64)>>);

impl Course {
    /// With room for so many tasks, so that no task waits for memory.
    pub fn with_room(tasks: usize) -> Course {
        Course(Mutex::new(Vec::with_capacity(2 * tasks)))
    }

    /// A task begins: its function was called.
    pub fn begin(&self) {
        self.note(1);
    }

    /// A task ends: its work is done, its result is put, and it is about to drop its port. It is recorded before the
    /// drop, since afterwards the next task could seem to overlap.
    pub fn end(&self) {
        self.note(-1);
    }

    fn note(&self, change: i64) {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that events are in order of time.
        events.push((clock::now_nanos(), change));
    }

    /// The timeline; `None` when no task began.
    pub fn in_flight(&self, parallelism: u64) -> Option<InFlight> {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (begins, ends) = (events.first()?.0, events.last()?.0);
        let (mut now, mut peak, mut area) = (0_i64, 0_i64, 0_u128);
        let mut timeline: Vec<(u64, u64)> = Vec::new();
        let bucket = ((ends - begins) / POINTS).max(1);
        let mut before = begins;
        for &(moment, change) in events.iter() {
            area += u128::from(moment - before) * now.unsigned_abs() as u128;
            before = moment;
            let entered = now.max(0) as u64;
            now += change;
            peak = peak.max(now);
            // Only the maximum within each interval is kept.
            let at = (moment - begins) / bucket * bucket;
            let level = entered.max(now.max(0) as u64);
            match timeline.last_mut() {
                Some((last, most)) if *last == at => *most = (*most).max(level),
                last => {
                    // In an interval without events, the final level of the last one remains.
                    let quiet_from = last.map_or(at, |(last, _)| *last + bucket);
                    if quiet_from < at {
                        timeline.push((quiet_from, entered));
                    }
                    timeline.push((at, level));
                }
            }
        }
        timeline.dedup_by_key(|(_, level)| *level);
        timeline.push((ends - begins, now.max(0) as u64));
        Some(InFlight {
            parallelism,
            peak: peak.max(0) as u64,
            mean: area as f64 / (ends - begins).max(1) as f64,
            timeline,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_and_mean_are_those_of_the_events() {
        let course = Course::default();
        *course.0.lock().expect("no other thread has it") = vec![
            (100, 1),
            (100, 1),
            (300, -1),
            (300, 1),
            (500, -1),
            (500, -1),
        ];
        let seen = course.in_flight(2).expect("tasks began");
        assert_eq!((seen.peak, seen.mean), (2, 2.0));
        assert_eq!(seen.timeline, [(0, 2), (400, 0)]);
    }

    #[test]
    fn where_nothing_happens_a_timeline_holds_what_was_left_and_not_the_peak_before() {
        let course = Course::default();
        *course.0.lock().expect("no other thread has it") = vec![
            (0, 1),
            (0, 1),
            (1_000, -1),
            (600_000, 1),
            (1_200_000, -1),
            (1_200_000, -1),
        ];
        let seen = course.in_flight(2).expect("tasks began");
        assert_eq!(
            seen.timeline,
            [(0, 2), (10_000, 1), (600_000, 2), (1_200_000, 0)]
        );
    }

    #[test]
    fn a_timeline_is_short_and_keeps_its_peaks() {
        let course = Course::default();
        let events = (0..10_000_u64).flat_map(|n| [(n * 10, 1), (n * 10 + 5, -1)]);
        let mut events: Vec<_> = events.collect();
        events.splice(
            5_000..5_000,
            [(25_000, 1), (25_000, 1), (25_000, -1), (25_000, -1)],
        );
        *course.0.lock().expect("no other thread has it") = events;
        let seen = course.in_flight(1).expect("tasks began");
        assert!(
            seen.timeline.len() as u64 <= POINTS + 3,
            "{}",
            seen.timeline.len()
        );
        assert_eq!(seen.peak, 2);
        assert_eq!(seen.timeline.iter().map(|(_, most)| *most).max(), Some(2));
    }
}
