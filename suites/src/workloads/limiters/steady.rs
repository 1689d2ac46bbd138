//! Steady: acquirers that are always there, at a rate that never lets all of them through.
//!
//! All keep to the rate, so the value is the CPU time of a grant: what waiting together costs. Whoever grants more than
//! the rate fails. How full the fullest period was is told beside it, as those who acquired saw it.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_harness::record::{Axes, Findings, Measure};
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::sync::std::clock;
use serde::{Deserialize, Serialize};

use super::acquirers::{Acquiring, More, Notes};
use super::{LimitForm, Rate, within};
use crate::scenario::{Facts, Form, Threads};
use crate::workloads::ledger::{disproved, void};
use crate::workloads::start::Start;

/// A proof lasts so long at least, nanoseconds: on a busy machine nobody may be there for a few milliseconds.
const PROOF: u64 = 50_000_000;

/// How many at which rate.
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
    /// What records say of it.
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

struct Steady<A> {
    params: Params,
    /// What the fullest period may hold.
    most: u64,
    form: PhantomData<fn(A)>,
}

impl<A: Acquiring> Stage for Steady<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.window(WindowSpec {
            ramp_nanos: 0,
            nanos: PROOF.max(3 * self.params.rate.period_nanos()),
            slowed_percent: None,
            seed: 1,
        })
        .map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let rate = self.params.rate;
        // Whole periods, several of them, or there is no rate to speak of.
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
        // One herd more than there are periods, where they come in herds.
        let most = (periods + 1) * rate.permits.get() + self.params.waiters.get();
        if granted > most {
            return Err(disproved(format!(
                "{granted} permits were granted in {periods} periods of {}",
                rate.permits.get()
            )));
        }
        let cpu_nanos = cost.used.map(|used| used.cpu_nanos);
        let cpu_nanos = cpu_nanos.ok_or_else(|| void("this system tells no CPU time"))?;
        let value = (cpu_nanos as f64 / granted as f64).max(1.0);
        Ok(Sample {
            findings: Findings {
                excess: Some(within(rate.excess(&moments), self.most)?),
                ..Findings::default()
            },
            ..Sample::new(value, granted, interval.nanos(), cost)
        })
    }
}

/// A stage of that contestant.
pub fn stage<A: Acquiring>(params: Params, who: &Contestant) -> Box<dyn Stage> {
    Box::new(Steady::<A> {
        most: params.rate.fullest(who, params.waiters),
        params,
        form: PhantomData,
    })
}
