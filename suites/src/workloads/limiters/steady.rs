//! Steady: acquirers that are always there, at a rate that never lets all of them through.
//!
//! The value is grants per second: a limiter cannot be above its rate for long, and below it lies what waking up
//! late costs. How full the fullest period was is told beside it, as those who acquired saw it.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_harness::record::{Axes, Findings, Measure};
use flowmeter_harness::sync::std::clock;
use serde::{Deserialize, Serialize};

use super::Rate;
use super::acquirers::{Acquiring, More, Notes};
use crate::scenario::{Facts, Form, Threads};
use crate::workloads::ledger::void;
use crate::workloads::start::Start;

/// How many at which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What is allowed.
    pub rate: Rate,
    /// Acquirers.
    pub waiters: Threads,
}

impl Params {
    /// What records say of it.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Native,
            measure: Measure::Throughput,
            unit: "grants/s",
            axes: Axes {
                family: "limiter-steady".to_owned(),
                rate: Some(self.rate.per_second()),
                waiting: Some(self.waiters.count()),
                ..Axes::default()
            },
        }
    }
}

struct Steady<A> {
    params: Params,
    form: PhantomData<fn(A)>,
}

impl<A: Acquiring> Stage for Steady<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.window(WindowSpec {
            ramp_nanos: 0,
            nanos: 3 * self.params.rate.period_nanos(),
            slowed_percent: None,
            seed: 1,
        })
        .map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let rate = self.params.rate;
        // Several periods, or there is no rate to speak of.
        let spec = WindowSpec {
            ramp_nanos: spec.ramp_nanos.max(rate.period_nanos()),
            nanos: spec.nanos.max(3 * rate.period_nanos()),
            ..spec
        };
        let limiter = A::start(rate)?;
        let expected = rate.per_second() * (spec.ramp_nanos + spec.nanos) / 1_000_000_000;
        let (notes, hearer) = Notes::with_room(2 * expected as usize);
        let more: More = Arc::new(|interval| !interval.is_over(clock::now_nanos()));
        let waiters = self.params.waiters.count();
        let start = Start::of(waiters);
        limiter.crowd(waiters, &start, &more, &notes);
        drop(notes);
        let interval = start.begin(&spec);
        let cost = interval.sleep_through();
        // Each acquirer has one more permit to wait for.
        let waits = self.params.waiters.get() / rate.permits.get() + 2;
        let patience = Duration::from_nanos(waits * rate.period_nanos()) + Duration::from_secs(5);
        let moments = hearer.hear(patience)?;
        let granted = moments.iter().filter(|at| interval.holds(**at)).count() as u64;
        if granted == 0 {
            return Err(void("no permit was granted within the window"));
        }
        let value = granted as f64 / interval.nanos() as f64 * 1e9;
        Ok(Sample {
            findings: Findings {
                excess: Some(rate.excess(&moments)),
                ..Findings::default()
            },
            ..Sample::new(value, granted, interval.nanos(), cost)
        })
    }
}

/// A stage.
pub fn stage<A: Acquiring>(params: Params) -> Box<dyn Stage> {
    Box::new(Steady::<A> {
        params,
        form: PhantomData,
    })
}
