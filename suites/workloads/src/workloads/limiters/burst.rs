//! Burst: all acquirers arrive at once at an idle limiter.
//!
//! The value is the time until the last request is granted, over the ideal. The ideal is the same whether permits
//! come back all together or one by one: with r requests, n permits and a period T, n are granted at once and the
//! rest take T for every n of them. An implementation that grants more than that in a period fails.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::reading::{Cost, Reading};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Excess, Findings, Measure};
use serde::{Deserialize, Serialize};

use super::acquirers::{Acquiring, More, Notes};
use super::{LimitForm, Rate, within};
use crate::scenario::{Facts, Form, Threads, Within};
use crate::workloads::ledger::miscounted;
use crate::workloads::pieces::Pieces;
use crate::workloads::start::Start;

/// The acquirers and the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How permits are waited for.
    pub form: LimitForm,
    /// What is allowed.
    pub rate: Rate,
    /// How many times the permits of a period are requested.
    pub periods: Within<2, 1_000>,
    /// The acquirers that share the requests.
    pub waiters: Threads,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "x ideal",
            axes: Axes {
                family: format!("limiter-burst/{}", Form::from(self.form).name()),
                rate: Some(self.rate.per_second()),
                waiting: Some(self.waiters.count()),
                ..Axes::default()
            },
        }
    }
}

/// An interval that begins when all acquirers have arrived; a burst ends when all requests are granted.
const AT_ONCE: WindowSpec = WindowSpec {
    ramp_nanos: 0,
    nanos: 1,
    slowed_percent: None,
    seed: 0,
};

struct Burst<A> {
    params: Params,
    /// The most that a period may hold.
    most: u64,
    form: PhantomData<fn(A)>,
}

impl<A: Acquiring> Burst<A> {
    /// One burst: how long it took in nanoseconds, its cost, and its fullest period.
    fn burst(&self) -> Result<(u64, Cost, Excess), StageError> {
        let Params {
            rate,
            periods,
            waiters,
            ..
        } = self.params;
        let requests = rate.permits.get() * periods.get();
        let limiter = A::start(rate)?;
        let left = Arc::new(AtomicU64::new(requests));
        let more: More = Arc::new(move |_| {
            let took = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
            took.is_ok()
        });
        let (notes, hearer) = Notes::with_room(requests as usize);
        let start = Start::of(waiters.count());
        limiter.crowd(waiters.count(), &start, &more, &notes);
        drop(notes);
        // All are at the start: from here on they acquire.
        let began = start.begin(&AT_ONCE).first_nanos();
        let first = Reading::first(began);
        let patience =
            Duration::from_nanos(periods.get() * rate.period_nanos()) + Duration::from_secs(5);
        let grants = hearer.hear(patience)?;
        if grants.len() as u64 != requests {
            return Err(miscounted(format!(
                "{requests} permits were asked for and {} granted",
                grants.len()
            )));
        }
        let last = Reading::last(clock::now_nanos());
        let took = grants
            .last()
            .map_or(0, |ended| ended.at.saturating_sub(began));
        let cost = last.since(&first, last.nanos - first.nanos);
        Ok((took, cost, within(rate.excess(&grants), self.most)?))
    }

    /// The ideal time of a burst, in nanoseconds.
    fn ideal(&self) -> u64 {
        (self.params.periods.get() - 1) * self.params.rate.period_nanos()
    }
}

impl<A: Acquiring> Stage for Burst<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.burst().map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let mut fullest = self.params.rate.excess(&[]);
        let bursts = Pieces::of(&spec, || {
            let (nanos, cost, excess) = self.burst()?;
            fullest.worst = fullest.worst.max(excess.worst);
            Ok((nanos, cost))
        })?;
        let granted = bursts.count * self.params.rate.permits.get() * self.params.periods.get();
        let value = bursts.nanos as f64 / (bursts.count * self.ideal()) as f64;
        Ok(Sample {
            findings: Findings {
                excess: Some(fullest),
                ..Findings::default()
            },
            ..Sample::new(value, granted, bursts.nanos, bursts.cost)
        })
    }
}

/// A stage of that implementation.
pub fn stage<A: Acquiring>(params: Params, asker: &Registered) -> Box<dyn Stage> {
    Box::new(Burst::<A> {
        most: params.rate.fullest(asker, params.waiters),
        params,
        form: PhantomData,
    })
}
