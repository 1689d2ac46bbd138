//! L3 (async): generated sequences of tries, acquisitions that are polled under changing wakers, drops and time that
//! passes. One thread has all acquisitions, and polls one again only once its latest waker was woken. Virtual time
//! shows each grant at its moment, and the specification judges it.
//!
//! The smallest sequence that violates it:
//!
//! ```text
//! one permit in 2 ms
//! try -> granted
//! acquire 2, polled by waker 0
//! acquire 1, polled by waker 0
//! drop the first
//! the second is not served at 2 ms: the one before it kept its place
//! ```

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use flowmeter_harness::sync::world;
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::line::Line;
use super::{Kept, limiter, several, time_stands_still};
use crate::bell::Bell;
use crate::design::limiters::{Design, Limiter, Limiters};
use crate::form::Way;
use crate::programs::family::{self, Generated};
use crate::{Case, Cases, Model, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l3-sequences",
    statement: "Generated sequences of tries, polls, drops and pauses get their permits when the specification says so.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

/// An act. Numbers name a waiting acquisition, modulo how many wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Act {
    Try,
    /// Begins an acquisition of so many permits.
    Ask(u32),
    /// Polls it again, under a new waker.
    Poll(u8),
    Drop(u8),
    /// Lets so many quarters of a period pass, and serves what is woken meanwhile.
    Wait(u32),
}

/// A quota, and what one thread does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sequence {
    permits: u32,
    acts: Vec<Act>,
}

impl Generated for Sequence {
    fn size(&self) -> usize {
        self.acts.len()
    }

    fn is_sequential(&self) -> bool {
        true
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {} permits in {PERIOD:?}", self.permits)?;
        writeln!(f, "  {:?}", self.acts)
    }
}

/// Each permit takes whole nanoseconds. Of a fraction a design owes the first whole nanosecond at which its permits are
/// there, and between two of these there may be less time than between the fractions.
const PERIOD: Duration = Duration::from_nanos(2_000_004);

/// How many acts a sequence has at most.
const ACTS: usize = 14;

fn sequences(heaviest: u32) -> impl Strategy<Value = Sequence> + use<> {
    let act = prop_oneof![
        2 => Just(Act::Try),
        6 => (1..=heaviest).prop_map(Act::Ask),
        1 => (0..6_u8).prop_map(Act::Poll),
        4 => (0..6_u8).prop_map(Act::Drop),
        2 => (1..=6_u32).prop_map(Act::Wait),
    ];
    (heaviest..=3_u32, vec(act, 1..=ACTS)).prop_map(|(permits, acts)| Sequence { permits, acts })
}

fn cases(design: &Design) -> Vec<Case> {
    // Elsewhere time passes while a thread runs, and a grant is not seen at its moment.
    if !time_stands_still() || !design.acquires.contains(&Way::Async) {
        return Vec::new();
    }
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = vec![case("single permits", limiters, kept, 1)];
    if design.weighs.contains(&Way::Async) {
        cases.push(case("several permits at once", limiters, kept, 3));
    }
    cases
}

fn case(name: &str, limiters: Limiters, kept: Kept, heaviest: u32) -> Case {
    let model = move |sequence: &Arc<Sequence>| -> Model {
        let sequence = Arc::clone(sequence);
        Arc::new(move || run(limiters, kept, &sequence))
    };
    Case::generated(
        name,
        move |explorer, plan| family::explore(explorer, sequences(heaviest), plan, model),
        move |key| family::member(key, model),
    )
}

struct Waiting<'l> {
    asker: usize,
    weight: u32,
    future: Pin<Box<dyn Future<Output = ()> + Send + 'l>>,
    /// That of the latest poll.
    bell: Arc<Bell>,
    /// How many grants the thread had seen when it first saw the bell rung.
    rung_after: Option<usize>,
}

struct Scene<'l> {
    limiters: Limiters,
    limiter: &'l Limiter,
    permits: u32,
    line: Line,
    asked: usize,
    waiting: Vec<Waiting<'l>>,
    /// How many grants the thread has seen.
    grants: usize,
    /// Whether a grant that is dropped unheard is undone although another came after it.
    undoes_any: bool,
}

fn run(limiters: Limiters, kept: Kept, sequence: &Sequence) {
    let limiter = limiter(limiters, sequence.permits, PERIOD);
    let mut scene = Scene {
        limiters,
        limiter: &limiter,
        permits: sequence.permits,
        line: kept.line_in(sequence.permits, PERIOD, true),
        asked: 0,
        waiting: Vec::new(),
        grants: 0,
        undoes_any: !kept.by_rate,
    };
    for act in &sequence.acts {
        scene.act(*act);
        scene.hear();
    }
    // An acquisition that is never woken is a deadlock here.
    world::block_on(poll_fn(|context| {
        scene.serve(context.waker());
        match scene.waiting.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }));
    scene.line.judge();
}

impl<'l> Scene<'l> {
    fn act(&mut self, act: Act) {
        let count = self.waiting.len();
        let which = |at: u8| usize::from(at).checked_rem(count);
        match act {
            Act::Try => self.grants += usize::from(self.line.tries(self.limiter)),
            Act::Ask(weight) => self.ask(weight.min(self.permits)),
            Act::Poll(at) => {
                if let Some(at) = which(at) {
                    self.poll(at);
                }
            }
            Act::Drop(at) => {
                if let Some(at) = which(at).filter(|at| self.may_drop(*at)) {
                    let Waiting { asker, future, .. } = self.waiting.remove(at);
                    self.line.drops(asker, future);
                }
            }
            Act::Wait(quarters) => self.wait(quarters),
        }
    }

    fn ask(&mut self, weight: u32) {
        let limiter: &'l Limiter = self.limiter;
        let future: Pin<Box<dyn Future<Output = ()> + Send + 'l>> = match weight {
            1 => limiter.acquire_async(),
            _ => Box::pin(async move {
                let weighed = limiter.acquire_weight_async(several(weight)).await;
                holds!(
                    weighed.is_ok(),
                    "L3: {weight} permits were refused, and there are as many"
                );
            }),
        };
        self.waiting.push(Waiting {
            asker: self.asked,
            weight,
            future,
            bell: Arc::default(),
            rung_after: None,
        });
        self.asked += 1;
        self.poll(self.waiting.len() - 1);
    }

    /// Polls an acquisition under a new waker; whether it is over.
    fn poll(&mut self, at: usize) -> bool {
        let waiting = &mut self.waiting[at];
        waiting.bell = Arc::default();
        let waker = Waker::from(Arc::clone(&waiting.bell));
        let (asker, weight) = (waiting.asker, waiting.weight);
        let is_over = self
            .line
            .polls_by(asker, weight, waiting.future.as_mut(), &waker);
        if is_over {
            self.grants += 1;
            drop(self.waiting.remove(at));
        }
        is_over
    }

    /// Notes which bells were rung.
    fn hear(&mut self) {
        for waiting in &mut self.waiting {
            match waiting.bell.is_rung() {
                true => waiting.rung_after = waiting.rung_after.or(Some(self.grants)),
                false => waiting.rung_after = None,
            }
        }
    }

    /// Whether the specification knows what a drop undoes. A grant that was not heard of is undone by some designs only
    /// where none came after it.
    fn may_drop(&self, at: usize) -> bool {
        let rung = self.waiting.iter().filter(|waiting| waiting.bell.is_rung());
        match self.waiting[at].rung_after {
            Some(grants) => self.undoes_any || (grants == self.grants && rung.count() == 1),
            None => true,
        }
    }

    /// Polls what was woken. The thread is woken for what is woken later.
    fn serve(&mut self, thread: &Waker) {
        for waiting in &self.waiting {
            waiting.bell.hears(thread);
        }
        let mut at = 0;
        while at < self.waiting.len() {
            if !self.waiting[at].bell.is_rung() {
                at += 1;
            } else if !self.poll(at) {
                self.waiting[at].bell.hears(thread);
                at += 1;
            }
        }
    }

    fn wait(&mut self, quarters: u32) {
        // No two moments of a sequence are the same.
        let duration = PERIOD / 4 * quarters + PERIOD / 1_009;
        let own = limiter(self.limiters, 1, duration);
        world::block_on(own.acquire_async());
        let mut passes = own.acquire_async();
        world::block_on(poll_fn(|context| {
            self.serve(context.waker());
            passes.as_mut().poll(context)
        }));
    }
}
