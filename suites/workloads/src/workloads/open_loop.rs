//! Open loop: a generator sends at moments that are fixed in advance, whether or not the channel keeps up. A consumer
//! records how late each message arrives.
//!
//! The response time counts from the *intended* moment, so a message that waits for an earlier put includes that wait
//! (Tene's coordinated omission). The service time, from the actual moment, is recorded too. A disturbed window keeps
//! its value. The share of the rate that was missed, where it was over 1 %, and the generator's own lateness are
//! recorded with it; the evaluation of all windows of the cell decides. A window is void only where the generator
//! gave up, a window's length after the second edge.
//!
//! Generator and consumer run on a core each, where there are two and no other place was requested. The generator
//! spins, so on one core its spinning would be the latency.
//!
//! A load in percent is a share of what the implementation itself can take with this loop. A generator that never waits
//! finds it out in three short windows before the first timed one, while all other processes are stopped. Each window
//! records the rate that was offered.
//!
//! CPU time and the processor's counters are not recorded: most of both is the generator's spinning.

use std::marker::PhantomData;
use std::thread;

use flowmeter_harness::channel::Blocking;
use flowmeter_measure::clock;
use flowmeter_measure::edges::Edges;
use flowmeter_measure::pin::{self, Pinning};
use flowmeter_measure::{LatencySample, Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Findings, Measure};
use serde::{Deserialize, Serialize};

use super::crew::{self, Done, Job};
use super::latencies::Latencies;
use super::ledger::{Tally, void};
use super::payload::SENTINEL;
use super::stream;
use super::{open, refused};
use crate::scenario::{Facts, Form, Load, Room};

/// The windows in which the capacity is found out.
const CAPACITY_WINDOWS: [u64; 3] = [1, 2, 3];

/// The fewest messages a second that a share may come to: the thousand messages of a window take two seconds then.
const LEAST_SHARE: u64 = 500;

/// The share of the offered rate that must be achieved.
const SUSTAINED: f64 = 0.99;

/// The load, and the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Messages a second, or a share of the capacity.
    pub rate: Load,
    /// The channel between generator and consumer.
    pub buffer: Room,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        let (family, rate, load_percent) = match self.rate {
            Load::Rate(rate) => ("open-loop/blocking", Some(rate.get()), None),
            Load::OfCapacity(share) => ("open-loop/share/blocking", None, Some(share.get())),
        };
        Facts {
            form: Form::Blocking,
            measure: Measure::Latency,
            unit: "ns",
            axes: Axes {
                family: family.to_owned(),
                producers: Some(1),
                consumers: Some(1),
                capacity: self.buffer.capacity(),
                unbounded: self.buffer == Room::Unbounded,
                message_bytes: Some(size_of::<Letter>()),
                rate,
                load_percent,
                ..Axes::default()
            },
        }
    }
}

/// A message: its number in the schedule, and when it was really sent.
struct Letter {
    sequence: u64,
    sent: u64,
}

/// The intended moment of each message.
#[derive(Clone, Copy)]
struct Schedule {
    begins: u64,
    pace: Pace,
}

/// When a generator sends.
#[derive(Clone, Copy)]
enum Pace {
    /// So often a second.
    Rate(u64),
    /// Whenever the last put is done.
    AtOnce,
}

impl Schedule {
    /// A schedule that begins with the ramp of a window, which is about to begin.
    fn of(edges: &Edges, pace: Pace) -> Schedule {
        loop {
            if let Some(begins) = edges.began_nanos() {
                return Schedule { begins, pace };
            }
            thread::yield_now();
        }
    }

    /// The moment of the message at `sequence` on the engine's clock, if it does not depend on the one before.
    #[inline]
    fn moment(self, sequence: u64) -> Option<u64> {
        match self.pace {
            Pace::Rate(rate) => {
                let after = u128::from(sequence) * 1_000_000_000 / u128::from(rate);
                Some(self.begins + after as u64)
            }
            Pace::AtOnce => None,
        }
    }
}

struct Generated {
    put: Tally,
    /// From the intended moment.
    late: Latencies,
    /// From the intended moment, or from the end of the last put where that came later.
    own: Latencies,
    /// Achieved over offered rate, where it fell so far behind that it stopped.
    gave_up: Option<f64>,
}

struct Consumed {
    taken: Tally,
    sample: Result<Sample, StageError>,
    response: Latencies,
    service: Latencies,
    /// Achieved over offered rate, where there were enough messages.
    achieved: Option<f64>,
}

enum Report {
    Generator(Box<Generated>),
    Consumer(Box<Consumed>),
}

/// How far a channel falls behind its schedule from the first tenth of a window to the last.
///
/// The smallest response time of each tenth is compared. A passing stall does not affect it; a growing queue does.
#[derive(Clone, Copy)]
struct Backlog {
    first: u64,
    last: u64,
    tenth: u64,
    least_early: u64,
    least_late: u64,
}

impl Backlog {
    fn between(first: u64, last: u64) -> Backlog {
        Backlog {
            first,
            last,
            tenth: (last - first) / 10,
            least_early: u64::MAX,
            least_late: u64::MAX,
        }
    }

    #[inline]
    fn note(&mut self, intended: u64, response: u64) {
        if intended < self.first + self.tenth {
            self.least_early = self.least_early.min(response);
        } else if intended >= self.last - self.tenth {
            self.least_late = self.least_late.min(response);
        }
    }

    /// Achieved over offered rate; `None` when a tenth of the window has no message.
    fn achieved(&self) -> Option<f64> {
        if self.least_early == u64::MAX || self.least_late == u64::MAX {
            return None;
        }
        // The delay that accumulated between the middles of both tenths, nine tenths of the window apart.
        let behind = self.least_late.saturating_sub(self.least_early) as f64;
        let apart = ((self.last - self.first) - self.tenth) as f64;
        Some(apart / (apart + behind))
    }
}

fn generate<C: Blocking>(
    mut tx: C::Tx<Letter>,
    pace: Pace,
    edges: &Edges,
    mut generated: Box<Generated>,
) -> Result<Done<Report>, StageError> {
    let schedule = Schedule::of(edges, pace);
    let mut put = |letter| C::put(&mut tx, letter).map_err(|_| refused("a put on an open channel"));
    let (first, last) = (edges.first_nanos(), edges.last_nanos());
    let mut free = 0;
    for sequence in 0.. {
        let intended = schedule.moment(sequence).unwrap_or_else(clock::now_nanos);
        // All messages due in the window are sent, however late: leaving out late ones would favour the channel.
        if intended >= last && edges.over() {
            break;
        }
        if free > last + (last - first) {
            let due = intended.saturating_sub(first) as f64;
            generated.gave_up = Some(due / (free - first) as f64);
            break;
        }
        let sent = clock::spin_until(intended);
        put(Letter { sequence, sent })?;
        generated.put.add(sequence);
        if (first..last).contains(&intended) {
            generated.late.record(sent - intended);
            generated.own.record(sent - intended.max(free).min(sent));
        }
        free = clock::now_nanos();
    }
    put(Letter {
        sequence: SENTINEL,
        sent: 0,
    })?;
    Ok(Done::keeping(tx, Report::Generator(generated)))
}

fn consume<C: Blocking>(
    mut rx: C::Rx<Letter>,
    pace: Pace,
    edges: &Edges,
    mut consumed: Box<Consumed>,
) -> Result<Done<Report>, StageError> {
    let mut counter = edges.counter();
    let schedule = Schedule::of(edges, pace);
    let (first, last) = (edges.first_nanos(), edges.last_nanos());
    let mut backlog = Backlog::between(first, last);
    'open: loop {
        for turn in 0..counter.chunk() {
            let taken = C::take(&mut rx);
            let letter = taken.map_err(|_| refused("a take from an open channel"))?;
            if letter.sequence == SENTINEL {
                // It stops, whatever the clock says.
                let _ = counter.lap(u64::from(turn));
                break 'open;
            }
            let now = clock::now_nanos();
            consumed.taken.add(letter.sequence);
            let intended = schedule.moment(letter.sequence).unwrap_or(letter.sent);
            if (first..last).contains(&intended) {
                let response = now.saturating_sub(intended);
                consumed.response.record(response);
                consumed.service.record(now.saturating_sub(letter.sent));
                backlog.note(intended, response);
            }
        }
        let turns = u64::from(counter.chunk());
        // The generator decides when the window ends.
        let _ = counter.lap(turns);
    }
    consumed.achieved = backlog.achieved();
    consumed.sample = edges.sample(&[counter.finish()]);
    Ok(Done::keeping(rx, Report::Consumer(consumed)))
}

/// Pins the calling thread to a core without threads of other places.
fn keep_apart(place: usize) {
    let pinning = match pin::of_process() {
        Pinning::OneCore => return,
        Pinning::Free | Pinning::WherePossible => Pinning::CorePerThread,
        by_thread => by_thread,
    };
    // Where a system cannot pin, its scheduler decides, and the generator's own lateness shows the effect.
    let _ = pin::pin(pinning, place);
}

struct OpenLoop<C> {
    params: Params,
    /// Messages a second that it can take, once that is known.
    capacity: Option<f64>,
    family: PhantomData<fn(C)>,
}

impl<C: Blocking> OpenLoop<C> {
    /// The messages a second to offer.
    fn rate(&mut self) -> Result<u64, StageError> {
        let share = match self.params.rate {
            Load::Rate(rate) => return Ok(rate.get()),
            Load::OfCapacity(share) => share.get() as f64 / 100.0,
        };
        let capacity = match self.capacity {
            Some(capacity) => capacity,
            None => *self.capacity.insert(self.found_capacity()?),
        };
        let rate = (share * capacity) as u64;
        if rate < LEAST_SHARE {
            return Err(void(format!(
                "it takes {capacity:.0} messages/s, of which the share is too few for a percentile"
            )));
        }
        Ok(rate)
    }

    /// Messages a second with a generator that never waits: the most of some short windows, since other processes can
    /// only make it less.
    fn found_capacity(&self) -> Result<f64, StageError> {
        let mut most = Err(void("no window was timed".to_owned()));
        for seed in CAPACITY_WINDOWS {
            let spec = WindowSpec {
                ramp_nanos: 5_000_000,
                nanos: 20_000_000,
                slowed_percent: None,
                seed,
            };
            let edges = Edges::new(&spec, 1);
            let (generated, consumed) = self.run(&edges, Pace::AtOnce)?;
            Tally::agree(generated.put, consumed.taken)?;
            most = match (most, consumed.sample) {
                (Ok(most), Ok(sample)) => Ok(sample.value.max(most)),
                (Err(_), sample) => sample.map(|sample| sample.value),
                (most, Err(_)) => most,
            };
        }
        most
    }

    fn run(
        &self,
        edges: &Edges,
        pace: Pace,
    ) -> Result<(Box<Generated>, Box<Consumed>), StageError> {
        let (tx, rx) = open::<C, Letter>(self.params.buffer.buffer())?;
        let generated = Box::new(Generated {
            put: Tally::default(),
            late: Latencies::new()?,
            own: Latencies::new()?,
            gave_up: None,
        });
        let consumed = Box::new(Consumed {
            taken: Tally::default(),
            sample: Err(void("nothing was taken".to_owned())),
            response: Latencies::new()?,
            service: Latencies::new()?,
            achieved: None,
        });
        let (here, there) = (edges.clone(), edges.clone());
        let jobs: Vec<Job<Report>> = vec![
            Box::new(move || {
                keep_apart(0);
                consume::<C>(rx, pace, &here, consumed)
            }),
            Box::new(move || {
                keep_apart(1);
                generate::<C>(tx, pace, &there, generated)
            }),
        ];
        let mut reports = crew::threads(jobs, Some(edges))?.into_iter();
        match (reports.next(), reports.next()) {
            (Some(Report::Consumer(consumed)), Some(Report::Generator(generated))) => {
                Ok((generated, consumed))
            }
            _ => Err(void("a thread did not report".to_owned())),
        }
    }
}

impl<C: Blocking> Stage for OpenLoop<C> {
    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(self.params.buffer)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        // Long enough for ten samples above the 99th percentile, whatever the budget.
        let rate = self.rate()?;
        let enough = 1_000 * 1_000_000_000 / rate;
        let spec = WindowSpec {
            nanos: spec.nanos.max(enough),
            ..spec
        };
        let edges = Edges::new(&spec, 1);
        let (generated, consumed) = self.run(&edges, Pace::Rate(rate))?;
        Tally::agree(generated.put, consumed.taken)?;
        if let Some(achieved) = generated.gave_up {
            return Err(void(format!(
                "it sustained {:.1} % of {rate} messages/s, and the generator gave up",
                achieved * 100.0
            )));
        }
        let achieved = consumed.achieved.ok_or_else(|| {
            let millis = spec.nanos / 1_000_000;
            void(format!(
                "a window of {millis} ms is too short for {rate} messages/s"
            ))
        })?;
        let response = consumed.response.p99();
        Ok(Sample {
            value: response as f64,
            cpu_nanos: None,
            counters: None,
            unsustained: (achieved < SUSTAINED).then_some(1.0 - achieved),
            generator_p99_nanos: Some(generated.own.p99()),
            latency: Some(LatencySample {
                response: consumed.response.0,
                service: consumed.service.0,
                generator: generated.late.0,
            }),
            findings: Findings {
                offered: self.capacity.map(|_| rate as f64),
                ..Findings::default()
            },
            ..consumed.sample?
        })
    }
}

/// A stage.
pub fn stage<C: Blocking>(params: Params) -> Box<dyn Stage> {
    Box::new(OpenLoop::<C> {
        params,
        capacity: None,
        family: PhantomData,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_only_grows_is_not_sustained() {
        let mut backlog = Backlog::between(1_000, 2_000_000);
        for intended in (1_000..2_000_000).step_by(1_000) {
            backlog.note(intended, 500 + intended / 50);
        }
        let achieved = backlog.achieved().expect("messages in both tenths");
        assert!(achieved < SUSTAINED, "{achieved}");
    }

    #[test]
    fn a_stall_that_is_caught_up_with_is_sustained() {
        let mut backlog = Backlog::between(0, 1_000_000);
        for intended in (0..1_000_000).step_by(1_000) {
            let stalled = (900_000..950_000).contains(&intended);
            backlog.note(intended, if stalled { 60_000 } else { 700 });
        }
        assert_eq!(backlog.achieved(), Some(1.0));
    }

    #[test]
    fn a_schedule_does_not_drift() {
        let schedule = Schedule {
            begins: 5,
            pace: Pace::Rate(3),
        };
        assert_eq!(
            schedule.moment(3_000_000_000),
            Some(5 + 1_000_000_000_000_000_000)
        );
    }
}
