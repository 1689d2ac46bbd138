//! T2 (with T1 and T3): generated sequences that arm, cancel, move and drop many timers of one service, near and far,
//! with time that passes over every boundary of a wheel in between. Callbacks and futures have sequences of their own.
//! Futures are polled again under new wakers, and only if their latest waker was woken.
//!
//! The smallest sequences that violate it:
//!
//! ```text
//! arm 0 in 2^20 ns; arm 1 in 2^26 ns; let 2^20 ns pass: 0 fires
//! arm 2 in 2^8 ns: it takes the place of 0
//! cancel 0 -> true: the spent handle called off timer 2
//!
//! sleep 0 for 2^12 ns, polled by waker 0; poll it by waker 1
//! at its deadline waker 0 is woken: the sleep never ends
//! ```

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::sync::{Deadline, world};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::form::after;
use super::log::{Call, Log};
use crate::bell::Bell;
use crate::design::timers::{Design, Sleeping, Timers, Way};
use crate::programs::family::{self, Generated};
use crate::{Case, Cases, Model, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "t2-sequences",
    statement: "In generated sequences that arm, cancel, move, poll and drop timers, each fires once, at its latest deadline.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

/// A delay near a power of two, where the digits of a wheel change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Delay {
    bits: u8,
    less: u8,
}

/// Up to half an hour.
const BITS: u8 = 41;

/// An act. Numbers name a timer, modulo how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Act {
    Arm(Delay),
    /// In the past.
    ArmLate(Delay),
    Cancel(u8),
    Move(u8, Delay),
    /// Polls a future again, under a new waker.
    Poll(u8),
    Drop(u8),
    Pass(Delay),
}

/// What one thread does to one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sequence(Vec<Act>);

impl Delay {
    fn length(self) -> Duration {
        Duration::from_nanos((1 << self.bits) - u64::from(self.less))
    }
}

impl Generated for Sequence {
    fn size(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for act in &self.0 {
            match act {
                Act::Arm(delay) => writeln!(f, "  arm in {:?}", delay.length()),
                Act::ArmLate(delay) => writeln!(f, "  arm {:?} ago", delay.length()),
                Act::Cancel(which) => writeln!(f, "  cancel timer {which}"),
                Act::Move(which, delay) => {
                    writeln!(f, "  move timer {which} to {:?} from now", delay.length())
                }
                Act::Poll(which) => writeln!(f, "  poll timer {which} by a new waker"),
                Act::Drop(which) => writeln!(f, "  drop timer {which}"),
                Act::Pass(delay) => writeln!(f, "  let {:?} pass", delay.length()),
            }?;
        }
        Ok(())
    }
}

/// How many acts a sequence has at most.
fn longest() -> usize {
    if world::name() == "sim" { 64 } else { 8 }
}

fn sequences(timers: Timers, longest: usize) -> impl Strategy<Value = Sequence> + use<> {
    let delay = (0..BITS, 0..2_u8).prop_map(|(bits, less)| Delay { bits, less });
    let (cancels, moves) = (timers.cancels(), timers.resets());
    let polls = timers.way() == Way::Future;
    let act = (0..16_u8, 0..32_u8, delay).prop_map(move |(kind, which, delay)| match kind {
        0..=1 if cancels => Act::Cancel(which),
        2..=4 if moves => Act::Move(which, delay),
        0..=1 if polls => Act::Drop(which),
        2..=4 if polls => Act::Poll(which),
        5..=6 => Act::Pass(delay),
        7 => Act::ArmLate(delay),
        _ => Act::Arm(delay),
    });
    vec(act, 1..=longest).prop_map(Sequence)
}

fn cases(design: &Design) -> Vec<Case> {
    // Elsewhere a timer of minutes takes minutes, or time is no part of what is explored.
    if !matches!(world::name(), "sim" | "shuttle") {
        return Vec::new();
    }
    let named = [(Way::Call, "callbacks"), (Way::Future, "futures")];
    let cases = named.into_iter().filter_map(|(way, name)| {
        let (timers, longest) = (design.by(way)?, longest());
        let model = move |sequence: &Arc<Sequence>| -> Model {
            let sequence = Arc::clone(sequence);
            Arc::new(move || match way {
                Way::Call => Calls::run(timers, &sequence),
                _ => Sleeps::run(timers, &sequence),
            })
        };
        Some(Case::generated(
            name,
            move |explorer, plan| {
                family::explore(explorer, sequences(timers, longest), plan, model)
            },
            move |key| family::member(key, model),
        ))
    });
    cases.collect()
}

fn ago(delay: Duration) -> Deadline {
    let now = Duration::from_nanos(world::now_nanos());
    let then = now.saturating_sub(delay).as_nanos();
    Deadline::from_nanos(u64::try_from(then).expect("before now"))
}

/// Timers that call back.
struct Calls {
    log: Log,
    calls: Vec<Call>,
    /// Those that were neither seen called nor cancelled.
    open: Vec<usize>,
}

impl Calls {
    fn run(timers: Timers, sequence: &Sequence) {
        let mut scene = Calls {
            log: Log::start(timers),
            calls: Vec::new(),
            open: Vec::new(),
        };
        for act in &sequence.0 {
            scene.look();
            scene.act(*act);
        }
        scene.look();
        for at in std::mem::take(&mut scene.open) {
            scene.log.is_called(&scene.calls[at]);
        }
        scene.log.ends();
        scene.log.judge();
    }

    /// Writes down what was called meanwhile.
    fn look(&mut self) {
        let Calls { log, calls, open } = self;
        open.retain(|&at| match calls[at].note.called() {
            Some(called) => {
                log.called(calls[at].timer, called);
                false
            }
            None => true,
        });
    }

    fn arm(&mut self, due: Deadline) {
        self.open.push(self.calls.len());
        self.calls.push(self.log.schedule(due));
    }

    fn act(&mut self, act: Act) {
        let count = self.calls.len();
        let which = |at: u8| usize::from(at).checked_rem(count);
        match act {
            Act::Arm(delay) => self.arm(after(delay.length())),
            Act::ArmLate(delay) => self.arm(ago(delay.length())),
            Act::Cancel(at) => {
                if let Some(at) = which(at)
                    && self.log.cancels(&self.calls[at])
                {
                    self.open.retain(|open| *open != at);
                }
            }
            Act::Move(at, delay) => {
                if let Some(at) = which(at) {
                    self.log.moves(&self.calls[at], after(delay.length()));
                }
            }
            Act::Pass(delay) => self.log.calls(after(delay.length())),
            Act::Poll(_) | Act::Drop(_) => {}
        }
    }
}

/// A future and the waker of its latest poll.
struct Asleep {
    timer: usize,
    sleep: Sleeping,
    bell: Arc<Bell>,
}

/// Timers that futures wait for.
struct Sleeps {
    log: Log,
    asleep: Vec<Asleep>,
}

impl Sleeps {
    fn run(timers: Timers, sequence: &Sequence) {
        let mut scene = Sleeps {
            log: Log::start(timers),
            asleep: Vec::new(),
        };
        for act in &sequence.0 {
            scene.act(*act);
        }
        // A sleep that is never woken is a deadlock here.
        world::block_on(poll_fn(|context| {
            scene.serve(context.waker());
            match scene.asleep.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        scene.log.judge();
    }

    fn arm(&mut self, due: Deadline) {
        let timer = self.log.arms(due);
        let sleep = self.log.service().sleep(due);
        self.asleep.push(Asleep {
            timer,
            sleep,
            bell: Arc::default(),
        });
        self.poll(self.asleep.len() - 1);
    }

    /// Polls a sleep under a new waker; whether it is over.
    fn poll(&mut self, at: usize) -> bool {
        let asleep = &mut self.asleep[at];
        asleep.bell = Arc::default();
        let waker = Waker::from(Arc::clone(&asleep.bell));
        let polled = asleep.sleep.as_mut().poll(&mut Context::from_waker(&waker));
        let is_over = polled.is_ready();
        if is_over {
            let timer = self.asleep.remove(at).timer;
            self.log.over(timer, world::now_nanos());
        }
        is_over
    }

    /// Polls what was woken. The thread is woken for what is woken later.
    fn serve(&mut self, thread: &Waker) {
        for asleep in &self.asleep {
            asleep.bell.hears(thread);
        }
        let mut at = 0;
        while at < self.asleep.len() {
            if !self.asleep[at].bell.is_rung() {
                at += 1;
            } else if !self.poll(at) {
                self.asleep[at].bell.hears(thread);
                at += 1;
            }
        }
    }

    fn act(&mut self, act: Act) {
        let count = self.asleep.len();
        let which = |at: u8| usize::from(at).checked_rem(count);
        match act {
            Act::Arm(delay) => self.arm(after(delay.length())),
            Act::ArmLate(delay) => self.arm(ago(delay.length())),
            Act::Poll(at) => {
                if let Some(at) = which(at) {
                    self.poll(at);
                }
            }
            Act::Drop(at) => {
                if let Some(at) = which(at) {
                    drop(self.asleep.remove(at));
                }
            }
            Act::Pass(delay) => {
                let due = after(delay.length());
                let timer = self.log.arms(due);
                let mut passes = self.log.service().sleep(due);
                world::block_on(poll_fn(|context| {
                    let passed = passes.as_mut().poll(context);
                    self.serve(context.waker());
                    passed
                }));
                self.log.over(timer, world::now_nanos());
            }
            Act::Cancel(_) | Act::Move(..) => {}
        }
    }
}
