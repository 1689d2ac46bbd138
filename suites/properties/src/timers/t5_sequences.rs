//! T5 (with T1 to T3): generated sequences with stalls. While a callback holds up the service, timers are armed,
//! cancelled and moved near each boundary of a wheel before and behind the moment at which the stall ends, many of them
//! in one slot. Then all that is due fires, once, at once and in order.
//!
//! The smallest sequences that violate it:
//!
//! ```text
//! stall; arm 0 in 63 ns; let 64 ns pass; release
//! 0 does not fire: the slot just before the present one was missed
//!
//! stall; arm 0 to 4 in 2^20 ns; let 2^20 ns pass; release
//! 0 and 1 fire; arm 5 in 2^8 ns
//! 2 to 4 never fire: their slot was begun, and forgotten
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::spec::timer::Event;
use flowmeter_harness::sync::{Deadline, world};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::form::{Gate, Note, SOON, after};
use super::log::{Call, Log};
use crate::design::timers::{Design, Timers, Way};
use crate::programs::family::{self, Generated};
use crate::{Case, Cases, Model, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "t5-sequences",
    statement: "In generated sequences with stalls, what is due at the end of a stall fires then, once, whatever slot it lies in.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

/// A delay near a power of two, where the digits of a wheel change, or near so many ticks of a hashed wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Delay {
    bits: u8,
    /// How far from it, in sixty-fourths of it.
    slots: u8,
    more: u8,
}

/// Up to some minutes.
const BITS: u8 = 38;

impl Delay {
    fn length(self) -> Duration {
        let unit = 1_u64 << self.bits;
        let slots = unit / 64 * u64::from(self.slots);
        Duration::from_nanos((unit + slots + u64::from(self.more)).saturating_sub(1))
    }
}

/// An act. Numbers name a timer, modulo how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Act {
    /// Arms so many at the same moment, or at moments a nanosecond apart.
    Arm(Delay, u8, bool),
    Cancel(u8),
    Move(u8, Delay),
    Pass(Delay),
    /// A callback holds up the service, for that long, or until the next stall or the end. Without effect in a stall.
    Stall,
    Release,
}

/// What one thread does to one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sequence(Vec<Act>);

impl Generated for Sequence {
    fn size(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for act in &self.0 {
            match act {
                Act::Arm(delay, count, true) => {
                    writeln!(f, "  arm {count} from {:?} on", delay.length())
                }
                Act::Arm(delay, count, false) => {
                    writeln!(f, "  arm {count} in {:?}", delay.length())
                }
                Act::Cancel(which) => writeln!(f, "  cancel timer {which}"),
                Act::Move(which, delay) => {
                    writeln!(f, "  move timer {which} to {:?} from now", delay.length())
                }
                Act::Pass(delay) => writeln!(f, "  let {:?} pass", delay.length()),
                Act::Stall => writeln!(f, "  stall"),
                Act::Release => writeln!(f, "  release"),
            }?;
        }
        Ok(())
    }
}

/// How many acts a sequence has at most.
fn longest() -> usize {
    if world::name() == "sim" { 40 } else { 8 }
}

fn sequences(timers: Timers, longest: usize) -> impl Strategy<Value = Sequence> + use<> {
    let delay = (0..BITS, 0..64_u8, 0..3_u8).prop_map(|(bits, slots, more)| Delay {
        bits,
        // Often exactly at the boundary.
        slots: if slots < 32 { 0 } else { 2 * (slots - 32) },
        more,
    });
    let (cancels, moves) = (timers.cancels(), timers.resets());
    let act = (0..16_u8, 0..32_u8, delay, 1..6_u8, any::<bool>()).prop_map(
        move |(kind, which, delay, count, apart)| match kind {
            0 if cancels => Act::Cancel(which),
            1..=2 if moves => Act::Move(which, delay),
            3..=5 => Act::Pass(delay),
            6..=7 => Act::Stall,
            8..=9 => Act::Release,
            _ => Act::Arm(delay, count, apart),
        },
    );
    vec(act, 1..=longest).prop_map(Sequence)
}

fn cases(design: &Design) -> Vec<Case> {
    // Elsewhere a timer of minutes takes minutes, or time is no part of what is explored.
    if !matches!(world::name(), "sim" | "shuttle") {
        return Vec::new();
    }
    let Some(timers) = design.by(Way::Call) else {
        return Vec::new();
    };
    let ordered = design.claims(Claim::DeadlineOrder);
    let longest = longest();
    let model = move |sequence: &Arc<Sequence>| -> Model {
        let sequence = Arc::clone(sequence);
        Arc::new(move || run(timers, ordered, &sequence))
    };
    vec![Case::generated(
        "callbacks",
        move |explorer, plan| family::explore(explorer, sequences(timers, longest), plan, model),
        move |key| family::member(key, model),
    )]
}

/// The numbers of timers in the order of their calls. It uses no primitive of a world.
type Order = Arc<Mutex<Vec<usize>>>;

struct Scene {
    timers: Timers,
    log: Log,
    calls: Vec<Call>,
    order: Order,
    /// How many of the calls were written down.
    seen: usize,
    /// Ends the stall.
    gate: Option<Gate>,
}

fn run(timers: Timers, ordered: bool, sequence: &Sequence) {
    let mut scene = Scene {
        timers,
        log: Log::start(timers).with_deadline_order(ordered),
        calls: Vec::new(),
        order: Order::default(),
        seen: 0,
        gate: None,
    };
    for act in &sequence.0 {
        scene.act(*act);
        scene.look();
    }
    scene.release();
    // A timer that never fires is a deadlock here, or ends with its service.
    let open: Vec<usize> = (0..scene.calls.len()).collect();
    for at in open {
        scene.calls[at].note.wait_for_end();
    }
    scene.look();
    scene.log.ends();
    scene.log.judge();
}

impl Scene {
    /// Writes down what was called meanwhile, in the order of the calls.
    fn look(&mut self) {
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let further: Vec<usize> = order[self.seen..].to_vec();
        drop(order);
        self.seen += further.len();
        for timer in further {
            let called = self.calls[timer].note.wait();
            self.log.called(timer, called);
        }
    }

    fn arm(&mut self, due: Deadline) {
        let (timer, note) = (self.log.arms(due), Note::new());
        let (callback, order) = (note.callback(), Arc::clone(&self.order));
        let handle = self.log.service().schedule(due, move |fired| {
            let order = order.lock();
            order.unwrap_or_else(PoisonError::into_inner).push(timer);
            callback(fired);
        });
        self.calls.push(Call {
            timer,
            handle,
            note,
        });
    }

    fn act(&mut self, act: Act) {
        let count = self.calls.len();
        let which = |at: u8| usize::from(at).checked_rem(count);
        match act {
            Act::Arm(delay, count, apart) => {
                let first = after(delay.length());
                for nth in 0..u64::from(count) {
                    let nth = if apart { nth } else { 0 };
                    self.arm(Deadline::from_nanos(first.as_nanos() + nth));
                }
            }
            Act::Cancel(at) => {
                if let Some(at) = which(at) {
                    self.log.cancels(&self.calls[at]);
                }
            }
            Act::Move(at, delay) => {
                if let Some(at) = which(at) {
                    self.log.moves(&self.calls[at], after(delay.length()));
                }
            }
            Act::Pass(delay) => self.pass(delay.length()),
            Act::Stall => self.stall(),
            Act::Release => self.release(),
        }
    }

    /// Time passes when a thread waits for it. The service may be held up, so another one tells.
    fn pass(&self, length: Duration) {
        let other = self.timers.start();
        let passed = Note::new();
        other.schedule(after(length), passed.callback());
        passed.wait();
    }

    fn stall(&mut self) {
        if self.gate.is_some() {
            return;
        }
        let (stalled, gate) = (Gate::new(), Gate::new());
        {
            let (stalled, gate) = (stalled.clone(), gate.clone());
            self.log.service().schedule(after(SOON), move |_| {
                stalled.open();
                gate.pass();
            });
        }
        stalled.pass();
        self.look();
        self.log.write(Event::Stalled);
        self.gate = Some(gate);
    }

    fn release(&mut self) {
        let Some(gate) = self.gate.take() else {
            return;
        };
        self.look();
        self.log.write(Event::Released {
            at: world::now_nanos(),
        });
        gate.open();
    }
}
