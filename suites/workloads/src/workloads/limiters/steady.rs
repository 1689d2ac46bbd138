//! Steady: acquirers that always want permits, at a rate that is always too low for all of them.
//!
//! All implementations keep to the rate, so the value is the CPU time of a grant: the cost of waiting together. An
//! implementation that grants more than the rate fails. Two further results are recorded: how full the fullest period
//! was, as the acquirers saw it, and how evenly they got their permits.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Fairness, Findings, Measure};
use serde::{Deserialize, Serialize};

use super::acquirers::{Acquiring, Grant, More, Notes};
use super::{LimitForm, Rate, within};
use crate::scenario::{Facts, Form, Threads};
use crate::workloads::fairness::jain;
use crate::workloads::ledger::{disproved, void};
use crate::workloads::start::Start;

/// The minimum length of a proof in nanoseconds: on a busy machine no acquirer may run for a few milliseconds.
const PROOF: u64 = 50_000_000;

/// How many acquirers at which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How permits are waited for.
    pub form: LimitForm,
    /// What is allowed.
    pub rate: Rate,
    /// Acquirers.
    pub waiters: Threads,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns CPU",
            axes: Axes {
                family: format!("limiter-steady/{}", Form::from(self.form).name()),
                rate: Some(self.rate.per_second()),
                waiting: Some(self.waiters.count()),
                ..Axes::default()
            },
        }
    }
}

/// Acquirers at a limiter.
pub(super) struct Crowd<A> {
    rate: Rate,
    waiters: Threads,
    /// The most that a period may hold.
    most: u64,
    form: PhantomData<fn(A)>,
}

/// The results of a window.
pub(super) struct Crowded {
    /// Acquisitions in the window.
    pub(super) grants: Vec<Grant>,
    /// Length of the window, nanoseconds.
    pub(super) nanos: u64,
    pub(super) cost: Cost,
    pub(super) findings: Findings,
}

impl<A: Acquiring> Crowd<A> {
    /// With an implementation of those claims.
    pub(super) fn at(rate: Rate, waiters: Threads, asker: &Registered) -> Crowd<A> {
        Crowd {
            rate,
            waiters,
            most: rate.fullest(asker, waiters),
            form: PhantomData,
        }
    }

    /// The window of a proof.
    fn proof(&self) -> WindowSpec {
        WindowSpec {
            ramp_nanos: 0,
            nanos: PROOF.max(3 * self.rate.period_nanos()),
            slowed_percent: None,
            seed: 1,
        }
    }

    /// Lets all of them acquire repeatedly until the window ends.
    pub(super) fn acquire(&self, spec: WindowSpec) -> Result<Crowded, StageError> {
        let rate = self.rate;
        // Several whole periods; otherwise there is no meaningful rate.
        let period = rate.period_nanos();
        let periods = (spec.nanos / period).max(3);
        let spec = WindowSpec {
            ramp_nanos: spec.ramp_nanos.max(period),
            nanos: periods * period,
            ..spec
        };
        let limiter = A::start(rate)?;
        let expected = rate.per_second() * (spec.ramp_nanos + spec.nanos) / 1_000_000_000;
        let (notes, hearer) = Notes::with_room(2 * expected as usize);
        let more: More = Arc::new(|interval| !interval.is_over(clock::now_nanos()));
        let waiters = self.waiters.count();
        let start = Start::of(waiters);
        limiter.crowd(waiters, &start, &more, &notes);
        drop(notes);
        let interval = start.begin(&spec);
        let cost = interval.sleep_through();
        // Each acquirer still waits for one permit.
        let waits = self.waiters.get() / rate.permits.get() + 2;
        let patience = Duration::from_nanos(waits * rate.period_nanos()) + Duration::from_secs(5);
        let all = hearer.hear(patience)?;
        let excess = within(rate.excess(&all), self.most)?;
        let in_window = all.into_iter().filter(|grant| interval.holds(grant.at));
        let grants: Vec<Grant> = in_window.collect();
        if grants.is_empty() {
            return Err(void("no permit was granted within the window"));
        }
        // Where grants come in groups, there is one group more than periods.
        let most = (periods + 1) * rate.permits.get() + self.waiters.get();
        if grants.len() as u64 > most {
            return Err(disproved(format!(
                "{} permits were granted in {periods} periods of {}",
                grants.len(),
                rate.permits.get()
            )));
        }
        Ok(Crowded {
            findings: Findings {
                excess: Some(excess),
                fairness: (waiters > 1).then(|| fairness(waiters, &grants)),
                ..Findings::default()
            },
            grants,
            nanos: interval.nanos(),
            cost,
        })
    }
}

/// How evenly so many acquirers got their permits. There are no producers.
fn fairness(acquirers: usize, grants: &[Grant]) -> Fairness {
    let mut shares = vec![0.0; acquirers];
    for grant in grants {
        shares[grant.by] += 1.0;
    }
    Fairness {
        producers: 1.0,
        consumers: jain(shares.into_iter()),
    }
}

impl<A: Acquiring> Stage for Crowd<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.acquire(self.proof()).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let crowded = self.acquire(spec)?;
        let cpu_nanos = crowded.cost.used.map(|used| used.cpu_nanos);
        let cpu_nanos = cpu_nanos.ok_or_else(|| void("this system tells no CPU time"))?;
        let granted = crowded.grants.len() as u64;
        let value = (cpu_nanos as f64 / granted as f64).max(1.0);
        Ok(Sample {
            findings: crowded.findings,
            ..Sample::new(value, granted, crowded.nanos, crowded.cost)
        })
    }
}

/// A stage of that implementation.
pub fn stage<A: Acquiring>(params: Params, asker: &Registered) -> Box<dyn Stage> {
    Box::new(Crowd::<A>::at(params.rate, params.waiters, asker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_without_a_permit_counts_too() {
        let grant = |by| Grant {
            at: 1,
            by,
            wakes: 0,
        };
        assert_eq!(fairness(2, &[grant(0), grant(1)]).consumers, 1.0);
        assert_eq!(fairness(4, &[grant(3), grant(3)]).consumers, 0.25);
    }
}
