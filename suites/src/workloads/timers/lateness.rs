//! Lateness: how long after its deadline a timer calls, split where the design says when it noticed.
//!
//! The value is the 99th percentile from the deadline to the call. A window lasts at least as long as a thousand
//! firings take. With `busy` threads the machine is loaded while the timers sleep.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use flowmeter_harness::measure::protocol::encode_histogram;
use flowmeter_harness::measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_harness::record::{self, Axes, Findings, Measure};
use serde::{Deserialize, Serialize};

use super::sleepers::{Dormitory, Lateness, Waiting};
use crate::scenario::{Facts, Form, Within, cores};
use crate::workloads::latencies::Latencies;
use crate::workloads::ledger::{disproved, void};

/// Firings that a window should hold, for its percentiles.
const ENOUGH: u64 = 1_000;

/// Who sleeps how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Timers armed at a time.
    pub timers: Within<1, 256>,
    /// The shortest sleep.
    pub shortest_micros: Within<1, 1_000_000>,
    /// The longest sleep.
    pub longest_micros: Within<1, 1_000_000>,
    /// Threads that compute all the while.
    #[serde(default)]
    pub busy: Within<0, 1024>,
}

impl Params {
    /// What records say of it.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Native,
            measure: Measure::Latency,
            unit: "ns",
            axes: Axes {
                family: format!("timer-lateness/{} busy", self.busy.get()),
                waiting: Some(self.timers.count()),
                oversubscribed: self.busy.count() > cores().get(),
                ..Axes::default()
            },
        }
    }

    /// A window that holds enough firings, whatever the budget asks for.
    fn nanos(&self) -> u64 {
        let mean = (self.shortest_micros.get() + self.longest_micros.get()) * 1_000 / 2;
        ENOUGH * mean / self.timers.get()
    }
}

struct Stages<W> {
    params: Params,
    form: PhantomData<fn(W)>,
}

impl<W: Waiting> Stages<W> {
    fn sleep(&self, spec: &WindowSpec) -> Result<Sample, StageError> {
        let lateness = Arc::new(Mutex::new(Lateness {
            called: Latencies::new()?,
            claimed: Latencies::new()?,
        }));
        let micros = [self.params.shortest_micros, self.params.longest_micros].map(Within::get);
        let dormitory = Dormitory {
            sleepers: self.params.timers.count(),
            delays: micros[0] * 1_000..=micros[1].max(micros[0]) * 1_000,
            lateness: Some(lateness.clone()),
        };
        let load = Load::of(self.params.busy.count());
        let slept = W::sleep(&dormitory, spec)?;
        drop(load);
        let lateness = lateness.lock().unwrap_or_else(PoisonError::into_inner);
        let (called, claimed) = (&lateness.called, &lateness.claimed.0);
        if called.0.is_empty() {
            return Err(void("no timer was due within the window"));
        }
        let value = called.p99() as f64;
        Ok(Sample {
            findings: Findings {
                lateness: Some(record::Lateness {
                    called: encode_histogram(&called.0),
                    claimed: (!claimed.is_empty()).then(|| encode_histogram(claimed)),
                    early: slept.counts.early,
                }),
                ..Findings::default()
            },
            ..Sample::new(value, slept.counts.fired, slept.nanos, slept.cost)
        })
    }
}

impl<W: Waiting> Stage for Stages<W> {
    fn prove(&mut self) -> Result<(), StageError> {
        let sample = self.sleep(&WindowSpec {
            ramp_nanos: 0,
            nanos: 20_000_000,
            slowed_percent: None,
            seed: 1,
        })?;
        match sample
            .findings
            .lateness
            .map_or(0, |lateness| lateness.early)
        {
            0 => Ok(()),
            early => Err(disproved(format!(
                "{early} timers fired before their deadline"
            ))),
        }
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        self.sleep(&WindowSpec {
            nanos: spec.nanos.max(self.params.nanos()),
            ..spec
        })
    }
}

/// Threads that compute until dropped.
struct Load {
    over: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn of(threads: usize) -> Load {
        let over = Arc::new(AtomicBool::new(false));
        let compute = |_| {
            let over = over.clone();
            thread::spawn(move || {
                let mut turns = 0_u64;
                while !over.load(Ordering::Relaxed) {
                    turns = std::hint::black_box(turns.wrapping_mul(3) + 1);
                }
            })
        };
        Load {
            threads: (0..threads).map(compute).collect(),
            over,
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A stage.
pub fn stage<W: Waiting>(params: Params) -> Box<dyn Stage> {
    Box::new(Stages::<W> {
        params,
        form: PhantomData,
    })
}
