//! Lateness: how long after its deadline a timer calls, split where the design reports when it noticed.
//!
//! The value is the 99th percentile of the time from the deadline to the call. A window lasts at least as long as two
//! thousand deadlines take. A call before its deadline is a failure. With `busy` threads the machine is loaded while
//! the timers sleep. With `slow_micros` one timer has a callback that computes, and the others are measured.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use flowmeter_measure::protocol::encode_histogram;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, FailureKind, Findings, Measure};
use serde::{Deserialize, Serialize};

use super::TimerForm;
use super::sleepers::{Dormitory, Lateness, Pace, Waiting};
use crate::scenario::{Facts, Within, cores};
use crate::workloads::crew;
use crate::workloads::latencies::Latencies;
use crate::workloads::ledger::{disproved, void};

/// Firings that a window should hold for its 99th percentile: twenty lie above it.
const ENOUGH: u64 = 2_000;
/// Windows of a proof on a machine that is too busy for the first.
const PROOFS: u32 = 5;

/// The timers and their delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers armed at a time.
    pub timers: Within<1, 256>,
    /// The shortest sleep.
    pub shortest_micros: Within<1, 1_000_000>,
    /// The longest sleep.
    pub longest_micros: Within<1, 1_000_000>,
    /// Threads that compute all the time.
    #[serde(default)]
    pub busy: Within<0, 1024>,
    /// How long the callback of one further timer computes; 0 means that there is none.
    #[serde(default)]
    pub slow_micros: Within<0, 1_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        let slow = match self.slow_micros.get() {
            0 => String::new(),
            micros => format!(" {micros} us slow"),
        };
        Facts {
            form: self.form.into(),
            measure: Measure::Latency,
            unit: "ns",
            axes: Axes {
                family: format!(
                    "timer-lateness/{} busy{slow}/{}",
                    self.busy.get(),
                    self.form.name()
                ),
                waiting: Some(self.timers.count()),
                oversubscribed: self.busy.count() > cores().get(),
                ..Axes::default()
            },
        }
    }

    /// A window that holds enough firings, whatever the budget.
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
            pace: Pace::Deadlines,
            lateness: Some(lateness.clone()),
            slow: self.params.slow_micros.get() * 1_000,
        };
        let load = Load::of(self.params.busy.count());
        let slept = W::sleep(&dormitory, spec)?;
        drop(load);
        let lateness = lateness.lock().unwrap_or_else(PoisonError::into_inner);
        let (called, claimed) = (&lateness.called, &lateness.claimed.0);
        if slept.counts.early > 0 {
            let early = slept.counts.early;
            return Err(disproved(format!(
                "{early} timers fired before their deadline"
            )));
        }
        if called.0.is_empty() {
            return Err(void("no timer was due within the window"));
        }
        if self.params.slow_micros.get() > 0 && slept.counts.slow == 0 {
            return Err(void("the slow one was not called within the window"));
        }
        let value = called.p99() as f64;
        Ok(Sample {
            findings: Findings {
                lateness: Some(flowmeter_records::Lateness {
                    called: encode_histogram(&called.0),
                    claimed: (!claimed.is_empty()).then(|| encode_histogram(claimed)),
                    early: slept.counts.early,
                }),
                ..Findings::default()
            },
            // The CPU time of busy threads and slow callbacks is not the timer's.
            ..Sample::new(
                value,
                slept.counts.fired,
                slept.nanos,
                match (self.params.busy.get(), self.params.slow_micros.get()) {
                    (0, 0) => slept.cost,
                    _ => Cost::default(),
                },
            )
        })
    }
}

impl<W: Waiting> Stage for Stages<W> {
    fn prove(&mut self) -> Result<(), StageError> {
        // Short, but twice as long each time that nothing happened in it on a busy machine.
        let mut nanos = 20_000_000;
        for _ in 1..PROOFS {
            match self.sleep(&untimed(nanos)) {
                Err(why) if why.kind == FailureKind::Void => nanos *= 2,
                outcome => return outcome.map(drop),
            }
        }
        self.sleep(&untimed(nanos)).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        self.sleep(&WindowSpec {
            nanos: spec.nanos.max(self.params.nanos()),
            ..spec
        })
    }
}

/// A window of a proof.
fn untimed(nanos: u64) -> WindowSpec {
    WindowSpec {
        ramp_nanos: 0,
        nanos,
        slowed_percent: None,
        seed: 1,
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
        let compute = |place| {
            let over = over.clone();
            thread::spawn(move || {
                crew::settle(place);
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
